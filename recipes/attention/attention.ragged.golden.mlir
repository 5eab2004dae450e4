// weft golden attention.weft --set b=2 --set n=100 --set m=77 --set d=33 --set causal=1 --set type=f16
#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0) -> (d0 floordiv 33)>
#map2 = affine_map<(d0) -> (d0 mod 33)>
#map3 = affine_map<(d0) -> (((d0 mod 33) mod 2) * 8)>
#map4 = affine_map<(d0) -> (d0 * 8)>
#map5 = affine_map<(d0) -> (d0 * 4)>
#map6 = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 32)>
#map7 = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 64)>
#map8 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 32)>
#map9 = affine_map<(d0, d1) -> (((d0 + d1 * 16) floordiv 32) * -31 + d0 + d1 * 16)>
#map10 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 64)>
#map11 = affine_map<(d0) -> (d0 * 3)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 floordiv 33)>
#map13 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map14 = affine_map<(d0, d1) -> (d0 + d1)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map16 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map17 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map18 = affine_map<(d0, d1, d2) -> ((d0 * 256 + d1 + d2 * 16) floordiv 48)>
#map19 = affine_map<(d0, d1, d2) -> ((d0 * 256 + d1 + d2 * 16) mod 48)>
#map20 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 * 256 + d2 + d3 * 16) floordiv 48)>
module attributes {gpu.container_module} {
  func.func @attention(%arg0: memref<2x100x33xf16> {weft.name = "Q"}, %arg1: memref<2x77x33xf16> {weft.name = "K"}, %arg2: memref<2x77x33xf16> {weft.name = "V"}, %arg3: memref<2x100x33xf16> {bufferize.result, weft.name = "O"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @attention_kernel::@attention blocks in (%c1, %c1, %c2) threads in (%c16, %c16, %c1)  args(%arg0 : memref<2x100x33xf16>, %arg1 : memref<2x77x33xf16>, %arg2 : memref<2x77x33xf16>, %arg3 : memref<2x100x33xf16>)
    return
  }
  gpu.module @attention_kernel {
    gpu.func @attention(%arg0: memref<2x100x33xf16> {weft.name = "Q"}, %arg1: memref<2x77x33xf16> {weft.name = "K"}, %arg2: memref<2x77x33xf16> {weft.name = "V"}, %arg3: memref<2x100x33xf16> {weft.name = "O"}) workgroup(%arg4 : memref<1x33x128xf16, #gpu.address_space<workgroup>> {weft.name = "Q_shared"}, %arg5 : memref<1x33x68xf16, #gpu.address_space<workgroup>> {weft.name = "K_shared"}, %arg6 : memref<1x64x48xf16, #gpu.address_space<workgroup>> {weft.name = "V_shared"}, %arg7 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "sum"}, %arg8 : memref<1x128x64xf32, #gpu.address_space<workgroup>> {weft.name = "powers"}, %arg9 : memref<1x128x64xf32, #gpu.address_space<workgroup>> {weft.name = "scores"}, %arg10 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "largest"}, %arg11 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp0"}, %arg12 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp1"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 1, 2>} {
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c12 = arith.constant 12 : index
      %c32 = arith.constant 32 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c16 = arith.constant 16 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c33 = arith.constant 33 : index
      %c77 = arith.constant 77 : index
      %c2112 = arith.constant 2112 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %cst = arith.constant 0.000000e+00 : f16
      %c100 = arith.constant 100 : index
      %c256 = arith.constant 256 : index
      %c4224 = arith.constant 4224 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.17407766 : f32
      %cst_1 = arith.constant -0.000000e+00 : f32
      %cst_2 = arith.constant 0.000000e+00 : f32
      %cst_3 = arith.constant 0xFF800000 : f32
      %thread_id_y = gpu.thread_id y
      %thread_id_x = gpu.thread_id x
      %block_id_z = gpu.block_id z
      %0 = affine.apply #map(%thread_id_x, %thread_id_y)
      scf.for %arg13 = %0 to %c4224 step %c256 {
        %12 = affine.apply #map1(%arg13)
        %13 = affine.apply #map2(%arg13)
        %14 = arith.cmpi slt, %12, %c100 : index
        %15 = scf.if %14 -> (f16) {
          %18 = memref.load %arg0[%block_id_z, %12, %13] : memref<2x100x33xf16>
          scf.yield %18 : f16
        } else {
          scf.yield %cst : f16
        }
        %16 = affine.apply #map3(%arg13)
        %17 = arith.xori %12, %16 : index
        memref.store %15, %arg4[%c0, %13, %17] : memref<1x33x128xf16, #gpu.address_space<workgroup>>
      }
      %alloca = memref.alloca() {weft.name = "m0"} : memref<1xf32>
      %1 = arith.cmpi slt, %0, %c128 : index
      scf.if %1 {
        memref.store %cst_3, %alloca[%c0] : memref<1xf32>
      }
      scf.if %1 {
        memref.store %cst_2, %arg7[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
      }
      %alloca_4 = memref.alloca() {weft.name = "O_tile"} : memref<1x8x3xf32>
      %alloca_5 = memref.alloca() {weft.name = "O_tile_2"} : memref<1x8x3xf32>
      scf.for %arg13 = %c0 to %c8 step %c1 {
        scf.for %arg14 = %c0 to %c3 step %c1 {
          memref.store %cst_2, %alloca_5[%c0, %arg13, %arg14] : memref<1x8x3xf32>
        }
      }
      %2 = affine.apply #map4(%thread_id_y)
      %3 = affine.apply #map5(%thread_id_x)
      %4 = affine.apply #map6(%thread_id_x, %thread_id_y)
      %5 = arith.cmpi slt, %4, %c1 : index
      %6 = affine.apply #map7(%thread_id_x, %thread_id_y)
      %7 = arith.cmpi eq, %4, %c0 : index
      %8 = affine.apply #map8(%thread_id_x, %thread_id_y)
      %9 = affine.apply #map9(%thread_id_x, %thread_id_y)
      %10 = affine.apply #map10(%thread_id_x, %thread_id_y)
      %11 = affine.apply #map11(%thread_id_x)
      scf.for %arg13 = %c0 to %c128 step %c64 {
        scf.for %arg14 = %0 to %c2112 step %c256 {
          %14 = affine.apply #map12(%arg13, %arg14)
          %15 = arith.cmpi slt, %14, %c77 : index
          %16 = affine.apply #map2(%arg14)
          %17 = scf.if %15 -> (f16) {
            %19 = memref.load %arg1[%block_id_z, %14, %16] : memref<2x77x33xf16>
            scf.yield %19 : f16
          } else {
            scf.yield %cst : f16
          }
          %18 = affine.apply #map1(%arg14)
          memref.store %17, %arg5[%c0, %16, %18] : memref<1x33x68xf16, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_7 = memref.alloca() {weft.name = "products"} : memref<1x8x4xf32>
        scf.for %arg14 = %c0 to %c8 step %c1 {
          scf.for %arg15 = %c0 to %c4 step %c1 {
            memref.store %cst_1, %alloca_7[%c0, %arg14, %arg15] : memref<1x8x4xf32>
          }
        }
        scf.for %arg14 = %c0 to %c33 step %c1 {
          %alloca_9 = memref.alloca() {weft.name = "Q_frag"} : memref<8xf16>
          %14 = affine.apply #map13(%arg14)
          %15 = arith.xori %2, %14 : index
          %16 = vector.load %arg4[%c0, %arg14, %15] : memref<1x33x128xf16, #gpu.address_space<workgroup>>, vector<8xf16>
          vector.store %16, %alloca_9[%c0] : memref<8xf16>, vector<8xf16>
          %alloca_10 = memref.alloca() {weft.name = "K_frag"} : memref<4xf16>
          %17 = vector.load %arg5[%c0, %arg14, %3] : memref<1x33x68xf16, #gpu.address_space<workgroup>>, vector<4xf16>
          vector.store %17, %alloca_10[%c0] : memref<4xf16>, vector<4xf16>
          scf.for %arg15 = %c0 to %c8 step %c1 {
            scf.for %arg16 = %c0 to %c4 step %c1 {
              %18 = memref.load %alloca_9[%arg15] : memref<8xf16>
              %19 = memref.load %alloca_10[%arg16] : memref<4xf16>
              %20 = memref.load %alloca_7[%c0, %arg15, %arg16] : memref<1x8x4xf32>
              %21 = arith.extf %18 : f16 to f32
              %22 = arith.extf %19 : f16 to f32
              %23 = arith.mulf %21, %22 : f32
              %24 = arith.addf %20, %23 : f32
              memref.store %24, %alloca_7[%c0, %arg15, %arg16] : memref<1x8x4xf32>
            }
          }
        } {weft.unroll = 4 : i64}
        %12 = affine.apply #map14(%3, %arg13)
        scf.for %arg14 = %c0 to %c8 step %c1 {
          %14 = affine.apply #map14(%2, %arg14)
          scf.for %arg15 = %c0 to %c4 step %c1 {
            %15 = memref.load %alloca_7[%c0, %arg14, %arg15] : memref<1x8x4xf32>
            %16 = arith.mulf %15, %cst_0 : f32
            %17 = affine.apply #map14(%12, %arg15)
            %18 = arith.cmpi ule, %17, %14 : index
            %19 = arith.select %18, %16, %cst_3 : f32
            %20 = affine.apply #map14(%3, %arg15)
            memref.store %19, %arg9[%c0, %14, %20] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_8 = memref.alloca() {weft.name = "largest"} : memref<1x1xf32>
        %13 = affine.apply #map14(%4, %arg13)
        scf.for %arg14 = %c0 to %c16 step %c1 {
          memref.store %cst_3, %alloca_8[%c0, %c0] : memref<1x1xf32>
          %alloca_9 = memref.alloca() {weft.name = "part"} : memref<1x1xf32>
          memref.store %cst_3, %alloca_9[%c0, %c0] : memref<1x1xf32>
          %14 = affine.apply #map15(%8, %arg14)
          scf.for %arg15 = %c0 to %c2 step %c1 {
            %24 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
            %25 = affine.apply #map16(%4, %arg15)
            %26 = memref.load %arg9[%c0, %14, %25] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %27 = affine.apply #map16(%13, %arg15)
            %28 = arith.cmpi slt, %27, %c77 : index
            %29 = arith.select %28, %26, %cst_3 : f32
            %30 = arith.maximumf %24, %29 : f32
            memref.store %30, %alloca_9[%c0, %c0] : memref<1x1xf32>
          }
          %15 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %15, %c16_i32, %c32_i32 : f32
          %16 = arith.maximumf %15, %shuffleResult : f32
          %shuffleResult_10, %valid_11 = gpu.shuffle xor %16, %c8_i32, %c32_i32 : f32
          %17 = arith.maximumf %16, %shuffleResult_10 : f32
          %shuffleResult_12, %valid_13 = gpu.shuffle xor %17, %c4_i32, %c32_i32 : f32
          %18 = arith.maximumf %17, %shuffleResult_12 : f32
          %shuffleResult_14, %valid_15 = gpu.shuffle xor %18, %c2_i32, %c32_i32 : f32
          %19 = arith.maximumf %18, %shuffleResult_14 : f32
          %shuffleResult_16, %valid_17 = gpu.shuffle xor %19, %c1_i32, %c32_i32 : f32
          %20 = arith.maximumf %19, %shuffleResult_16 : f32
          %21 = memref.load %alloca_8[%c0, %c0] : memref<1x1xf32>
          %22 = arith.maximumf %21, %20 : f32
          memref.store %22, %alloca_8[%c0, %c0] : memref<1x1xf32>
          %23 = affine.apply #map15(%9, %arg14)
          scf.if %5 {
            %24 = memref.load %alloca_8[%c0, %4] : memref<1x1xf32>
            memref.store %24, %arg10[%c0, %23] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.if %1 {
          %14 = memref.load %arg10[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %15 = memref.load %alloca[%c0] : memref<1xf32>
          %16 = arith.maximumf %15, %14 : f32
          %17 = arith.cmpf oeq, %16, %cst_3 : f32
          %18 = arith.select %17, %cst_2, %16 : f32
          %19 = arith.subf %15, %18 : f32
          %20 = math.exp %19 : f32
          memref.store %16, %alloca[%c0] : memref<1xf32>
          memref.store %20, %arg12[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          memref.store %18, %arg11[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        scf.if %1 {
          %14 = memref.load %arg12[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %15 = memref.load %arg7[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %16 = arith.mulf %15, %14 : f32
          memref.store %16, %arg7[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c32 step %c1 {
          %14 = affine.apply #map17(%10, %arg14)
          %15 = memref.load %arg9[%c0, %14, %6] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
          %16 = memref.load %arg11[%c0, %14] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %17 = arith.subf %15, %16 : f32
          %18 = math.exp %17 : f32
          memref.store %18, %arg8[%c0, %14, %6] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c16 step %c1 {
          %alloca_9 = memref.alloca() {weft.name = "part"} : memref<1x1xf32>
          memref.store %cst_1, %alloca_9[%c0, %c0] : memref<1x1xf32>
          %14 = affine.apply #map15(%8, %arg14)
          scf.for %arg15 = %c0 to %c2 step %c1 {
            %21 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
            %22 = affine.apply #map16(%4, %arg15)
            %23 = memref.load %arg8[%c0, %14, %22] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %24 = affine.apply #map16(%13, %arg15)
            %25 = arith.cmpi slt, %24, %c77 : index
            %26 = arith.select %25, %23, %cst_2 : f32
            %27 = arith.addf %21, %26 : f32
            memref.store %27, %alloca_9[%c0, %c0] : memref<1x1xf32>
          }
          %15 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %15, %c16_i32, %c32_i32 : f32
          %16 = arith.addf %15, %shuffleResult : f32
          %shuffleResult_10, %valid_11 = gpu.shuffle xor %16, %c8_i32, %c32_i32 : f32
          %17 = arith.addf %16, %shuffleResult_10 : f32
          %shuffleResult_12, %valid_13 = gpu.shuffle xor %17, %c4_i32, %c32_i32 : f32
          %18 = arith.addf %17, %shuffleResult_12 : f32
          %shuffleResult_14, %valid_15 = gpu.shuffle xor %18, %c2_i32, %c32_i32 : f32
          %19 = arith.addf %18, %shuffleResult_14 : f32
          %shuffleResult_16, %valid_17 = gpu.shuffle xor %19, %c1_i32, %c32_i32 : f32
          %20 = arith.addf %19, %shuffleResult_16 : f32
          scf.if %7 {
            %21 = memref.load %arg7[%c0, %14] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %22 = arith.addf %21, %20 : f32
            memref.store %22, %arg7[%c0, %14] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg14 = %c0 to %c8 step %c1 {
          %14 = affine.apply #map14(%2, %arg14)
          scf.for %arg15 = %c0 to %c3 step %c1 {
            %15 = memref.load %arg12[%c0, %14] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %16 = memref.load %alloca_5[%c0, %arg14, %arg15] : memref<1x8x3xf32>
            %17 = arith.mulf %16, %15 : f32
            memref.store %17, %alloca_5[%c0, %arg14, %arg15] : memref<1x8x3xf32>
          }
        }
        scf.for %arg14 = %c0 to %c12 step %c1 {
          %14 = affine.apply #map18(%arg14, %thread_id_x, %thread_id_y)
          %15 = affine.apply #map19(%arg14, %thread_id_x, %thread_id_y)
          %16 = affine.apply #map20(%arg13, %arg14, %thread_id_x, %thread_id_y)
          %17 = arith.cmpi slt, %16, %c77 : index
          %18 = arith.cmpi slt, %15, %c33 : index
          %19 = arith.andi %17, %18 : i1
          %20 = scf.if %19 -> (f16) {
            %21 = memref.load %arg2[%block_id_z, %16, %15] : memref<2x77x33xf16>
            scf.yield %21 : f16
          } else {
            scf.yield %cst : f16
          }
          memref.store %20, %arg6[%c0, %14, %15] : memref<1x64x48xf16, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c64 step %c1 {
          %alloca_9 = memref.alloca() {weft.name = "V_frag"} : memref<3xf16>
          scf.for %arg15 = %c0 to %c3 step %c1 {
            %16 = affine.apply #map14(%11, %arg15)
            %17 = memref.load %arg6[%c0, %arg14, %16] : memref<1x64x48xf16, #gpu.address_space<workgroup>>
            memref.store %17, %alloca_9[%arg15] : memref<3xf16>
          }
          %14 = affine.apply #map14(%arg13, %arg14)
          %15 = arith.cmpi slt, %14, %c77 : index
          scf.for %arg15 = %c0 to %c8 step %c1 {
            %16 = affine.apply #map14(%2, %arg15)
            scf.for %arg16 = %c0 to %c3 step %c1 {
              %17 = memref.load %alloca_9[%arg16] : memref<3xf16>
              %18 = memref.load %alloca_5[%c0, %arg15, %arg16] : memref<1x8x3xf32>
              %19 = memref.load %arg8[%c0, %16, %arg14] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
              %20 = arith.select %15, %19, %cst_2 : f32
              %21 = arith.extf %17 : f16 to f32
              %22 = arith.mulf %20, %21 : f32
              %23 = arith.addf %18, %22 : f32
              memref.store %23, %alloca_5[%c0, %arg15, %arg16] : memref<1x8x3xf32>
            }
          }
        } {weft.unroll = 4 : i64}
      }
      scf.for %arg13 = %c0 to %c8 step %c1 {
        %12 = affine.apply #map14(%2, %arg13)
        scf.for %arg14 = %c0 to %c3 step %c1 {
          %13 = memref.load %alloca_5[%c0, %arg13, %arg14] : memref<1x8x3xf32>
          %14 = memref.load %arg7[%c0, %12] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %15 = arith.divf %13, %14 : f32
          memref.store %15, %alloca_4[%c0, %arg13, %arg14] : memref<1x8x3xf32>
        }
      }
      %alloca_6 = memref.alloca() {weft.name = "Y"} : memref<1x8x3xf16>
      scf.for %arg13 = %c0 to %c8 step %c1 {
        scf.for %arg14 = %c0 to %c3 step %c1 {
          %12 = memref.load %alloca_4[%c0, %arg13, %arg14] : memref<1x8x3xf32>
          %13 = arith.truncf %12 : f32 to f16
          memref.store %13, %alloca_6[%c0, %arg13, %arg14] : memref<1x8x3xf16>
        }
      }
      scf.for %arg13 = %c0 to %c8 step %c1 {
        %12 = affine.apply #map14(%2, %arg13)
        %13 = arith.cmpi slt, %12, %c100 : index
        scf.if %13 {
          scf.for %arg14 = %c0 to %c3 step %c1 {
            %14 = affine.apply #map14(%11, %arg14)
            %15 = arith.cmpi slt, %14, %c33 : index
            scf.if %15 {
              %16 = memref.load %alloca_6[%c0, %arg13, %arg14] : memref<1x8x3xf16>
              memref.store %16, %arg3[%block_id_z, %12, %14] : memref<2x100x33xf16>
            }
          }
        }
      }
      gpu.return
    }
  }
}
