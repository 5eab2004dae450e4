gpu.module @m {
  memref.global "private" @state : memref<4xf32> = dense<1.0>
  gpu.func @k(%x: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %m = memref.get_global @state : memref<4xf32>
    %v = memref.load %m[%c0] : memref<4xf32>
    memref.store %v, %x[%c0] : memref<8xf32>
    gpu.return
  }
}
