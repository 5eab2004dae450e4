// A matmul written as linalg.generic on memrefs, accumulating into what is there.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @accumulate(%x: memref<33x20xf64>, %w: memref<20x45xf64>, %y: memref<33x45xf64>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : memref<33x20xf64>, memref<20x45xf64>) outs(%y : memref<33x45xf64>) {
  ^bb0(%p: f64, %q: f64, %acc: f64):
    %product = arith.mulf %p, %q : f64
    %sum = arith.addf %acc, %product : f64
    linalg.yield %sum : f64
  }
  return
}
