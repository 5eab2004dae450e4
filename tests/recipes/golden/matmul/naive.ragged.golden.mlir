// weft golden naive --set m=1000 --set n=777 --set k=333
#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<1000x333xf32> {weft.name = "A"}, %arg1: memref<333x777xf32> {weft.name = "B"}, %arg2: memref<1000x777xf32> {bufferize.result, weft.name = "C"}) {
    %c49 = arith.constant 49 : index
    %c63 = arith.constant 63 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c49, %c63, %c1) threads in (%c16, %c16, %c1)  args(%arg0 : memref<1000x333xf32>, %arg1 : memref<333x777xf32>, %arg2 : memref<1000x777xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<1000x333xf32> {weft.name = "A"}, %arg1: memref<333x777xf32> {weft.name = "B"}, %arg2: memref<1000x777xf32> {weft.name = "C"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 49, 63, 1>} {
      %c333 = arith.constant 333 : index
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c1000 = arith.constant 1000 : index
      %c777 = arith.constant 777 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() {weft.name = "C_tile"} : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c777 : index
      %2 = affine.apply #map(%block_id_y, %thread_id_y)
      %3 = arith.cmpi slt, %2, %c1000 : index
      scf.for %arg3 = %c0 to %c333 step %c1 {
        %5 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        %6 = scf.if %1 -> (f32) {
          %10 = memref.load %arg1[%arg3, %0] : memref<333x777xf32>
          scf.yield %10 : f32
        } else {
          scf.yield %cst : f32
        }
        %7 = scf.if %3 -> (f32) {
          %10 = memref.load %arg0[%2, %arg3] : memref<1000x333xf32>
          scf.yield %10 : f32
        } else {
          scf.yield %cst : f32
        }
        %8 = arith.mulf %7, %6 : f32
        %9 = arith.addf %5, %8 : f32
        memref.store %9, %alloca[%c0, %c0] : memref<1x1xf32>
      }
      %4 = arith.andi %3, %1 : i1
      scf.if %4 {
        %5 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        memref.store %5, %arg2[%2, %0] : memref<1000x777xf32>
      }
      gpu.return
    }
  }
}
