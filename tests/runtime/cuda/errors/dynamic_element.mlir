gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %v = vector.load %x[%c0] : memref<8xf32>, vector<4xf32>
    %e = vector.extract %v[%t] : f32 from vector<4xf32>
    memref.store %e, %x[%c0] : memref<8xf32>
    gpu.return
  }
}
