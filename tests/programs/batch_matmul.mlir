func.func @attention(%p: tensor<3x17x19xf32>, %v: tensor<3x19x23xf32>) -> tensor<3x17x23xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x17x23xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x17x23xf32>) -> tensor<3x17x23xf32>
  %out = linalg.batch_matmul ins(%p, %v : tensor<3x17x19xf32>, tensor<3x19x23xf32>)
    outs(%init : tensor<3x17x23xf32>) -> tensor<3x17x23xf32>
  return %out : tensor<3x17x23xf32>
}
