gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    cf.br ^end
    ^end:
    gpu.return
  }
}
