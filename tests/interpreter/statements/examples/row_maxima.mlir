// A maximum of each row, a sum whose summands are looked up in the op's body, and what is left of a number divided by each in turn.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @rows(%x: tensor<8x10xf32>, %z: tensor<8xf32>, %table: tensor<10xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<8x10xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %largest: f32):
    %s = arith.maximumf %largest, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %w = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<8x10xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %j = linalg.index 1 : index
    %t = tensor.extract %table[%j] : tensor<10xf32>
    %s = arith.addf %sum, %a : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %q = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<8x10xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%a: f32, %left: f32):
    %s = arith.divf %left, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r, %w, %q : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
