// A softmax over the rows, in five ops: each is read by one or two of the next.
#i = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @softmax(%x: tensor<19x33xf32>) -> tensor<19x33xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<19x33xf32>
  %row = tensor.empty() : tensor<19xf32>
  %m0 = linalg.fill ins(%low : f32) outs(%row : tensor<19xf32>) -> tensor<19xf32>
  %m = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<19x33xf32>) outs(%m0 : tensor<19xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.maximumf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<19xf32>
  %d = linalg.generic {indexing_maps = [#i, #r, #i], iterator_types = ["parallel", "parallel"]}
    ins(%x, %m : tensor<19x33xf32>, tensor<19xf32>) outs(%e : tensor<19x33xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %q = arith.subf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<19x33xf32>
  %p = linalg.exp ins(%d : tensor<19x33xf32>) outs(%e : tensor<19x33xf32>) -> tensor<19x33xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%row : tensor<19xf32>) -> tensor<19xf32>
  %s = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]}
    ins(%p : tensor<19x33xf32>) outs(%s0 : tensor<19xf32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.addf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<19xf32>
  %y = linalg.generic {indexing_maps = [#i, #r, #i], iterator_types = ["parallel", "parallel"]}
    ins(%p, %s : tensor<19x33xf32>, tensor<19xf32>) outs(%e : tensor<19x33xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<19x33xf32>
  return %y : tensor<19x33xf32>
}
