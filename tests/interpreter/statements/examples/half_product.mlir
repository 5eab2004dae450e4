func.func @product(%A: tensor<32x64xf16>, %B: tensor<64x32xf16>, %C: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %r = linalg.matmul ins(%A, %B : tensor<32x64xf16>, tensor<64x32xf16>) outs(%C : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %r : tensor<32x32xf32>
}
