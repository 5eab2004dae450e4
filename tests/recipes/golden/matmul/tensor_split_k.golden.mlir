// weft golden tensor_split_k
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 512 + (d1 mod 4) * 8)>
#map3 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map4 = affine_map<(d0) -> (d0 floordiv 4)>
#map5 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map6 = affine_map<(d0) -> (d0 * 8)>
#map7 = affine_map<(d0) -> ((d0 floordiv 4) * -32)>
#map8 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map9 = affine_map<(d0, d1) -> (d0 + d1)>
#map10 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 16) * 8)>
#map11 = affine_map<(d0, d1) -> (d0 * 512 + d1 floordiv 16)>
#map12 = affine_map<(d0) -> (d0 floordiv 16)>
#map13 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map14 = affine_map<(d0) -> ((d0 floordiv 16) * -128)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map16 = affine_map<(d0) -> (d0 + 32)>
#map17 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map18 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map19 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map20 = affine_map<(d0) -> (d0 mod 16)>
#map21 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map22 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map23 = affine_map<(d0) -> (d0 + 64)>
#map24 = affine_map<(d0) -> ((d0 floordiv 32 + 2) mod 3)>
#map25 = affine_map<(d0) -> ((d0 floordiv 32) mod 3)>
#map26 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map27 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 2) * 64)>
#map28 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
#map29 = affine_map<(d0, d1) -> (d0 + d1 floordiv 256)>
#map30 = affine_map<(d0) -> (d0 mod 256)>
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
      %3 = affine.apply #map3(%block_id_y, %thread_id_x)
      %4 = affine.apply #map4(%thread_id_x)
      %5 = affine.apply #map5(%thread_id_x)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %24 = affine.apply #map8(%3, %arg5)
        %25 = affine.apply #map8(%4, %arg5)
        %26 = arith.xori %6, %5 : index
        %27 = affine.apply #map9(%7, %26)
        %28 = nvgpu.device_async_copy %arg0[%24, %2], %arg3[%c0, %c0, %25, %27], 8 {bypassL1} : memref<256x2048xbf16> to memref<3x1x128x32xbf16, #gpu.address_space<workgroup>>
      }
      %8 = affine.apply #map10(%block_id_x, %thread_id_x)
      %9 = affine.apply #map11(%block_id_z, %thread_id_x)
      %10 = affine.apply #map12(%thread_id_x)
      %11 = affine.apply #map13(%thread_id_x)
      %12 = affine.apply #map14(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %24 = affine.apply #map15(%9, %arg5)
        %25 = affine.apply #map15(%10, %arg5)
        %26 = arith.xori %6, %11 : index
        %27 = affine.apply #map9(%12, %26)
        %28 = nvgpu.device_async_copy %arg1[%24, %8], %arg4[%c0, %c0, %25, %27], 8 {bypassL1} : memref<2048x256xbf16> to memref<3x1x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %13 = nvgpu.device_async_create_group  {all}
      %14 = affine.apply #map16(%2)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %24 = affine.apply #map8(%3, %arg5)
        %25 = affine.apply #map8(%4, %arg5)
        %26 = arith.xori %6, %5 : index
        %27 = affine.apply #map9(%7, %26)
        %28 = nvgpu.device_async_copy %arg0[%24, %14], %arg3[%c1, %c0, %25, %27], 8 {bypassL1} : memref<256x2048xbf16> to memref<3x1x128x32xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %24 = affine.apply #map15(%9, %arg5)
        %25 = affine.apply #map16(%24)
        %26 = affine.apply #map15(%10, %arg5)
        %27 = arith.xori %6, %11 : index
        %28 = affine.apply #map9(%12, %27)
        %29 = nvgpu.device_async_copy %arg1[%25, %8], %arg4[%c1, %c0, %26, %28], 8 {bypassL1} : memref<2048x256xbf16> to memref<3x1x32x128xbf16, #gpu.address_space<workgroup>>
      }
      %15 = nvgpu.device_async_create_group  {all}
      %16 = affine.apply #map17(%1)
      %17 = affine.apply #map18(%thread_id_x, %0)
      %18 = affine.apply #map19(%thread_id_x)
      %19 = affine.apply #map20(%thread_id_x)
      %20 = affine.apply #map21(%thread_id_x)
      %21 = affine.apply #map22(%0)
      scf.for %arg5 = %c0 to %c512 step %c32 {
        nvgpu.device_async_wait %15 {numGroups = 1 : i32}
        %24 = affine.apply #map23(%arg5)
        %25 = arith.cmpi slt, %24, %c512 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %26 = affine.apply #map9(%2, %arg5)
        %27 = affine.apply #map23(%26)
        %28 = affine.apply #map24(%arg5)
        %29 = affine.apply #map9(%9, %arg5)
        scf.if %25 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %32 = affine.apply #map8(%3, %arg6)
            %33 = affine.apply #map8(%4, %arg6)
            %34 = arith.xori %6, %5 : index
            %35 = affine.apply #map9(%7, %34)
            %36 = nvgpu.device_async_copy %arg0[%32, %27], %arg3[%28, %c0, %33, %35], 8 {bypassL1} : memref<256x2048xbf16> to memref<3x1x128x32xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %32 = affine.apply #map15(%29, %arg6)
            %33 = affine.apply #map23(%32)
            %34 = affine.apply #map15(%10, %arg6)
            %35 = arith.xori %6, %11 : index
            %36 = affine.apply #map9(%12, %35)
            %37 = nvgpu.device_async_copy %arg1[%33, %8], %arg4[%28, %c0, %34, %36], 8 {bypassL1} : memref<2048x256xbf16> to memref<3x1x32x128xbf16, #gpu.address_space<workgroup>>
          }
        }
        %30 = nvgpu.device_async_create_group  {all}
        %31 = affine.apply #map25(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_0 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %32 = affine.apply #map9(%16, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %34 = affine.apply #map26(%17, %arg7)
            %35 = arith.xori %32, %18 : index
            %36 = nvgpu.ldmatrix %arg3[%31, %c0, %34, %35] {numTiles = 4 : i32, transpose = false} : memref<3x1x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %36, %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_1 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %33 = affine.apply #map9(%19, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %34 = affine.apply #map6(%arg7)
            %35 = arith.xori %34, %20 : index
            %36 = affine.apply #map9(%21, %35)
            %37 = nvgpu.ldmatrix %arg4[%31, %c0, %33, %36] {numTiles = 2 : i32, transpose = true} : memref<3x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %37, %alloca_1[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %34 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %35 = vector.shape_cast %34 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %36 = vector.load %alloca_0[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %37 = vector.load %alloca_1[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %38 = nvgpu.mma.sync(%36, %37, %35) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %39 = vector.shape_cast %38 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %39, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      %22 = affine.apply #map27(%block_id_x, %thread_id_x, %0)
      %23 = affine.apply #map28(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %24 = affine.apply #map26(%23, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %25 = affine.apply #map15(%22, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %26 = vector.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2xf32>
            %27 = affine.apply #map15(%24, %arg7)
            vector.store %26, %arg2[%block_id_z, %27, %25] : memref<4x256x256xf32>, vector<2xf32>
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
      %0 = affine.apply #map29(%block_id_x, %thread_id_x)
      %1 = affine.apply #map30(%thread_id_x)
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
