func.func @pooling(%X: tensor<1x8x8x4xf32>, %window: tensor<3x3xf32>, %Y: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32> {
  %y = linalg.pooling_nhwc_sum ins(%X, %window : tensor<1x8x8x4xf32>, tensor<3x3xf32>)
    outs(%Y : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  return %y : tensor<1x6x6x4xf32>
}
