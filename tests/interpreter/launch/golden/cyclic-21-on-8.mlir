module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<21xi32> {weft.name = "out"}) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)  args(%arg0 : memref<21xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<21xi32> {weft.name = "out"}) kernel attributes {known_block_size = array<i32: 8, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c8 = arith.constant 8 : index
      %c21 = arith.constant 21 : index
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      scf.for %arg1 = %thread_id_x to %c21 step %c8 {
        memref.store %c1_i32, %arg0[%arg1] : memref<21xi32>
      }
      gpu.return
    }
  }
}

// kernel @f: grid 1x1x1, block 8x1x1
