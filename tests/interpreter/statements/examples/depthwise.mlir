func.func @depthwise(%X: tensor<1x8x8x4xf32>, %W: tensor<3x3x4xf32>, %Y: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32> {
  %y = linalg.depthwise_conv_2d_nhwc_hwc ins(%X, %W : tensor<1x8x8x4xf32>, tensor<3x3x4xf32>)
    outs(%Y : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %y : tensor<1x6x6x4xf32>
}
