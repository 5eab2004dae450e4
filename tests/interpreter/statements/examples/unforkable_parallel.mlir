// Launches that may come in any order.
module attributes {gpu.container_module} {
  gpu.module @k { gpu.func @k(%x: memref<64xf32>) kernel { gpu.return } }
  func.func @f(%x: memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>)
      scf.reduce
    }
    return
  }
}
