// Each iteration reads the tile that the one before has copied.
func.func @stale(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %tile = memref.alloc() : memref<16xf32, #gpu.address_space<workgroup>>
  scf.for %k = %c0 to %c64 step %c16 {
    %in = memref.subview %x[%k] [16] [1] : memref<64xf32> to memref<16xf32, strided<[1], offset: ?>>
    %out = memref.subview %y[%k] [16] [1] : memref<64xf32> to memref<16xf32, strided<[1], offset: ?>>
    linalg.add ins(%tile, %tile : memref<16xf32, #gpu.address_space<workgroup>>, memref<16xf32, #gpu.address_space<workgroup>>) outs(%out : memref<16xf32, strided<[1], offset: ?>>)
    linalg.copy ins(%in : memref<16xf32, strided<[1], offset: ?>>) outs(%tile : memref<16xf32, #gpu.address_space<workgroup>>)
  }
  return
}
