// weft golden naive
#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {bufferize.result, weft.name = "C"}) {
    %c32 = arith.constant 32 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c32, %c32, %c1) threads in (%c16, %c16, %c1)  args(%arg0 : memref<512x512xf32>, %arg1 : memref<512x512xf32>, %arg2 : memref<512x512xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {weft.name = "C"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 32, 32, 1>} {
      %c512 = arith.constant 512 : index
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %0 = affine.apply #map(%block_id_y, %thread_id_y)
      %1 = affine.apply #map(%block_id_x, %thread_id_x)
      memref.store %cst, %arg2[%0, %1] : memref<512x512xf32>
      scf.for %arg3 = %c0 to %c512 step %c1 {
        %2 = memref.load %arg0[%0, %arg3] : memref<512x512xf32>
        %3 = memref.load %arg1[%arg3, %1] : memref<512x512xf32>
        %4 = memref.load %arg2[%0, %1] : memref<512x512xf32>
        %5 = arith.mulf %2, %3 : f32
        %6 = arith.addf %4, %5 : f32
        memref.store %6, %arg2[%0, %1] : memref<512x512xf32>
      }
      gpu.return
    }
  }
}
