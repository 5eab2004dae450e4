#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @row_sums(%image: memref<77x50xf32>, %sums: memref<77xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : memref<77xf32>)
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]}
    ins(%image : memref<77x50xf32>) outs(%sums : memref<77xf32>) {
  ^bb0(%pixel: f32, %sum: f32):
    %next = arith.addf %sum, %pixel : f32
    linalg.yield %next : f32
  }
  return
}
