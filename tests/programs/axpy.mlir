#id = affine_map<(i, j) -> (i, j)>
func.func @axpy(%alpha: f32, %x: memref<37x21xf32>, %y: memref<37x21xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(i,j)->()>, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x, %alpha : memref<37x21xf32>, f32) outs(%y : memref<37x21xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %m = arith.mulf %a, %s : f32
    %r = arith.addf %m, %o : f32
    %i = linalg.index 0 : index
    %ii = arith.index_cast %i : index to i32
    %f = arith.sitofp %ii : i32 to f32
    %q = arith.addf %r, %f : f32
    linalg.yield %q : f32
  }
  return
}
