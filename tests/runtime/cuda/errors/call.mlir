gpu.module @m {
  gpu.func @k(%x: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %s = llvm.mlir.undef : f32
    memref.store %s, %x[%c0] : memref<4xf32>
    gpu.return
  }
}
