// Four that write along what they reduce, and cannot be done in parts.
#each = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
#twice = affine_map<(i) -> (i * 2)>
func.func @no_scans(%x: tensor<100xf32>, %y: tensor<199xf32>, %start: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
  %e = tensor.empty() : tensor<100xf32>
  %s0, %y0 = linalg.generic {indexing_maps = [#each, #one, #each], iterator_types = ["reduction"]}
      ins(%x : tensor<100xf32>) outs(%start, %e : tensor<f32>, tensor<100xf32>) {
  ^bb0(%a: f32, %so_far: f32, %old: f32):
    %s = arith.divf %so_far, %a : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<f32>, tensor<100xf32>)
  %s1, %y1 = linalg.generic {indexing_maps = [#each, #one, #each], iterator_types = ["reduction"]}
      ins(%x : tensor<100xf32>) outs(%start, %e : tensor<f32>, tensor<100xf32>) {
  ^bb0(%a: f32, %so_far: f32, %old: f32):
    %t = arith.mulf %so_far, %a : f32
    %s = arith.addf %so_far, %t : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<f32>, tensor<100xf32>)
  %s2, %y2 = linalg.generic {indexing_maps = [#each, #one, #each], iterator_types = ["reduction"]}
      ins(%x : tensor<100xf32>) outs(%start, %y1 : tensor<f32>, tensor<100xf32>) {
  ^bb0(%a: f32, %so_far: f32, %old: f32):
    %s = arith.addf %so_far, %a : f32
    %t = arith.addf %s, %old : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<f32>, tensor<100xf32>)
  %s3, %y3 = linalg.generic {indexing_maps = [#twice, #one, #each], iterator_types = ["reduction"]}
      ins(%y : tensor<199xf32>) outs(%start, %e : tensor<f32>, tensor<100xf32>) {
  ^bb0(%a: f32, %so_far: f32, %old: f32):
    %s = arith.addf %so_far, %a : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<f32>, tensor<100xf32>)
  return %s0, %s1, %s2, %s3, %y0, %y1, %y2, %y3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}
