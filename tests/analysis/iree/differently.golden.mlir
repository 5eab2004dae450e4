#map = affine_map<()[s0, s1, s2] -> (s0 * 128 + s1 + s2 * 32 - ((s1 + s2 * 32) floordiv 128) * 128)>
#map1 = affine_map<(d0)[s0, s1, s2] -> (d0 * 2 + s0 * 32 + (s1 + s2 * 32) floordiv 128)>
#map2 = affine_map<()[s0, s1, s2] -> (s0 * 32 + s1 + s2 * 4)>
#map3 = affine_map<()[s0, s1, s2] -> (s0 * 128 + s1 + s2 * 4)>
module attributes {gpu.container_module} {
  func.func @dot(%arg0: memref<1024x1024xf32> {weft.name = "lhs"}, %arg1: memref<1024x1024xf32> {weft.name = "rhs"}, %arg2: memref<1024x1024xf32> {bufferize.result, weft.name = "result0"}) {
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func  @dot_kernel::@dot blocks in (%c8, %c32, %c1) threads in (%c32, %c8, %c1)  args(%arg0 : memref<1024x1024xf32>, %arg1 : memref<1024x1024xf32>, %arg2 : memref<1024x1024xf32>)
    return
  }
  gpu.module @dot_kernel {
    gpu.func @dot(%arg0: memref<1024x1024xf32> {weft.name = "lhs"}, %arg1: memref<1024x1024xf32> {weft.name = "rhs"}, %arg2: memref<1024x1024xf32> {weft.name = "result0"}) kernel attributes {known_block_size = array<i32: 32, 8, 1>, known_grid_size = array<i32: 8, 32, 1>} {
      %c1024 = arith.constant 1024 : index
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_y = gpu.thread_id y
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %0 = affine.apply #map()[%block_id_x, %thread_id_x, %thread_id_y]
      scf.for %arg3 = %c0 to %c16 step %c1 {
        %1 = affine.apply #map1(%arg3)[%block_id_y, %thread_id_x, %thread_id_y]
        memref.store %cst, %arg2[%1, %0] : memref<1024x1024xf32>
      }
      gpu.barrier memfence [#gpu.address_space<global>]
      scf.for %arg3 = %c0 to %c4 step %c1 {
        %1 = affine.apply #map2()[%block_id_y, %arg3, %thread_id_y]
        scf.for %arg4 = %c0 to %c4 step %c1 {
          %2 = affine.apply #map3()[%block_id_x, %arg4, %thread_id_x]
          scf.for %arg5 = %c0 to %c1024 step %c1 {
            %3 = memref.load %arg0[%1, %arg5] : memref<1024x1024xf32>
            %4 = memref.load %arg1[%arg5, %2] : memref<1024x1024xf32>
            %5 = memref.load %arg2[%1, %2] : memref<1024x1024xf32>
            %6 = arith.mulf %3, %4 : f32
            %7 = arith.addf %5, %6 : f32
            memref.store %7, %arg2[%1, %2] : memref<1024x1024xf32>
          }
        }
      }
      gpu.return
    }
  }
}
