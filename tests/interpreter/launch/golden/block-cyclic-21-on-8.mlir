#map = affine_map<()[s0] -> (21, s0 * 3 + 3)>
#map1 = affine_map<(d0) -> (d0 * 3)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<21xi32> {weft.name = "out"}) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1)  args(%arg0 : memref<21xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<21xi32> {weft.name = "out"}) kernel attributes {known_block_size = array<i32: 8, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c1 = arith.constant 1 : index
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      %0 = affine.min #map()[%thread_id_x]
      %1 = affine.apply #map1(%thread_id_x)
      scf.for %arg1 = %1 to %0 step %c1 {
        memref.store %c1_i32, %arg0[%arg1] : memref<21xi32>
      }
      gpu.return
    }
  }
}

// kernel @f: grid 1x1x1, block 8x1x1
