module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<64x32xf32>, tensor<32x64xf32>) outs(%1 : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }
}
