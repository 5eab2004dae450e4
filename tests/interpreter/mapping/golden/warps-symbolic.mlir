#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 ceildiv 32)>
#map2 = affine_map<(d0) -> (d0 mod 32)>
#map3 = affine_map<()[s0, s1] -> (s1 - (s0 floordiv 32) * 32, 32)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<2x8x32xi32> {weft.name = "A"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c2, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<2x8x32xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<2x8x32xi32> {weft.name = "A"}) kernel attributes {known_grid_size = array<i32: 2, 1, 1>} {
      %c32 = arith.constant 32 : index
      %c8 = arith.constant 8 : index
      %c1_i32 = arith.constant 1 : i32
      %block_dim_x = gpu.block_dim x
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%thread_id_x)
      %1 = affine.apply #map1(%block_dim_x)
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.min #map3()[%thread_id_x, %block_dim_x]
      scf.for %arg1 = %0 to %c8 step %1 {
        scf.for %arg2 = %2 to %c32 step %3 {
          memref.store %c1_i32, %arg0[%block_id_x, %arg1, %arg2] : memref<2x8x32xi32>
        }
      }
      gpu.return
    }
  }
}

// kernel @f: grid 2x1x1, block 128x1x1
