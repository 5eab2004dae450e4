#map = affine_map<(d0) -> (d0 ceildiv 256)>
#map1 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<?xi32> {weft.name = "out"}, %arg1: index) {
    %0 = affine.apply #map(%arg1)
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @f_kernel::@f blocks in (%0, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<?xi32>, %arg1 : index)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<?xi32> {weft.name = "out"}, %arg1: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>, weft.most_blocks = array<i64: -1, 1, 1>} {
      %c1_i32 = arith.constant 1 : i32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map1(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %arg1 : index
      scf.if %1 {
        memref.store %c1_i32, %arg0[%0] : memref<?xi32>
      }
      gpu.return
    }
  }
}

// kernel @f: grid ?x1x1, block 256x1x1
