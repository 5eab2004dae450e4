// A * B with fewer steps than a tile has.
func.func @short(%a: tensor<20x5xf64>, %b: tensor<5x19xf64>) -> tensor<20x19xf64> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<20x19xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<20x19xf64>) -> tensor<20x19xf64>
  %mm = linalg.matmul ins(%a, %b : tensor<20x5xf64>, tensor<5x19xf64>) outs(%init : tensor<20x19xf64>) -> tensor<20x19xf64>
  return %mm : tensor<20x19xf64>
}
