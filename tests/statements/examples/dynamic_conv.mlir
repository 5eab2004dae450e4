func.func @conv(%X: tensor<?x16x16x4xf32>, %W: tensor<3x3x4x16xf32>, %Y: tensor<?x14x14x16xf32>) -> tensor<?x14x14x16xf32> {
  %y = linalg.conv_2d_nhwc_hwcf ins(%X, %W : tensor<?x16x16x4xf32>, tensor<3x3x4x16xf32>)
    outs(%Y : tensor<?x14x14x16xf32>) -> tensor<?x14x14x16xf32>
  return %y : tensor<?x14x14x16xf32>
}
