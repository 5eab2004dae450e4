gpu.module @m {
  memref.global "private" constant @table : memref<300x300xf32> = dense<1.0>
  gpu.func @k(%x: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %m = memref.get_global @table : memref<300x300xf32>
    %v = memref.load %m[%c0, %c0] : memref<300x300xf32>
    memref.store %v, %x[%c0] : memref<8xf32>
    gpu.return
  }
}
