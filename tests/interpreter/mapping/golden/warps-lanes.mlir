#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<2x8x32xi32> {weft.name = "A"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c2, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<2x8x32xi32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<2x8x32xi32> {weft.name = "A"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      memref.store %c1_i32, %arg0[%block_id_x, %1, %0] : memref<2x8x32xi32>
      gpu.return
    }
  }
}

// kernel @f: grid 2x1x1, block 256x1x1
