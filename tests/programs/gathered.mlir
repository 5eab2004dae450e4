// A permuted copy: the body itself reads where the indices say, which nothing but the op's own domain bounds.
#id = affine_map<(i, j) -> (i, j)>
func.func @permute(%table: tensor<37x21xf32>, %rows: tensor<37xi32>) -> tensor<37x21xf32> {
  %e = tensor.empty() : tensor<37x21xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<37x21xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c36 = arith.constant 36 : index
    %back = arith.subi %c36, %i : index
    %x = tensor.extract %table[%back, %j] : tensor<37x21xf32>
    %n = tensor.extract %rows[%i] : tensor<37xi32>
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %x, %f : f32
    linalg.yield %s : f32
  } -> tensor<37x21xf32>
  return %r : tensor<37x21xf32>
}
