// A window whose place is known at run time only: no value stands for it.
func.func @mm(%A: memref<16x32xf32, strided<[64, 1], offset: ?>>, %B: memref<32x64xf32>, %C: memref<16x64xf32>) {
  linalg.matmul ins(%A, %B : memref<16x32xf32, strided<[64, 1], offset: ?>>, memref<32x64xf32>) outs(%C : memref<16x64xf32>)
  return
}
