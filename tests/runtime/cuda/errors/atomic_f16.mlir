gpu.module @m {
  gpu.func @k(%x: memref<8xf16>) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %h = arith.truncf %f : f32 to f16
    %a = memref.atomic_rmw addf %h, %x[%c0] : (f16, memref<8xf16>) -> f16
    gpu.return
  }
}
