// weft golden igemm_split_k
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0) -> ((d0 floordiv 4) mod 16)>
#map8 = affine_map<(d0) -> ((d0 floordiv 4) floordiv 16)>
#map9 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map10 = affine_map<(d0) -> (d0 floordiv 4)>
#map11 = affine_map<(d0) -> (d0 floordiv 16)>
#map12 = affine_map<(d0, d1) -> (d0 * 144 + d1 floordiv 16)>
#map13 = affine_map<(d0) -> ((d0 floordiv 4) * 8)>
#map14 = affine_map<(d0) -> ((d0 floordiv 2) * 64)>
#map15 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map16 = affine_map<(d0, d1, d2) -> ((d0 * 144 + d1 + (d2 mod 4) * 4) mod 64)>
#map17 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 144 + d2 + (d3 mod 4) * 4) mod 192) floordiv 64)>
#map18 = affine_map<(d0) -> (d0 - 1)>
#map19 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 * 144 + d2 + (d3 mod 4) * 4) floordiv 192)>
#map20 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map21 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map22 = affine_map<(d0, d1) -> (d0 + d1)>
#map23 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map24 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map25 = affine_map<(d0) -> (d0 * 4)>
#map26 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map27 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map28 = affine_map<(d0, d1) -> (d0 * 4 + d1 floordiv 64)>
#map29 = affine_map<(d0) -> (d0 mod 64)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<1x8x16x64xf32> {weft.name = "X"}, %arg1: memref<3x3x64x64xf32> {weft.name = "W"}, %arg2: memref<1x8x16x64xf32> {bufferize.result, weft.name = "Y"}) {
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "Y_2"} : memref<4x128x64xf32>
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c1, %c4) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x8x16x64xf32>, %arg1 : memref<3x3x64x64xf32>, %alloc : memref<4x128x64xf32>)
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @conv2d_1_kernel::@conv2d_1 blocks in (%c32, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<1x8x16x64xf32>, %alloc : memref<4x128x64xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<1x8x16x64xf32> {weft.name = "X"}, %arg1: memref<3x3x64x64xf32> {weft.name = "W"}, %arg2: memref<4x128x64xf32> {weft.name = "Y_2"}) workgroup(%arg3 : memref<1x16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<1x16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 4>} {
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_z = gpu.block_id z
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [576, 64], strides: [64, 1] : memref<3x3x64x64xf32> to memref<576x64xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      %8 = affine.apply #map8(%thread_id_x)
      %9 = affine.apply #map9(%thread_id_x)
      %10 = affine.apply #map10(%thread_id_x)
      %11 = affine.apply #map11(%thread_id_x)
      %12 = affine.apply #map12(%block_id_z, %thread_id_x)
      %13 = affine.apply #map13(%0)
      %14 = affine.apply #map14(%1)
      %15 = affine.apply #map15(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c144 step %c16 {
        %17 = affine.apply #map16(%block_id_z, %arg5, %thread_id_x)
        %18 = affine.apply #map17(%7, %block_id_z, %arg5, %thread_id_x)
        %19 = affine.apply #map18(%18)
        %20 = arith.cmpi ult, %19, %c16 : index
        %21 = affine.apply #map19(%8, %block_id_z, %arg5, %thread_id_x)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %23 = affine.apply #map20(%21, %arg6)
          %24 = affine.apply #map18(%23)
          %25 = arith.cmpi ult, %24, %c8 : index
          %26 = arith.andi %25, %20 : i1
          %27 = scf.if %26 -> (vector<4xf32>) {
            %34 = vector.load %arg0[%c0, %24, %19, %17] : memref<1x8x16x64xf32>, vector<4xf32>
            scf.yield %34 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %28 = vector.extract %27[0] : f32 from vector<4xf32>
          %29 = arith.xori %10, %9 : index
          %30 = affine.apply #map21(%arg6, %29)
          memref.store %28, %arg3[%c0, %2, %30] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
          %31 = vector.extract %27[1] : f32 from vector<4xf32>
          memref.store %31, %arg3[%c0, %3, %30] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
          %32 = vector.extract %27[2] : f32 from vector<4xf32>
          memref.store %32, %arg3[%c0, %4, %30] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
          %33 = vector.extract %27[3] : f32 from vector<4xf32>
          memref.store %33, %arg3[%c0, %5, %30] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        }
        %22 = affine.apply #map22(%12, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %23 = affine.apply #map23(%11, %arg6)
          %24 = affine.apply #map23(%22, %arg6)
          %25 = vector.load %reinterpret_cast[%24, %6] : memref<576x64xf32>, vector<4xf32>
          vector.store %25, %arg4[%c0, %23, %6] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          %23 = affine.apply #map24(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map25(%arg7)
            %25 = affine.apply #map26(%13, %arg7)
            %26 = arith.xori %25, %23 : index
            %27 = affine.apply #map22(%14, %26)
            %28 = vector.load %arg3[%c0, %arg6, %27] : memref<1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %28, %alloca_1[%24] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map25(%arg7)
            %25 = affine.apply #map26(%15, %arg7)
            %26 = vector.load %arg4[%c0, %arg6, %25] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %26, %alloca_2[%24] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %24 = memref.load %alloca_1[%arg7] : memref<8xf32>
              %25 = memref.load %alloca_2[%arg8] : memref<8xf32>
              %26 = memref.load %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
              %27 = arith.mulf %24, %25 : f32
              %28 = arith.addf %26, %27 : f32
              memref.store %28, %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %16 = affine.apply #map27(%1, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %17 = affine.apply #map22(%16, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %18 = affine.apply #map25(%arg6)
          %19 = vector.load %alloca[%c0, %arg5, %18] : memref<1x8x8xf32>, vector<4xf32>
          %20 = affine.apply #map26(%15, %arg6)
          vector.store %19, %arg2[%block_id_z, %17, %20] : memref<4x128x64xf32>, vector<4xf32>
        }
      }
      gpu.return
    }
  }
  gpu.module @conv2d_1_kernel {
    gpu.func @conv2d_1(%arg0: memref<1x8x16x64xf32> {weft.name = "Y"}, %arg1: memref<4x128x64xf32> {weft.name = "Y_2"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [128, 64], strides: [64, 1] : memref<1x8x16x64xf32> to memref<128x64xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = affine.apply #map28(%block_id_x, %thread_id_x)
      %1 = affine.apply #map29(%thread_id_x)
      scf.for %arg2 = %c0 to %c4 step %c1 {
        %3 = memref.load %arg1[%arg2, %0, %1] : memref<4x128x64xf32>
        %4 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        %5 = arith.addf %4, %3 : f32
        memref.store %5, %alloca[%c0, %c0] : memref<1x1xf32>
      } {weft.unroll}
      %2 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
      memref.store %2, %reinterpret_cast[%0, %1] : memref<128x64xf32>
      gpu.return
    }
  }
}
