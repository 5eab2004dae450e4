// The matmul of the discussion: a fill, and a product into what it filled.
func.func @dot(%lhs: tensor<1024x1024xf32>, %rhs: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %res = linalg.matmul ins(%lhs, %rhs : tensor<1024x1024xf32>, tensor<1024x1024xf32>)
                       outs(%init : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %res : tensor<1024x1024xf32>
}
