#map = affine_map<(d0, d1) -> (d0 * 256 + d1)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<1000xi32> {weft.name = "out"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c2, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1000xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<1000xi32> {weft.name = "out"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %c1000 = arith.constant 1000 : index
      %c300 = arith.constant 300 : index
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c300 : index
      scf.if %1 {
        scf.for %arg1 = %0 to %c1000 step %c300 {
          memref.store %c1_i32, %arg0[%arg1] : memref<1000xi32>
        }
      }
      gpu.return
    }
  }
}

// kernel @f: grid 2x1x1, block 256x1x1
