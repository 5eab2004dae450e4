// A sum of exponentials: outside its domain no input is neutral.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @partition(%x: tensor<8x10xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<8x10xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %e = math.exp %a : f32
    %s = arith.addf %sum, %e : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
