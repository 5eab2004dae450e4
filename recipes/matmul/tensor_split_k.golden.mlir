// weft golden tensor_split_k.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 512 + (d1 mod 4) * 8)>
#map3 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map4 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map5 = affine_map<(d0) -> (d0 floordiv 4)>
#map6 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map7 = affine_map<(d0) -> (((d0 floordiv 2) mod 4) * 8)>
#map8 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 16) * 8)>
#map9 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map10 = affine_map<(d0, d1) -> (d0 * 512 + d1 floordiv 16)>
#map11 = affine_map<(d0) -> (d0 floordiv 16)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map13 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map14 = affine_map<(d0) -> (d0 + 32)>
#map15 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map16 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map17 = affine_map<(d0) -> (d0 mod 16)>
#map18 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map19 = affine_map<(d0) -> (d0 + 64)>
#map20 = affine_map<(d0, d1) -> (d0 + d1)>
#map21 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map22 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map23 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map24 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 2) * 64)>
#map25 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
#map26 = affine_map<(d0, d1) -> (d0 + d1 floordiv 256)>
#map27 = affine_map<(d0) -> (d0 mod 256)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<256x2048xbf16> {weft.name = "A"}, %arg1: memref<2048x256xbf16> {weft.name = "B"}, %arg2: memref<256x256xf32> {bufferize.result, weft.name = "C"}) {
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "C_2"} : memref<4x256x256xf32>
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c2, %c4) threads in (%c128, %c1, %c1)  args(%arg0 : memref<256x2048xbf16>, %arg1 : memref<2048x256xbf16>, %alloc : memref<4x256x256xf32>)
    %c256 = arith.constant 256 : index
    gpu.launch_func  @matmul_1_kernel::@matmul_1 blocks in (%c256, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<256x256xf32>, %alloc : memref<4x256x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<256x2048xbf16> {weft.name = "A"}, %arg1: memref<2048x256xbf16> {weft.name = "B"}, %arg2: memref<4x256x256xf32> {weft.name = "C_2"}) workgroup(%arg3 : memref<3x1x128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<3x1x32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 2, 4>} {
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c512 = arith.constant 512 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %block_id_z = gpu.block_id z
      %alloca = memref.alloca() {weft.name = "acc"} : memref<4x8x2x1x1x1x2xf32>
      scf.for %arg5 = %c0 to %c4 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c2 step %c1 {
            scf.for %arg8 = %c0 to %c2 step %c1 {
              memref.store %cst, %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0, %arg8] : memref<4x8x2x1x1x1x2xf32>
            }
          }
        }
      }
      %2 = affine.apply #map2(%block_id_z, %thread_id_x)
      %3 = affine.apply #map3(%thread_id_x)
      %4 = affine.apply #map4(%block_id_y, %thread_id_x)
      %5 = affine.apply #map5(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %19 = affine.apply #map6(%4, %arg5)
        %20 = affine.apply #map6(%5, %arg5)
        %21 = affine.apply #map7(%20)
        %22 = arith.xori %3, %21 : index
        %23 = nvgpu.device_async_copy %arg0[%19, %2], %arg3[%c0, %c0, %20, %22], 8 {bypassL1} : memref<256x2048xbf16> to memref<3x1x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %6 = affine.apply #map8(%block_id_x, %thread_id_x)
      %7 = affine.apply #map9(%thread_id_x)
      %8 = affine.apply #map10(%block_id_z, %thread_id_x)
      %9 = affine.apply #map11(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %19 = affine.apply #map12(%8, %arg5)
        %20 = affine.apply #map12(%9, %arg5)
        %21 = affine.apply #map13(%20)
        %22 = arith.xori %7, %21 : index
        %23 = nvgpu.device_async_copy %arg1[%19, %6], %arg4[%c0, %c0, %20, %22], 8 {bypassL1} : memref<2048x256xbf16> to memref<3x1x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %10 = nvgpu.device_async_create_group  {all}
      %11 = affine.apply #map14(%2)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %19 = affine.apply #map6(%4, %arg5)
        %20 = affine.apply #map6(%5, %arg5)
        %21 = affine.apply #map7(%20)
        %22 = arith.xori %3, %21 : index
        %23 = nvgpu.device_async_copy %arg0[%19, %11], %arg3[%c1, %c0, %20, %22], 8 {bypassL1} : memref<256x2048xbf16> to memref<3x1x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %19 = affine.apply #map12(%8, %arg5)
        %20 = affine.apply #map14(%19)
        %21 = affine.apply #map12(%9, %arg5)
        %22 = affine.apply #map13(%21)
        %23 = arith.xori %7, %22 : index
        %24 = nvgpu.device_async_copy %arg1[%20, %6], %arg4[%c1, %c0, %21, %23], 8 {bypassL1} : memref<2048x256xbf16> to memref<3x1x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %12 = nvgpu.device_async_create_group  {all}
      %13 = affine.apply #map15(%1)
      %14 = affine.apply #map16(%thread_id_x, %0)
      %15 = affine.apply #map17(%thread_id_x)
      %16 = affine.apply #map18(%0)
      scf.for %arg5 = %c0 to %c512 step %c32 {
        nvgpu.device_async_wait %12 {numGroups = 1 : i32}
        %19 = affine.apply #map19(%arg5)
        %20 = arith.cmpi slt, %19, %c512 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %21 = affine.apply #map20(%2, %arg5)
        %22 = affine.apply #map19(%21)
        %23 = affine.apply #map21(%arg5)
        %24 = affine.apply #map20(%8, %arg5)
        scf.if %20 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %27 = affine.apply #map6(%4, %arg6)
            %28 = affine.apply #map6(%5, %arg6)
            %29 = affine.apply #map7(%28)
            %30 = arith.xori %3, %29 : index
            %31 = nvgpu.device_async_copy %arg0[%27, %22], %arg3[%23, %c0, %28, %30], 8 {bypassL1} : memref<256x2048xbf16> to memref<3x1x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %27 = affine.apply #map12(%24, %arg6)
            %28 = affine.apply #map19(%27)
            %29 = affine.apply #map12(%9, %arg6)
            %30 = affine.apply #map13(%29)
            %31 = arith.xori %7, %30 : index
            %32 = nvgpu.device_async_copy %arg1[%28, %6], %arg4[%23, %c0, %29, %31], 8 {bypassL1} : memref<2048x256xbf16> to memref<3x1x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %25 = nvgpu.device_async_create_group  {all}
        %26 = affine.apply #map22(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_0 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %27 = affine.apply #map20(%13, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %30 = affine.apply #map23(%14, %arg7)
            %31 = affine.apply #map7(%30)
            %32 = arith.xori %27, %31 : index
            %33 = nvgpu.ldmatrix %arg3[%26, %c0, %30, %32] {numTiles = 4 : i32, transpose = false} : memref<3x1x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %33, %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_1 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %28 = affine.apply #map20(%15, %arg6)
          %29 = affine.apply #map13(%28)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %30 = affine.apply #map12(%16, %arg7)
            %31 = arith.xori %30, %29 : index
            %32 = nvgpu.ldmatrix %arg4[%26, %c0, %28, %31] {numTiles = 2 : i32, transpose = true} : memref<3x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %32, %alloca_1[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %30 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %31 = vector.shape_cast %30 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %32 = vector.load %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %33 = vector.load %alloca_1[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %34 = nvgpu.mma.sync(%32, %33, %31) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %35 = vector.shape_cast %34 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %35, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %17 = affine.apply #map24(%block_id_x, %thread_id_x, %0)
      %18 = affine.apply #map25(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %19 = affine.apply #map23(%18, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %20 = affine.apply #map12(%17, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %21 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2xf32>
            %22 = affine.apply #map12(%19, %arg7)
            vector.store %21, %arg2[%block_id_z, %22, %20] : memref<4x256x256xf32>, vector<2xf32>
          }
        }
      }
      gpu.return
    }
  }
  gpu.module @matmul_1_kernel {
    gpu.func @matmul_1(%arg0: memref<256x256xf32> {weft.name = "C"}, %arg1: memref<4x256x256xf32> {weft.name = "C_2"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = affine.apply #map26(%block_id_x, %thread_id_x)
      %1 = affine.apply #map27(%thread_id_x)
      scf.for %arg2 = %c0 to %c4 step %c1 {
        %3 = memref.load %arg1[%arg2, %0, %1] : memref<4x256x256xf32>
        %4 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        %5 = arith.addf %4, %3 : f32
        memref.store %5, %alloca[%c0, %c0] : memref<1x1xf32>
      } {weft.unroll}
      %2 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
      memref.store %2, %arg0[%0, %1] : memref<256x256xf32>
      gpu.return
    }
  }
}
