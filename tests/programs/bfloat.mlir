func.func @h(%a: tensor<40x24xbf16>, %b: tensor<24x33xbf16>) -> tensor<40x33xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e0 = tensor.empty() : tensor<40x33xbf16>
  %init = linalg.fill ins(%zero : bf16) outs(%e0 : tensor<40x33xbf16>) -> tensor<40x33xbf16>
  %mm = linalg.matmul ins(%a, %b : tensor<40x24xbf16>, tensor<24x33xbf16>) outs(%init : tensor<40x33xbf16>) -> tensor<40x33xbf16>
  return %mm : tensor<40x33xbf16>
}
