// An op that has no bufferization.
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "other.op"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
