// weft golden attention_tensor --set b=2 --set n=100 --set m=77 --set d=33 --set causal=1 --set type=f16
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> (d0 * 64)>
#map3 = affine_map<(d0, d1) -> ((d0 * 64 + d1) mod 48)>
#map4 = affine_map<(d0, d1, d2) -> (d0 + (d1 * 64 + d2) floordiv 48)>
#map5 = affine_map<(d0, d1) -> ((d0 * 64 + d1) floordiv 48)>
#map6 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map7 = affine_map<(d0, d1) -> (d0 mod 16 + d1 * 32)>
#map8 = affine_map<(d0) -> (((d0 mod 16) floordiv 8) * 8)>
#map9 = affine_map<(d0) -> (d0 mod 8)>
#map10 = affine_map<(d0, d1, d2) -> (d0 * 64 + d1 floordiv 4 + d2 * 32)>
#map11 = affine_map<(d0) -> ((d0 mod 4) * 2)>
#map12 = affine_map<(d0) -> (d0 mod 16)>
#map13 = affine_map<(d0, d1) -> (d0 + d1)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map16 = affine_map<(d0) -> (d0 + 1)>
#map17 = affine_map<(d0) -> ((d0 floordiv 16) * 2)>
#map18 = affine_map<(d0) -> (d0 * 8)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : ((d0 mod 32) floordiv 4 - (s0 mod 32) floordiv 4 == 0, d0 floordiv 32 - s0 floordiv 32 == 0)>
module attributes {gpu.container_module} {
  func.func @attention(%arg0: memref<2x100x33xf16> {weft.name = "Q"}, %arg1: memref<2x77x33xf16> {weft.name = "K"}, %arg2: memref<2x77x33xf16> {weft.name = "V"}, %arg3: memref<2x100x33xf16> {bufferize.result, weft.name = "O"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func  @attention_kernel::@attention blocks in (%c1, %c2, %c2) threads in (%c64, %c1, %c1)  args(%arg0 : memref<2x100x33xf16>, %arg1 : memref<2x77x33xf16>, %arg2 : memref<2x77x33xf16>, %arg3 : memref<2x100x33xf16>)
    return
  }
  gpu.module @attention_kernel {
    gpu.func @attention(%arg0: memref<2x100x33xf16> {weft.name = "Q"}, %arg1: memref<2x77x33xf16> {weft.name = "K"}, %arg2: memref<2x77x33xf16> {weft.name = "V"}, %arg3: memref<2x100x33xf16> {weft.name = "O"}) workgroup(%arg4 : memref<1x64x56xf16, #gpu.address_space<workgroup>> {weft.name = "Q_shared"}, %arg5 : memref<1x64x56xf16, #gpu.address_space<workgroup>> {weft.name = "K_shared"}, %arg6 : memref<1x64x56xf16, #gpu.address_space<workgroup>> {weft.name = "V_shared"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 2, 2>, weft.max_registers = 255 : i64} {
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c32_i32 = arith.constant 32 : i32
      %c16 = arith.constant 16 : index
      %c8 = arith.constant 8 : index
      %cst = arith.constant 0.000000e+00 : f16
      %c77 = arith.constant 77 : index
      %c6 = arith.constant 6 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c2 = arith.constant 2 : index
      %cst_0 = arith.constant -0.000000e+00 : f16
      %c100 = arith.constant 100 : index
      %c33 = arith.constant 33 : index
      %c1 = arith.constant 1 : index
      %c48 = arith.constant 48 : index
      %c0 = arith.constant 0 : index
      %cst_1 = arith.constant 0.17407766 : f32
      %cst_2 = arith.constant -0.000000e+00 : f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %cst_4 = arith.constant 0xFF800000 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_y = gpu.block_id y
      %block_id_z = gpu.block_id z
      %2 = affine.apply #map2(%block_id_y)
      scf.for %arg7 = %c0 to %c48 step %c1 {
        %10 = affine.apply #map3(%arg7, %thread_id_x)
        %11 = arith.cmpi slt, %10, %c33 : index
        %12 = affine.apply #map4(%2, %arg7, %thread_id_x)
        %13 = arith.cmpi slt, %12, %c100 : index
        %14 = arith.andi %11, %13 : i1
        %15 = scf.if %14 -> (f16) {
          %17 = memref.load %arg0[%block_id_z, %12, %10] : memref<2x100x33xf16>
          scf.yield %17 : f16
        } else {
          scf.yield %cst_0 : f16
        }
        %16 = affine.apply #map5(%arg7, %thread_id_x)
        memref.store %15, %arg4[%c0, %16, %10] : memref<1x64x56xf16, #gpu.address_space<workgroup>>
      }
      %alloca = memref.alloca() {weft.name = "sum"} : memref<2x2x1x1xf32>
      %alloca_5 = memref.alloca() {weft.name = "m0"} : memref<2x2x1x1xf32>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c2 step %c1 {
          memref.store %cst_4, %alloca_5[%arg7, %arg8, %c0, %c0] : memref<2x2x1x1xf32>
        }
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c2 step %c1 {
          memref.store %cst_3, %alloca[%arg7, %arg8, %c0, %c0] : memref<2x2x1x1xf32>
        }
      }
      %alloca_6 = memref.alloca() {weft.name = "O_tile"} : memref<2x6x2x1x1x2xf32>
      %alloca_7 = memref.alloca() {weft.name = "O_tile_2"} : memref<2x6x2x1x1x1x2xf32>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c6 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              memref.store %cst_3, %alloca_7[%arg7, %arg8, %arg9, %c0, %c0, %c0, %arg10] : memref<2x6x2x1x1x1x2xf32>
            }
          }
        }
      }
      %3 = affine.apply #map6(%1)
      %4 = affine.apply #map7(%thread_id_x, %0)
      %5 = affine.apply #map8(%thread_id_x)
      %6 = affine.apply #map9(%thread_id_x)
      %7 = affine.apply #map10(%block_id_y, %1, %0)
      %8 = affine.apply #map11(%thread_id_x)
      %9 = affine.apply #map12(%thread_id_x)
      scf.for %arg7 = %c0 to %c128 step %c64 {
        %alloca_9 = memref.alloca() {weft.name = "largest"} : memref<2x2x1x1xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            memref.store %cst_4, %alloca_9[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        scf.for %arg8 = %c0 to %c48 step %c1 {
          %11 = affine.apply #map3(%arg8, %thread_id_x)
          %12 = affine.apply #map4(%arg7, %arg8, %thread_id_x)
          %13 = arith.cmpi slt, %12, %c77 : index
          %14 = arith.cmpi slt, %11, %c33 : index
          %15 = arith.andi %13, %14 : i1
          %16 = scf.if %15 -> (f16) {
            %18 = memref.load %arg1[%block_id_z, %12, %11] : memref<2x77x33xf16>
            scf.yield %18 : f16
          } else {
            scf.yield %cst : f16
          }
          %17 = affine.apply #map5(%arg8, %thread_id_x)
          memref.store %16, %arg5[%c0, %17, %11] : memref<1x64x56xf16, #gpu.address_space<workgroup>>
        }
        %alloca_10 = memref.alloca() {weft.name = "powers"} : memref<2x8x2x1x1x2xf32>
        %alloca_11 = memref.alloca() {weft.name = "acc"} : memref<2x8x2x1x1x1x2xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                memref.store %cst_2, %alloca_11[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x8x2x1x1x1x2xf32>
              }
            }
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg8 = %c0 to %c48 step %c16 {
          %alloca_16 = memref.alloca() {weft.name = "Q_frag"} : memref<2x4x2xf16>
          %11 = affine.apply #map13(%3, %arg8)
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %13 = affine.apply #map14(%4, %arg9)
            %14 = nvgpu.ldmatrix %arg4[%c0, %13, %11] {numTiles = 4 : i32, transpose = false} : memref<1x64x56xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
            vector.store %14, %alloca_16[%arg9, %c0, %c0] : memref<2x4x2xf16>, vector<4x2xf16>
          }
          %alloca_17 = memref.alloca() {weft.name = "K_frag"} : memref<8x2x2xf16>
          %12 = affine.apply #map13(%5, %arg8)
          scf.for %arg9 = %c0 to %c8 step %c1 {
            %13 = affine.apply #map15(%6, %arg9)
            %14 = nvgpu.ldmatrix %arg5[%c0, %13, %12] {numTiles = 2 : i32, transpose = false} : memref<1x64x56xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
            vector.store %14, %alloca_17[%arg9, %c0, %c0] : memref<8x2x2xf16>, vector<2x2xf16>
          }
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %13 = vector.load %alloca_11[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %14 = vector.shape_cast %13 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %15 = vector.load %alloca_16[%arg9, %c0, %c0] : memref<2x4x2xf16>, vector<4x2xf16>
              %16 = vector.load %alloca_17[%arg10, %c0, %c0] : memref<8x2x2xf16>, vector<2x2xf16>
              %17 = nvgpu.mma.sync(%15, %16, %14) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %18 = vector.shape_cast %17 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %18, %alloca_11[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %alloca_12 = memref.alloca() {weft.name = "scores"} : memref<2x8x2x1x1x2xf32>
        %10 = affine.apply #map13(%8, %arg7)
        scf.for %arg8 = %c0 to %c2 step %c1 {
          %11 = affine.apply #map14(%7, %arg8)
          scf.for %arg9 = %c0 to %c8 step %c1 {
            %12 = affine.apply #map15(%10, %arg9)
            scf.for %arg10 = %c0 to %c2 step %c1 {
              %13 = affine.apply #map15(%11, %arg10)
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %14 = memref.load %alloca_11[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x8x2x1x1x1x2xf32>
                %15 = arith.mulf %14, %cst_1 : f32
                %16 = affine.apply #map13(%12, %arg11)
                %17 = arith.cmpi ule, %16, %13 : index
                %18 = arith.select %17, %15, %cst_4 : f32
                memref.store %18, %alloca_12[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
              }
            }
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %alloca_16 = memref.alloca() {weft.combiner = "arith.maximumf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
            memref.store %cst_4, %alloca_16[%c0, %c0] : memref<1x1xf32>
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %16 = memref.load %alloca_12[%arg8, %arg10, %arg9, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>
              %17 = memref.load %alloca_16[%c0, %c0] : memref<1x1xf32>
              %18 = affine.apply #map15(%10, %arg10)
              %19 = arith.cmpi slt, %18, %c77 : index
              %20 = arith.select %19, %16, %cst_4 : f32
              %21 = arith.maximumf %17, %20 : f32
              memref.store %21, %alloca_16[%c0, %c0] : memref<1x1xf32>
              %22 = memref.load %alloca_12[%arg8, %arg10, %arg9, %c0, %c0, %c1] : memref<2x8x2x1x1x2xf32>
              %23 = memref.load %alloca_16[%c0, %c0] : memref<1x1xf32>
              %24 = affine.apply #map16(%18)
              %25 = arith.cmpi slt, %24, %c77 : index
              %26 = arith.select %25, %22, %cst_4 : f32
              %27 = arith.maximumf %23, %26 : f32
              memref.store %27, %alloca_16[%c0, %c0] : memref<1x1xf32>
            }
            %11 = memref.load %alloca_16[%c0, %c0] : memref<1x1xf32>
            %shuffleResult, %valid = gpu.shuffle xor %11, %c2_i32, %c32_i32 : f32
            %12 = arith.maximumf %11, %shuffleResult : f32
            %shuffleResult_17, %valid_18 = gpu.shuffle xor %12, %c1_i32, %c32_i32 : f32
            %13 = arith.maximumf %12, %shuffleResult_17 : f32
            %14 = memref.load %alloca_9[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %15 = arith.maximumf %14, %13 : f32
            memref.store %15, %alloca_9[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        %alloca_13 = memref.alloca() {weft.name = "temp0"} : memref<2x2x1x1xf32>
        %alloca_14 = memref.alloca() {weft.name = "temp1"} : memref<2x2x1x1xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %11 = memref.load %alloca_9[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %12 = memref.load %alloca_5[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %13 = arith.maximumf %12, %11 : f32
            %14 = arith.cmpf oeq, %13, %cst_4 : f32
            %15 = arith.select %14, %cst_3, %13 : f32
            %16 = arith.subf %12, %15 : f32
            %17 = math.exp %16 : f32
            memref.store %13, %alloca_5[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            memref.store %17, %alloca_14[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            memref.store %15, %alloca_13[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %11 = memref.load %alloca_14[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %12 = memref.load %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %13 = arith.mulf %12, %11 : f32
            memref.store %13, %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %11 = memref.load %alloca_12[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
                %12 = memref.load %alloca_13[%arg8, %arg10, %c0, %c0] : memref<2x2x1x1xf32>
                %13 = arith.subf %11, %12 : f32
                %14 = math.exp %13 : f32
                memref.store %14, %alloca_10[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
              }
            }
          }
        }
        %alloca_15 = memref.alloca() {weft.name = "powers_tile"} : memref<2x8x2x1x1x2xf32>
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %alloca_16 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
            memref.store %cst_2, %alloca_16[%c0, %c0] : memref<1x1xf32>
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %16 = memref.load %alloca_10[%arg8, %arg10, %arg9, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>
              %17 = memref.load %alloca_16[%c0, %c0] : memref<1x1xf32>
              %18 = affine.apply #map15(%10, %arg10)
              %19 = arith.cmpi slt, %18, %c77 : index
              %20 = arith.select %19, %16, %cst_3 : f32
              %21 = arith.addf %17, %20 : f32
              memref.store %21, %alloca_16[%c0, %c0] : memref<1x1xf32>
              %22 = memref.load %alloca_10[%arg8, %arg10, %arg9, %c0, %c0, %c1] : memref<2x8x2x1x1x2xf32>
              %23 = memref.load %alloca_16[%c0, %c0] : memref<1x1xf32>
              %24 = affine.apply #map16(%18)
              %25 = arith.cmpi slt, %24, %c77 : index
              %26 = arith.select %25, %22, %cst_3 : f32
              %27 = arith.addf %23, %26 : f32
              memref.store %27, %alloca_16[%c0, %c0] : memref<1x1xf32>
            }
            %11 = memref.load %alloca_16[%c0, %c0] : memref<1x1xf32>
            %shuffleResult, %valid = gpu.shuffle xor %11, %c2_i32, %c32_i32 : f32
            %12 = arith.addf %11, %shuffleResult : f32
            %shuffleResult_17, %valid_18 = gpu.shuffle xor %12, %c1_i32, %c32_i32 : f32
            %13 = arith.addf %12, %shuffleResult_17 : f32
            %14 = memref.load %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
            %15 = arith.addf %14, %13 : f32
            memref.store %15, %alloca[%arg8, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
          }
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c6 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %11 = memref.load %alloca_14[%arg8, %arg10, %c0, %c0] : memref<2x2x1x1xf32>
                %12 = memref.load %alloca_7[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x6x2x1x1x1x2xf32>
                %13 = arith.mulf %12, %11 : f32
                memref.store %13, %alloca_7[%arg8, %arg9, %arg10, %c0, %c0, %c0, %arg11] : memref<2x6x2x1x1x1x2xf32>
              }
            }
          }
        }
        scf.for %arg8 = %c0 to %c48 step %c1 {
          %11 = affine.apply #map4(%arg7, %arg8, %thread_id_x)
          %12 = arith.cmpi slt, %11, %c77 : index
          %13 = affine.apply #map3(%arg8, %thread_id_x)
          %14 = arith.cmpi slt, %13, %c33 : index
          %15 = arith.andi %12, %14 : i1
          %16 = scf.if %15 -> (f16) {
            %18 = memref.load %arg2[%block_id_z, %11, %13] : memref<2x77x33xf16>
            scf.yield %18 : f16
          } else {
            scf.yield %cst : f16
          }
          %17 = affine.apply #map5(%arg8, %thread_id_x)
          memref.store %16, %arg6[%c0, %17, %13] : memref<1x64x56xf16, #gpu.address_space<workgroup>>
        }
        scf.for %arg8 = %c0 to %c2 step %c1 {
          scf.for %arg9 = %c0 to %c8 step %c1 {
            %11 = affine.apply #map15(%10, %arg9)
            scf.for %arg10 = %c0 to %c2 step %c1 {
              scf.for %arg11 = %c0 to %c2 step %c1 {
                %12 = memref.load %alloca_10[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
                %13 = affine.apply #map13(%11, %arg11)
                %14 = arith.cmpi slt, %13, %c77 : index
                %15 = arith.select %14, %12, %cst_3 : f32
                memref.store %15, %alloca_15[%arg8, %arg9, %arg10, %c0, %c0, %arg11] : memref<2x8x2x1x1x2xf32>
              }
            }
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg8 = %c0 to %c64 step %c16 {
          %alloca_16 = memref.alloca() {weft.name = "powers_tile_frag"} : memref<2x4x2xf16>
          %11 = affine.apply #map17(%arg8)
          %12 = affine.apply #map16(%11)
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %14 = vector.load %alloca_15[%arg9, %11, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %15 = vector.load %alloca_15[%arg9, %11, %c1, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %16 = vector.load %alloca_15[%arg9, %12, %c0, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %17 = vector.load %alloca_15[%arg9, %12, %c1, %c0, %c0, %c0] : memref<2x8x2x1x1x2xf32>, vector<2xf32>
            %18 = vector.shuffle %14, %15 [0, 1, 2, 3] : vector<2xf32>, vector<2xf32>
            %19 = vector.shuffle %18, %16 [0, 1, 2, 3, 4, 5] : vector<4xf32>, vector<2xf32>
            %20 = vector.shuffle %19, %17 [0, 1, 2, 3, 4, 5, 6, 7] : vector<6xf32>, vector<2xf32>
            %21 = vector.shape_cast %20 : vector<8xf32> to vector<4x2xf32>
            %22 = arith.truncf %21 : vector<4x2xf32> to vector<4x2xf16>
            vector.store %22, %alloca_16[%arg9, %c0, %c0] : memref<2x4x2xf16>, vector<4x2xf16>
          }
          %alloca_17 = memref.alloca() {weft.name = "V_frag"} : memref<6x2x2xf16>
          %13 = affine.apply #map13(%9, %arg8)
          scf.for %arg9 = %c0 to %c6 step %c1 {
            %14 = affine.apply #map18(%arg9)
            %15 = nvgpu.ldmatrix %arg6[%c0, %13, %14] {numTiles = 2 : i32, transpose = true} : memref<1x64x56xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
            vector.store %15, %alloca_17[%arg9, %c0, %c0] : memref<6x2x2xf16>, vector<2x2xf16>
          }
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c6 step %c1 {
              %14 = vector.load %alloca_7[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x6x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %15 = vector.shape_cast %14 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %16 = vector.load %alloca_16[%arg9, %c0, %c0] : memref<2x4x2xf16>, vector<4x2xf16>
              %17 = vector.load %alloca_17[%arg10, %c0, %c0] : memref<6x2x2xf16>, vector<2x2xf16>
              %18 = nvgpu.mma.sync(%16, %17, %15) {mmaShape = [16, 8, 16], weft.as_type = "f16"} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %19 = vector.shape_cast %18 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %19, %alloca_7[%arg9, %arg10, %c0, %c0, %c0, %c0, %c0] : memref<2x6x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c6 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              %10 = memref.load %alloca_7[%arg7, %arg8, %arg9, %c0, %c0, %c0, %arg10] : memref<2x6x2x1x1x1x2xf32>
              %11 = memref.load %alloca[%arg7, %arg9, %c0, %c0] : memref<2x2x1x1xf32>
              %12 = arith.divf %10, %11 : f32
              memref.store %12, %alloca_6[%arg7, %arg8, %arg9, %c0, %c0, %arg10] : memref<2x6x2x1x1x2xf32>
            }
          }
        }
      }
      %alloca_8 = memref.alloca() {weft.name = "Y"} : memref<2x6x2x1x1x2xf16>
      scf.for %arg7 = %c0 to %c2 step %c1 {
        scf.for %arg8 = %c0 to %c6 step %c1 {
          scf.for %arg9 = %c0 to %c2 step %c1 {
            scf.for %arg10 = %c0 to %c2 step %c1 {
              %10 = memref.load %alloca_6[%arg7, %arg8, %arg9, %c0, %c0, %arg10] : memref<2x6x2x1x1x2xf32>
              %11 = arith.truncf %10 : f32 to f16
              memref.store %11, %alloca_8[%arg7, %arg8, %arg9, %c0, %c0, %arg10] : memref<2x6x2x1x1x2xf16>
            }
          }
        }
      }
      scf.for %arg7 = %c0 to %c2 step %c1 {
        %10 = affine.apply #map14(%7, %arg7)
        scf.for %arg8 = %c0 to %c6 step %c1 {
          %11 = affine.apply #map15(%8, %arg8)
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %12 = affine.apply #map15(%10, %arg9)
            %13 = arith.cmpi slt, %12, %c100 : index
            scf.if %13 {
              scf.for %arg10 = %c0 to %c2 step %c1 {
                %14 = affine.apply #map13(%11, %arg10)
                %15 = arith.cmpi slt, %14, %c33 : index
                scf.if %15 {
                  %16 = memref.load %alloca_8[%arg7, %arg8, %arg9, %c0, %c0, %arg10] : memref<2x6x2x1x1x2xf16>
                  memref.store %16, %arg3[%block_id_z, %12, %14] : memref<2x100x33xf16>
                }
              }
            }
          }
        }
      }
      gpu.return
    }
  }
}
