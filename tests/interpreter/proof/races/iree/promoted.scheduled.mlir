#map = affine_map<(d0, d1) -> (d0 * 32 + d1 * 4)>
#map1 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map2 = affine_map<(d0, d1) -> (d0 + d1)>
#map3 = affine_map<(d0, d1) -> ((d0 * 32 + d1) mod 128)>
#map4 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 * 32 + d2) mod 128)>
#map5 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map6 = affine_map<(d0, d1) -> ((d0 * 32 + d1) floordiv 128)>
#map7 = affine_map<(d0) -> (d0 * 4)>
#map8 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map9 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
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
      %0 = affine.apply #map(%block_id_y, %thread_id_y)
      %1 = affine.apply #map1(%block_id_x, %thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %8 = affine.apply #map2(%0, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %9 = affine.apply #map2(%1, %arg6)
          memref.store %cst, %arg2[%8, %9] : memref<1024x1024xf32>
        }
      }
      %2 = affine.apply #map3(%thread_id_y, %thread_id_x)
      %3 = affine.apply #map4(%block_id_x, %thread_id_y, %thread_id_x)
      %4 = affine.apply #map5(%block_id_y, %thread_id_y)
      %5 = affine.apply #map6(%thread_id_y, %thread_id_x)
      %6 = affine.apply #map7(%thread_id_y)
      %7 = affine.apply #map7(%thread_id_x)
      scf.for %arg5 = %c0 to %c1024 step %c32 {
        %8 = affine.apply #map2(%thread_id_x, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %10 = affine.apply #map8(%thread_id_y, %arg6)
          %11 = affine.apply #map8(%4, %arg6)
          %12 = memref.load %arg0[%11, %8] : memref<1024x1024xf32>
          memref.store %12, %arg3[%10, %thread_id_x] : memref<32x32xf32, #gpu.address_space<workgroup>>
        }
        %9 = affine.apply #map2(%5, %arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %10 = affine.apply #map9(%5, %arg6)
          %11 = affine.apply #map9(%9, %arg6)
          %12 = memref.load %arg1[%11, %3] : memref<1024x1024xf32>
          memref.store %12, %arg4[%10, %2] : memref<32x128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %10 = affine.apply #map2(%6, %arg6)
          %11 = affine.apply #map2(%0, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %12 = affine.apply #map2(%7, %arg7)
            %13 = affine.apply #map2(%1, %arg7)
            scf.for %arg8 = %c0 to %c32 step %c1 {
              %14 = memref.load %arg3[%10, %arg8] : memref<32x32xf32, #gpu.address_space<workgroup>>
              %15 = memref.load %arg4[%arg8, %12] : memref<32x128xf32, #gpu.address_space<workgroup>>
              %16 = memref.load %arg2[%11, %13] : memref<1024x1024xf32>
              %17 = arith.mulf %14, %15 : f32
              %18 = arith.addf %16, %17 : f32
              memref.store %18, %arg2[%11, %13] : memref<1024x1024xf32>
            }
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      gpu.return
    }
  }
}
