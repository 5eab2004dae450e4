func.func @h(%a: tensor<40x24xbf16>, %b: tensor<24x33xbf16>) -> tensor<40x33xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<40x33xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e0 : tensor<40x33xf32>) -> tensor<40x33xf32>
  %mm = linalg.matmul ins(%a, %b : tensor<40x24xbf16>, tensor<24x33xbf16>) outs(%init : tensor<40x33xf32>) -> tensor<40x33xf32>
  return %mm : tensor<40x33xf32>
}
