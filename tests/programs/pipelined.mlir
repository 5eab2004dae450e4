// A * B over whole tiles.
func.func @even(%a: tensor<48x64xf32>, %b: tensor<64x32xf32>) -> tensor<48x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<48x32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<48x32xf32>) -> tensor<48x32xf32>
  %mm = linalg.matmul ins(%a, %b : tensor<48x64xf32>, tensor<64x32xf32>) outs(%init : tensor<48x32xf32>) -> tensor<48x32xf32>
  return %mm : tensor<48x32xf32>
}
