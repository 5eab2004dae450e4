// A product of what an elementwise op made.
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%X: tensor<16x40xf32>, %B: tensor<40x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<16x40xf32>
  %A = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%X : tensor<16x40xf32>) outs(%ea : tensor<16x40xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %z : f32
    linalg.yield %m : f32
  } -> tensor<16x40xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = linalg.matmul ins(%A, %B : tensor<16x40xf32>, tensor<40x16xf32>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
