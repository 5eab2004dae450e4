// weft golden igemm_tensor
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map4 = affine_map<(d0) -> (d0 floordiv 2 - (d0 floordiv 4) * 2 + (d0 floordiv 4) mod 16)>
#map5 = affine_map<(d0) -> (d0 - 1)>
#map6 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16)>
#map7 = affine_map<(d0) -> (d0 floordiv 4)>
#map8 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map9 = affine_map<(d0) -> (d0 * 8)>
#map10 = affine_map<(d0) -> ((d0 floordiv 4) * -32)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map13 = affine_map<(d0, d1) -> (d0 + d1)>
#map14 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map15 = affine_map<(d0) -> (d0 floordiv 16)>
#map16 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map17 = affine_map<(d0) -> ((d0 floordiv 16) * -128)>
#map18 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map19 = affine_map<(d0) -> (d0 + 32)>
#map20 = affine_map<(d0) -> (((d0 mod 4 + 4) floordiv 6) * -3 + d0 floordiv 2 - (d0 floordiv 4) * 2 + (d0 floordiv 4) mod 16)>
#map21 = affine_map<(d0) -> (d0 + 1)>
#map22 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16 + (d1 mod 4 + 4) floordiv 6)>
#map23 = affine_map<(d0) -> ((d0 floordiv 4) * -2 + (d0 floordiv 4) mod 16)>
#map24 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map25 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map26 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map27 = affine_map<(d0) -> (d0 mod 16)>
#map28 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map29 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map30 = affine_map<(d0) -> (d0 + 64)>
#map31 = affine_map<(d0, d1) -> ((d0 + d1 * 8) mod 16)>
#map32 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map33 = affine_map<(d0, d1, d2) -> (d0 + ((d1 + (d2 mod 4) * 8 + 64) floordiv 48) * -3 + (d1 + d2 * 8) floordiv 16)>
#map34 = affine_map<(d0) -> (d0 + 3)>
#map35 = affine_map<(d0, d1, d2) -> (d0 + (d1 + (d2 mod 4) * 8 + 64) floordiv 48)>
#map36 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map37 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map38 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
#map39 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<1x16x16x16xbf16> {weft.name = "X"}, %arg1: memref<3x3x16x32xbf16> {weft.name = "W"}, %arg2: memref<1x16x16x32xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c2, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x16x16x16xbf16>, %arg1 : memref<3x3x16x32xbf16>, %arg2 : memref<1x16x16x32xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<1x16x16x16xbf16> {weft.name = "X"}, %arg1: memref<3x3x16x32xbf16> {weft.name = "W"}, %arg2: memref<1x16x16x32xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<3x128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<3x32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 2, 1>} {
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c32 = arith.constant 32 : index
      %c160 = arith.constant 160 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_y = gpu.block_id y
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [144, 32], strides: [32, 1] : memref<3x3x16x32xbf16> to memref<144x32xbf16>
      %reinterpret_cast_0 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [256, 32], strides: [32, 1] : memref<1x16x16x32xf32> to memref<256x32xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<4x8x2x1x1x2xf32>
      scf.for %arg5 = %c0 to %c4 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c2 step %c1 {
            scf.for %arg8 = %c0 to %c2 step %c1 {
              memref.store %cst, %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
            }
          }
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = arith.cmpi slt, %2, %c144 : index
      %4 = affine.apply #map3(%thread_id_x)
      %5 = affine.apply #map4(%thread_id_x)
      %6 = affine.apply #map5(%5)
      %7 = arith.cmpi ult, %6, %c16 : index
      %8 = affine.apply #map6(%block_id_y, %thread_id_x)
      %9 = affine.apply #map7(%thread_id_x)
      %10 = affine.apply #map8(%thread_id_x)
      %11 = affine.apply #map9(%thread_id_x)
      %12 = affine.apply #map10(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %35 = affine.apply #map11(%8, %arg5)
        %36 = affine.apply #map5(%35)
        %37 = arith.cmpi ult, %36, %c16 : index
        %38 = arith.andi %37, %7 : i1
        %39 = arith.andi %3, %38 : i1
        %40 = arith.select %39, %c8, %c0 : index
        %41 = affine.apply #map12(%9, %arg5)
        %42 = arith.xori %11, %10 : index
        %43 = affine.apply #map13(%12, %42)
        %44 = nvgpu.device_async_copy %arg0[%c0, %36, %6, %4], %arg3[%c0, %41, %43], 8, %40 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %13 = affine.apply #map14(%thread_id_x)
      %14 = arith.cmpi slt, %13, %c32 : index
      %15 = affine.apply #map15(%thread_id_x)
      %16 = affine.apply #map16(%thread_id_x)
      %17 = affine.apply #map17(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %35 = affine.apply #map18(%15, %arg5)
        %36 = arith.cmpi slt, %35, %c144 : index
        %37 = arith.andi %36, %14 : i1
        %38 = arith.select %37, %c8, %c0 : index
        %39 = arith.xori %11, %16 : index
        %40 = affine.apply #map13(%17, %39)
        %41 = nvgpu.device_async_copy %reinterpret_cast[%35, %13], %arg4[%c0, %35, %40], 8, %38 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %18 = nvgpu.device_async_create_group  {all}
      %19 = affine.apply #map19(%2)
      %20 = arith.cmpi slt, %19, %c144 : index
      %21 = affine.apply #map20(%thread_id_x)
      %22 = affine.apply #map21(%21)
      %23 = arith.cmpi ult, %22, %c16 : index
      %24 = affine.apply #map22(%block_id_y, %thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %35 = affine.apply #map11(%24, %arg5)
        %36 = affine.apply #map5(%35)
        %37 = arith.cmpi ult, %36, %c16 : index
        %38 = arith.andi %37, %23 : i1
        %39 = arith.andi %20, %38 : i1
        %40 = arith.select %39, %c8, %c0 : index
        %41 = affine.apply #map12(%9, %arg5)
        %42 = arith.xori %11, %10 : index
        %43 = affine.apply #map13(%12, %42)
        %44 = nvgpu.device_async_copy %arg0[%c0, %36, %22, %4], %arg3[%c1, %41, %43], 8, %40 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %35 = affine.apply #map18(%15, %arg5)
        %36 = affine.apply #map19(%35)
        %37 = arith.cmpi slt, %36, %c144 : index
        %38 = arith.andi %37, %14 : i1
        %39 = arith.select %38, %c8, %c0 : index
        %40 = arith.xori %11, %16 : index
        %41 = affine.apply #map13(%17, %40)
        %42 = nvgpu.device_async_copy %reinterpret_cast[%36, %13], %arg4[%c1, %35, %41], 8, %39 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %25 = nvgpu.device_async_create_group  {all}
      %26 = affine.apply #map23(%thread_id_x)
      %27 = affine.apply #map24(%1)
      %28 = affine.apply #map25(%thread_id_x, %0)
      %29 = affine.apply #map26(%thread_id_x)
      %30 = affine.apply #map27(%thread_id_x)
      %31 = affine.apply #map28(%thread_id_x)
      %32 = affine.apply #map29(%0)
      scf.for %arg5 = %c0 to %c160 step %c32 {
        nvgpu.device_async_wait %25 {numGroups = 1 : i32}
        %35 = affine.apply #map30(%arg5)
        %36 = arith.cmpi slt, %35, %c160 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %37 = affine.apply #map13(%2, %arg5)
        %38 = affine.apply #map30(%37)
        %39 = affine.apply #map31(%arg5, %thread_id_x)
        %40 = affine.apply #map32(%arg5)
        %41 = affine.apply #map33(%26, %arg5, %thread_id_x)
        %42 = affine.apply #map34(%41)
        %43 = affine.apply #map35(%8, %arg5, %thread_id_x)
        %44 = affine.apply #map13(%15, %arg5)
        scf.if %36 {
          %47 = arith.cmpi slt, %38, %c144 : index
          %48 = arith.cmpi ult, %42, %c16 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %49 = affine.apply #map11(%43, %arg6)
            %50 = affine.apply #map5(%49)
            %51 = arith.cmpi ult, %50, %c16 : index
            %52 = arith.andi %51, %48 : i1
            %53 = arith.andi %47, %52 : i1
            %54 = arith.select %53, %c8, %c0 : index
            %55 = affine.apply #map12(%9, %arg6)
            %56 = arith.xori %11, %10 : index
            %57 = affine.apply #map13(%12, %56)
            %58 = nvgpu.device_async_copy %arg0[%c0, %50, %42, %39], %arg3[%40, %55, %57], 8, %54 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %49 = affine.apply #map18(%44, %arg6)
            %50 = affine.apply #map30(%49)
            %51 = arith.cmpi slt, %50, %c144 : index
            %52 = arith.andi %51, %14 : i1
            %53 = arith.select %52, %c8, %c0 : index
            %54 = affine.apply #map18(%15, %arg6)
            %55 = arith.xori %11, %16 : index
            %56 = affine.apply #map13(%17, %55)
            %57 = nvgpu.device_async_copy %reinterpret_cast[%50, %13], %arg4[%40, %54, %56], 8, %53 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %45 = nvgpu.device_async_create_group  {all}
        %46 = affine.apply #map36(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<4x4x2xbf16>
          %47 = affine.apply #map13(%27, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %49 = affine.apply #map37(%28, %arg7)
            %50 = arith.xori %47, %29 : index
            %51 = nvgpu.ldmatrix %arg3[%46, %49, %50] {numTiles = 4 : i32, transpose = false} : memref<3x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %51, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8x2x2xbf16>
          %48 = affine.apply #map13(%30, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %49 = affine.apply #map9(%arg7)
            %50 = arith.xori %49, %31 : index
            %51 = affine.apply #map13(%32, %50)
            %52 = nvgpu.ldmatrix %arg4[%46, %48, %51] {numTiles = 2 : i32, transpose = true} : memref<3x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %52, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %49 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %50 = vector.shape_cast %49 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %51 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %52 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %53 = nvgpu.mma.sync(%51, %52, %50) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %54 = vector.shape_cast %53 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %54, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %33 = affine.apply #map38(%thread_id_x, %0)
      %34 = affine.apply #map39(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %35 = affine.apply #map37(%34, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %36 = affine.apply #map18(%33, %arg6)
          %37 = arith.cmpi slt, %36, %c32 : index
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %38 = affine.apply #map18(%35, %arg7)
            scf.if %37 {
              %39 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2xf32>
              vector.store %39, %reinterpret_cast_0[%38, %36] : memref<256x32xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
