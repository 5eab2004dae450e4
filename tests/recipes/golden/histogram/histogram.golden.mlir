// weft golden histogram
#map = affine_map<(d0, d1) -> (d0 * 16384 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 * 256)>
module attributes {gpu.container_module} {
  func.func @histogram(%arg0: memref<1048576xi32> {weft.name = "X"}, %arg1: memref<256xi32> {weft.name = "H"}) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @histogram_kernel::@histogram blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg1 : memref<256xi32>)
    %c64 = arith.constant 64 : index
    gpu.launch_func  @histogram_1_kernel::@histogram_1 blocks in (%c64, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1048576xi32>, %arg1 : memref<256xi32>)
    return
  }
  gpu.module @histogram_kernel {
    gpu.func @histogram(%arg0: memref<256xi32> {weft.name = "H"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0_i32 = arith.constant 0 : i32
      %thread_id_x = gpu.thread_id x
      memref.store %c0_i32, %arg0[%thread_id_x] : memref<256xi32>
      gpu.return
    }
  }
  gpu.module @histogram_1_kernel {
    gpu.func @histogram_1(%arg0: memref<1048576xi32> {weft.name = "X"}, %arg1: memref<256xi32> {weft.name = "H"}) workgroup(%arg2 : memref<256xi32, #gpu.address_space<workgroup>> {weft.name = "H_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 64, 1, 1>} {
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c0 = arith.constant 0 : index
      %c0_i32 = arith.constant 0 : i32
      %c1_i32 = arith.constant 1 : i32
      %c256_i32 = arith.constant 256 : i32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      memref.store %c0_i32, %arg2[%thread_id_x] : memref<256xi32, #gpu.address_space<workgroup>>
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      scf.for %arg3 = %c0 to %c64 step %c1 {
        %3 = affine.apply #map1(%0, %arg3)
        %4 = memref.load %arg0[%3] : memref<1048576xi32>
        %5 = arith.cmpi ult, %4, %c256_i32 : i32
        scf.if %5 {
          %6 = arith.index_castui %4 : i32 to index
          %7 = memref.atomic_rmw addi %c1_i32, %arg2[%6] : (i32, memref<256xi32, #gpu.address_space<workgroup>>) -> i32
        }
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %1 = memref.load %arg2[%thread_id_x] : memref<256xi32, #gpu.address_space<workgroup>>
      %2 = memref.atomic_rmw addi %1, %arg1[%thread_id_x] : (i32, memref<256xi32>) -> i32
      gpu.return
    }
  }
}
