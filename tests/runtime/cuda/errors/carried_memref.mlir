gpu.module @m {
  gpu.func @k(%x: memref<8xf32>, %y: memref<8xf32>) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %f = arith.constant 1.0 : f32
    %r = scf.for %i = %c0 to %t step %c1 iter_args(%m = %x) -> (memref<8xf32>) {
    scf.yield %y : memref<8xf32> }
    memref.store %f, %r[%c0] : memref<8xf32>
    gpu.return
  }
}
