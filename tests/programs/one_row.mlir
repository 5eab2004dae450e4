func.func @one_row(%A: tensor<4x16xf32> {weft.name = "A"}, %B: tensor<16x8xf32> {weft.name = "B"}) -> (tensor<4x8xf32> {weft.name = "C"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %C = linalg.matmul ins(%A, %B : tensor<4x16xf32>, tensor<16x8xf32>) outs(%init : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %C : tensor<4x8xf32>
}
