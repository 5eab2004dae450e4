gpu.module @m {
  gpu.func @k(%x: memref<4xf8E4M3FN>) kernel {
    %i = arith.constant 0 : index
    %a = memref.load %x[%i] : memref<4xf8E4M3FN>
    %b = arith.addf %a, %a : f8E4M3FN
    memref.store %b, %x[%i] : memref<4xf8E4M3FN>
    gpu.return
  }
}
