// exp(-(x * s + y)), three ops.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @chain(%x: tensor<45x61xf32>, %s: tensor<61xf32>, %y: tensor<45x61xf32>) -> tensor<45x61xf32> {
  %empty = tensor.empty() : tensor<45x61xf32>
  %scaled = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : tensor<45x61xf32>, tensor<61xf32>) outs(%empty : tensor<45x61xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<45x61xf32>
  %shifted = linalg.add ins(%scaled, %y : tensor<45x61xf32>, tensor<45x61xf32>)
    outs(%empty : tensor<45x61xf32>) -> tensor<45x61xf32>
  %result = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%shifted : tensor<45x61xf32>) outs(%empty : tensor<45x61xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    %e = math.exp %n : f32
    linalg.yield %e : f32
  } -> tensor<45x61xf32>
  return %result : tensor<45x61xf32>
}
