// The middle of a softmax: exp, its row sums, and the division that reads both.
#i = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @normalize(%x: tensor<19x33xf32>) -> tensor<19x33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<19x33xf32>
  %e1 = tensor.empty() : tensor<19xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<19xf32>) -> tensor<19xf32>
  %p = linalg.exp ins(%x : tensor<19x33xf32>) outs(%e : tensor<19x33xf32>) -> tensor<19x33xf32>
  %s = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]}
    ins(%p : tensor<19x33xf32>) outs(%s0 : tensor<19xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.addf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<19xf32>
  %d = linalg.generic {indexing_maps = [#i, #r, #i], iterator_types = ["parallel", "parallel"]}
    ins(%p, %s : tensor<19x33xf32>, tensor<19xf32>) outs(%e : tensor<19x33xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<19x33xf32>
  return %d : tensor<19x33xf32>
}
