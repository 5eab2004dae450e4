// weft golden shared
#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {bufferize.result, weft.name = "C"}) {
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c32, %c32, %c1) threads in (%c16, %c16, %c1)  args(%arg0 : memref<512x512xf32>, %arg1 : memref<512x512xf32>, %arg2 : memref<512x512xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {weft.name = "C"}) workgroup(%arg3 : memref<16x16xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<16x16xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 32, 32, 1>} {
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c512 = arith.constant 512 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = affine.apply #map(%block_id_y, %thread_id_y)
      %1 = affine.apply #map(%block_id_x, %thread_id_x)
      scf.for %arg5 = %c0 to %c512 step %c16 {
        %3 = affine.apply #map1(%thread_id_x, %arg5)
        %4 = memref.load %arg0[%0, %3] : memref<512x512xf32>
        memref.store %4, %arg3[%thread_id_y, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
        %5 = affine.apply #map1(%thread_id_y, %arg5)
        %6 = memref.load %arg1[%5, %1] : memref<512x512xf32>
        memref.store %6, %arg4[%thread_id_y, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %7 = memref.load %arg3[%thread_id_y, %arg6] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %8 = memref.load %arg4[%arg6, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %9 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
          %10 = arith.mulf %7, %8 : f32
          %11 = arith.addf %9, %10 : f32
          memref.store %11, %alloca[%c0, %c0] : memref<1x1xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %2 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
      memref.store %2, %arg2[%0, %1] : memref<512x512xf32>
      gpu.return
    }
  }
}
