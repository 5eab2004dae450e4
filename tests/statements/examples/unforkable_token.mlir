// A loop that carries a token.
module attributes {gpu.container_module} {
  gpu.module @k { gpu.func @k(%x: memref<64xf32>) kernel { gpu.return } }
  func.func @f(%x: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = gpu.wait async
    %u = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %t) -> (!gpu.async.token) {
      %n = gpu.launch_func async [%s] @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>)
      scf.yield %n : !gpu.async.token
    }
    gpu.wait [%u]
    return
  }
}
