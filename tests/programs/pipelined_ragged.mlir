// A * B over tiles that stick out.
func.func @ragged(%a: tensor<50x45xf32>, %b: tensor<45x37xf32>) -> tensor<50x37xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<50x37xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<50x37xf32>) -> tensor<50x37xf32>
  %mm = linalg.matmul ins(%a, %b : tensor<50x45xf32>, tensor<45x37xf32>) outs(%init : tensor<50x37xf32>) -> tensor<50x37xf32>
  return %mm : tensor<50x37xf32>
}
