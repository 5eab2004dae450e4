// weft golden igemm_pipelined.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 2) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 floordiv 2) mod 16)>
#map7 = affine_map<(d0) -> (d0 - 1)>
#map8 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 2) floordiv 16)>
#map9 = affine_map<(d0) -> (d0 floordiv 2)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map12 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map13 = affine_map<(d0) -> (d0 floordiv 16)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map15 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map16 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map17 = affine_map<(d0) -> (d0 + 8)>
#map18 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 8) mod 16)>
#map19 = affine_map<(d0, d1, d2) -> (d0 + ((d1 + (d2 mod 2) * 4 + 8) mod 48) floordiv 16)>
#map20 = affine_map<(d0, d1, d2) -> (d0 + (d1 + (d2 mod 2) * 4 + 8) floordiv 48)>
#map21 = affine_map<(d0, d1) -> (d0 + d1)>
#map22 = affine_map<(d0) -> (d0 * 4)>
#map23 = affine_map<(d0) -> ((d0 floordiv 8) mod 2)>
#map24 = affine_map<(d0) -> ((d0 floordiv 8 + 1) mod 2)>
#map25 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
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
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map10(%9, %arg5)
        %18 = affine.apply #map7(%17)
        %19 = arith.cmpi ult, %18, %c16 : index
        %20 = arith.andi %19, %8 : i1
        %21 = scf.if %20 -> (vector<4xf32>) {
          %27 = vector.load %arg0[%c0, %18, %7, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %27 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %22 = vector.extract %21[0] : f32 from vector<4xf32>
        %23 = affine.apply #map11(%10, %arg5)
        memref.store %22, %arg3[%c0, %2, %23] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        %24 = vector.extract %21[1] : f32 from vector<4xf32>
        memref.store %24, %arg3[%c0, %3, %23] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        %25 = vector.extract %21[2] : f32 from vector<4xf32>
        memref.store %25, %arg3[%c0, %4, %23] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        %26 = vector.extract %21[3] : f32 from vector<4xf32>
        memref.store %26, %arg3[%c0, %5, %23] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
      }
      %11 = affine.apply #map12(%thread_id_x)
      %12 = arith.cmpi slt, %11, %c32 : index
      %13 = affine.apply #map13(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %17 = affine.apply #map14(%13, %arg5)
        %18 = scf.if %12 -> (vector<4xf32>) {
          %19 = vector.load %reinterpret_cast[%17, %11] : memref<144x32xf32>, vector<4xf32>
          scf.yield %19 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        vector.store %18, %arg4[%c0, %17, %11] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %14 = affine.apply #map15(%1)
      %15 = affine.apply #map16(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c144 step %c8 {
        %17 = affine.apply #map17(%arg5)
        %18 = arith.cmpi slt, %17, %c144 : index
        %19 = affine.apply #map18(%arg5, %thread_id_x)
        %20 = affine.apply #map19(%6, %arg5, %thread_id_x)
        %21 = affine.apply #map7(%20)
        %22 = affine.apply #map20(%9, %arg5, %thread_id_x)
        %23 = affine.apply #map21(%13, %arg5)
        scf.if %18 {
          %26 = arith.cmpi ult, %21, %c16 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %27 = affine.apply #map22(%arg6)
            %28 = affine.apply #map10(%22, %arg6)
            %29 = affine.apply #map7(%28)
            %30 = arith.cmpi ult, %29, %c16 : index
            %31 = arith.andi %30, %26 : i1
            %32 = scf.if %31 -> (vector<4xf32>) {
              %33 = vector.load %arg0[%c0, %29, %21, %19] : memref<1x16x16x16xf32>, vector<4xf32>
              scf.yield %33 : vector<4xf32>
            } else {
              scf.yield %cst : vector<4xf32>
            }
            vector.store %32, %alloca[%27] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %27 = affine.apply #map22(%arg6)
            %28 = affine.apply #map14(%23, %arg6)
            %29 = affine.apply #map17(%28)
            %30 = scf.if %12 -> (vector<4xf32>) {
              %31 = vector.load %reinterpret_cast[%29, %11] : memref<144x32xf32>, vector<4xf32>
              scf.yield %31 : vector<4xf32>
            } else {
              scf.yield %cst : vector<4xf32>
            }
            vector.store %30, %alloca_2[%27] : memref<8xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %24 = affine.apply #map23(%arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<16xf32>
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %26 = affine.apply #map22(%arg7)
            %27 = affine.apply #map14(%14, %arg7)
            %28 = vector.load %arg3[%24, %arg6, %27] : memref<2x8x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %28, %alloca_4[%26] : memref<16xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %26 = affine.apply #map22(%arg7)
            %27 = affine.apply #map14(%15, %arg7)
            %28 = vector.load %arg4[%24, %arg6, %27] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %28, %alloca_5[%26] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %26 = memref.load %alloca_4[%arg7] : memref<16xf32>
              %27 = memref.load %alloca_5[%arg8] : memref<8xf32>
              %28 = memref.load %alloca_3[%arg7, %arg8] : memref<16x8xf32>
              %29 = arith.mulf %26, %27 : f32
              %30 = arith.addf %28, %29 : f32
              memref.store %30, %alloca_3[%arg7, %arg8] : memref<16x8xf32>
            }
          }
        } {weft.unroll}
        %25 = affine.apply #map24(%arg5)
        scf.if %18 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %26 = affine.apply #map22(%arg6)
            %27 = vector.load %alloca[%26] : memref<16xf32>, vector<4xf32>
            %28 = vector.extract %27[0] : f32 from vector<4xf32>
            %29 = affine.apply #map11(%10, %arg6)
            memref.store %28, %arg3[%25, %2, %29] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %30 = vector.extract %27[1] : f32 from vector<4xf32>
            memref.store %30, %arg3[%25, %3, %29] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %31 = vector.extract %27[2] : f32 from vector<4xf32>
            memref.store %31, %arg3[%25, %4, %29] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %32 = vector.extract %27[3] : f32 from vector<4xf32>
            memref.store %32, %arg3[%25, %5, %29] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %26 = affine.apply #map22(%arg6)
            %27 = vector.load %alloca_2[%26] : memref<8xf32>, vector<4xf32>
            %28 = affine.apply #map14(%13, %arg6)
            vector.store %27, %arg4[%25, %28, %11] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %16 = affine.apply #map25(%block_id_y, %1)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %17 = affine.apply #map21(%16, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %18 = affine.apply #map14(%15, %arg6)
          %19 = arith.cmpi slt, %18, %c32 : index
          %20 = affine.apply #map22(%arg6)
          scf.if %19 {
            %21 = vector.load %alloca_3[%arg5, %20] : memref<16x8xf32>, vector<4xf32>
            vector.store %21, %reinterpret_cast_1[%17, %18] : memref<256x32xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
