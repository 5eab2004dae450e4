#map = affine_map<(d0) -> (d0 floordiv 8)>
#map1 = affine_map<(d0) -> (d0 mod 8)>
#map2 = affine_map<(d0) -> (d0 * 16)>
#map3 = affine_map<(d0) -> (d0 * 8)>
module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = scf.forall (%arg2) in (32) shared_outs(%arg3 = %1) -> (tensor<64x64xf32>) {
      %3 = affine.apply #map(%arg2)
      %4 = affine.apply #map1(%arg2)
      %5 = affine.apply #map2(%3)
      %6 = affine.apply #map3(%4)
      %extracted_slice = tensor.extract_slice %arg0[%5, 0] [16, 32] [1, 1] : tensor<64x32xf32> to tensor<16x32xf32>
      %extracted_slice_0 = tensor.extract_slice %arg1[0, %6] [32, 8] [1, 1] : tensor<32x64xf32> to tensor<32x8xf32>
      %extracted_slice_1 = tensor.extract_slice %arg3[%5, %6] [16, 8] [1, 1] : tensor<64x64xf32> to tensor<16x8xf32>
      %7 = linalg.matmul ins(%extracted_slice, %extracted_slice_0 : tensor<16x32xf32>, tensor<32x8xf32>) outs(%extracted_slice_1 : tensor<16x8xf32>) -> tensor<16x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %7 into %arg3[%5, %6] [16, 8] [1, 1] : tensor<16x8xf32> into tensor<64x64xf32>
      }
    }
    return %2 : tensor<64x64xf32>
  }
}
