// A function that nobody sees into gets the buffer.
module attributes {gpu.container_module} {
  gpu.module @k { gpu.func @k(%x: memref<64xf32>) kernel { gpu.return } }
  func.func private @elsewhere(memref<64xf32>)
  func.func @f(%x: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>)
    call @elsewhere(%x) : (memref<64xf32>) -> ()
    return
  }
}
