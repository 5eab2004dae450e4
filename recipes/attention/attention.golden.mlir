// weft golden attention.weft
#map = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 64)>
#map1 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 64)>
#map2 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 + d2 * 16) floordiv 64)>
#map3 = affine_map<(d0) -> ((d0 mod 2) * 4)>
#map4 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map5 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map6 = affine_map<(d0) -> (d0 * 4)>
#map7 = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 32)>
#map8 = affine_map<(d0) -> (d0 * 8)>
#map9 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 32)>
#map10 = affine_map<(d0, d1) -> (((d0 + d1 * 16) floordiv 32) * -31 + d0 + d1 * 16)>
#map11 = affine_map<(d0, d1) -> (d0 + d1)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map13 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map14 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 8)>
module attributes {gpu.container_module} {
  func.func @attention(%arg0: memref<8x256x64xf32> {weft.name = "Q"}, %arg1: memref<8x256x64xf32> {weft.name = "K"}, %arg2: memref<8x256x64xf32> {weft.name = "V"}, %arg3: memref<8x256x64xf32> {bufferize.result, weft.name = "O"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @attention_kernel::@attention blocks in (%c1, %c2, %c8) threads in (%c16, %c16, %c1)  args(%arg0 : memref<8x256x64xf32>, %arg1 : memref<8x256x64xf32>, %arg2 : memref<8x256x64xf32>, %arg3 : memref<8x256x64xf32>)
    return
  }
  gpu.module @attention_kernel {
    gpu.func @attention(%arg0: memref<8x256x64xf32> {weft.name = "Q"}, %arg1: memref<8x256x64xf32> {weft.name = "K"}, %arg2: memref<8x256x64xf32> {weft.name = "V"}, %arg3: memref<8x256x64xf32> {weft.name = "O"}) workgroup(%arg4 : memref<1x64x128xf32, #gpu.address_space<workgroup>> {weft.name = "Q_shared"}, %arg5 : memref<1x64x68xf32, #gpu.address_space<workgroup>> {weft.name = "K_shared"}, %arg6 : memref<1x64x64xf32, #gpu.address_space<workgroup>> {weft.name = "V_shared"}, %arg7 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "sum"}, %arg8 : memref<1x128x64xf32, #gpu.address_space<workgroup>> {weft.name = "powers"}, %arg9 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "largest"}, %arg10 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp0"}, %arg11 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp1"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 2, 8>} {
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c256 = arith.constant 256 : index
      %c128 = arith.constant 128 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 1.250000e-01 : f32
      %cst_0 = arith.constant -0.000000e+00 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %cst_2 = arith.constant 0xFF800000 : f32
      %thread_id_y = gpu.thread_id y
      %thread_id_x = gpu.thread_id x
      %block_id_y = gpu.block_id y
      %block_id_z = gpu.block_id z
      %0 = affine.apply #map(%thread_id_x, %thread_id_y)
      %1 = affine.apply #map1(%thread_id_x, %thread_id_y)
      %2 = affine.apply #map2(%block_id_y, %thread_id_x, %thread_id_y)
      %3 = affine.apply #map3(%thread_id_x)
      scf.for %arg12 = %c0 to %c32 step %c1 {
        %14 = affine.apply #map4(%1, %arg12)
        %15 = affine.apply #map4(%2, %arg12)
        %16 = memref.load %arg0[%block_id_z, %15, %0] : memref<8x256x64xf32>
        %17 = arith.xori %14, %3 : index
        memref.store %16, %arg4[%c0, %0, %17] : memref<1x64x128xf32, #gpu.address_space<workgroup>>
      }
      %alloca = memref.alloca() {weft.name = "m0"} : memref<1xf32>
      %4 = affine.apply #map5(%thread_id_x, %thread_id_y)
      %5 = arith.cmpi slt, %4, %c128 : index
      scf.if %5 {
        memref.store %cst_2, %alloca[%c0] : memref<1xf32>
      }
      scf.if %5 {
        memref.store %cst_1, %arg7[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
      }
      %alloca_3 = memref.alloca() {weft.name = "O_tile"} : memref<1x8x4xf32>
      scf.for %arg12 = %c0 to %c8 step %c1 {
        scf.for %arg13 = %c0 to %c4 step %c1 {
          memref.store %cst_1, %alloca_3[%c0, %arg12, %arg13] : memref<1x8x4xf32>
        }
      }
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x, %thread_id_y)
      %8 = arith.cmpi slt, %7, %c1 : index
      %9 = arith.cmpi eq, %7, %c0 : index
      %10 = affine.apply #map8(%thread_id_y)
      %11 = affine.apply #map9(%thread_id_x, %thread_id_y)
      %12 = affine.apply #map10(%thread_id_x, %thread_id_y)
      scf.for %arg12 = %c0 to %c256 step %c64 {
        %14 = affine.apply #map11(%1, %arg12)
        scf.for %arg13 = %c0 to %c16 step %c1 {
          %15 = affine.apply #map4(%14, %arg13)
          %16 = memref.load %arg1[%block_id_z, %15, %0] : memref<8x256x64xf32>
          %17 = affine.apply #map4(%1, %arg13)
          memref.store %16, %arg5[%c0, %0, %17] : memref<1x64x68xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_4 = memref.alloca() {weft.name = "products"} : memref<1x8x4xf32>
        scf.for %arg13 = %c0 to %c8 step %c1 {
          scf.for %arg14 = %c0 to %c4 step %c1 {
            memref.store %cst_0, %alloca_4[%c0, %arg13, %arg14] : memref<1x8x4xf32>
          }
        }
        scf.for %arg13 = %c0 to %c64 step %c1 {
          %alloca_6 = memref.alloca() {weft.name = "Q_frag"} : memref<8xf32>
          %15 = affine.apply #map3(%arg13)
          scf.for %arg14 = %c0 to %c2 step %c1 {
            %17 = affine.apply #map6(%arg14)
            %18 = arith.xori %17, %15 : index
            %19 = affine.apply #map11(%10, %18)
            %20 = vector.load %arg4[%c0, %arg13, %19] : memref<1x64x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %20, %alloca_6[%17] : memref<8xf32>, vector<4xf32>
          }
          %alloca_7 = memref.alloca() {weft.name = "K_frag"} : memref<4xf32>
          %16 = vector.load %arg5[%c0, %arg13, %6] : memref<1x64x68xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %16, %alloca_7[%c0] : memref<4xf32>, vector<4xf32>
          scf.for %arg14 = %c0 to %c8 step %c1 {
            scf.for %arg15 = %c0 to %c4 step %c1 {
              %17 = memref.load %alloca_6[%arg14] : memref<8xf32>
              %18 = memref.load %alloca_7[%arg15] : memref<4xf32>
              %19 = memref.load %alloca_4[%c0, %arg14, %arg15] : memref<1x8x4xf32>
              %20 = arith.mulf %17, %18 : f32
              %21 = arith.addf %19, %20 : f32
              memref.store %21, %alloca_4[%c0, %arg14, %arg15] : memref<1x8x4xf32>
            }
          }
        } {weft.unroll = 4 : i64}
        scf.for %arg13 = %c0 to %c8 step %c1 {
          %15 = affine.apply #map11(%10, %arg13)
          scf.for %arg14 = %c0 to %c4 step %c1 {
            %16 = memref.load %alloca_4[%c0, %arg13, %arg14] : memref<1x8x4xf32>
            %17 = arith.mulf %16, %cst : f32
            %18 = affine.apply #map11(%6, %arg14)
            memref.store %17, %arg8[%c0, %15, %18] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_5 = memref.alloca() {weft.name = "largest"} : memref<1x1xf32>
        scf.for %arg13 = %c0 to %c16 step %c1 {
          memref.store %cst_2, %alloca_5[%c0, %c0] : memref<1x1xf32>
          %alloca_6 = memref.alloca() {weft.name = "part"} : memref<1x1xf32>
          memref.store %cst_2, %alloca_6[%c0, %c0] : memref<1x1xf32>
          %15 = affine.apply #map12(%11, %arg13)
          scf.for %arg14 = %c0 to %c2 step %c1 {
            %25 = affine.apply #map13(%7, %arg14)
            %26 = memref.load %arg8[%c0, %15, %25] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %27 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
            %28 = arith.maximumf %27, %26 : f32
            memref.store %28, %alloca_6[%c0, %c0] : memref<1x1xf32>
          }
          %16 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %16, %c16_i32, %c32_i32 : f32
          %17 = arith.maximumf %16, %shuffleResult : f32
          %shuffleResult_7, %valid_8 = gpu.shuffle xor %17, %c8_i32, %c32_i32 : f32
          %18 = arith.maximumf %17, %shuffleResult_7 : f32
          %shuffleResult_9, %valid_10 = gpu.shuffle xor %18, %c4_i32, %c32_i32 : f32
          %19 = arith.maximumf %18, %shuffleResult_9 : f32
          %shuffleResult_11, %valid_12 = gpu.shuffle xor %19, %c2_i32, %c32_i32 : f32
          %20 = arith.maximumf %19, %shuffleResult_11 : f32
          %shuffleResult_13, %valid_14 = gpu.shuffle xor %20, %c1_i32, %c32_i32 : f32
          %21 = arith.maximumf %20, %shuffleResult_13 : f32
          %22 = memref.load %alloca_5[%c0, %c0] : memref<1x1xf32>
          %23 = arith.maximumf %22, %21 : f32
          memref.store %23, %alloca_5[%c0, %c0] : memref<1x1xf32>
          %24 = affine.apply #map12(%12, %arg13)
          scf.if %8 {
            %25 = memref.load %alloca_5[%c0, %7] : memref<1x1xf32>
            memref.store %25, %arg9[%c0, %24] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.if %5 {
          %15 = memref.load %arg9[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %16 = memref.load %alloca[%c0] : memref<1xf32>
          %17 = arith.maximumf %16, %15 : f32
          %18 = arith.cmpf oeq, %17, %cst_2 : f32
          %19 = arith.select %18, %cst_1, %17 : f32
          %20 = arith.subf %16, %19 : f32
          %21 = math.exp %20 : f32
          memref.store %17, %alloca[%c0] : memref<1xf32>
          memref.store %21, %arg11[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          memref.store %19, %arg10[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        scf.if %5 {
          %15 = memref.load %arg11[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %16 = memref.load %arg7[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %17 = arith.mulf %16, %15 : f32
          memref.store %17, %arg7[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg13 = %c0 to %c32 step %c1 {
          %15 = affine.apply #map4(%1, %arg13)
          %16 = memref.load %arg8[%c0, %15, %0] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
          %17 = memref.load %arg10[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %18 = arith.subf %16, %17 : f32
          %19 = math.exp %18 : f32
          memref.store %19, %arg8[%c0, %15, %0] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg13 = %c0 to %c16 step %c1 {
          %alloca_6 = memref.alloca() {weft.name = "part"} : memref<1x1xf32>
          memref.store %cst_0, %alloca_6[%c0, %c0] : memref<1x1xf32>
          %15 = affine.apply #map12(%11, %arg13)
          scf.for %arg14 = %c0 to %c2 step %c1 {
            %22 = affine.apply #map13(%7, %arg14)
            %23 = memref.load %arg8[%c0, %15, %22] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %24 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
            %25 = arith.addf %24, %23 : f32
            memref.store %25, %alloca_6[%c0, %c0] : memref<1x1xf32>
          }
          %16 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %16, %c16_i32, %c32_i32 : f32
          %17 = arith.addf %16, %shuffleResult : f32
          %shuffleResult_7, %valid_8 = gpu.shuffle xor %17, %c8_i32, %c32_i32 : f32
          %18 = arith.addf %17, %shuffleResult_7 : f32
          %shuffleResult_9, %valid_10 = gpu.shuffle xor %18, %c4_i32, %c32_i32 : f32
          %19 = arith.addf %18, %shuffleResult_9 : f32
          %shuffleResult_11, %valid_12 = gpu.shuffle xor %19, %c2_i32, %c32_i32 : f32
          %20 = arith.addf %19, %shuffleResult_11 : f32
          %shuffleResult_13, %valid_14 = gpu.shuffle xor %20, %c1_i32, %c32_i32 : f32
          %21 = arith.addf %20, %shuffleResult_13 : f32
          scf.if %9 {
            %22 = memref.load %arg7[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %23 = arith.addf %22, %21 : f32
            memref.store %23, %arg7[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg13 = %c0 to %c8 step %c1 {
          %15 = affine.apply #map11(%10, %arg13)
          scf.for %arg14 = %c0 to %c4 step %c1 {
            %16 = memref.load %arg11[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %17 = memref.load %alloca_3[%c0, %arg13, %arg14] : memref<1x8x4xf32>
            %18 = arith.mulf %17, %16 : f32
            memref.store %18, %alloca_3[%c0, %arg13, %arg14] : memref<1x8x4xf32>
          }
        }
        scf.for %arg13 = %c0 to %c16 step %c1 {
          %15 = affine.apply #map4(%1, %arg13)
          %16 = affine.apply #map4(%14, %arg13)
          %17 = memref.load %arg2[%block_id_z, %16, %0] : memref<8x256x64xf32>
          memref.store %17, %arg6[%c0, %15, %0] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg13 = %c0 to %c64 step %c1 {
          %alloca_6 = memref.alloca() {weft.name = "V_frag"} : memref<4xf32>
          %15 = vector.load %arg6[%c0, %arg13, %6] : memref<1x64x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %15, %alloca_6[%c0] : memref<4xf32>, vector<4xf32>
          scf.for %arg14 = %c0 to %c8 step %c1 {
            %16 = affine.apply #map11(%10, %arg14)
            scf.for %arg15 = %c0 to %c4 step %c1 {
              %17 = memref.load %arg8[%c0, %16, %arg13] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
              %18 = memref.load %alloca_6[%arg15] : memref<4xf32>
              %19 = memref.load %alloca_3[%c0, %arg14, %arg15] : memref<1x8x4xf32>
              %20 = arith.mulf %17, %18 : f32
              %21 = arith.addf %19, %20 : f32
              memref.store %21, %alloca_3[%c0, %arg14, %arg15] : memref<1x8x4xf32>
            }
          }
        } {weft.unroll = 4 : i64}
      }
      %13 = affine.apply #map14(%block_id_y, %thread_id_y)
      scf.for %arg12 = %c0 to %c8 step %c1 {
        %14 = affine.apply #map11(%10, %arg12)
        %15 = affine.apply #map11(%13, %arg12)
        scf.for %arg13 = %c0 to %c4 step %c1 {
          %16 = memref.load %alloca_3[%c0, %arg12, %arg13] : memref<1x8x4xf32>
          %17 = memref.load %arg7[%c0, %14] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %18 = arith.divf %16, %17 : f32
          %19 = affine.apply #map11(%6, %arg13)
          memref.store %18, %arg3[%block_id_z, %15, %19] : memref<8x256x64xf32>
        }
      }
      gpu.return
    }
  }
}
