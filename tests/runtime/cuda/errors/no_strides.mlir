gpu.module @m {
  gpu.func @k(%x: memref<16xf32, affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>>) kernel {
    gpu.return
  }
}
