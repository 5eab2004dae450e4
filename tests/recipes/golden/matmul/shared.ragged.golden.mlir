// weft golden shared --set m=1000 --set n=777 --set k=333
#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1)>
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
    gpu.func @matmul(%arg0: memref<1000x333xf32> {weft.name = "A"}, %arg1: memref<333x777xf32> {weft.name = "B"}, %arg2: memref<1000x777xf32> {weft.name = "C"}) workgroup(%arg3 : memref<16x16xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<16x16xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 49, 63, 1>} {
      %c1 = arith.constant 1 : index
      %c777 = arith.constant 777 : index
      %c1000 = arith.constant 1000 : index
      %c333 = arith.constant 333 : index
      %c16 = arith.constant 16 : index
      %c336 = arith.constant 336 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = affine.apply #map(%block_id_y, %thread_id_y)
      %1 = arith.cmpi slt, %0, %c1000 : index
      %2 = affine.apply #map(%block_id_x, %thread_id_x)
      %3 = arith.cmpi slt, %2, %c777 : index
      scf.for %arg5 = %c0 to %c336 step %c16 {
        %5 = affine.apply #map1(%thread_id_x, %arg5)
        %6 = arith.cmpi slt, %5, %c333 : index
        %7 = arith.andi %6, %1 : i1
        %8 = scf.if %7 -> (f32) {
          %13 = memref.load %arg0[%0, %5] : memref<1000x333xf32>
          scf.yield %13 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %8, %arg3[%thread_id_y, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
        %9 = affine.apply #map1(%thread_id_y, %arg5)
        %10 = arith.cmpi slt, %9, %c333 : index
        %11 = arith.andi %10, %3 : i1
        %12 = scf.if %11 -> (f32) {
          %13 = memref.load %arg1[%9, %2] : memref<333x777xf32>
          scf.yield %13 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %12, %arg4[%thread_id_y, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %13 = memref.load %arg3[%thread_id_y, %arg6] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %14 = memref.load %arg4[%arg6, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
          %15 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
          %16 = arith.mulf %13, %14 : f32
          %17 = arith.addf %15, %16 : f32
          memref.store %17, %alloca[%c0, %c0] : memref<1x1xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %4 = arith.andi %1, %3 : i1
      scf.if %4 {
        %5 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        memref.store %5, %arg2[%0, %2] : memref<1000x777xf32>
      }
      gpu.return
    }
  }
}
