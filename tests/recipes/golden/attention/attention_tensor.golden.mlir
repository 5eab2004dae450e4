// weft golden attention_tensor
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map3 = affine_map<(d0, d1) -> (d0 * 64 + d1 floordiv 8)>
#map4 = affine_map<(d0) -> (d0 floordiv 8)>
#map5 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map6 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map7 = affine_map<(d0, d1) -> (d0 mod 16 + d1 * 32)>
#map8 = affine_map<(d0) -> (((d0 mod 16) floordiv 8) * 8)>
#map9 = affine_map<(d0) -> (d0 mod 8)>
#map10 = affine_map<(d0) -> (d0 mod 16)>
#map11 = affine_map<(d0) -> (d0 + 64)>
#map12 = affine_map<(d0) -> ((d0 floordiv 64 + 1) mod 2)>
#map13 = affine_map<(d0, d1) -> (d0 + d1)>
#map14 = affine_map<(d0) -> ((d0 floordiv 64) mod 2)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map16 = affine_map<(d0) -> ((d0 floordiv 16) * 2)>
#map17 = affine_map<(d0) -> (d0 + 1)>
#map18 = affine_map<(d0) -> (d0 * 8)>
#map19 = affine_map<(d0) -> ((d0 mod 4) * 2)>
#map20 = affine_map<(d0, d1, d2) -> (d0 * 64 + d1 floordiv 4 + d2 * 32)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : ((d0 mod 32) floordiv 4 - (s0 mod 32) floordiv 4 == 0, d0 floordiv 32 - s0 floordiv 32 == 0)>
module attributes {gpu.container_module} {
  func.func @attention(%arg0: memref<8x256x64xbf16> {weft.name = "Q"}, %arg1: memref<8x256x64xbf16> {weft.name = "K"}, %arg2: memref<8x256x64xbf16> {weft.name = "V"}, %arg3: memref<8x256x64xbf16> {bufferize.result, weft.name = "O"}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func  @attention_kernel::@attention blocks in (%c1, %c4, %c8) threads in (%c64, %c1, %c1)  args(%arg0 : memref<8x256x64xbf16>, %arg1 : memref<8x256x64xbf16>, %arg2 : memref<8x256x64xbf16>, %arg3 : memref<8x256x64xbf16>)
    return
  }
  gpu.module @attention_kernel {
    gpu.func @attention(%arg0: memref<8x256x64xbf16> {weft.name = "Q"}, %arg1: memref<8x256x64xbf16> {weft.name = "K"}, %arg2: memref<8x256x64xbf16> {weft.name = "V"}, %arg3: memref<8x256x64xbf16> {weft.name = "O"}) workgroup(%arg4 : memref<1x64x72xbf16, #gpu.address_space<workgroup>> {weft.name = "Q_shared"}, %arg5 : memref<2x1x64x72xbf16, #gpu.address_space<workgroup>> {weft.name = "K_shared"}, %arg6 : memref<2x1x64x72xbf16, #gpu.address_space<workgroup>> {weft.name = "V_shared"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 4, 8>, weft.max_registers = 255 : i64} {
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c32_i32 = arith.constant 32 : i32
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c256 = arith.constant 256 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 1.250000e-01 : f32
      %cst_0 = arith.constant -0.000000e+00 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %cst_2 = arith.constant 0xFF800000 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_y = gpu.block_id y
      %block_id_z = gpu.block_id z
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%block_id_y, %thread_id_x)
      %4 = affine.apply #map4(%thread_id_x)
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %13 = affine.apply #map5(%3, %arg7)
        %14 = vector.load %arg0[%block_id_z, %13, %2] : memref<8x256x64xbf16>, vector<8xbf16>
        %15 = affine.apply #map5(%4, %arg7)
        vector.store %14, %arg4[%c0, %15, %2] : memref<1x64x72xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %alloca = memref.alloca() {weft.name = "sum"} : memref<2x2x1x1xf32>
      %alloca_3 = memref.alloca() {weft.name = "m0"} : memref<2x2x1x1xf32>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c2 step %c1 {
          memref.store %cst_2, %alloca_3[%arg7, %arg8, %c0, %c0] : memref<2x2x1x1xf32>
        }
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c2 step %c1 {
          memref.store %cst_1, %alloca[%arg7, %arg8, %c0, %c0] : memref<2x2x1x1xf32>
        }
      }
      %alloca_4 = memref.alloca() {weft.name = "O_tile"} : memref<2x8x2x1x1x2xf32>
      %alloca_5 = memref.alloca() {weft.name = "O_tile_2"} : memref<2x8x2x1x1x1x2xf32>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              memref.store %cst_1, %alloca_5[%arg7, %arg8, %arg9, %c0, %c0, %c0, %arg10] : memref<2x8x2x1x1x1x2xf32>
            }
          }
        }
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %13 = affine.apply #map5(%4, %arg7)
        %14 = nvgpu.device_async_copy %arg1[%block_id_z, %13, %2], %arg5[%c0, %c0, %13, %2], 8 {bypassL1} : memref<8x256x64xbf16> to memref<2x1x64x72xbf16, #gpu.address_space<workgroup>>
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %13 = affine.apply #map5(%4, %arg7)
        %14 = nvgpu.device_async_copy %arg2[%block_id_z, %13, %2], %arg6[%c0, %c0, %13, %2], 8 {bypassL1} : memref<8x256x64xbf16> to memref<2x1x64x72xbf16, #gpu.address_space<workgroup>>
      }
      %5 = nvgpu.device_async_create_group  {all}
      %6 = affine.apply #map6(%1)
      %7 = affine.apply #map7(%thread_id_x, %0)
      %8 = affine.apply #map8(%thread_id_x)
      %9 = affine.apply #map9(%thread_id_x)
      %10 = affine.apply #map10(%thread_id_x)
      scf.for %arg7 = %c0 to %c256 step %c64 {
        nvgpu.device_async_wait %5 {numGroups = 0 : i32}
        %13 = affine.apply #map11(%arg7)
        %14 = arith.cmpi slt, %13, %c256 : index
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %15 = affine.apply #map12(%arg7)
        %16 = affine.apply #map13(%4, %arg7)
        scf.if %14 {
          scf.for %arg8 = %c0 to %c8 step %c1 {
            %19 = affine.apply #map5(%16, %arg8)
            %20 = affine.apply #map11(%19)
            %21 = affine.apply #map5(%4, %arg8)
            %22 = nvgpu.device_async_copy %arg1[%block_id_z, %20, %2], %arg5[%15, %c0, %21, %2], 8 {bypassL1} : memref<8x256x64xbf16> to memref<2x1x64x72xbf16, #gpu.address_space<workgroup>>
          }
          scf.for %arg8 = %c0 to %c8 step %c1 {
            %19 = affine.apply #map5(%16, %arg8)
            %20 = affine.apply #map11(%19)
            %21 = affine.apply #map5(%4, %arg8)
            %22 = nvgpu.device_async_copy %arg2[%block_id_z, %20, %2], %arg6[%15, %c0, %21, %2], 8 {bypassL1} : memref<8x256x64xbf16> to memref<2x1x64x72xbf16, #gpu.address_space<workgroup>>
          }
        }
        %17 = nvgpu.device_async_create_group  {all}
        %alloca_6 = memref.alloca() {weft.name = "largest"} : memref<2x2x1x1xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            memref.store %cst_2, %alloca_6[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        %alloca_7 = memref.alloca() {weft.name = "acc"} : memref<2x8x2x1x1x1x2xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                memref.store %cst_0, %alloca_7[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x8x2x1x1x1x2xf32>
              }
            }
          }
        }
        %18 = affine.apply #map14(%arg7)
        scf.for %arg8 = %c0 to %c64 step %c16 {
          %alloca_12 = memref.alloca() {weft.name = "Q_frag"} : memref<2x4x2xbf16>
          %19 = affine.apply #map13(%6, %arg8)
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %21 = affine.apply #map15(%7, %arg9)
            %22 = nvgpu.ldmatrix %arg4[%c0, %21, %19] {numTiles = 4 : i32, transpose = false} : memref<1x64x72xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %22, %alloca_12[%arg9, %c0, %c0] : memref<2x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_13 = memref.alloca() {weft.name = "K_frag"} : memref<8x2x2xbf16>
          %20 = affine.apply #map13(%8, %arg8)
          scf.for %arg9 = %c0 to %c8 step %c1 {
            %21 = affine.apply #map5(%9, %arg9)
            %22 = nvgpu.ldmatrix %arg5[%18, %c0, %21, %20] {numTiles = 2 : i32, transpose = false} : memref<2x1x64x72xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %22, %alloca_13[%arg9, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %21 = vector.load %alloca_7[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %22 = vector.shape_cast %21 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %23 = vector.load %alloca_12[%arg9, %c0, %c0] : memref<2x4x2xbf16>, vector<4x2xbf16>
              %24 = vector.load %alloca_13[%arg10, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %25 = nvgpu.mma.sync(%23, %24, %22) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %26 = vector.shape_cast %25 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %26, %alloca_7[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %alloca_8 = memref.alloca() {weft.name = "powers"} : memref<2x8x2x1x1x2xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %19 = memref.load %alloca_7[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x8x2x1x1x1x2xf32>
                %20 = arith.mulf %19, %cst : f32
                memref.store %20, %alloca_8[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
              }
            }
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %alloca_12 = memref.alloca() {weft.combiner = "arith.maximumf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
            memref.store %cst_2, %alloca_12[%c0, %c0] : memref<1x1xf32>
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %24 = memref.load %alloca_8[%arg8, %arg10, %arg9, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>
              %25 = memref.load %alloca_12[%c0, %c0] : memref<1x1xf32>
              %26 = arith.maximumf %25, %24 : f32
              memref.store %26, %alloca_12[%c0, %c0] : memref<1x1xf32>
              %27 = memref.load %alloca_8[%arg8, %arg10, %arg9, %c0, %c0, %c1] : memref<2x8x2x1x1x2xf32>
              %28 = memref.load %alloca_12[%c0, %c0] : memref<1x1xf32>
              %29 = arith.maximumf %28, %27 : f32
              memref.store %29, %alloca_12[%c0, %c0] : memref<1x1xf32>
            }
            %19 = memref.load %alloca_12[%c0, %c0] : memref<1x1xf32>
            %shuffleResult, %valid = gpu.shuffle xor %19, %c2_i32, %c32_i32 : f32
            %20 = arith.maximumf %19, %shuffleResult : f32
            %shuffleResult_13, %valid_14 = gpu.shuffle xor %20, %c1_i32, %c32_i32 : f32
            %21 = arith.maximumf %20, %shuffleResult_13 : f32
            %22 = memref.load %alloca_6[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %23 = arith.maximumf %22, %21 : f32
            memref.store %23, %alloca_6[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        %alloca_9 = memref.alloca() {weft.name = "temp0"} : memref<2x2x1x1xf32>
        %alloca_10 = memref.alloca() {weft.name = "temp1"} : memref<2x2x1x1xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %19 = memref.load %alloca_6[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %20 = memref.load %alloca_3[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %21 = arith.maximumf %20, %19 : f32
            %22 = arith.cmpf oeq, %21, %cst_2 : f32
            %23 = arith.select %22, %cst_1, %21 : f32
            %24 = arith.subf %20, %23 : f32
            %25 = math.exp %24 : f32
            memref.store %21, %alloca_3[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            memref.store %25, %alloca_10[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            memref.store %23, %alloca_9[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %19 = memref.load %alloca_10[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %20 = memref.load %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %21 = arith.mulf %20, %19 : f32
            memref.store %21, %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %19 = memref.load %alloca_8[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
                %20 = memref.load %alloca_9[%arg8, %arg10, %c0, %c0] : memref<2x2x1x1xf32>
                %21 = arith.subf %19, %20 : f32
                %22 = math.exp %21 : f32
                memref.store %22, %alloca_8[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
              }
            }
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %alloca_12 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
            memref.store %cst_0, %alloca_12[%c0, %c0] : memref<1x1xf32>
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %24 = memref.load %alloca_8[%arg8, %arg10, %arg9, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>
              %25 = memref.load %alloca_12[%c0, %c0] : memref<1x1xf32>
              %26 = arith.addf %25, %24 : f32
              memref.store %26, %alloca_12[%c0, %c0] : memref<1x1xf32>
              %27 = memref.load %alloca_8[%arg8, %arg10, %arg9, %c0, %c0, %c1] : memref<2x8x2x1x1x2xf32>
              %28 = memref.load %alloca_12[%c0, %c0] : memref<1x1xf32>
              %29 = arith.addf %28, %27 : f32
              memref.store %29, %alloca_12[%c0, %c0] : memref<1x1xf32>
            }
            %19 = memref.load %alloca_12[%c0, %c0] : memref<1x1xf32>
            %shuffleResult, %valid = gpu.shuffle xor %19, %c2_i32, %c32_i32 : f32
            %20 = arith.addf %19, %shuffleResult : f32
            %shuffleResult_13, %valid_14 = gpu.shuffle xor %20, %c1_i32, %c32_i32 : f32
            %21 = arith.addf %20, %shuffleResult_13 : f32
            %22 = memref.load %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %23 = arith.addf %22, %21 : f32
            memref.store %23, %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %19 = memref.load %alloca_10[%arg8, %arg10, %c0, %c0] : memref<2x2x1x1xf32>
                %20 = memref.load %alloca_5[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x8x2x1x1x1x2xf32>
                %21 = arith.mulf %20, %19 : f32
                memref.store %21, %alloca_5[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x8x2x1x1x1x2xf32>
              }
            }
          }
        }
        %alloca_11 = memref.alloca() {weft.name = "powers_tile"} : memref<2x8x2x1x1x2xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %19 = memref.load %alloca_8[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
                memref.store %19, %alloca_11[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
              }
            }
          }
        }
        scf.for %arg8 = %c0 to %c64 step %c16 {
          %alloca_12 = memref.alloca() {weft.name = "powers_tile_frag"} : memref<2x4x2xbf16>
          %19 = affine.apply #map16(%arg8)
          %20 = affine.apply #map17(%19)
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %22 = vector.load %alloca_11[%arg9, %19, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %23 = vector.load %alloca_11[%arg9, %19, %c1, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %24 = vector.load %alloca_11[%arg9, %20, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %25 = vector.load %alloca_11[%arg9, %20, %c1, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %26 = vector.shuffle %22, %23 [0, 1, 2, 3] : vector<2xf32>, vector<2xf32>
            %27 = vector.shuffle %26, %24 [0, 1, 2, 3, 4, 5] : vector<4xf32>, vector<2xf32>
            %28 = vector.shuffle %27, %25 [0, 1, 2, 3, 4, 5, 6, 7] : vector<6xf32>, vector<2xf32>
            %29 = vector.shape_cast %28 : vector<8xf32> to vector<4x2xf32>
            %30 = arith.truncf %29 : vector<4x2xf32> to vector<4x2xbf16>
            vector.store %30, %alloca_12[%arg9, %c0, %c0] : memref<2x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_13 = memref.alloca() {weft.name = "V_frag"} : memref<8x2x2xbf16>
          %21 = affine.apply #map13(%10, %arg8)
          scf.for %arg9 = %c0 to %c8 step %c1 {
            %22 = affine.apply #map18(%arg9)
            %23 = nvgpu.ldmatrix %arg6[%18, %c0, %21, %22] {numTiles = 2 : i32, transpose = true} : memref<2x1x64x72xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %23, %alloca_13[%arg9, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %22 = vector.load %alloca_5[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %23 = vector.shape_cast %22 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %24 = vector.load %alloca_12[%arg9, %c0, %c0] : memref<2x4x2xbf16>, vector<4x2xbf16>
              %25 = vector.load %alloca_13[%arg10, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %26 = nvgpu.mma.sync(%24, %25, %23) {mmaShape = [16, 8, 16], weft.as_type = "bf16"} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %27 = vector.shape_cast %26 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %27, %alloca_5[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              %13 = memref.load %alloca_5[%arg7, %arg8, %arg9, %c0, %c0, %c0, %arg10] : memref<2x8x2x1x1x1x2xf32>
              %14 = memref.load %alloca[%arg7, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
              %15 = arith.divf %13, %14 : f32
              memref.store %15, %alloca_4[%arg7, %arg8, %arg9, %c0, %c0, %arg10] : memref<2x8x2x1x1x2xf32>
            }
          }
        }
      }
      %11 = affine.apply #map19(%thread_id_x)
      %12 = affine.apply #map20(%block_id_y, %1, %0)
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %13 = affine.apply #map15(%12, %arg7)
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %14 = affine.apply #map5(%11, %arg8)
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %15 = memref.load %alloca_4[%arg7, %arg8, %arg9, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>
            %16 = arith.truncf %15 : f32 to bf16
            %17 = memref.load %alloca_4[%arg7, %arg8, %arg9, %c0, %c0, %c1] : memref<2x8x2x1x1x2xf32>
            %18 = arith.truncf %17 : f32 to bf16
            %19 = vector.from_elements %16, %18 : vector<2xbf16>
            %20 = affine.apply #map5(%13, %arg9)
            vector.store %19, %arg3[%block_id_z, %20, %14] : memref<8x256x64xbf16>, vector<2xbf16>
          }
        }
      }
      gpu.return
    }
  }
}
