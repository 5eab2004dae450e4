func.func @conv(%X: tensor<1x16x16x4xf32> {weft.name = "X"}, %W: tensor<3x3x4x16xf32> {weft.name = "W"})
    -> (tensor<1x14x14x16xf32> {weft.name = "Y"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x14x14x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  %Y = linalg.conv_2d_nhwc_hwcf ins(%X, %W : tensor<1x16x16x4xf32>, tensor<3x3x4x16xf32>)
    outs(%init : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  return %Y : tensor<1x14x14x16xf32>
}
