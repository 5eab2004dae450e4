#map = affine_map<()[s0, s1, s2] -> (s0 * 32 + s1 + s2 * 4)>
#map1 = affine_map<()[s0, s1, s2] -> (s0 * 128 + s1 + s2 * 4)>
#map2 = affine_map<()[s0, s1] -> ((s0 + s1 * 32) mod 128)>
#map3 = affine_map<()[s0, s1, s2] -> (s0 * 128 + s1 + s2 * 32 - ((s1 + s2 * 32) floordiv 128) * 128)>
#map4 = affine_map<()[s0, s1] -> (s0 + s1)>
#map5 = affine_map<(d0)[s0] -> (d0 * 8 + s0)>
#map6 = affine_map<(d0)[s0, s1] -> (d0 * 8 + s0 * 32 + s1)>
#map7 = affine_map<(d0)[s0, s1] -> (d0 * 2 + (s0 + s1 * 32) floordiv 128)>
#map8 = affine_map<(d0)[s0, s1, s2] -> (d0 * 2 + s0 + (s1 + s2 * 32) floordiv 128)>
#map9 = affine_map<()[s0, s1] -> (s0 + s1 * 4)>
module attributes {gpu.container_module} {
  func.func @dot(%arg0: memref<1024x1024xf32> {weft.name = "lhs"}, %arg1: memref<1024x1024xf32> {weft.name = "rhs"}, %arg2: memref<1024x1024xf32> {bufferize.result, weft.name = "result0"}) {
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func  @dot_kernel::@dot blocks in (%c8, %c32, %c1) threads in (%c32, %c8, %c1)  args(%arg0 : memref<1024x1024xf32>, %arg1 : memref<1024x1024xf32>, %arg2 : memref<1024x1024xf32>)
    return
  }
  gpu.module @dot_kernel {
    gpu.func @dot(%arg0: memref<1024x1024xf32> {weft.name = "lhs"}, %arg1: memref<1024x1024xf32> {weft.name = "rhs"}, %arg2: memref<1024x1024xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<32x32xf32, #gpu.address_space<workgroup>> {weft.name = "lhs_shared"}, %arg4 : memref<32x128xf32, #gpu.address_space<workgroup>> {weft.name = "rhs_shared"}) kernel attributes {known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 8, 32, 1>} {
      %c16 = arith.constant 16 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c32 = arith.constant 32 : index
      %c1024 = arith.constant 1024 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %2 = affine.apply #map()[%block_id_y, %arg5, %thread_id_y]
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %3 = affine.apply #map1()[%block_id_x, %arg6, %thread_id_x]
          memref.store %cst, %arg2[%2, %3] : memref<1024x1024xf32>
        }
      }
      %0 = affine.apply #map2()[%thread_id_x, %thread_id_y]
      %1 = affine.apply #map3()[%block_id_x, %thread_id_x, %thread_id_y]
      scf.for %arg5 = %c0 to %c1024 step %c32 {
        %2 = affine.apply #map4()[%arg5, %thread_id_x]
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %3 = affine.apply #map5(%arg6)[%thread_id_y]
          %4 = affine.apply #map6(%arg6)[%block_id_y, %thread_id_y]
          %5 = memref.load %arg0[%4, %2] : memref<1024x1024xf32>
          memref.store %5, %arg3[%3, %thread_id_x] : memref<32x32xf32, #gpu.address_space<workgroup>>
        }
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %3 = affine.apply #map7(%arg6)[%thread_id_x, %thread_id_y]
          %4 = affine.apply #map8(%arg6)[%arg5, %thread_id_x, %thread_id_y]
          %5 = memref.load %arg1[%4, %1] : memref<1024x1024xf32>
          memref.store %5, %arg4[%3, %0] : memref<32x128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %3 = affine.apply #map9()[%arg6, %thread_id_y]
          %4 = affine.apply #map()[%block_id_y, %arg6, %thread_id_y]
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %5 = affine.apply #map9()[%arg7, %thread_id_x]
            %6 = affine.apply #map1()[%block_id_x, %arg7, %thread_id_x]
            scf.for %arg8 = %c0 to %c32 step %c1 {
              %7 = memref.load %arg3[%3, %arg8] : memref<32x32xf32, #gpu.address_space<workgroup>>
              %8 = memref.load %arg4[%arg8, %5] : memref<32x128xf32, #gpu.address_space<workgroup>>
              %9 = memref.load %arg2[%4, %6] : memref<1024x1024xf32>
              %10 = arith.mulf %7, %8 : f32
              %11 = arith.addf %9, %10 : f32
              memref.store %11, %arg2[%4, %6] : memref<1024x1024xf32>
            }
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      gpu.return
    }
  }
}
