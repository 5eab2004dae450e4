// The convolution that "Is synchronization missed for RAW dependent ops during thread distribution inside iree?", a discussion of the
// MLIR forum, wants as an implicit GEMM: the result accumulates into its argument. There it stands decomposed, with an image of
// 196x36 elements; this is what it was decomposed from.
func.func @conv_16433136(%arg0: tensor<1x16x16x4xf32>, %arg1: tensor<3x3x4x16xf32>, %arg2: tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%arg0, %arg1 : tensor<1x16x16x4xf32>, tensor<3x3x4x16xf32>)
    outs(%arg2 : tensor<1x14x14x16xf32>) -> tensor<1x14x14x16xf32>
  return %0 : tensor<1x14x14x16xf32>
}
