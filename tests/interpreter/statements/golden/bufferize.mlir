module {
  func.func @mm(%arg0: memref<64x32xf32> {weft.name = "A"}, %arg1: memref<32x64xf32> {weft.name = "B"}, %arg2: memref<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    linalg.fill ins(%cst : f32) outs(%arg2 : memref<64x64xf32>)
    linalg.matmul ins(%arg0, %arg1 : memref<64x32xf32>, memref<32x64xf32>) outs(%arg2 : memref<64x64xf32>)
    return
  }
}
