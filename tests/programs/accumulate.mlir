func.func @acc(%a: tensor<48x32xf32>, %b: tensor<32x64xf32>, %c: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<48x32xf32>, tensor<32x64xf32>) outs(%c : tensor<48x64xf32>) -> tensor<48x64xf32>
  return %r : tensor<48x64xf32>
}
