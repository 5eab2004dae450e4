func.func @heads(%x: tensor<16x24xf32>, %y: tensor<16x3x8xf32>) -> tensor<16x3x8xf32> {
  %e = tensor.empty() : tensor<16x24xf32>
  %p = linalg.exp ins(%x : tensor<16x24xf32>) outs(%e : tensor<16x24xf32>) -> tensor<16x24xf32>
  %h = tensor.expand_shape %p [[0], [1, 2]] output_shape [16, 3, 8] : tensor<16x24xf32> into tensor<16x3x8xf32>
  %s = linalg.abs ins(%h : tensor<16x3x8xf32>) outs(%y : tensor<16x3x8xf32>) -> tensor<16x3x8xf32>
  return %s : tensor<16x3x8xf32>
}
