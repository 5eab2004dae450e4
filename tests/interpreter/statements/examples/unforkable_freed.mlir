// A buffer is used after it was freed.
module attributes {gpu.container_module} {
  gpu.module @k { gpu.func @k(%x: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %v = memref.load %x[%c0] : memref<64xf32>
    memref.store %v, %x[%c0] : memref<64xf32>
    gpu.return
  } }
  func.func @f() {
    %c1 = arith.constant 1 : index
    %x = memref.alloc() : memref<64xf32>
    memref.dealloc %x : memref<64xf32>
    gpu.launch_func @k::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<64xf32>)
    return
  }
}
