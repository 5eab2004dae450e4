// weft golden histogram --set n=99999 --set bins=1000
#map = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map1 = affine_map<()[s0] -> (s0 * -16384 + 99999, 16384)>
#map2 = affine_map<(d0) -> (d0 * 16384)>
#map3 = affine_map<(d0, d1) -> (d0 + d1)>
module attributes {gpu.container_module} {
  func.func @histogram(%arg0: memref<99999xi32> {weft.name = "X"}, %arg1: memref<1000xi32> {weft.name = "H"}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @histogram_kernel::@histogram blocks in (%c4, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg1 : memref<1000xi32>)
    %c7 = arith.constant 7 : index
    gpu.launch_func  @histogram_1_kernel::@histogram_1 blocks in (%c7, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<99999xi32>, %arg1 : memref<1000xi32>)
    return
  }
  gpu.module @histogram_kernel {
    gpu.func @histogram(%arg0: memref<1000xi32> {weft.name = "H"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %c1000 = arith.constant 1000 : index
      %c0_i32 = arith.constant 0 : i32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c1000 : index
      scf.if %1 {
        memref.store %c0_i32, %arg0[%0] : memref<1000xi32>
      }
      gpu.return
    }
  }
  gpu.module @histogram_1_kernel {
    gpu.func @histogram_1(%arg0: memref<99999xi32> {weft.name = "X"}, %arg1: memref<1000xi32> {weft.name = "H"}) workgroup(%arg2 : memref<1000xi32, #gpu.address_space<workgroup>> {weft.name = "H_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 1, 1>} {
      %c256 = arith.constant 256 : index
      %c1000 = arith.constant 1000 : index
      %c0_i32 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %c1000_i32 = arith.constant 1000 : i32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.min #map1()[%block_id_x]
      scf.for %arg3 = %thread_id_x to %c1000 step %c256 {
        memref.store %c0_i32, %arg2[%arg3] : memref<1000xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %1 = affine.apply #map2(%block_id_x)
      scf.for %arg3 = %thread_id_x to %0 step %c256 {
        %2 = affine.apply #map3(%1, %arg3)
        %3 = memref.load %arg0[%2] : memref<99999xi32>
        %4 = arith.cmpi ult, %3, %c1000_i32 : i32
        scf.if %4 {
          %5 = arith.index_castui %3 : i32 to index
          %6 = memref.atomic_rmw addi %c1_i32, %arg2[%5] : (i32, memref<1000xi32, #gpu.address_space<workgroup>>) -> i32
        }
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      scf.for %arg3 = %thread_id_x to %c1000 step %c256 {
        %2 = memref.load %arg2[%arg3] : memref<1000xi32, #gpu.address_space<workgroup>>
        %3 = memref.atomic_rmw addi %2, %arg1[%arg3] : (i32, memref<1000xi32>) -> i32
      }
      gpu.return
    }
  }
}
