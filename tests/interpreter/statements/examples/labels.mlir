#id = affine_map<(i) -> (i)>
func.func @two(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.exp {weft.name = "once"} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.exp {weft.name = "twice"} ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %2 = linalg.exp ins(%1 : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> loc(fused["there", "twice"])
  return %2 : tensor<8xf32>
}
