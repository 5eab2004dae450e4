// weft golden igemm_tensor.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map4 = affine_map<(d0) -> (d0 floordiv 2 - (d0 floordiv 4) * 2 + (d0 floordiv 4) mod 16)>
#map5 = affine_map<(d0) -> (d0 - 1)>
#map6 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16)>
#map7 = affine_map<(d0) -> (d0 floordiv 4)>
#map8 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map9 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map10 = affine_map<(d0) -> (((d0 floordiv 2) mod 4) * 8)>
#map11 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map12 = affine_map<(d0) -> (d0 floordiv 16)>
#map13 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map14 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map15 = affine_map<(d0) -> (d0 + 32)>
#map16 = affine_map<(d0) -> (((d0 mod 4 + 4) floordiv 6) * -3 + d0 floordiv 2 - (d0 floordiv 4) * 2 + (d0 floordiv 4) mod 16)>
#map17 = affine_map<(d0) -> (d0 + 1)>
#map18 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16 + (d1 mod 4 + 4) floordiv 6)>
#map19 = affine_map<(d0) -> ((d0 floordiv 4) * -2 + (d0 floordiv 4) mod 16)>
#map20 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map21 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map22 = affine_map<(d0) -> (d0 mod 16)>
#map23 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map24 = affine_map<(d0) -> (d0 + 64)>
#map25 = affine_map<(d0, d1) -> (d0 + d1)>
#map26 = affine_map<(d0, d1) -> ((d0 + d1 * 8) mod 16)>
#map27 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map28 = affine_map<(d0, d1, d2) -> (d0 + ((d1 + (d2 mod 4) * 8 + 64) floordiv 48) * -3 + (d1 + d2 * 8) floordiv 16)>
#map29 = affine_map<(d0) -> (d0 + 3)>
#map30 = affine_map<(d0, d1, d2) -> (d0 + (d1 + (d2 mod 4) * 8 + 64) floordiv 48)>
#map31 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map32 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map33 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
#map34 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
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
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %28 = affine.apply #map8(%8, %arg5)
        %29 = affine.apply #map5(%28)
        %30 = arith.cmpi ult, %29, %c16 : index
        %31 = arith.andi %30, %7 : i1
        %32 = arith.andi %3, %31 : i1
        %33 = arith.select %32, %c8, %c0 : index
        %34 = affine.apply #map9(%9, %arg5)
        %35 = affine.apply #map10(%34)
        %36 = arith.xori %2, %35 : index
        %37 = nvgpu.device_async_copy %arg0[%c0, %29, %6, %4], %arg3[%c0, %34, %36], 8, %33 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %10 = affine.apply #map11(%thread_id_x)
      %11 = arith.cmpi slt, %10, %c32 : index
      %12 = affine.apply #map12(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %28 = affine.apply #map13(%12, %arg5)
        %29 = arith.cmpi slt, %28, %c144 : index
        %30 = arith.andi %29, %11 : i1
        %31 = arith.select %30, %c8, %c0 : index
        %32 = affine.apply #map14(%28)
        %33 = arith.xori %10, %32 : index
        %34 = nvgpu.device_async_copy %reinterpret_cast[%28, %10], %arg4[%c0, %28, %33], 8, %31 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %13 = nvgpu.device_async_create_group  {all}
      %14 = affine.apply #map15(%2)
      %15 = arith.cmpi slt, %14, %c144 : index
      %16 = affine.apply #map16(%thread_id_x)
      %17 = affine.apply #map17(%16)
      %18 = arith.cmpi ult, %17, %c16 : index
      %19 = affine.apply #map18(%block_id_y, %thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %28 = affine.apply #map8(%19, %arg5)
        %29 = affine.apply #map5(%28)
        %30 = arith.cmpi ult, %29, %c16 : index
        %31 = arith.andi %30, %18 : i1
        %32 = arith.andi %15, %31 : i1
        %33 = arith.select %32, %c8, %c0 : index
        %34 = affine.apply #map9(%9, %arg5)
        %35 = affine.apply #map10(%34)
        %36 = arith.xori %2, %35 : index
        %37 = nvgpu.device_async_copy %arg0[%c0, %29, %17, %4], %arg3[%c1, %34, %36], 8, %33 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %28 = affine.apply #map13(%12, %arg5)
        %29 = affine.apply #map15(%28)
        %30 = arith.cmpi slt, %29, %c144 : index
        %31 = arith.andi %30, %11 : i1
        %32 = arith.select %31, %c8, %c0 : index
        %33 = affine.apply #map14(%28)
        %34 = arith.xori %10, %33 : index
        %35 = nvgpu.device_async_copy %reinterpret_cast[%29, %10], %arg4[%c1, %28, %34], 8, %32 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %20 = nvgpu.device_async_create_group  {all}
      %21 = affine.apply #map19(%thread_id_x)
      %22 = affine.apply #map20(%1)
      %23 = affine.apply #map21(%thread_id_x, %0)
      %24 = affine.apply #map22(%thread_id_x)
      %25 = affine.apply #map23(%0)
      scf.for %arg5 = %c0 to %c160 step %c32 {
        nvgpu.device_async_wait %20 {numGroups = 1 : i32}
        %28 = affine.apply #map24(%arg5)
        %29 = arith.cmpi slt, %28, %c160 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %30 = affine.apply #map25(%2, %arg5)
        %31 = affine.apply #map24(%30)
        %32 = affine.apply #map26(%arg5, %thread_id_x)
        %33 = affine.apply #map27(%arg5)
        %34 = affine.apply #map28(%21, %arg5, %thread_id_x)
        %35 = affine.apply #map29(%34)
        %36 = affine.apply #map30(%8, %arg5, %thread_id_x)
        %37 = affine.apply #map25(%12, %arg5)
        scf.if %29 {
          %40 = arith.cmpi slt, %31, %c144 : index
          %41 = arith.cmpi ult, %35, %c16 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %42 = affine.apply #map8(%36, %arg6)
            %43 = affine.apply #map5(%42)
            %44 = arith.cmpi ult, %43, %c16 : index
            %45 = arith.andi %44, %41 : i1
            %46 = arith.andi %40, %45 : i1
            %47 = arith.select %46, %c8, %c0 : index
            %48 = affine.apply #map9(%9, %arg6)
            %49 = affine.apply #map10(%48)
            %50 = arith.xori %2, %49 : index
            %51 = nvgpu.device_async_copy %arg0[%c0, %43, %35, %32], %arg3[%33, %48, %50], 8, %47 {bypassL1} : memref<1x16x16x16xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %42 = affine.apply #map13(%37, %arg6)
            %43 = affine.apply #map24(%42)
            %44 = arith.cmpi slt, %43, %c144 : index
            %45 = arith.andi %44, %11 : i1
            %46 = arith.select %45, %c8, %c0 : index
            %47 = affine.apply #map13(%12, %arg6)
            %48 = affine.apply #map14(%47)
            %49 = arith.xori %10, %48 : index
            %50 = nvgpu.device_async_copy %reinterpret_cast[%43, %10], %arg4[%33, %47, %49], 8, %46 {bypassL1} : memref<144x32xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %38 = nvgpu.device_async_create_group  {all}
        %39 = affine.apply #map31(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<4x4x2xbf16>
          %40 = affine.apply #map25(%22, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %43 = affine.apply #map32(%23, %arg7)
            %44 = affine.apply #map10(%43)
            %45 = arith.xori %40, %44 : index
            %46 = nvgpu.ldmatrix %arg3[%39, %43, %45] {numTiles = 4 : i32, transpose = false} : memref<3x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %46, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8x2x2xbf16>
          %41 = affine.apply #map25(%24, %arg6)
          %42 = affine.apply #map14(%41)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %43 = affine.apply #map13(%25, %arg7)
            %44 = arith.xori %43, %42 : index
            %45 = nvgpu.ldmatrix %arg4[%39, %41, %44] {numTiles = 2 : i32, transpose = true} : memref<3x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %45, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %43 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %44 = vector.shape_cast %43 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %45 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %46 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %47 = nvgpu.mma.sync(%45, %46, %44) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %48 = vector.shape_cast %47 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %48, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %26 = affine.apply #map33(%thread_id_x, %0)
      %27 = affine.apply #map34(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %28 = affine.apply #map32(%27, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %29 = affine.apply #map13(%26, %arg6)
          %30 = arith.cmpi slt, %29, %c32 : index
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %31 = affine.apply #map13(%28, %arg7)
            scf.if %30 {
              %32 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2xf32>
              vector.store %32, %reinterpret_cast_0[%31, %29] : memref<256x32xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
