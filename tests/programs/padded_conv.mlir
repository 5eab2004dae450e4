func.func @padded(%x: tensor<1x4x10x10xf32>, %f: tensor<6x4x3x3xf32>) -> tensor<1x6x10x10xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x4x10x10xf32> to tensor<1x4x12x12xf32>
  %e = tensor.empty() : tensor<1x6x10x10xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x6x10x10xf32>) -> tensor<1x6x10x10xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%p, %f : tensor<1x4x12x12xf32>, tensor<6x4x3x3xf32>) outs(%i : tensor<1x6x10x10xf32>) -> tensor<1x6x10x10xf32>
  return %r : tensor<1x6x10x10xf32>
}
