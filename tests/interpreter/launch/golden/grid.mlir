#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
#map1 = affine_map<(d0) -> (d0 + 1)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<41x71xi32> {weft.name = "out"}) {
    %c5 = arith.constant 5 : index
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c5, %c3, %c1) threads in (%c16, %c16, %c1)  args(%arg0 : memref<41x71xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<41x71xi32> {weft.name = "out"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 5, 3, 1>} {
      %c70 = arith.constant 70 : index
      %c40 = arith.constant 40 : index
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %thread_id_y = gpu.thread_id y
      %block_id_y = gpu.block_id y
      %0 = affine.apply #map(%block_id_y, %thread_id_y)
      %1 = arith.cmpi slt, %0, %c40 : index
      %2 = affine.apply #map(%block_id_x, %thread_id_x)
      %3 = affine.apply #map1(%0)
      %4 = affine.apply #map1(%2)
      scf.if %1 {
        %5 = arith.cmpi slt, %2, %c70 : index
        scf.if %5 {
          memref.store %c1_i32, %arg0[%3, %4] : memref<41x71xi32>
        }
      }
      gpu.return
    }
  }
}

// kernel @f: grid 5x3x1, block 16x16x1
