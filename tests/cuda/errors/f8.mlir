gpu.module @m {
  gpu.func @k(%x: memref<4xf8E4M3FN>) kernel {
    gpu.return
  }
}
