// Three functions in one module: the schedule takes the second.
func.func @first(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %r = linalg.add ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
func.func @second(%a: tensor<20x30xi32>, %b: tensor<20x30xi32>) -> tensor<20x30xi32> {
  %e = tensor.empty() : tensor<20x30xi32>
  %r = linalg.mul ins(%a, %b : tensor<20x30xi32>, tensor<20x30xi32>) outs(%e : tensor<20x30xi32>) -> tensor<20x30xi32>
  return %r : tensor<20x30xi32>
}
func.func @third(%a: memref<16xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%a : memref<16xf32>)
  return
}
