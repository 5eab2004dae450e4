#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1)>
module {
  func.func @conv(%arg0: tensor<1x16x16x4xf32> {weft.name = "X"}, %arg1: tensor<3x3x4x16xf32> {weft.name = "W"}) -> (tensor<1x14x14x16xf32> {bufferize.result, weft.name = "Y"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<196x36xf32>
    %1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<196x36xf32>) attrs =  {weft.gather} {
    ^bb0(%out: f32):
      %5 = linalg.index 0 : index
      %6:2 = affine.delinearize_index %5 into (14) {weft.names = ["oh", "ow"], weft.outer = 14 : i64} : index, index
      %7 = linalg.index 1 : index
      %8:3 = affine.delinearize_index %7 into (3, 4) {weft.names = ["kh", "kw", "c"], weft.outer = 3 : i64} : index, index, index
      %c0 = arith.constant 0 : index
      %9 = affine.apply #map1(%6#0, %8#0)
      %10 = affine.apply #map1(%6#1, %8#1)
      %extracted = tensor.extract %arg0[%c0, %9, %10, %8#2] : tensor<1x16x16x4xf32>
      linalg.yield %extracted : f32
    } -> tensor<196x36xf32>
    %collapsed = tensor.collapse_shape %arg1 [[0, 1, 2], [3]] : tensor<3x3x4x16xf32> into tensor<36x16xf32>
    %2 = tensor.empty() : tensor<196x16xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<196x16xf32>) -> tensor<196x16xf32>
    %4 = linalg.matmul ins(%1, %collapsed : tensor<196x36xf32>, tensor<36x16xf32>) outs(%3 : tensor<196x16xf32>) -> tensor<196x16xf32>
    %expanded = tensor.expand_shape %4 [[0, 1, 2], [3]] output_shape [1, 14, 14, 16] : tensor<196x16xf32> into tensor<1x14x14x16xf32>
    return %expanded : tensor<1x14x14x16xf32>
  }
}
