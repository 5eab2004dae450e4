// weft golden igemm_pipelined
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 2) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 floordiv 2) mod 16)>
#map7 = affine_map<(d0) -> (d0 - 1)>
#map8 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 2) floordiv 16)>
#map9 = affine_map<(d0) -> ((((d0 floordiv 2) * -3 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map10 = affine_map<(d0) -> (d0 floordiv 2)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map12 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map13 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map14 = affine_map<(d0) -> (d0 floordiv 16)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map16 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map17 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map18 = affine_map<(d0) -> (d0 + 8)>
#map19 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 8) mod 16)>
#map20 = affine_map<(d0, d1, d2) -> (d0 + ((d1 + (d2 mod 2) * 4 + 8) mod 48) floordiv 16)>
#map21 = affine_map<(d0, d1, d2) -> (d0 + (d1 + (d2 mod 2) * 4 + 8) floordiv 48)>
#map22 = affine_map<(d0, d1) -> (d0 + d1)>
#map23 = affine_map<(d0) -> (d0 * 4)>
#map24 = affine_map<(d0) -> ((d0 floordiv 8) mod 2)>
#map25 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map26 = affine_map<(d0) -> ((d0 floordiv 8 + 1) mod 2)>
#map27 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<1x16x16x32xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c2, %c1) threads in (%c64, %c1, %c1)  args(%arg0 : memref<1x16x16x16xf32>, %arg1 : memref<3x3x16x32xf32>, %arg2 : memref<1x16x16x32xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<1x16x16x32xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<2x8x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<2x8x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 2, 1>} {
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c32 = arith.constant 32 : index
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c144 = arith.constant 144 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_y = gpu.block_id y
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [144, 32], strides: [32, 1] : memref<3x3x16x32xf32> to memref<144x32xf32>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [256, 32], strides: [32, 1] : memref<1x16x16x32xf32> to memref<256x32xf32>
      %alloca = memref.alloca() {weft.name = "X_next"} : memref<16xf32>
      %alloca_2 = memref.alloca() {weft.name = "W_next"} : memref<8xf32>
      %alloca_3 = memref.alloca() {weft.name = "acc"} : memref<16x8xf32>
      scf.for %arg5 = %c0 to %c16 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca_3[%arg5, %arg6] : memref<16x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%6)
      %8 = arith.cmpi ult, %7, %c16 : index
      %9 = affine.apply #map8(%block_id_y, %thread_id_x)
      %10 = affine.apply #map9(%thread_id_x)
      %11 = affine.apply #map10(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %18 = affine.apply #map11(%9, %arg5)
        %19 = affine.apply #map7(%18)
        %20 = arith.cmpi ult, %19, %c16 : index
        %21 = arith.andi %20, %8 : i1
        %22 = scf.if %21 -> (vector<4xf32>) {
          %29 = vector.load %arg0[%c0, %19, %7, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %29 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %23 = vector.extract %22[0] : f32 from vector<4xf32>
        %24 = arith.xori %11, %10 : index
        %25 = affine.apply #map12(%arg5, %24)
        memref.store %23, %arg3[%c0, %2, %25] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        %26 = vector.extract %22[1] : f32 from vector<4xf32>
        memref.store %26, %arg3[%c0, %3, %25] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        %27 = vector.extract %22[2] : f32 from vector<4xf32>
        memref.store %27, %arg3[%c0, %4, %25] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        %28 = vector.extract %22[3] : f32 from vector<4xf32>
        memref.store %28, %arg3[%c0, %5, %25] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
      }
      %12 = affine.apply #map13(%thread_id_x)
      %13 = arith.cmpi slt, %12, %c32 : index
      %14 = affine.apply #map14(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %18 = affine.apply #map15(%14, %arg5)
        %19 = scf.if %13 -> (vector<4xf32>) {
          %20 = vector.load %reinterpret_cast[%18, %12] : memref<144x32xf32>, vector<4xf32>
          scf.yield %20 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        vector.store %19, %arg4[%c0, %18, %12] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %15 = affine.apply #map16(%1)
      %16 = affine.apply #map17(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c144 step %c8 {
        %18 = affine.apply #map18(%arg5)
        %19 = arith.cmpi slt, %18, %c144 : index
        %20 = affine.apply #map19(%arg5, %thread_id_x)
        %21 = affine.apply #map20(%6, %arg5, %thread_id_x)
        %22 = affine.apply #map7(%21)
        %23 = affine.apply #map21(%9, %arg5, %thread_id_x)
        %24 = affine.apply #map22(%14, %arg5)
        scf.if %19 {
          %27 = arith.cmpi ult, %22, %c16 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %28 = affine.apply #map23(%arg6)
            %29 = affine.apply #map11(%23, %arg6)
            %30 = affine.apply #map7(%29)
            %31 = arith.cmpi ult, %30, %c16 : index
            %32 = arith.andi %31, %27 : i1
            %33 = scf.if %32 -> (vector<4xf32>) {
              %34 = vector.load %arg0[%c0, %30, %22, %20] : memref<1x16x16x16xf32>, vector<4xf32>
              scf.yield %34 : vector<4xf32>
            } else {
              scf.yield %cst : vector<4xf32>
            }
            vector.store %33, %alloca[%28] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %28 = affine.apply #map23(%arg6)
            %29 = affine.apply #map15(%24, %arg6)
            %30 = affine.apply #map18(%29)
            %31 = scf.if %13 -> (vector<4xf32>) {
              %32 = vector.load %reinterpret_cast[%30, %12] : memref<144x32xf32>, vector<4xf32>
              scf.yield %32 : vector<4xf32>
            } else {
              scf.yield %cst : vector<4xf32>
            }
            vector.store %31, %alloca_2[%28] : memref<8xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %25 = affine.apply #map24(%arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<16xf32>
          %27 = affine.apply #map25(%arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %28 = affine.apply #map23(%arg7)
            %29 = arith.xori %28, %27 : index
            %30 = affine.apply #map22(%15, %29)
            %31 = vector.load %arg3[%25, %arg6, %30] : memref<2x8x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %31, %alloca_4[%28] : memref<16xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %28 = affine.apply #map23(%arg7)
            %29 = affine.apply #map15(%16, %arg7)
            %30 = vector.load %arg4[%25, %arg6, %29] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %30, %alloca_5[%28] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %28 = memref.load %alloca_4[%arg7] : memref<16xf32>
              %29 = memref.load %alloca_5[%arg8] : memref<8xf32>
              %30 = memref.load %alloca_3[%arg7, %arg8] : memref<16x8xf32>
              %31 = arith.mulf %28, %29 : f32
              %32 = arith.addf %30, %31 : f32
              memref.store %32, %alloca_3[%arg7, %arg8] : memref<16x8xf32>
            }
          }
        } {weft.unroll}
        %26 = affine.apply #map26(%arg5)
        scf.if %19 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %27 = affine.apply #map23(%arg6)
            %28 = vector.load %alloca[%27] : memref<16xf32>, vector<4xf32>
            %29 = vector.extract %28[0] : f32 from vector<4xf32>
            %30 = arith.xori %11, %10 : index
            %31 = affine.apply #map12(%arg6, %30)
            memref.store %29, %arg3[%26, %2, %31] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %32 = vector.extract %28[1] : f32 from vector<4xf32>
            memref.store %32, %arg3[%26, %3, %31] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %33 = vector.extract %28[2] : f32 from vector<4xf32>
            memref.store %33, %arg3[%26, %4, %31] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %34 = vector.extract %28[3] : f32 from vector<4xf32>
            memref.store %34, %arg3[%26, %5, %31] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %27 = affine.apply #map23(%arg6)
            %28 = vector.load %alloca_2[%27] : memref<8xf32>, vector<4xf32>
            %29 = affine.apply #map15(%14, %arg6)
            vector.store %28, %arg4[%26, %29, %12] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %17 = affine.apply #map27(%block_id_y, %1)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %18 = affine.apply #map22(%17, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %19 = affine.apply #map15(%16, %arg6)
          %20 = arith.cmpi slt, %19, %c32 : index
          %21 = affine.apply #map23(%arg6)
          scf.if %20 {
            %22 = vector.load %alloca_3[%arg5, %21] : memref<16x8xf32>, vector<4xf32>
            vector.store %22, %reinterpret_cast_1[%18, %19] : memref<256x32xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
