#id = affine_map<(i, j) -> (i, j)>
func.func @two(%a: tensor<48x32xf32>, %b: tensor<32x64xf32>) -> tensor<48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<48x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e0 : tensor<48x64xf32>) -> tensor<48x64xf32>
  %mm = linalg.matmul ins(%a, %b : tensor<48x32xf32>, tensor<32x64xf32>) outs(%init : tensor<48x64xf32>) -> tensor<48x64xf32>
  %e1 = tensor.empty() : tensor<48x64xf32>
  %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%mm : tensor<48x64xf32>) outs(%e1 : tensor<48x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<48x64xf32>
  return %relu : tensor<48x64xf32>
}
