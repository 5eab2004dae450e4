func.func @mm(%A: tensor<?x32xf32>, %B: tensor<32x64xf32>, %C: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = linalg.matmul ins(%A, %B : tensor<?x32xf32>, tensor<32x64xf32>) outs(%C : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
