module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c8 = arith.constant 8 : index
    %2 = scf.for %arg2 = %c0 to %c32 step %c8 iter_args(%arg3 = %1) -> (tensor<64x64xf32>) {
      %extracted_slice = tensor.extract_slice %arg0[0, %arg2] [64, 8] [1, 1] : tensor<64x32xf32> to tensor<64x8xf32>
      %extracted_slice_0 = tensor.extract_slice %arg1[%arg2, 0] [8, 64] [1, 1] : tensor<32x64xf32> to tensor<8x64xf32>
      %3 = linalg.matmul ins(%extracted_slice, %extracted_slice_0 : tensor<64x8xf32>, tensor<8x64xf32>) outs(%arg3 : tensor<64x64xf32>) -> tensor<64x64xf32>
      scf.yield %3 : tensor<64x64xf32>
    } {weft.unroll}
    return %2 : tensor<64x64xf32>
  }
}
