#map = affine_map<(d0, d1) -> (d0 + d1 * 2)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<3x4x7xi32> {weft.name = "out"}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c1, %c1, %c1) threads in (%c4, %c2, %c3)  args(%arg0 : memref<3x4x7xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<3x4x7xi32> {weft.name = "out"}) kernel attributes {known_block_size = array<i32: 4, 2, 3>, known_grid_size = array<i32: 1, 1, 1>} {
      %c4 = arith.constant 4 : index
      %c7 = arith.constant 7 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c0 = arith.constant 0 : index
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %thread_id_z = gpu.thread_id z
      scf.for %arg1 = %c0 to %c2 step %c1 {
        %0 = affine.apply #map(%thread_id_y, %arg1)
        scf.for %arg2 = %thread_id_x to %c7 step %c4 {
          memref.store %c1_i32, %arg0[%thread_id_z, %0, %arg2] : memref<3x4x7xi32>
        }
      }
      gpu.return
    }
  }
}

// kernel @f: grid 1x1x1, block 4x2x3
