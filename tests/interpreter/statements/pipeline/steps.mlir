// y[i] += sum over k of x[i, k], in steps of 8, from a first column that is known at run time; as many steps as there are.
func.func @steps(%x: memref<32x?xf32>, %y: memref<32xf32>, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c1 : memref<32x?xf32>
  scf.forall (%b) in (2) {
    %tile = memref.alloc() : memref<16x8xf32, #gpu.address_space<workgroup>>
    %row = affine.apply affine_map<(b) -> (b * 16)>(%b)
    %out = memref.subview %y[%row] [16] [1] : memref<32xf32> to memref<16xf32, strided<[1], offset: ?>>
    scf.for %k = %first to %n step %c8 {
      %in = memref.subview %x[%row, %k] [16, 8] [1, 1] : memref<32x?xf32> to memref<16x8xf32, strided<[?, 1], offset: ?>>
      linalg.copy ins(%in : memref<16x8xf32, strided<[?, 1], offset: ?>>) outs(%tile : memref<16x8xf32, #gpu.address_space<workgroup>>)
      linalg.reduce { arith.addf } ins(%tile : memref<16x8xf32, #gpu.address_space<workgroup>>) outs(%out : memref<16xf32, strided<[1], offset: ?>>) dimensions = [1]
    }
  }
  return
}
