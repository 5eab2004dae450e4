gpu.module @m {
  gpu.func @k(%x: memref<7xf32>, %y: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %v = vector.transfer_read %x[%c0], %f : memref<7xf32>, vector<4xf32>
    vector.store %v, %y[%c0] : memref<8xf32>, vector<4xf32>
    gpu.return
  }
}
