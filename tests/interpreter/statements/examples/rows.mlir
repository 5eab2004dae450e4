#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @softmax(%X: tensor<4x8xf32> {weft.name = "X"}) -> (tensor<4x8xf32> {weft.name = "Y"}) {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<4xf32>
  %whole = tensor.empty() : tensor<4x8xf32>
  %least = arith.constant 0xFF800000 : f32
  %one = arith.constant 1.0 : f32
  %m0 = linalg.fill ins(%least : f32) outs(%rows : tensor<4xf32>) -> tensor<4xf32>
  %largest = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]} ins(%X : tensor<4x8xf32>) outs(%m0 : tensor<4xf32>) {
  ^bb0(%a: f32, %most: f32):
    %r = arith.maximumf %a, %most : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%X, %largest : tensor<4x8xf32>, tensor<4xf32>) outs(%s0 : tensor<4xf32>) {
  ^bb0(%a: f32, %most: f32, %so_far: f32):
    %d = arith.subf %a, %most : f32
    %p = math.exp %d : f32
    %r = arith.addf %so_far, %p : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %Y = linalg.generic {indexing_maps = [#whole, #row, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%X, %largest, %sum : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) outs(%whole : tensor<4x8xf32>) {
  ^bb0(%a: f32, %most: f32, %all: f32, %o: f32):
    %d = arith.subf %a, %most : f32
    %p = math.exp %d : f32
    %share = arith.divf %one, %all : f32
    %q = arith.mulf %p, %share : f32
    linalg.yield %q : f32
  } -> tensor<4x8xf32>
  return %Y : tensor<4x8xf32>
}
