func.func @blur(%X: tensor<8x9xf32>, %W: tensor<3x3xf32>, %Y: tensor<6x7xf32>) -> tensor<6x7xf32> {
  %y = linalg.conv_2d ins(%X, %W : tensor<8x9xf32>, tensor<3x3xf32>) outs(%Y : tensor<6x7xf32>) -> tensor<6x7xf32>
  return %y : tensor<6x7xf32>
}
