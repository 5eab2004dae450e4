// weft golden tensor.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map5 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map6 = affine_map<(d0) -> (((d0 floordiv 2) mod 4) * 8)>
#map7 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map8 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 16) * 8)>
#map9 = affine_map<(d0) -> (d0 floordiv 16)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map11 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map12 = affine_map<(d0) -> (d0 + 32)>
#map13 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map14 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map15 = affine_map<(d0) -> (d0 mod 16)>
#map16 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map17 = affine_map<(d0) -> (d0 + 64)>
#map18 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map19 = affine_map<(d0, d1) -> (d0 + d1)>
#map20 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map21 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map22 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 2) * 64)>
#map23 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
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
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map5(%3, %arg5)
        %18 = affine.apply #map5(%4, %arg5)
        %19 = affine.apply #map6(%17)
        %20 = arith.xori %2, %19 : index
        %21 = nvgpu.device_async_copy %arg0[%18, %2], %arg3[%c0, %17, %20], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %5 = affine.apply #map7(%thread_id_x)
      %6 = affine.apply #map8(%block_id_y, %thread_id_x)
      %7 = affine.apply #map9(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map10(%7, %arg5)
        %18 = affine.apply #map11(%17)
        %19 = arith.xori %5, %18 : index
        %20 = nvgpu.device_async_copy %arg1[%17, %6], %arg4[%c0, %17, %19], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %8 = nvgpu.device_async_create_group  {all}
      %9 = affine.apply #map12(%2)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map5(%3, %arg5)
        %18 = affine.apply #map5(%4, %arg5)
        %19 = affine.apply #map6(%17)
        %20 = arith.xori %2, %19 : index
        %21 = nvgpu.device_async_copy %arg0[%18, %9], %arg3[%c1, %17, %20], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map10(%7, %arg5)
        %18 = affine.apply #map12(%17)
        %19 = affine.apply #map11(%17)
        %20 = arith.xori %5, %19 : index
        %21 = nvgpu.device_async_copy %arg1[%18, %6], %arg4[%c1, %17, %20], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %10 = nvgpu.device_async_create_group  {all}
      %11 = affine.apply #map13(%1)
      %12 = affine.apply #map14(%thread_id_x, %0)
      %13 = affine.apply #map15(%thread_id_x)
      %14 = affine.apply #map16(%0)
      scf.for %arg5 = %c0 to %c512 step %c32 {
        nvgpu.device_async_wait %10 {numGroups = 1 : i32}
        %17 = affine.apply #map17(%arg5)
        %18 = arith.cmpi slt, %17, %c512 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %19 = affine.apply #map18(%arg5)
        %20 = affine.apply #map19(%2, %arg5)
        %21 = affine.apply #map17(%20)
        %22 = affine.apply #map19(%7, %arg5)
        scf.if %18 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %25 = affine.apply #map5(%3, %arg6)
            %26 = affine.apply #map5(%4, %arg6)
            %27 = affine.apply #map6(%25)
            %28 = arith.xori %2, %27 : index
            %29 = nvgpu.device_async_copy %arg0[%26, %21], %arg3[%19, %25, %28], 8 {bypassL1} : memref<512x512xbf16> to memref<3x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %25 = affine.apply #map10(%7, %arg6)
            %26 = affine.apply #map10(%22, %arg6)
            %27 = affine.apply #map17(%26)
            %28 = affine.apply #map11(%25)
            %29 = arith.xori %5, %28 : index
            %30 = nvgpu.device_async_copy %arg1[%27, %6], %arg4[%19, %25, %29], 8 {bypassL1} : memref<512x512xbf16> to memref<3x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %23 = nvgpu.device_async_create_group  {all}
        %24 = affine.apply #map20(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_0 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %25 = affine.apply #map19(%11, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %28 = affine.apply #map21(%12, %arg7)
            %29 = affine.apply #map6(%28)
            %30 = arith.xori %25, %29 : index
            %31 = nvgpu.ldmatrix %arg3[%24, %28, %30] {numTiles = 4 : i32, transpose = false} : memref<3x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %31, %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_1 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %26 = affine.apply #map19(%13, %arg6)
          %27 = affine.apply #map11(%26)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %28 = affine.apply #map10(%14, %arg7)
            %29 = arith.xori %28, %27 : index
            %30 = nvgpu.ldmatrix %arg4[%24, %26, %29] {numTiles = 2 : i32, transpose = true} : memref<3x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %30, %alloca_1[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %28 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %29 = vector.shape_cast %28 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %30 = vector.load %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %31 = vector.load %alloca_1[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %32 = nvgpu.mma.sync(%30, %31, %29) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %33 = vector.shape_cast %32 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %33, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %15 = affine.apply #map22(%block_id_y, %thread_id_x, %0)
      %16 = affine.apply #map23(%block_id_x, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map21(%16, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %18 = affine.apply #map10(%15, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %19 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2xf32>
            %20 = affine.apply #map10(%17, %arg7)
            vector.store %19, %arg2[%20, %18] : memref<512x512xf32>, vector<2xf32>
          }
        }
      }
      gpu.return
    }
  }
}
