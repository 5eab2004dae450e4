#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<?x?x?xi32> {weft.name = "A"}, %arg1: index, %arg2: index) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c2, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<?x?x?xi32>, %arg1 : index, %arg2 : index)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<?x?x?xi32> {weft.name = "A"}, %arg1: index, %arg2: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %c32 = arith.constant 32 : index
      %c4 = arith.constant 4 : index
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      scf.for %arg3 = %1 to %arg1 step %c4 {
        scf.for %arg4 = %0 to %arg2 step %c32 {
          memref.store %c1_i32, %arg0[%block_id_x, %arg3, %arg4] : memref<?x?x?xi32>
        }
      }
      gpu.return
    }
  }
}

// kernel @f: grid 2x1x1, block 128x1x1
