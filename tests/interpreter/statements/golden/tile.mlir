#map = affine_map<(d0) -> (d0 * 16)>
module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = scf.forall (%arg2, %arg3) in (4, 4) shared_outs(%arg4 = %1) -> (tensor<64x64xf32>) {
      %3 = affine.apply #map(%arg2)
      %4 = affine.apply #map(%arg3)
      %extracted_slice = tensor.extract_slice %arg0[%3, 0] [16, 32] [1, 1] : tensor<64x32xf32> to tensor<16x32xf32>
      %extracted_slice_0 = tensor.extract_slice %arg1[0, %4] [32, 16] [1, 1] : tensor<32x64xf32> to tensor<32x16xf32>
      %extracted_slice_1 = tensor.extract_slice %arg4[%3, %4] [16, 16] [1, 1] : tensor<64x64xf32> to tensor<16x16xf32>
      %5 = linalg.matmul ins(%extracted_slice, %extracted_slice_0 : tensor<16x32xf32>, tensor<32x16xf32>) outs(%extracted_slice_1 : tensor<16x16xf32>) -> tensor<16x16xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %5 into %arg4[%3, %4] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<64x64xf32>
      }
    }
    return %2 : tensor<64x64xf32>
  }
}
