func.func @staged(%x: memref<64x32xf32>, %at: memref<32xi32>, %y: memref<64x32xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 32 {
      %word = affine.load %at[%j] : memref<32xi32>
      %k = arith.index_cast %word : i32 to index
      %a = memref.load %x[%i, %k] : memref<64x32xf32>
      affine.store %a, %y[%i, %j] : memref<64x32xf32>
    }
  }
  return
}
