func.func @matmul(%A: tensor<8x16xf16>, %B: tensor<16x8xf16>, %C: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %r = linalg.matmul ins(%A, %B : tensor<8x16xf16>, tensor<16x8xf16>) outs(%C : tensor<8x8xf16>) -> tensor<8x8xf16>
  return %r : tensor<8x8xf16>
}
