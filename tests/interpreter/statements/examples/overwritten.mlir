func.func @overwritten(%a: memref<16xf32>, %b: memref<16xf32>, %c: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  linalg.exp ins(%a : memref<16xf32>) outs(%b : memref<16xf32>)
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    memref.store %zero, %a[%i] : memref<16xf32>
    scf.reduce
  }
  linalg.abs ins(%b : memref<16xf32>) outs(%c : memref<16xf32>)
  return
}
