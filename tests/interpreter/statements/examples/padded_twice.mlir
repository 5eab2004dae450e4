func.func @conv(%X: tensor<1x8x8x4xf32>, %W: tensor<3x3x4x16xf32>, %Y: tensor<1x8x10x16xf32>) -> tensor<1x8x10x16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %inner = tensor.pad %X low[0, 2, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x11x10x4xf32>
  %outer = tensor.pad %inner low[0, -1, 1, 0] high[0, 0, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %one : f32
  } : tensor<1x11x10x4xf32> to tensor<1x10x12x4xf32>
  %R = linalg.conv_2d_nhwc_hwcf ins(%outer, %W : tensor<1x10x12x4xf32>, tensor<3x3x4x16xf32>)
    outs(%Y : tensor<1x8x10x16xf32>) -> tensor<1x8x10x16xf32>
  return %R : tensor<1x8x10x16xf32>
}
