gpu.module @m {
  gpu.func @k(%x: memref<4xcomplex<f32>>) kernel {
    gpu.return
  }
}
