// A matmul under other names, its right operand transposed by indexing maps.
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @scores(%queries: tensor<50x40xf32>, %keys: tensor<70x40xf32>) -> tensor<50x70xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<50x70xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<50x70xf32>) -> tensor<50x70xf32>
  %scores = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
    ins(%queries, %keys : tensor<50x40xf32>, tensor<70x40xf32>) outs(%init : tensor<50x70xf32>) -> tensor<50x70xf32>
  return %scores : tensor<50x70xf32>
}
