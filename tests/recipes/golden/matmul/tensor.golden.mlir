// weft golden tensor
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map5 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map6 = affine_map<(d0) -> (d0 * 8)>
#map7 = affine_map<(d0) -> ((d0 floordiv 4) * -32)>
#map8 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map9 = affine_map<(d0, d1) -> (d0 + d1)>
#map10 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 16) * 8)>
#map11 = affine_map<(d0) -> (d0 floordiv 16)>
#map12 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map13 = affine_map<(d0) -> ((d0 floordiv 16) * -128)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map15 = affine_map<(d0) -> (d0 + 32)>
#map16 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map17 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map18 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map19 = affine_map<(d0) -> (d0 mod 16)>
#map20 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map21 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map22 = affine_map<(d0) -> (d0 + 64)>
#map23 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map24 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map25 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map26 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 2) * 64)>
#map27 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<512x512xbf16> {weft.name = "A"}, %arg1: memref<512x512xbf16> {weft.name = "B"}, %arg2: memref<512x512xf32> {bufferize.result, weft.name = "C"}) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c4, %c4, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<512x512xbf16>, %arg1 : memref<512x512xbf16>, %arg2 : memref<512x512xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<512x512xbf16> {weft.name = "A"}, %arg1: memref<512x512xbf16> {weft.name = "B"}, %arg2: memref<512x512xf32> {weft.name = "C"}) workgroup(%arg3 : memref<3x128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<3x32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 4, 1>} {
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
      %3 = affine.apply #map3(%thread_id_x)
      %4 = affine.apply #map4(%block_id_x, %thread_id_x)
      %5 = affine.apply #map5(%thread_id_x)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %23 = affine.apply #map8(%3, %arg5)
        %24 = affine.apply #map8(%4, %arg5)
        %25 = arith.xori %6, %5 : index
        %26 = affine.apply #map9(%7, %25)
        %27 = nvgpu.device_async_copy %arg0[%24, %2], %arg3[%c0, %23, %26], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %8 = affine.apply #map10(%block_id_y, %thread_id_x)
      %9 = affine.apply #map11(%thread_id_x)
      %10 = affine.apply #map12(%thread_id_x)
      %11 = affine.apply #map13(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %23 = affine.apply #map14(%9, %arg5)
        %24 = arith.xori %6, %10 : index
        %25 = affine.apply #map9(%11, %24)
        %26 = nvgpu.device_async_copy %arg1[%23, %8], %arg4[%c0, %23, %25], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %12 = nvgpu.device_async_create_group  {all}
      %13 = affine.apply #map15(%2)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %23 = affine.apply #map8(%3, %arg5)
        %24 = affine.apply #map8(%4, %arg5)
        %25 = arith.xori %6, %5 : index
        %26 = affine.apply #map9(%7, %25)
        %27 = nvgpu.device_async_copy %arg0[%24, %13], %arg3[%c1, %23, %26], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %23 = affine.apply #map14(%9, %arg5)
        %24 = affine.apply #map15(%23)
        %25 = arith.xori %6, %10 : index
        %26 = affine.apply #map9(%11, %25)
        %27 = nvgpu.device_async_copy %arg1[%24, %8], %arg4[%c1, %23, %26], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %14 = nvgpu.device_async_create_group  {all}
      %15 = affine.apply #map16(%1)
      %16 = affine.apply #map17(%thread_id_x, %0)
      %17 = affine.apply #map18(%thread_id_x)
      %18 = affine.apply #map19(%thread_id_x)
      %19 = affine.apply #map20(%thread_id_x)
      %20 = affine.apply #map21(%0)
      scf.for %arg5 = %c0 to %c512 step %c32 {
        nvgpu.device_async_wait %14 {numGroups = 1 : i32}
        %23 = affine.apply #map22(%arg5)
        %24 = arith.cmpi slt, %23, %c512 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %25 = affine.apply #map23(%arg5)
        %26 = affine.apply #map9(%2, %arg5)
        %27 = affine.apply #map22(%26)
        %28 = affine.apply #map9(%9, %arg5)
        scf.if %24 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %31 = affine.apply #map8(%3, %arg6)
            %32 = affine.apply #map8(%4, %arg6)
            %33 = arith.xori %6, %5 : index
            %34 = affine.apply #map9(%7, %33)
            %35 = nvgpu.device_async_copy %arg0[%32, %27], %arg3[%25, %31, %34], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %31 = affine.apply #map14(%9, %arg6)
            %32 = affine.apply #map14(%28, %arg6)
            %33 = affine.apply #map22(%32)
            %34 = arith.xori %6, %10 : index
            %35 = affine.apply #map9(%11, %34)
            %36 = nvgpu.device_async_copy %arg1[%33, %8], %arg4[%25, %31, %35], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %29 = nvgpu.device_async_create_group  {all}
        %30 = affine.apply #map24(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_0 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %31 = affine.apply #map9(%15, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %33 = affine.apply #map25(%16, %arg7)
            %34 = arith.xori %31, %17 : index
            %35 = nvgpu.ldmatrix %arg3[%30, %33, %34] {numTiles = 4 : i32, transpose = false} : memref<3x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %35, %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_1 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %32 = affine.apply #map9(%18, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %33 = affine.apply #map6(%arg7)
            %34 = arith.xori %33, %19 : index
            %35 = affine.apply #map9(%20, %34)
            %36 = nvgpu.ldmatrix %arg4[%30, %32, %35] {numTiles = 2 : i32, transpose = true} : memref<3x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %36, %alloca_1[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %33 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %34 = vector.shape_cast %33 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %35 = vector.load %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %36 = vector.load %alloca_1[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %37 = nvgpu.mma.sync(%35, %36, %34) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %38 = vector.shape_cast %37 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %38, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %21 = affine.apply #map26(%block_id_y, %thread_id_x, %0)
      %22 = affine.apply #map27(%block_id_x, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %23 = affine.apply #map25(%22, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %24 = affine.apply #map14(%21, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %25 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2xf32>
            %26 = affine.apply #map14(%23, %arg7)
            vector.store %25, %arg2[%26, %24] : memref<512x512xf32>, vector<2xf32>
          }
        }
      }
      gpu.return
    }
  }
}
