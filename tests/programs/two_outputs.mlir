#id = affine_map<(i, j) -> (i, j)>
#o = affine_map<(i, j) -> (i)>
func.func @two_out(%x: tensor<37x21xf32>, %s: tensor<37xf32>, %q: tensor<37xf32>) -> (tensor<37xf32>, tensor<37xf32>) {
  %r:2 = linalg.generic {indexing_maps = [#id, #o, #o], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<37x21xf32>) outs(%s, %q : tensor<37xf32>, tensor<37xf32>) {
  ^bb0(%a: f32, %u: f32, %v: f32):
    %m = arith.mulf %a, %a : f32
    %r = arith.addf %a, %u : f32
    %w = arith.addf %m, %v : f32
    linalg.yield %r, %w : f32, f32
  } -> (tensor<37xf32>, tensor<37xf32>)
  return %r#0, %r#1 : tensor<37xf32>, tensor<37xf32>
}
