gpu.module @m {
  gpu.func @k(%x: memref<4xi7>) kernel {
    gpu.return
  }
}
