module attributes {gpu.container_module} {
  gpu.module @left_kernel {
    gpu.func @left(%arg0: memref<64xf32> {weft.name = "x"}, %arg1: memref<64xf32> {weft.name = "y"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %thread_id_x = gpu.thread_id x
      %0 = memref.load %arg0[%thread_id_x] : memref<64xf32>
      %1 = arith.addf %0, %0 : f32
      memref.store %1, %arg1[%thread_id_x] : memref<64xf32>
      gpu.return
    }
  }
  gpu.module @right_kernel {
    gpu.func @right(%arg0: memref<64xf32> {weft.name = "x"}, %arg1: memref<64xf32> {weft.name = "y"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %thread_id_x = gpu.thread_id x
      %0 = memref.load %arg0[%thread_id_x] : memref<64xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %arg1[%thread_id_x] : memref<64xf32>
      gpu.return
    }
  }
  gpu.module @sum_kernel {
    gpu.func @sum(%arg0: memref<64xf32> {weft.name = "x"}, %arg1: memref<64xf32> {weft.name = "y"}, %arg2: memref<64xf32> {weft.name = "z"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %thread_id_x = gpu.thread_id x
      %0 = memref.load %arg0[%thread_id_x] : memref<64xf32>
      %1 = memref.load %arg1[%thread_id_x] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %arg2[%thread_id_x] : memref<64xf32>
      gpu.return
    }
  }
  func.func @both(%arg0: memref<64xf32> {weft.name = "x"}, %arg1: memref<64xf32> {weft.name = "z"}) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %alloc = memref.alloc() {weft.name = "l"} : memref<64xf32>
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @left_kernel::@left blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)  args(%arg0 : memref<64xf32>, %alloc : memref<64xf32>)
    %alloc_0 = memref.alloc() {weft.name = "r"} : memref<64xf32>
    %2 = gpu.wait async
    %3 = gpu.launch_func async [%2] @right_kernel::@right blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)  args(%arg0 : memref<64xf32>, %alloc_0 : memref<64xf32>)
    %4 = gpu.wait async [%1, %3]
    %5 = gpu.launch_func async [%4] @sum_kernel::@sum blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)  args(%alloc : memref<64xf32>, %alloc_0 : memref<64xf32>, %arg1 : memref<64xf32>)
    gpu.wait [%5]
    memref.dealloc %alloc : memref<64xf32>
    memref.dealloc %alloc_0 : memref<64xf32>
    return
  }
}
