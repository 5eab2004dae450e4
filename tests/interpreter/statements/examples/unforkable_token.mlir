// A function that takes a token: what it stands for is not seen.
module attributes {gpu.container_module} {
  gpu.module @k { gpu.func @k(%x: memref<64xf32>) kernel { gpu.return } }
  func.func @f(%x: memref<64xf32>, %t: !gpu.async.token) {
    %c1 = arith.constant 1 : index
    %u = gpu.launch_func async [%t] @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>)
    gpu.wait [%u]
    return
  }
}
