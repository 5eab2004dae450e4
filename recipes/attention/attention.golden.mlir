// weft golden attention.weft
#map = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 64)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 + d2 * 16) floordiv 64)>
#map2 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 64)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map4 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map5 = affine_map<(d0) -> (d0 * 4)>
#map6 = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 32)>
#map7 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 32)>
#map8 = affine_map<(d0, d1) -> (((d0 + d1 * 16) floordiv 32) * -31 + d0 + d1 * 16)>
#map9 = affine_map<(d0, d1) -> (d0 + d1)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map12 = affine_map<(d0, d1) -> (d0 * 64 + d1 * 4)>
module attributes {gpu.container_module} {
  func.func @attention(%arg0: memref<8x256x64xf32> {weft.name = "Q"}, %arg1: memref<8x256x64xf32> {weft.name = "K"}, %arg2: memref<8x256x64xf32> {weft.name = "V"}, %arg3: memref<8x256x64xf32> {bufferize.result, weft.name = "O"}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @attention_kernel::@attention blocks in (%c1, %c4, %c8) threads in (%c16, %c16, %c1)  args(%arg0 : memref<8x256x64xf32>, %arg1 : memref<8x256x64xf32>, %arg2 : memref<8x256x64xf32>, %arg3 : memref<8x256x64xf32>)
    return
  }
  gpu.module @attention_kernel {
    gpu.func @attention(%arg0: memref<8x256x64xf32> {weft.name = "Q"}, %arg1: memref<8x256x64xf32> {weft.name = "K"}, %arg2: memref<8x256x64xf32> {weft.name = "V"}, %arg3: memref<8x256x64xf32> {weft.name = "O"}) workgroup(%arg4 : memref<1x64x68xf32, #gpu.address_space<workgroup>> {weft.name = "Q_shared"}, %arg5 : memref<1x64x68xf32, #gpu.address_space<workgroup>> {weft.name = "K_shared"}, %arg6 : memref<1x64x64xf32, #gpu.address_space<workgroup>> {weft.name = "V_shared"}, %arg7 : memref<1x64xf32, #gpu.address_space<workgroup>> {weft.name = "sum"}, %arg8 : memref<1x64x64xf32, #gpu.address_space<workgroup>> {weft.name = "scores"}, %arg9 : memref<1x64xf32, #gpu.address_space<workgroup>> {weft.name = "largest"}, %arg10 : memref<1x64xf32, #gpu.address_space<workgroup>> {weft.name = "temp0"}, %arg11 : memref<1x64xf32, #gpu.address_space<workgroup>> {weft.name = "temp1"}, %arg12 : memref<1x64x64xf32, #gpu.address_space<workgroup>> {weft.name = "powers"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 4, 8>} {
      %c4 = arith.constant 4 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c256 = arith.constant 256 : index
      %c64 = arith.constant 64 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
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
      %1 = affine.apply #map1(%block_id_y, %thread_id_x, %thread_id_y)
      %2 = affine.apply #map2(%thread_id_x, %thread_id_y)
      scf.for %arg13 = %c0 to %c16 step %c1 {
        %13 = affine.apply #map3(%1, %arg13)
        %14 = memref.load %arg0[%block_id_z, %13, %0] : memref<8x256x64xf32>
        %15 = affine.apply #map3(%2, %arg13)
        memref.store %14, %arg4[%c0, %0, %15] : memref<1x64x68xf32, #gpu.address_space<workgroup>>
      }
      %alloca = memref.alloca() {weft.name = "m0"} : memref<1xf32>
      %3 = affine.apply #map4(%thread_id_x, %thread_id_y)
      %4 = arith.cmpi slt, %3, %c64 : index
      scf.if %4 {
        memref.store %cst_2, %alloca[%c0] : memref<1xf32>
      }
      scf.if %4 {
        memref.store %cst_1, %arg7[%c0, %3] : memref<1x64xf32, #gpu.address_space<workgroup>>
      }
      %alloca_3 = memref.alloca() {weft.name = "O_tile"} : memref<1x4x4xf32>
      scf.for %arg13 = %c0 to %c4 step %c1 {
        scf.for %arg14 = %c0 to %c4 step %c1 {
          memref.store %cst_1, %alloca_3[%c0, %arg13, %arg14] : memref<1x4x4xf32>
        }
      }
      %5 = affine.apply #map5(%thread_id_y)
      %6 = affine.apply #map5(%thread_id_x)
      %7 = affine.apply #map6(%thread_id_x, %thread_id_y)
      %8 = arith.cmpi slt, %7, %c1 : index
      %9 = arith.cmpi eq, %7, %c0 : index
      %10 = affine.apply #map7(%thread_id_x, %thread_id_y)
      %11 = affine.apply #map8(%thread_id_x, %thread_id_y)
      scf.for %arg13 = %c0 to %c256 step %c64 {
        %13 = affine.apply #map9(%2, %arg13)
        scf.for %arg14 = %c0 to %c16 step %c1 {
          %14 = affine.apply #map3(%13, %arg14)
          %15 = memref.load %arg1[%block_id_z, %14, %0] : memref<8x256x64xf32>
          %16 = affine.apply #map3(%2, %arg14)
          memref.store %15, %arg5[%c0, %0, %16] : memref<1x64x68xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_4 = memref.alloca() {weft.name = "products"} : memref<1x4x4xf32>
        scf.for %arg14 = %c0 to %c4 step %c1 {
          scf.for %arg15 = %c0 to %c4 step %c1 {
            memref.store %cst_0, %alloca_4[%c0, %arg14, %arg15] : memref<1x4x4xf32>
          }
        }
        scf.for %arg14 = %c0 to %c64 step %c1 {
          %alloca_6 = memref.alloca() {weft.name = "Q_frag"} : memref<4xf32>
          %14 = vector.load %arg4[%c0, %arg14, %5] : memref<1x64x68xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %14, %alloca_6[%c0] : memref<4xf32>, vector<4xf32>
          %alloca_7 = memref.alloca() {weft.name = "K_frag"} : memref<4xf32>
          %15 = vector.load %arg5[%c0, %arg14, %6] : memref<1x64x68xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %15, %alloca_7[%c0] : memref<4xf32>, vector<4xf32>
          scf.for %arg15 = %c0 to %c4 step %c1 {
            scf.for %arg16 = %c0 to %c4 step %c1 {
              %16 = memref.load %alloca_6[%arg15] : memref<4xf32>
              %17 = memref.load %alloca_7[%arg16] : memref<4xf32>
              %18 = memref.load %alloca_4[%c0, %arg15, %arg16] : memref<1x4x4xf32>
              %19 = arith.mulf %16, %17 : f32
              %20 = arith.addf %18, %19 : f32
              memref.store %20, %alloca_4[%c0, %arg15, %arg16] : memref<1x4x4xf32>
            }
          }
        } {weft.unroll = 4 : i64}
        scf.for %arg14 = %c0 to %c4 step %c1 {
          %14 = affine.apply #map9(%5, %arg14)
          scf.for %arg15 = %c0 to %c4 step %c1 {
            %15 = memref.load %alloca_4[%c0, %arg14, %arg15] : memref<1x4x4xf32>
            %16 = arith.mulf %15, %cst : f32
            %17 = affine.apply #map9(%6, %arg15)
            memref.store %16, %arg8[%c0, %14, %17] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_5 = memref.alloca() {weft.name = "largest"} : memref<1x1xf32>
        scf.for %arg14 = %c0 to %c8 step %c1 {
          memref.store %cst_2, %alloca_5[%c0, %c0] : memref<1x1xf32>
          %alloca_6 = memref.alloca() {weft.name = "part"} : memref<1x1xf32>
          memref.store %cst_2, %alloca_6[%c0, %c0] : memref<1x1xf32>
          %14 = affine.apply #map10(%10, %arg14)
          scf.for %arg15 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map11(%7, %arg15)
            %25 = memref.load %arg8[%c0, %14, %24] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
            %26 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
            %27 = arith.maximumf %26, %25 : f32
            memref.store %27, %alloca_6[%c0, %c0] : memref<1x1xf32>
          }
          %15 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %15, %c16_i32, %c32_i32 : f32
          %16 = arith.maximumf %15, %shuffleResult : f32
          %shuffleResult_7, %valid_8 = gpu.shuffle xor %16, %c8_i32, %c32_i32 : f32
          %17 = arith.maximumf %16, %shuffleResult_7 : f32
          %shuffleResult_9, %valid_10 = gpu.shuffle xor %17, %c4_i32, %c32_i32 : f32
          %18 = arith.maximumf %17, %shuffleResult_9 : f32
          %shuffleResult_11, %valid_12 = gpu.shuffle xor %18, %c2_i32, %c32_i32 : f32
          %19 = arith.maximumf %18, %shuffleResult_11 : f32
          %shuffleResult_13, %valid_14 = gpu.shuffle xor %19, %c1_i32, %c32_i32 : f32
          %20 = arith.maximumf %19, %shuffleResult_13 : f32
          %21 = memref.load %alloca_5[%c0, %c0] : memref<1x1xf32>
          %22 = arith.maximumf %21, %20 : f32
          memref.store %22, %alloca_5[%c0, %c0] : memref<1x1xf32>
          %23 = affine.apply #map10(%11, %arg14)
          scf.if %8 {
            %24 = memref.load %alloca_5[%c0, %7] : memref<1x1xf32>
            memref.store %24, %arg9[%c0, %23] : memref<1x64xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.if %4 {
          %14 = memref.load %arg9[%c0, %3] : memref<1x64xf32, #gpu.address_space<workgroup>>
          %15 = memref.load %alloca[%c0] : memref<1xf32>
          %16 = arith.maximumf %15, %14 : f32
          %17 = arith.cmpf oeq, %16, %cst_2 : f32
          %18 = arith.select %17, %cst_1, %16 : f32
          %19 = arith.subf %15, %18 : f32
          %20 = math.exp %19 : f32
          memref.store %16, %alloca[%c0] : memref<1xf32>
          memref.store %20, %arg11[%c0, %3] : memref<1x64xf32, #gpu.address_space<workgroup>>
          memref.store %18, %arg10[%c0, %3] : memref<1x64xf32, #gpu.address_space<workgroup>>
        }
        scf.if %4 {
          %14 = memref.load %arg11[%c0, %3] : memref<1x64xf32, #gpu.address_space<workgroup>>
          %15 = memref.load %arg7[%c0, %3] : memref<1x64xf32, #gpu.address_space<workgroup>>
          %16 = arith.mulf %15, %14 : f32
          memref.store %16, %arg7[%c0, %3] : memref<1x64xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c16 step %c1 {
          %14 = affine.apply #map3(%2, %arg14)
          %15 = memref.load %arg8[%c0, %14, %0] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
          %16 = memref.load %arg10[%c0, %14] : memref<1x64xf32, #gpu.address_space<workgroup>>
          %17 = arith.subf %15, %16 : f32
          %18 = math.exp %17 : f32
          memref.store %18, %arg12[%c0, %14, %0] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c8 step %c1 {
          %alloca_6 = memref.alloca() {weft.name = "part"} : memref<1x1xf32>
          memref.store %cst_0, %alloca_6[%c0, %c0] : memref<1x1xf32>
          %14 = affine.apply #map10(%10, %arg14)
          scf.for %arg15 = %c0 to %c2 step %c1 {
            %21 = affine.apply #map11(%7, %arg15)
            %22 = memref.load %arg12[%c0, %14, %21] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
            %23 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
            %24 = arith.addf %23, %22 : f32
            memref.store %24, %alloca_6[%c0, %c0] : memref<1x1xf32>
          }
          %15 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %15, %c16_i32, %c32_i32 : f32
          %16 = arith.addf %15, %shuffleResult : f32
          %shuffleResult_7, %valid_8 = gpu.shuffle xor %16, %c8_i32, %c32_i32 : f32
          %17 = arith.addf %16, %shuffleResult_7 : f32
          %shuffleResult_9, %valid_10 = gpu.shuffle xor %17, %c4_i32, %c32_i32 : f32
          %18 = arith.addf %17, %shuffleResult_9 : f32
          %shuffleResult_11, %valid_12 = gpu.shuffle xor %18, %c2_i32, %c32_i32 : f32
          %19 = arith.addf %18, %shuffleResult_11 : f32
          %shuffleResult_13, %valid_14 = gpu.shuffle xor %19, %c1_i32, %c32_i32 : f32
          %20 = arith.addf %19, %shuffleResult_13 : f32
          scf.if %9 {
            %21 = memref.load %arg7[%c0, %14] : memref<1x64xf32, #gpu.address_space<workgroup>>
            %22 = arith.addf %21, %20 : f32
            memref.store %22, %arg7[%c0, %14] : memref<1x64xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg14 = %c0 to %c4 step %c1 {
          %14 = affine.apply #map9(%5, %arg14)
          scf.for %arg15 = %c0 to %c4 step %c1 {
            %15 = memref.load %arg11[%c0, %14] : memref<1x64xf32, #gpu.address_space<workgroup>>
            %16 = memref.load %alloca_3[%c0, %arg14, %arg15] : memref<1x4x4xf32>
            %17 = arith.mulf %16, %15 : f32
            memref.store %17, %alloca_3[%c0, %arg14, %arg15] : memref<1x4x4xf32>
          }
        }
        scf.for %arg14 = %c0 to %c16 step %c1 {
          %14 = affine.apply #map3(%2, %arg14)
          %15 = affine.apply #map3(%13, %arg14)
          %16 = memref.load %arg2[%block_id_z, %15, %0] : memref<8x256x64xf32>
          memref.store %16, %arg6[%c0, %14, %0] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c64 step %c1 {
          %alloca_6 = memref.alloca() {weft.name = "V_frag"} : memref<4xf32>
          %14 = vector.load %arg6[%c0, %arg14, %6] : memref<1x64x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %14, %alloca_6[%c0] : memref<4xf32>, vector<4xf32>
          scf.for %arg15 = %c0 to %c4 step %c1 {
            %15 = affine.apply #map9(%5, %arg15)
            scf.for %arg16 = %c0 to %c4 step %c1 {
              %16 = memref.load %arg12[%c0, %15, %arg14] : memref<1x64x64xf32, #gpu.address_space<workgroup>>
              %17 = memref.load %alloca_6[%arg16] : memref<4xf32>
              %18 = memref.load %alloca_3[%c0, %arg15, %arg16] : memref<1x4x4xf32>
              %19 = arith.mulf %16, %17 : f32
              %20 = arith.addf %18, %19 : f32
              memref.store %20, %alloca_3[%c0, %arg15, %arg16] : memref<1x4x4xf32>
            }
          }
        } {weft.unroll = 4 : i64}
      }
      %12 = affine.apply #map12(%block_id_y, %thread_id_y)
      scf.for %arg13 = %c0 to %c4 step %c1 {
        %13 = affine.apply #map9(%5, %arg13)
        %14 = affine.apply #map9(%12, %arg13)
        scf.for %arg14 = %c0 to %c4 step %c1 {
          %15 = memref.load %alloca_3[%c0, %arg13, %arg14] : memref<1x4x4xf32>
          %16 = memref.load %arg7[%c0, %13] : memref<1x64xf32, #gpu.address_space<workgroup>>
          %17 = arith.divf %15, %16 : f32
          %18 = affine.apply #map9(%6, %arg14)
          memref.store %17, %arg3[%block_id_z, %14, %18] : memref<8x256x64xf32>
        }
      }
      gpu.return
    }
  }
}
