#map = affine_map<(d0, d1) -> (d0 * 32 + d1 * 4)>
#map1 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map2 = affine_map<(d0, d1) -> (d0 + d1)>
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
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %0 = affine.apply #map(%block_id_y, %thread_id_y)
      %1 = affine.apply #map1(%block_id_x, %thread_id_x)
      scf.for %arg3 = %c0 to %c4 step %c1 {
        %2 = affine.apply #map2(%0, %arg3)
        scf.for %arg4 = %c0 to %c4 step %c1 {
          %3 = affine.apply #map2(%1, %arg4)
          memref.store %cst, %arg2[%2, %3] : memref<1024x1024xf32>
        }
      }
      scf.for %arg3 = %c0 to %c4 step %c1 {
        %2 = affine.apply #map2(%0, %arg3)
        scf.for %arg4 = %c0 to %c4 step %c1 {
          %3 = affine.apply #map2(%1, %arg4)
          scf.for %arg5 = %c0 to %c1024 step %c1 {
            %4 = memref.load %arg0[%2, %arg5] : memref<1024x1024xf32>
            %5 = memref.load %arg1[%arg5, %3] : memref<1024x1024xf32>
            %6 = memref.load %arg2[%2, %3] : memref<1024x1024xf32>
            %7 = arith.mulf %4, %5 : f32
            %8 = arith.addf %6, %7 : f32
            memref.store %8, %arg2[%2, %3] : memref<1024x1024xf32>
          }
        }
      }
      gpu.return
    }
  }
}
