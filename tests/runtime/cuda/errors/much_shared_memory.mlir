gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = arith.constant 1.0 : f32
    %m = memref.alloc() : memref<256x256xf32, #gpu.address_space<workgroup>>
    memref.store %f, %m[%c0, %c0] : memref<256x256xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
