module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = scf.forall (%arg2, %arg3) in (64, 64) shared_outs(%arg4 = %1) -> (tensor<64x64xf32>) {
      %extracted_slice = tensor.extract_slice %arg0[%arg2, 0] [1, 32] [1, 1] : tensor<64x32xf32> to tensor<1x32xf32>
      %extracted_slice_0 = tensor.extract_slice %arg1[0, %arg3] [32, 1] [1, 1] : tensor<32x64xf32> to tensor<32x1xf32>
      %extracted_slice_1 = tensor.extract_slice %arg4[%arg2, %arg3] [1, 1] [1, 1] : tensor<64x64xf32> to tensor<1x1xf32>
      %3 = linalg.matmul ins(%extracted_slice, %extracted_slice_0 : tensor<1x32xf32>, tensor<32x1xf32>) outs(%extracted_slice_1 : tensor<1x1xf32>) -> tensor<1x1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %3 into %arg4[%arg2, %arg3] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<64x64xf32>
      }
    } {weft.map = {axes = ["y", "x"], counts = array<i64: 16, 16>, dist = "cyclic", space = "threads"}}
    return %2 : tensor<64x64xf32>
  }
}
