#map = affine_map<(d0) -> (d0 - 2)>
#map1 = affine_map<(d0) -> (d0 ceildiv 3)>
#map2 = affine_map<(d0) -> (d0 * 3)>
#map3 = affine_map<(d0) -> (d0 + 2)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<?x?xi32> {weft.name = "out"}, %arg1: index, %arg2: index) {
    %0 = affine.apply #map(%arg2)
    %1 = affine.apply #map1(%0)
    %2 = affine.apply #map(%arg1)
    %3 = affine.apply #map1(%2)
    %c1 = arith.constant 1 : index
    gpu.launch_func  @f_kernel::@f blocks in (%1, %3, %c1) threads in (%c1, %c1, %c1)  args(%arg0 : memref<?x?xi32>, %arg1 : index, %arg2 : index)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<?x?xi32> {weft.name = "out"}, %arg1: index, %arg2: index) kernel attributes {known_block_size = array<i32: 1, 1, 1>, weft.most_blocks = array<i64: -1, -1, 1>} {
      %c1_i32 = arith.constant 1 : i32
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %0 = affine.apply #map2(%block_id_y)
      %1 = affine.apply #map3(%0)
      %2 = affine.apply #map2(%block_id_x)
      %3 = affine.apply #map3(%2)
      memref.store %c1_i32, %arg0[%1, %3] : memref<?x?xi32>
      gpu.return
    }
  }
}

// kernel @f: grid ?x?x1, block 1x1x1
