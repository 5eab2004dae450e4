// A five-point stencil on the interior of a grid: five shifted views of one image.
#id = affine_map<(i, j) -> (i, j)>
func.func @heat(%grid: tensor<42x58xf32>) -> tensor<40x56xf32> {
  %quarter = arith.constant 0.25 : f32
  %n = tensor.extract_slice %grid[0, 1] [40, 56] [1, 1] : tensor<42x58xf32> to tensor<40x56xf32>
  %s = tensor.extract_slice %grid[2, 1] [40, 56] [1, 1] : tensor<42x58xf32> to tensor<40x56xf32>
  %w = tensor.extract_slice %grid[1, 0] [40, 56] [1, 1] : tensor<42x58xf32> to tensor<40x56xf32>
  %e = tensor.extract_slice %grid[1, 2] [40, 56] [1, 1] : tensor<42x58xf32> to tensor<40x56xf32>
  %empty = tensor.empty() : tensor<40x56xf32>
  %out = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%n, %s, %w, %e : tensor<40x56xf32>, tensor<40x56xf32>, tensor<40x56xf32>, tensor<40x56xf32>)
    outs(%empty : tensor<40x56xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %o: f32):
    %ab = arith.addf %a, %b : f32
    %cd = arith.addf %c, %d : f32
    %sum = arith.addf %ab, %cd : f32
    %mean = arith.mulf %sum, %quarter : f32
    linalg.yield %mean : f32
  } -> tensor<40x56xf32>
  return %out : tensor<40x56xf32>
}
