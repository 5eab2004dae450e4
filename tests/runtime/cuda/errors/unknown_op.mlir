gpu.module @m {
  gpu.func @k(%x: memref<4xf32>) kernel {
    %f = arith.constant 1.0 : f32
    linalg.fill ins(%f : f32) outs(%x : memref<4xf32>)
    gpu.return
  }
}
