#whole = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @normalized(%x: tensor<16x64xf32>) -> tensor<16xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = tensor.empty() : tensor<16x64xf32>
  %m0 = linalg.fill ins(%least : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<16x64xf32>) outs(%m0 : tensor<16xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<16x64xf32>, tensor<16xf32>) outs(%f : tensor<16x64xf32>) {
  ^bb0(%a: f32, %most: f32, %o: f32):
    %d = arith.subf %a, %most : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<16x64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<16x64xf32>) outs(%s0 : tensor<16xf32>) dimensions = [1]
  return %s : tensor<16xf32>
}
