module {
  func.func @f(%arg0: tensor<?x?xf32> {weft.assumed = ["", "assume.weft:5: assume A.1 % 16 == 0"], weft.multiples = array<i64: 1, 16>, weft.name = "A"}, %arg1: tensor<?x?xf32> {weft.assumed = ["assume.weft:5: assume A.1 % 16 == 0", ""], weft.multiples = array<i64: 16, 1>, weft.name = "B"}, %arg2: tensor<?x?xf32> {weft.name = "C"}) -> (tensor<?x?xf32> {bufferize.result, weft.name = "result0"}) {
    %0 = linalg.matmul ins(%arg0, %arg1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%arg2 : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  }
}
