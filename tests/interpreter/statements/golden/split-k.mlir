#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1) -> (d0 * 8 + d1)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = tensor.empty() : tensor<4x64x8xf32>
    %3 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%2 : tensor<4x64x8xf32>) attrs =  {weft.gather} {
    ^bb0(%out: f32):
      %10 = linalg.index 0 : index
      %11 = linalg.index 1 : index
      %12 = linalg.index 2 : index
      %13 = affine.apply #map1(%10, %12)
      %extracted = tensor.extract %arg0[%11, %13] : tensor<64x32xf32>
      linalg.yield %extracted : f32
    } -> tensor<4x64x8xf32>
    %4 = tensor.empty() : tensor<4x8x64xf32>
    %5 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel"]} outs(%4 : tensor<4x8x64xf32>) attrs =  {weft.gather} {
    ^bb0(%out: f32):
      %10 = linalg.index 0 : index
      %11 = linalg.index 1 : index
      %12 = linalg.index 2 : index
      %13 = affine.apply #map1(%10, %11)
      %extracted = tensor.extract %arg1[%13, %12] : tensor<32x64xf32>
      linalg.yield %extracted : f32
    } -> tensor<4x8x64xf32>
    %6 = tensor.empty() : tensor<4x64x64xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    %8 = linalg.generic {indexing_maps = [#map2, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%3, %5 : tensor<4x64x8xf32>, tensor<4x8x64xf32>) outs(%7 : tensor<4x64x64xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %10 = arith.mulf %in, %in_0 : f32
      %11 = arith.addf %out, %10 : f32
      linalg.yield %11 : f32
    } -> tensor<4x64x64xf32>
    %9 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%8 : tensor<4x64x64xf32>) outs(%1 : tensor<64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %10 = arith.addf %out, %in : f32
      linalg.yield %10 : f32
    } -> tensor<64x64xf32>
    return %9 : tensor<64x64xf32>
  }
}
