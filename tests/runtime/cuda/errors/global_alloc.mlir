gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %m = memref.alloc() : memref<8xf32>
    memref.store %f, %m[%c0] : memref<8xf32>
    gpu.return
  }
}
