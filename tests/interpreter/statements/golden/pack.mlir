#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d2, d0)>
#map3 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = tensor.empty() : tensor<64x3x32xbf16>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0 : tensor<64x32xf32>) outs(%2 : tensor<64x3x32xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %6 = arith.truncf %in : f32 to bf16
      %7 = arith.extf %6 : bf16 to f32
      %8 = arith.subf %in, %7 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = linalg.index 1 : index
      %c0 = arith.constant 0 : index
      %11 = arith.cmpi eq, %10, %c0 : index
      %12 = arith.select %11, %9, %6 : bf16
      linalg.yield %12 : bf16
    } -> tensor<64x3x32xbf16>
    %collapsed = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<64x3x32xbf16> into tensor<64x96xbf16>
    %4 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1 : tensor<32x64xf32>) outs(%2 : tensor<64x3x32xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %6 = arith.truncf %in : f32 to bf16
      %7 = arith.extf %6 : bf16 to f32
      %8 = arith.subf %in, %7 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = linalg.index 1 : index
      %c1 = arith.constant 1 : index
      %11 = arith.cmpi eq, %10, %c1 : index
      %12 = arith.select %11, %9, %6 : bf16
      linalg.yield %12 : bf16
    } -> tensor<64x3x32xbf16>
    %collapsed_0 = tensor.collapse_shape %4 [[0], [1, 2]] : tensor<64x3x32xbf16> into tensor<64x96xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%collapsed, %collapsed_0 : tensor<64x96xbf16>, tensor<64x96xbf16>) outs(%1 : tensor<64x64xf32>) attrs =  {weft.packed = "bf16x3"} {
    ^bb0(%in: bf16, %in_1: bf16, %out: f32):
      %6 = arith.extf %in : bf16 to f32
      %7 = arith.extf %in_1 : bf16 to f32
      %8 = arith.mulf %6, %7 : f32
      %9 = arith.addf %out, %8 : f32
      linalg.yield %9 : f32
    } -> tensor<64x64xf32>
    return %5 : tensor<64x64xf32>
  }
}
