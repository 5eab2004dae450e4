#each = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
func.func @scan(%x: tensor<100xf32>, %start: tensor<f32>) -> (tensor<f32>, tensor<100xf32>) {
  %e = tensor.empty() : tensor<100xf32>
  %sum, %y = linalg.generic {indexing_maps = [#each, #one, #each], iterator_types = ["reduction"]}
      ins(%x : tensor<100xf32>) outs(%start, %e : tensor<f32>, tensor<100xf32>) {
  ^bb0(%a: f32, %so_far: f32, %old: f32):
    %s = arith.addf %so_far, %a : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<f32>, tensor<100xf32>)
  return %sum, %y : tensor<f32>, tensor<100xf32>
}
