func.func @h(%a: tensor<40x24xf16>, %b: tensor<24x33xf16>) -> tensor<40x33xf16> {
  %zero = arith.constant 0.0 : f16
  %e0 = tensor.empty() : tensor<40x33xf16>
  %init = linalg.fill ins(%zero : f16) outs(%e0 : tensor<40x33xf16>) -> tensor<40x33xf16>
  %mm = linalg.matmul ins(%a, %b : tensor<40x24xf16>, tensor<24x33xf16>) outs(%init : tensor<40x33xf16>) -> tensor<40x33xf16>
  return %mm : tensor<40x33xf16>
}
