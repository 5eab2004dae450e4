// weft golden attention --set b=2 --set n=100 --set m=77 --set d=33 --set causal=1 --set type=f16
#map = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map1 = affine_map<(d0) -> (d0 mod 1024)>
#map2 = affine_map<(d0) -> ((d0 mod 1024) floordiv 8)>
#map3 = affine_map<(d0) -> (d0 mod 8)>
#map4 = affine_map<(d0, d1) -> ((d0 floordiv 1024) * 8 + d1)>
#map5 = affine_map<(d0, d1) -> ((((d0 floordiv 1024) * 3 + (d1 floordiv 8) * 3) mod 4) * 8)>
#map6 = affine_map<(d0) -> (d0 * 8)>
#map7 = affine_map<(d0) -> (d0 * 4)>
#map8 = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 32)>
#map9 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 32)>
#map10 = affine_map<(d0, d1) -> (((d0 + d1 * 16) floordiv 32) * -31 + d0 + d1 * 16)>
#map11 = affine_map<(d0) -> (d0 * 3)>
#map12 = affine_map<(d0) -> (d0 mod 512)>
#map13 = affine_map<(d0) -> ((d0 mod 512) floordiv 8)>
#map14 = affine_map<(d0, d1) -> (d0 + d1)>
#map15 = affine_map<(d0, d1) -> ((d0 floordiv 512) * 8 + d1)>
#map16 = affine_map<(d0, d1) -> ((((d0 floordiv 512) * 3 + (d1 floordiv 8) * 3) mod 4) * 8)>
#map17 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 8)>
#map18 = affine_map<(d0) -> (d0 + 1)>
#map19 = affine_map<(d0) -> (d0 + 2)>
#map20 = affine_map<(d0) -> (d0 + 3)>
#map21 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map22 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map23 = affine_map<(d0, d1, d2) -> ((d0 * 256 + d1 + d2 * 16) floordiv 48)>
#map24 = affine_map<(d0, d1, d2) -> ((d0 * 256 + d1 + d2 * 16) mod 48)>
#map25 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 * 256 + d2 + d3 * 16) floordiv 48)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : ((d0 + d1 * 16) floordiv 32 - (s0 + s1 * 16) floordiv 32 == 0)>
module attributes {gpu.container_module} {
  func.func @attention(%arg0: memref<2x100x33xf16> {weft.name = "Q"}, %arg1: memref<2x77x33xf16> {weft.name = "K"}, %arg2: memref<2x77x33xf16> {weft.name = "V"}, %arg3: memref<2x100x33xf16> {bufferize.result, weft.name = "O"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @attention_kernel::@attention blocks in (%c1, %c1, %c2) threads in (%c16, %c16, %c1)  args(%arg0 : memref<2x100x33xf16>, %arg1 : memref<2x77x33xf16>, %arg2 : memref<2x77x33xf16>, %arg3 : memref<2x100x33xf16>)
    return
  }
  gpu.module @attention_kernel {
    gpu.func @attention(%arg0: memref<2x100x33xf16> {weft.name = "Q"}, %arg1: memref<2x77x33xf16> {weft.name = "K"}, %arg2: memref<2x77x33xf16> {weft.name = "V"}, %arg3: memref<2x100x33xf16> {weft.name = "O"}) workgroup(%arg4 : memref<1x33x136xf16, #gpu.address_space<workgroup>> {weft.name = "Q_shared"}, %arg5 : memref<1x33x72xf16, #gpu.address_space<workgroup>> {weft.name = "K_shared"}, %arg6 : memref<1x64x48xf16, #gpu.address_space<workgroup>> {weft.name = "V_shared"}, %arg7 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "sum"}, %arg8 : memref<1x128x64xf32, #gpu.address_space<workgroup>> {weft.name = "powers"}, %arg9 : memref<1x128x64xf32, #gpu.address_space<workgroup>> {weft.name = "scores"}, %arg10 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "largest"}, %arg11 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp0"}, %arg12 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp1"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 1, 2>, weft.max_registers = 255 : i64} {
      %c4 = arith.constant 4 : index
      %c12 = arith.constant 12 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c16 = arith.constant 16 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c33 = arith.constant 33 : index
      %c77 = arith.constant 77 : index
      %c2048 = arith.constant 2048 : index
      %c2112 = arith.constant 2112 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %cst = arith.constant 0.000000e+00 : f16
      %c100 = arith.constant 100 : index
      %c4096 = arith.constant 4096 : index
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
        %10 = affine.apply #map1(%arg13)
        %11 = affine.apply #map2(%arg13)
        %12 = affine.apply #map3(%arg13)
        %13 = arith.cmpi slt, %arg13, %c4096 : index
        %14 = arith.select %13, %11, %10 : index
        %15 = arith.select %13, %12, %c0 : index
        %16 = affine.apply #map4(%arg13, %15)
        %17 = arith.cmpi slt, %14, %c100 : index
        %18 = scf.if %17 -> (f16) {
          %21 = memref.load %arg0[%block_id_z, %14, %16] : memref<2x100x33xf16>
          scf.yield %21 : f16
        } else {
          scf.yield %cst : f16
        }
        %19 = affine.apply #map5(%arg13, %15)
        %20 = arith.xori %14, %19 : index
        memref.store %18, %arg4[%c0, %16, %20] : memref<1x33x136xf16, #gpu.address_space<workgroup>>
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
      %2 = affine.apply #map6(%thread_id_y)
      %3 = affine.apply #map7(%thread_id_x)
      %4 = affine.apply #map8(%thread_id_x, %thread_id_y)
      %5 = arith.cmpi slt, %4, %c1 : index
      %6 = arith.cmpi eq, %4, %c0 : index
      %7 = affine.apply #map9(%thread_id_x, %thread_id_y)
      %8 = affine.apply #map10(%thread_id_x, %thread_id_y)
      %9 = affine.apply #map11(%thread_id_x)
      scf.for %arg13 = %c0 to %c128 step %c64 {
        scf.for %arg14 = %0 to %c2112 step %c256 {
          %15 = affine.apply #map12(%arg14)
          %16 = affine.apply #map13(%arg14)
          %17 = affine.apply #map3(%arg14)
          %18 = arith.cmpi slt, %arg14, %c2048 : index
          %19 = arith.select %18, %16, %15 : index
          %20 = arith.select %18, %17, %c0 : index
          %21 = affine.apply #map14(%arg13, %19)
          %22 = arith.cmpi slt, %21, %c77 : index
          %23 = affine.apply #map15(%arg14, %20)
          %24 = scf.if %22 -> (f16) {
            %27 = memref.load %arg1[%block_id_z, %21, %23] : memref<2x77x33xf16>
            scf.yield %27 : f16
          } else {
            scf.yield %cst : f16
          }
          %25 = affine.apply #map16(%arg14, %20)
          %26 = arith.xori %19, %25 : index
          memref.store %24, %arg5[%c0, %23, %26] : memref<1x33x72xf16, #gpu.address_space<workgroup>>
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
          %15 = affine.apply #map17(%arg14)
          %16 = arith.xori %2, %15 : index
          %17 = vector.load %arg4[%c0, %arg14, %16] : memref<1x33x136xf16, #gpu.address_space<workgroup>>, vector<8xf16>
          vector.store %17, %alloca_9[%c0] : memref<8xf16>, vector<8xf16>
          %alloca_10 = memref.alloca() {weft.name = "K_frag"} : memref<4xf16>
          %18 = arith.xori %3, %15 : index
          %19 = vector.load %arg5[%c0, %arg14, %18] : memref<1x33x72xf16, #gpu.address_space<workgroup>>, vector<4xf16>
          vector.store %19, %alloca_10[%c0] : memref<4xf16>, vector<4xf16>
          scf.for %arg15 = %c0 to %c8 step %c1 {
            scf.for %arg16 = %c0 to %c4 step %c1 {
              %20 = memref.load %alloca_9[%arg15] : memref<8xf16>
              %21 = memref.load %alloca_10[%arg16] : memref<4xf16>
              %22 = memref.load %alloca_7[%c0, %arg15, %arg16] : memref<1x8x4xf32>
              %23 = arith.extf %20 : f16 to f32
              %24 = arith.extf %21 : f16 to f32
              %25 = arith.mulf %23, %24 : f32
              %26 = arith.addf %22, %25 : f32
              memref.store %26, %alloca_7[%c0, %arg15, %arg16] : memref<1x8x4xf32>
            }
          }
        } {weft.unroll = 4 : i64}
        %10 = affine.apply #map14(%3, %arg13)
        %11 = affine.apply #map18(%10)
        %12 = affine.apply #map19(%10)
        %13 = affine.apply #map20(%10)
        scf.for %arg14 = %c0 to %c8 step %c1 {
          %15 = memref.load %alloca_7[%c0, %arg14, %c0] : memref<1x8x4xf32>
          %16 = arith.mulf %15, %cst_0 : f32
          %17 = affine.apply #map14(%2, %arg14)
          %18 = arith.cmpi ule, %10, %17 : index
          %19 = arith.select %18, %16, %cst_3 : f32
          %20 = memref.load %alloca_7[%c0, %arg14, %c1] : memref<1x8x4xf32>
          %21 = arith.mulf %20, %cst_0 : f32
          %22 = arith.cmpi ule, %11, %17 : index
          %23 = arith.select %22, %21, %cst_3 : f32
          %24 = memref.load %alloca_7[%c0, %arg14, %c2] : memref<1x8x4xf32>
          %25 = arith.mulf %24, %cst_0 : f32
          %26 = arith.cmpi ule, %12, %17 : index
          %27 = arith.select %26, %25, %cst_3 : f32
          %28 = memref.load %alloca_7[%c0, %arg14, %c3] : memref<1x8x4xf32>
          %29 = arith.mulf %28, %cst_0 : f32
          %30 = arith.cmpi ule, %13, %17 : index
          %31 = arith.select %30, %29, %cst_3 : f32
          %32 = vector.from_elements %19, %23, %27, %31 : vector<4xf32>
          vector.store %32, %arg9[%c0, %17, %3] : memref<1x128x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_8 = memref.alloca() {weft.name = "largest"} : memref<1x1xf32>
        %14 = affine.apply #map14(%4, %arg13)
        scf.for %arg14 = %c0 to %c16 step %c1 {
          memref.store %cst_3, %alloca_8[%c0, %c0] : memref<1x1xf32>
          %alloca_9 = memref.alloca() {weft.combiner = "arith.maximumf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
          memref.store %cst_3, %alloca_9[%c0, %c0] : memref<1x1xf32>
          %15 = affine.apply #map21(%7, %arg14)
          scf.for %arg15 = %c0 to %c2 step %c1 {
            %25 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
            %26 = affine.apply #map22(%4, %arg15)
            %27 = memref.load %arg9[%c0, %15, %26] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %28 = affine.apply #map22(%14, %arg15)
            %29 = arith.cmpi slt, %28, %c77 : index
            %30 = arith.select %29, %27, %cst_3 : f32
            %31 = arith.maximumf %25, %30 : f32
            memref.store %31, %alloca_9[%c0, %c0] : memref<1x1xf32>
          }
          %16 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %16, %c16_i32, %c32_i32 : f32
          %17 = arith.maximumf %16, %shuffleResult : f32
          %shuffleResult_10, %valid_11 = gpu.shuffle xor %17, %c8_i32, %c32_i32 : f32
          %18 = arith.maximumf %17, %shuffleResult_10 : f32
          %shuffleResult_12, %valid_13 = gpu.shuffle xor %18, %c4_i32, %c32_i32 : f32
          %19 = arith.maximumf %18, %shuffleResult_12 : f32
          %shuffleResult_14, %valid_15 = gpu.shuffle xor %19, %c2_i32, %c32_i32 : f32
          %20 = arith.maximumf %19, %shuffleResult_14 : f32
          %shuffleResult_16, %valid_17 = gpu.shuffle xor %20, %c1_i32, %c32_i32 : f32
          %21 = arith.maximumf %20, %shuffleResult_16 : f32
          %22 = memref.load %alloca_8[%c0, %c0] : memref<1x1xf32>
          %23 = arith.maximumf %22, %21 : f32
          memref.store %23, %alloca_8[%c0, %c0] : memref<1x1xf32>
          %24 = affine.apply #map21(%8, %arg14)
          scf.if %5 {
            %25 = memref.load %alloca_8[%c0, %4] : memref<1x1xf32>
            memref.store %25, %arg10[%c0, %24] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.if %1 {
          %15 = memref.load %arg10[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %16 = memref.load %alloca[%c0] : memref<1xf32>
          %17 = arith.maximumf %16, %15 : f32
          %18 = arith.cmpf oeq, %17, %cst_3 : f32
          %19 = arith.select %18, %cst_2, %17 : f32
          %20 = arith.subf %16, %19 : f32
          %21 = math.exp %20 : f32
          memref.store %17, %alloca[%c0] : memref<1xf32>
          memref.store %21, %arg12[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          memref.store %19, %arg11[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        scf.if %1 {
          %15 = memref.load %arg12[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %16 = memref.load %arg7[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %17 = arith.mulf %16, %15 : f32
          memref.store %17, %arg7[%c0, %0] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c8 step %c1 {
          %15 = affine.apply #map(%thread_id_y, %arg14)
          %16 = vector.load %arg9[%c0, %15, %3] : memref<1x128x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          %17 = vector.extract %16[0] : f32 from vector<4xf32>
          %18 = memref.load %arg11[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %19 = arith.subf %17, %18 : f32
          %20 = math.exp %19 : f32
          %21 = vector.extract %16[1] : f32 from vector<4xf32>
          %22 = arith.subf %21, %18 : f32
          %23 = math.exp %22 : f32
          %24 = vector.extract %16[2] : f32 from vector<4xf32>
          %25 = arith.subf %24, %18 : f32
          %26 = math.exp %25 : f32
          %27 = vector.extract %16[3] : f32 from vector<4xf32>
          %28 = arith.subf %27, %18 : f32
          %29 = math.exp %28 : f32
          %30 = vector.from_elements %20, %23, %26, %29 : vector<4xf32>
          vector.store %30, %arg8[%c0, %15, %3] : memref<1x128x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c16 step %c1 {
          %alloca_9 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
          memref.store %cst_1, %alloca_9[%c0, %c0] : memref<1x1xf32>
          %15 = affine.apply #map21(%7, %arg14)
          scf.for %arg15 = %c0 to %c2 step %c1 {
            %22 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
            %23 = affine.apply #map22(%4, %arg15)
            %24 = memref.load %arg8[%c0, %15, %23] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %25 = affine.apply #map22(%14, %arg15)
            %26 = arith.cmpi slt, %25, %c77 : index
            %27 = arith.select %26, %24, %cst_2 : f32
            %28 = arith.addf %22, %27 : f32
            memref.store %28, %alloca_9[%c0, %c0] : memref<1x1xf32>
          }
          %16 = memref.load %alloca_9[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %16, %c16_i32, %c32_i32 : f32
          %17 = arith.addf %16, %shuffleResult : f32
          %shuffleResult_10, %valid_11 = gpu.shuffle xor %17, %c8_i32, %c32_i32 : f32
          %18 = arith.addf %17, %shuffleResult_10 : f32
          %shuffleResult_12, %valid_13 = gpu.shuffle xor %18, %c4_i32, %c32_i32 : f32
          %19 = arith.addf %18, %shuffleResult_12 : f32
          %shuffleResult_14, %valid_15 = gpu.shuffle xor %19, %c2_i32, %c32_i32 : f32
          %20 = arith.addf %19, %shuffleResult_14 : f32
          %shuffleResult_16, %valid_17 = gpu.shuffle xor %20, %c1_i32, %c32_i32 : f32
          %21 = arith.addf %20, %shuffleResult_16 : f32
          scf.if %6 {
            %22 = memref.load %arg7[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %23 = arith.addf %22, %21 : f32
            memref.store %23, %arg7[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg14 = %c0 to %c8 step %c1 {
          %15 = affine.apply #map14(%2, %arg14)
          scf.for %arg15 = %c0 to %c3 step %c1 {
            %16 = memref.load %arg12[%c0, %15] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %17 = memref.load %alloca_5[%c0, %arg14, %arg15] : memref<1x8x3xf32>
            %18 = arith.mulf %17, %16 : f32
            memref.store %18, %alloca_5[%c0, %arg14, %arg15] : memref<1x8x3xf32>
          }
        }
        scf.for %arg14 = %c0 to %c12 step %c1 {
          %15 = affine.apply #map23(%arg14, %thread_id_x, %thread_id_y)
          %16 = affine.apply #map24(%arg14, %thread_id_x, %thread_id_y)
          %17 = affine.apply #map25(%arg13, %arg14, %thread_id_x, %thread_id_y)
          %18 = arith.cmpi slt, %17, %c77 : index
          %19 = arith.cmpi slt, %16, %c33 : index
          %20 = arith.andi %18, %19 : i1
          %21 = scf.if %20 -> (f16) {
            %22 = memref.load %arg2[%block_id_z, %17, %16] : memref<2x77x33xf16>
            scf.yield %22 : f16
          } else {
            scf.yield %cst : f16
          }
          memref.store %21, %arg6[%c0, %15, %16] : memref<1x64x48xf16, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg14 = %c0 to %c64 step %c4 {
          %alloca_9 = memref.alloca() {weft.name = "V_frag"} : memref<4x3xf16>
          scf.for %arg15 = %c0 to %c4 step %c1 {
            %16 = affine.apply #map14(%arg14, %arg15)
            scf.for %arg16 = %c0 to %c3 step %c1 {
              %17 = affine.apply #map14(%9, %arg16)
              %18 = memref.load %arg6[%c0, %16, %17] : memref<1x64x48xf16, #gpu.address_space<workgroup>>
              memref.store %18, %alloca_9[%arg15, %arg16] : memref<4x3xf16>
            }
          }
          %15 = affine.apply #map14(%arg13, %arg14)
          scf.for %arg15 = %c0 to %c8 step %c1 {
            %16 = affine.apply #map14(%2, %arg15)
            scf.for %arg16 = %c0 to %c4 step %c1 {
              %17 = affine.apply #map14(%arg14, %arg16)
              %18 = affine.apply #map14(%15, %arg16)
              %19 = arith.cmpi slt, %18, %c77 : index
              scf.for %arg17 = %c0 to %c3 step %c1 {
                %20 = memref.load %alloca_9[%arg16, %arg17] : memref<4x3xf16>
                %21 = memref.load %alloca_5[%c0, %arg15, %arg17] : memref<1x8x3xf32>
                %22 = memref.load %arg8[%c0, %16, %17] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
                %23 = arith.select %19, %22, %cst_2 : f32
                %24 = arith.extf %20 : f16 to f32
                %25 = arith.mulf %23, %24 : f32
                %26 = arith.addf %21, %25 : f32
                memref.store %26, %alloca_5[%c0, %arg15, %arg17] : memref<1x8x3xf32>
              }
            }
          }
        }
      }
      scf.for %arg13 = %c0 to %c8 step %c1 {
        %10 = affine.apply #map14(%2, %arg13)
        scf.for %arg14 = %c0 to %c3 step %c1 {
          %11 = memref.load %alloca_5[%c0, %arg13, %arg14] : memref<1x8x3xf32>
          %12 = memref.load %arg7[%c0, %10] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %13 = arith.divf %11, %12 : f32
          memref.store %13, %alloca_4[%c0, %arg13, %arg14] : memref<1x8x3xf32>
        }
      }
      %alloca_6 = memref.alloca() {weft.name = "Y"} : memref<1x8x3xf16>
      scf.for %arg13 = %c0 to %c8 step %c1 {
        scf.for %arg14 = %c0 to %c3 step %c1 {
          %10 = memref.load %alloca_4[%c0, %arg13, %arg14] : memref<1x8x3xf32>
          %11 = arith.truncf %10 : f32 to f16
          memref.store %11, %alloca_6[%c0, %arg13, %arg14] : memref<1x8x3xf16>
        }
      }
      scf.for %arg13 = %c0 to %c8 step %c1 {
        %10 = affine.apply #map14(%2, %arg13)
        %11 = arith.cmpi slt, %10, %c100 : index
        scf.if %11 {
          scf.for %arg14 = %c0 to %c3 step %c1 {
            %12 = affine.apply #map14(%9, %arg14)
            %13 = arith.cmpi slt, %12, %c33 : index
            scf.if %13 {
              %14 = memref.load %alloca_6[%c0, %arg13, %arg14] : memref<1x8x3xf16>
              memref.store %14, %arg3[%block_id_z, %10, %12] : memref<2x100x33xf16>
            }
          }
        }
      }
      gpu.return
    }
  }
}
