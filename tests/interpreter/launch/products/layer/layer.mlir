func.func @layer(%A: tensor<200x136xbf16>, %B: tensor<136x136xbf16>, %bias: tensor<136xf32>) -> tensor<200x136xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<200x136xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<200x136xf32>) -> tensor<200x136xf32>
  %C = linalg.matmul ins(%A, %B : tensor<200x136xbf16>, tensor<136x136xbf16>) outs(%init : tensor<200x136xf32>) -> tensor<200x136xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%C, %bias : tensor<200x136xf32>, tensor<136xf32>) outs(%empty : tensor<200x136xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
  } -> tensor<200x136xf32>
  return %r : tensor<200x136xf32>
}
