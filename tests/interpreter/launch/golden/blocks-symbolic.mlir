#map = affine_map<(d0) -> (d0 * 4)>
#map1 = affine_map<(d0, d1) -> (d0 + d1)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<100xi32> {weft.name = "out"}) {
    %c25 = arith.constant 25 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c25, %c1, %c1) threads in (%c1, %c1, %c1)  args(%arg0 : memref<100xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<100xi32> {weft.name = "out"}) kernel attributes {known_block_size = array<i32: 1, 1, 1>, weft.most_blocks = array<i64: -1, 1, 1>} {
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %c100 = arith.constant 100 : index
      %c1_i32 = arith.constant 1 : i32
      %grid_dim_x = gpu.grid_dim x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%grid_dim_x)
      %1 = affine.apply #map(%block_id_x)
      scf.for %arg1 = %1 to %c100 step %0 {
        scf.for %arg2 = %c0 to %c4 step %c1 {
          %2 = affine.apply #map1(%arg1, %arg2)
          memref.store %c1_i32, %arg0[%2] : memref<100xi32>
        }
      }
      gpu.return
    }
  }
}

// kernel @f: grid ?x1x1, block 1x1x1
