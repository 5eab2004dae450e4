// A stencil as a convolution: out[i] = sum over r of image[i + r] * taps[r].
func.func @blur(%image: tensor<70xf32>, %taps: tensor<5xf32>) -> tensor<66xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<66xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<66xf32>) -> tensor<66xf32>
  %out = linalg.conv_1d ins(%image, %taps : tensor<70xf32>, tensor<5xf32>) outs(%init : tensor<66xf32>) -> tensor<66xf32>
  return %out : tensor<66xf32>
}
