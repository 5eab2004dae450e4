func.func @f(%x: tensor<10xf32>) -> tensor<10xf32> {
  %e = tensor.empty() : tensor<10xf32>
  %r = linalg.exp ins(%x : tensor<10xf32>) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  return %r : tensor<10xf32>
}
