#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = tensor.empty() : tensor<64x48xf32>
    %3 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%2 : tensor<64x48xf32>) attrs =  {weft.gather} {
    ^bb0(%out: f32):
      %7 = linalg.index 0 : index
      %8 = linalg.index 1 : index
      %c32 = arith.constant 32 : index
      %9 = arith.cmpi slt, %8, %c32 : index
      %10 = scf.if %9 -> (f32) {
        %extracted = tensor.extract %arg0[%7, %8] : tensor<64x32xf32>
        scf.yield %extracted : f32
      } else {
        scf.yield %cst : f32
      }
      linalg.yield %10 : f32
    } -> tensor<64x48xf32>
    %4 = tensor.empty() : tensor<48x64xf32>
    %5 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%4 : tensor<48x64xf32>) attrs =  {weft.gather} {
    ^bb0(%out: f32):
      %7 = linalg.index 0 : index
      %8 = linalg.index 1 : index
      %c32 = arith.constant 32 : index
      %9 = arith.cmpi slt, %7, %c32 : index
      %10 = scf.if %9 -> (f32) {
        %extracted = tensor.extract %arg1[%7, %8] : tensor<32x64xf32>
        scf.yield %extracted : f32
      } else {
        scf.yield %cst : f32
      }
      linalg.yield %10 : f32
    } -> tensor<48x64xf32>
    %6 = linalg.matmul ins(%3, %5 : tensor<64x48xf32>, tensor<48x64xf32>) outs(%1 : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %6 : tensor<64x64xf32>
  }
}
