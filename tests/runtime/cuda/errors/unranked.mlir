gpu.module @m {
  gpu.func @k(%x: memref<*xf32>) kernel {
    gpu.return
  }
}
