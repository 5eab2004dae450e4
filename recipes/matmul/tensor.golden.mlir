// weft golden tensor.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map5 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map6 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map7 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map8 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 16) * 8)>
#map9 = affine_map<(d0) -> (d0 floordiv 16)>
#map10 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map12 = affine_map<(d0) -> (d0 + 32)>
#map13 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map14 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map15 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map16 = affine_map<(d0) -> (d0 mod 16)>
#map17 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map18 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map19 = affine_map<(d0) -> (d0 + 64)>
#map20 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map21 = affine_map<(d0, d1) -> (d0 + d1)>
#map22 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map23 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map24 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 2) * 64)>
#map25 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
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
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %21 = affine.apply #map6(%3, %arg5)
        %22 = affine.apply #map6(%4, %arg5)
        %23 = arith.xori %2, %5 : index
        %24 = nvgpu.device_async_copy %arg0[%22, %2], %arg3[%c0, %21, %23], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %6 = affine.apply #map7(%thread_id_x)
      %7 = affine.apply #map8(%block_id_y, %thread_id_x)
      %8 = affine.apply #map9(%thread_id_x)
      %9 = affine.apply #map10(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %21 = affine.apply #map11(%8, %arg5)
        %22 = arith.xori %6, %9 : index
        %23 = nvgpu.device_async_copy %arg1[%21, %7], %arg4[%c0, %21, %22], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %10 = nvgpu.device_async_create_group  {all}
      %11 = affine.apply #map12(%2)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %21 = affine.apply #map6(%3, %arg5)
        %22 = affine.apply #map6(%4, %arg5)
        %23 = arith.xori %2, %5 : index
        %24 = nvgpu.device_async_copy %arg0[%22, %11], %arg3[%c1, %21, %23], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %21 = affine.apply #map11(%8, %arg5)
        %22 = affine.apply #map12(%21)
        %23 = arith.xori %6, %9 : index
        %24 = nvgpu.device_async_copy %arg1[%22, %7], %arg4[%c1, %21, %23], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %12 = nvgpu.device_async_create_group  {all}
      %13 = affine.apply #map13(%1)
      %14 = affine.apply #map14(%thread_id_x, %0)
      %15 = affine.apply #map15(%thread_id_x)
      %16 = affine.apply #map16(%thread_id_x)
      %17 = affine.apply #map17(%0)
      %18 = affine.apply #map18(%thread_id_x)
      scf.for %arg5 = %c0 to %c512 step %c32 {
        nvgpu.device_async_wait %12 {numGroups = 1 : i32}
        %21 = affine.apply #map19(%arg5)
        %22 = arith.cmpi slt, %21, %c512 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %23 = affine.apply #map20(%arg5)
        %24 = affine.apply #map21(%2, %arg5)
        %25 = affine.apply #map19(%24)
        %26 = affine.apply #map21(%8, %arg5)
        scf.if %22 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %29 = affine.apply #map6(%3, %arg6)
            %30 = affine.apply #map6(%4, %arg6)
            %31 = arith.xori %2, %5 : index
            %32 = nvgpu.device_async_copy %arg0[%30, %25], %arg3[%23, %29, %31], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %29 = affine.apply #map11(%8, %arg6)
            %30 = affine.apply #map11(%26, %arg6)
            %31 = affine.apply #map19(%30)
            %32 = arith.xori %6, %9 : index
            %33 = nvgpu.device_async_copy %arg1[%31, %7], %arg4[%23, %29, %32], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %27 = nvgpu.device_async_create_group  {all}
        %28 = affine.apply #map22(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_0 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %29 = affine.apply #map21(%13, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %31 = affine.apply #map23(%14, %arg7)
            %32 = arith.xori %29, %15 : index
            %33 = nvgpu.ldmatrix %arg3[%28, %31, %32] {numTiles = 4 : i32, transpose = false} : memref<3x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %33, %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_1 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %30 = affine.apply #map21(%16, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %31 = affine.apply #map11(%17, %arg7)
            %32 = arith.xori %31, %18 : index
            %33 = nvgpu.ldmatrix %arg4[%28, %30, %32] {numTiles = 2 : i32, transpose = true} : memref<3x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %33, %alloca_1[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %31 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %32 = vector.shape_cast %31 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %33 = vector.load %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %34 = vector.load %alloca_1[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %35 = nvgpu.mma.sync(%33, %34, %32) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %36 = vector.shape_cast %35 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %36, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %19 = affine.apply #map24(%block_id_y, %thread_id_x, %0)
      %20 = affine.apply #map25(%block_id_x, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %21 = affine.apply #map23(%20, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %22 = affine.apply #map11(%19, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %23 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2xf32>
            %24 = affine.apply #map11(%21, %arg7)
            vector.store %23, %arg2[%24, %22] : memref<512x512xf32>, vector<2xf32>
          }
        }
      }
      gpu.return
    }
  }
}
