gpu.module @m {
  gpu.func @k(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %m = memref.alloca(%n) : memref<?xf32>
    memref.store %f, %m[%c0] : memref<?xf32>
    gpu.return
  }
}
