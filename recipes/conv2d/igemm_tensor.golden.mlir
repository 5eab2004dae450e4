// weft golden igemm_tensor.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map4 = affine_map<(d0) -> (d0 floordiv 2 - (d0 floordiv 4) * 2 + (d0 floordiv 4) mod 16)>
#map5 = affine_map<(d0) -> (d0 - 1)>
#map6 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16)>
#map7 = affine_map<(d0) -> (d0 floordiv 4)>
#map8 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map9 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map11 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map12 = affine_map<(d0) -> (d0 floordiv 16)>
#map13 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map15 = affine_map<(d0) -> (d0 + 32)>
#map16 = affine_map<(d0) -> (((d0 mod 4 + 4) floordiv 6) * -3 + d0 floordiv 2 - (d0 floordiv 4) * 2 + (d0 floordiv 4) mod 16)>
#map17 = affine_map<(d0) -> (d0 + 1)>
#map18 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16 + (d1 mod 4 + 4) floordiv 6)>
#map19 = affine_map<(d0) -> ((d0 floordiv 4) * -2 + (d0 floordiv 4) mod 16)>
#map20 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map21 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map22 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map23 = affine_map<(d0) -> (d0 mod 16)>
#map24 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map25 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map26 = affine_map<(d0) -> (d0 + 64)>
#map27 = affine_map<(d0, d1) -> (d0 + d1)>
#map28 = affine_map<(d0, d1) -> ((d0 + d1 * 8) mod 16)>
#map29 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map30 = affine_map<(d0, d1, d2) -> (d0 + ((d1 + (d2 mod 4) * 8 + 64) floordiv 48) * -3 + (d1 + d2 * 8) floordiv 16)>
#map31 = affine_map<(d0) -> (d0 + 3)>
#map32 = affine_map<(d0, d1, d2) -> (d0 + (d1 + (d2 mod 4) * 8 + 64) floordiv 48)>
#map33 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map34 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map35 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
#map36 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
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
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %32 = affine.apply #map9(%8, %arg5)
        %33 = affine.apply #map5(%32)
        %34 = arith.cmpi ult, %33, %c16 : index
        %35 = arith.andi %34, %7 : i1
        %36 = arith.andi %3, %35 : i1
        %37 = arith.select %36, %c8, %c0 : index
        %38 = affine.apply #map10(%9, %arg5)
        %39 = arith.xori %2, %10 : index
        %40 = nvgpu.device_async_copy %arg0[%c0, %33, %6, %4], %arg3[%c0, %38, %39], 8, %37 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %11 = affine.apply #map11(%thread_id_x)
      %12 = arith.cmpi slt, %11, %c32 : index
      %13 = affine.apply #map12(%thread_id_x)
      %14 = affine.apply #map13(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %32 = affine.apply #map14(%13, %arg5)
        %33 = arith.cmpi slt, %32, %c144 : index
        %34 = arith.andi %33, %12 : i1
        %35 = arith.select %34, %c8, %c0 : index
        %36 = arith.xori %11, %14 : index
        %37 = nvgpu.device_async_copy %reinterpret_cast[%32, %11], %arg4[%c0, %32, %36], 8, %35 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %15 = nvgpu.device_async_create_group  {all}
      %16 = affine.apply #map15(%2)
      %17 = arith.cmpi slt, %16, %c144 : index
      %18 = affine.apply #map16(%thread_id_x)
      %19 = affine.apply #map17(%18)
      %20 = arith.cmpi ult, %19, %c16 : index
      %21 = affine.apply #map18(%block_id_y, %thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %32 = affine.apply #map9(%21, %arg5)
        %33 = affine.apply #map5(%32)
        %34 = arith.cmpi ult, %33, %c16 : index
        %35 = arith.andi %34, %20 : i1
        %36 = arith.andi %17, %35 : i1
        %37 = arith.select %36, %c8, %c0 : index
        %38 = affine.apply #map10(%9, %arg5)
        %39 = arith.xori %2, %10 : index
        %40 = nvgpu.device_async_copy %arg0[%c0, %33, %19, %4], %arg3[%c1, %38, %39], 8, %37 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %32 = affine.apply #map14(%13, %arg5)
        %33 = affine.apply #map15(%32)
        %34 = arith.cmpi slt, %33, %c144 : index
        %35 = arith.andi %34, %12 : i1
        %36 = arith.select %35, %c8, %c0 : index
        %37 = arith.xori %11, %14 : index
        %38 = nvgpu.device_async_copy %reinterpret_cast[%33, %11], %arg4[%c1, %32, %37], 8, %36 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %22 = nvgpu.device_async_create_group  {all}
      %23 = affine.apply #map19(%thread_id_x)
      %24 = affine.apply #map20(%1)
      %25 = affine.apply #map21(%thread_id_x, %0)
      %26 = affine.apply #map22(%thread_id_x)
      %27 = affine.apply #map23(%thread_id_x)
      %28 = affine.apply #map24(%0)
      %29 = affine.apply #map25(%thread_id_x)
      scf.for %arg5 = %c0 to %c160 step %c32 {
        nvgpu.device_async_wait %22 {numGroups = 1 : i32}
        %32 = affine.apply #map26(%arg5)
        %33 = arith.cmpi slt, %32, %c160 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %34 = affine.apply #map27(%2, %arg5)
        %35 = affine.apply #map26(%34)
        %36 = affine.apply #map28(%arg5, %thread_id_x)
        %37 = affine.apply #map29(%arg5)
        %38 = affine.apply #map30(%23, %arg5, %thread_id_x)
        %39 = affine.apply #map31(%38)
        %40 = affine.apply #map32(%8, %arg5, %thread_id_x)
        %41 = affine.apply #map27(%13, %arg5)
        scf.if %33 {
          %44 = arith.cmpi slt, %35, %c144 : index
          %45 = arith.cmpi ult, %39, %c16 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %46 = affine.apply #map9(%40, %arg6)
            %47 = affine.apply #map5(%46)
            %48 = arith.cmpi ult, %47, %c16 : index
            %49 = arith.andi %48, %45 : i1
            %50 = arith.andi %44, %49 : i1
            %51 = arith.select %50, %c8, %c0 : index
            %52 = affine.apply #map10(%9, %arg6)
            %53 = arith.xori %2, %10 : index
            %54 = nvgpu.device_async_copy %arg0[%c0, %47, %39, %36], %arg3[%37, %52, %53], 8, %51 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %46 = affine.apply #map14(%41, %arg6)
            %47 = affine.apply #map26(%46)
            %48 = arith.cmpi slt, %47, %c144 : index
            %49 = arith.andi %48, %12 : i1
            %50 = arith.select %49, %c8, %c0 : index
            %51 = affine.apply #map14(%13, %arg6)
            %52 = arith.xori %11, %14 : index
            %53 = nvgpu.device_async_copy %reinterpret_cast[%47, %11], %arg4[%37, %51, %52], 8, %50 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %42 = nvgpu.device_async_create_group  {all}
        %43 = affine.apply #map33(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<4x4x2xbf16>
          %44 = affine.apply #map27(%24, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %46 = affine.apply #map34(%25, %arg7)
            %47 = arith.xori %44, %26 : index
            %48 = nvgpu.ldmatrix %arg3[%43, %46, %47] {numTiles = 4 : i32, transpose = false} : memref<3x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %48, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8x2x2xbf16>
          %45 = affine.apply #map27(%27, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %46 = affine.apply #map14(%28, %arg7)
            %47 = arith.xori %46, %29 : index
            %48 = nvgpu.ldmatrix %arg4[%43, %45, %47] {numTiles = 2 : i32, transpose = true} : memref<3x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %48, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %46 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %47 = vector.shape_cast %46 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %48 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %49 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %50 = nvgpu.mma.sync(%48, %49, %47) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %51 = vector.shape_cast %50 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %51, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %30 = affine.apply #map35(%thread_id_x, %0)
      %31 = affine.apply #map36(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %32 = affine.apply #map34(%31, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %33 = affine.apply #map14(%30, %arg6)
          %34 = arith.cmpi slt, %33, %c32 : index
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %35 = affine.apply #map14(%32, %arg7)
            scf.if %34 {
              %36 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2xf32>
              vector.store %36, %reinterpret_cast_0[%35, %33] : memref<256x32xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
