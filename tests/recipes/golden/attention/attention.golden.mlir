// weft golden attention
#map = affine_map<(d0, d1) -> (d0 floordiv 2 + d1 * 8)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 2 + d2 * 8)>
#map2 = affine_map<(d0) -> ((d0 mod 2) * 4)>
#map3 = affine_map<(d0) -> (((d0 * 4) mod 8) * 4)>
#map4 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map5 = affine_map<(d0) -> (d0 + 1)>
#map6 = affine_map<(d0) -> (d0 + 2)>
#map7 = affine_map<(d0) -> (d0 + 3)>
#map8 = affine_map<(d0, d1) -> (((d0 * 8 + (d1 mod 2) * 4 + 1) mod 8) * 4)>
#map9 = affine_map<(d0, d1) -> (((d0 * 8 + (d1 mod 2) * 4 + 2) mod 8) * 4)>
#map10 = affine_map<(d0, d1) -> (((d0 * 8 + (d1 mod 2) * 4 + 3) mod 8) * 4)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map12 = affine_map<(d0, d1) -> (((d0 + d1 * 16) mod 128) floordiv 2)>
#map13 = affine_map<(d0) -> (d0 * 4)>
#map14 = affine_map<(d0, d1) -> ((d0 + d1 * 16) mod 32)>
#map15 = affine_map<(d0, d1) -> (((d0 + d1 * 16) floordiv 128) * 8 + (d0 mod 2) * 4)>
#map16 = affine_map<(d0) -> (d0 * 8)>
#map17 = affine_map<(d0, d1) -> ((d0 + d1 * 16) floordiv 32)>
#map18 = affine_map<(d0, d1) -> (((d0 + d1 * 16) floordiv 32) * -31 + d0 + d1 * 16)>
#map19 = affine_map<(d0, d1) -> (d0 + d1)>
#map20 = affine_map<(d0, d1, d2) -> (((d0 * 6 + ((d1 + d2 * 16) floordiv 128) * 3 - (d1 floordiv 2) * 3 + ((d1 * 4) floordiv 8) * 3) mod 4) * 4)>
#map21 = affine_map<(d0) -> ((d0 mod 8) * 4)>
#map22 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map23 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map24 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map25 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 8)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : ((d0 + d1 * 16) floordiv 32 - (s0 + s1 * 16) floordiv 32 == 0)>
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
    gpu.func @attention(%arg0: memref<8x256x64xf32> {weft.name = "Q"}, %arg1: memref<8x256x64xf32> {weft.name = "K"}, %arg2: memref<8x256x64xf32> {weft.name = "V"}, %arg3: memref<8x256x64xf32> {weft.name = "O"}) workgroup(%arg4 : memref<1x64x128xf32, #gpu.address_space<workgroup>> {weft.name = "Q_shared"}, %arg5 : memref<1x64x68xf32, #gpu.address_space<workgroup>> {weft.name = "K_shared"}, %arg6 : memref<1x64x64xf32, #gpu.address_space<workgroup>> {weft.name = "V_shared"}, %arg7 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "sum"}, %arg8 : memref<1x128x64xf32, #gpu.address_space<workgroup>> {weft.name = "powers"}, %arg9 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "largest"}, %arg10 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp0"}, %arg11 : memref<1x128xf32, #gpu.address_space<workgroup>> {weft.name = "temp1"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 1, 2, 8>, weft.max_registers = 128 : i64} {
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c16 = arith.constant 16 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c64 = arith.constant 64 : index
      %c256 = arith.constant 256 : index
      %c128 = arith.constant 128 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
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
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%thread_id_x)
      scf.for %arg12 = %c0 to %c8 step %c1 {
        %16 = affine.apply #map4(%2, %arg12)
        %17 = affine.apply #map5(%16)
        %18 = affine.apply #map6(%16)
        %19 = affine.apply #map7(%16)
        %20 = vector.load %arg0[%block_id_z, %1, %16] : memref<8x256x64xf32>, vector<4xf32>
        %21 = vector.extract %20[0] : f32 from vector<4xf32>
        %22 = arith.xori %0, %3 : index
        memref.store %21, %arg4[%c0, %16, %22] : memref<1x64x128xf32, #gpu.address_space<workgroup>>
        %23 = vector.extract %20[1] : f32 from vector<4xf32>
        %24 = affine.apply #map8(%arg12, %thread_id_x)
        %25 = arith.xori %0, %24 : index
        memref.store %23, %arg4[%c0, %17, %25] : memref<1x64x128xf32, #gpu.address_space<workgroup>>
        %26 = vector.extract %20[2] : f32 from vector<4xf32>
        %27 = affine.apply #map9(%arg12, %thread_id_x)
        %28 = arith.xori %0, %27 : index
        memref.store %26, %arg4[%c0, %18, %28] : memref<1x64x128xf32, #gpu.address_space<workgroup>>
        %29 = vector.extract %20[3] : f32 from vector<4xf32>
        %30 = affine.apply #map10(%arg12, %thread_id_x)
        %31 = arith.xori %0, %30 : index
        memref.store %29, %arg4[%c0, %19, %31] : memref<1x64x128xf32, #gpu.address_space<workgroup>>
      }
      %alloca = memref.alloca() {weft.name = "m0"} : memref<1xf32>
      %4 = affine.apply #map11(%thread_id_x, %thread_id_y)
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
      %6 = affine.apply #map12(%thread_id_x, %thread_id_y)
      %7 = affine.apply #map13(%thread_id_x)
      %8 = affine.apply #map14(%thread_id_x, %thread_id_y)
      %9 = arith.cmpi slt, %8, %c1 : index
      %10 = arith.cmpi eq, %8, %c0 : index
      %11 = affine.apply #map15(%thread_id_x, %thread_id_y)
      %12 = affine.apply #map16(%thread_id_y)
      %13 = affine.apply #map17(%thread_id_x, %thread_id_y)
      %14 = affine.apply #map18(%thread_id_x, %thread_id_y)
      scf.for %arg12 = %c0 to %c256 step %c64 {
        %16 = affine.apply #map19(%6, %arg12)
        scf.for %arg13 = %c0 to %c4 step %c1 {
          %18 = affine.apply #map11(%11, %arg13)
          %19 = vector.load %arg1[%block_id_z, %16, %18] : memref<8x256x64xf32>, vector<4xf32>
          %20 = vector.extract %19[0] : f32 from vector<4xf32>
          %21 = affine.apply #map20(%arg13, %thread_id_x, %thread_id_y)
          %22 = arith.xori %6, %21 : index
          memref.store %20, %arg5[%c0, %18, %22] : memref<1x64x68xf32, #gpu.address_space<workgroup>>
          %23 = vector.extract %19[1] : f32 from vector<4xf32>
          %24 = affine.apply #map5(%18)
          memref.store %23, %arg5[%c0, %24, %22] : memref<1x64x68xf32, #gpu.address_space<workgroup>>
          %25 = vector.extract %19[2] : f32 from vector<4xf32>
          %26 = affine.apply #map6(%18)
          memref.store %25, %arg5[%c0, %26, %22] : memref<1x64x68xf32, #gpu.address_space<workgroup>>
          %27 = vector.extract %19[3] : f32 from vector<4xf32>
          %28 = affine.apply #map7(%18)
          memref.store %27, %arg5[%c0, %28, %22] : memref<1x64x68xf32, #gpu.address_space<workgroup>>
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
          %18 = affine.apply #map21(%arg13)
          scf.for %arg14 = %c0 to %c2 step %c1 {
            %22 = affine.apply #map13(%arg14)
            %23 = affine.apply #map22(%12, %arg14)
            %24 = arith.xori %23, %18 : index
            %25 = vector.load %arg4[%c0, %arg13, %24] : memref<1x64x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %25, %alloca_6[%22] : memref<8xf32>, vector<4xf32>
          }
          %alloca_7 = memref.alloca() {weft.name = "K_frag"} : memref<4xf32>
          %19 = affine.apply #map23(%arg13)
          %20 = arith.xori %7, %19 : index
          %21 = vector.load %arg5[%c0, %arg13, %20] : memref<1x64x68xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %21, %alloca_7[%c0] : memref<4xf32>, vector<4xf32>
          scf.for %arg14 = %c0 to %c8 step %c1 {
            scf.for %arg15 = %c0 to %c4 step %c1 {
              %22 = memref.load %alloca_6[%arg14] : memref<8xf32>
              %23 = memref.load %alloca_7[%arg15] : memref<4xf32>
              %24 = memref.load %alloca_4[%c0, %arg14, %arg15] : memref<1x8x4xf32>
              %25 = arith.mulf %22, %23 : f32
              %26 = arith.addf %24, %25 : f32
              memref.store %26, %alloca_4[%c0, %arg14, %arg15] : memref<1x8x4xf32>
            }
          }
        } {weft.unroll = 8 : i64}
        scf.for %arg13 = %c0 to %c8 step %c1 {
          %18 = memref.load %alloca_4[%c0, %arg13, %c0] : memref<1x8x4xf32>
          %19 = arith.mulf %18, %cst : f32
          %20 = memref.load %alloca_4[%c0, %arg13, %c1] : memref<1x8x4xf32>
          %21 = arith.mulf %20, %cst : f32
          %22 = memref.load %alloca_4[%c0, %arg13, %c2] : memref<1x8x4xf32>
          %23 = arith.mulf %22, %cst : f32
          %24 = memref.load %alloca_4[%c0, %arg13, %c3] : memref<1x8x4xf32>
          %25 = arith.mulf %24, %cst : f32
          %26 = vector.from_elements %19, %21, %23, %25 : vector<4xf32>
          %27 = affine.apply #map19(%12, %arg13)
          vector.store %26, %arg8[%c0, %27, %7] : memref<1x128x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %alloca_5 = memref.alloca() {weft.name = "largest"} : memref<1x1xf32>
        scf.for %arg13 = %c0 to %c16 step %c1 {
          memref.store %cst_2, %alloca_5[%c0, %c0] : memref<1x1xf32>
          %alloca_6 = memref.alloca() {weft.combiner = "arith.maximumf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
          memref.store %cst_2, %alloca_6[%c0, %c0] : memref<1x1xf32>
          %18 = affine.apply #map4(%13, %arg13)
          scf.for %arg14 = %c0 to %c2 step %c1 {
            %28 = affine.apply #map24(%8, %arg14)
            %29 = memref.load %arg8[%c0, %18, %28] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %30 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
            %31 = arith.maximumf %30, %29 : f32
            memref.store %31, %alloca_6[%c0, %c0] : memref<1x1xf32>
          }
          %19 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %19, %c16_i32, %c32_i32 : f32
          %20 = arith.maximumf %19, %shuffleResult : f32
          %shuffleResult_7, %valid_8 = gpu.shuffle xor %20, %c8_i32, %c32_i32 : f32
          %21 = arith.maximumf %20, %shuffleResult_7 : f32
          %shuffleResult_9, %valid_10 = gpu.shuffle xor %21, %c4_i32, %c32_i32 : f32
          %22 = arith.maximumf %21, %shuffleResult_9 : f32
          %shuffleResult_11, %valid_12 = gpu.shuffle xor %22, %c2_i32, %c32_i32 : f32
          %23 = arith.maximumf %22, %shuffleResult_11 : f32
          %shuffleResult_13, %valid_14 = gpu.shuffle xor %23, %c1_i32, %c32_i32 : f32
          %24 = arith.maximumf %23, %shuffleResult_13 : f32
          %25 = memref.load %alloca_5[%c0, %c0] : memref<1x1xf32>
          %26 = arith.maximumf %25, %24 : f32
          memref.store %26, %alloca_5[%c0, %c0] : memref<1x1xf32>
          %27 = affine.apply #map4(%14, %arg13)
          scf.if %9 {
            %28 = memref.load %alloca_5[%c0, %8] : memref<1x1xf32>
            memref.store %28, %arg9[%c0, %27] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.if %5 {
          %18 = memref.load %arg9[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %19 = memref.load %alloca[%c0] : memref<1xf32>
          %20 = arith.maximumf %19, %18 : f32
          %21 = arith.cmpf oeq, %20, %cst_2 : f32
          %22 = arith.select %21, %cst_1, %20 : f32
          %23 = arith.subf %19, %22 : f32
          %24 = math.exp %23 : f32
          memref.store %20, %alloca[%c0] : memref<1xf32>
          memref.store %24, %arg11[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          memref.store %22, %arg10[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        scf.if %5 {
          %18 = memref.load %arg11[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %19 = memref.load %arg7[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %20 = arith.mulf %19, %18 : f32
          memref.store %20, %arg7[%c0, %4] : memref<1x128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg13 = %c0 to %c8 step %c1 {
          %18 = affine.apply #map11(%thread_id_y, %arg13)
          %19 = vector.load %arg8[%c0, %18, %7] : memref<1x128x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          %20 = vector.extract %19[0] : f32 from vector<4xf32>
          %21 = memref.load %arg10[%c0, %18] : memref<1x128xf32, #gpu.address_space<workgroup>>
          %22 = arith.subf %20, %21 : f32
          %23 = math.exp %22 : f32
          %24 = vector.extract %19[1] : f32 from vector<4xf32>
          %25 = arith.subf %24, %21 : f32
          %26 = math.exp %25 : f32
          %27 = vector.extract %19[2] : f32 from vector<4xf32>
          %28 = arith.subf %27, %21 : f32
          %29 = math.exp %28 : f32
          %30 = vector.extract %19[3] : f32 from vector<4xf32>
          %31 = arith.subf %30, %21 : f32
          %32 = math.exp %31 : f32
          %33 = vector.from_elements %23, %26, %29, %32 : vector<4xf32>
          vector.store %33, %arg8[%c0, %18, %7] : memref<1x128x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg13 = %c0 to %c16 step %c1 {
          %alloca_6 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1x1xf32>
          memref.store %cst_0, %alloca_6[%c0, %c0] : memref<1x1xf32>
          %18 = affine.apply #map4(%13, %arg13)
          scf.for %arg14 = %c0 to %c2 step %c1 {
            %25 = affine.apply #map24(%8, %arg14)
            %26 = memref.load %arg8[%c0, %18, %25] : memref<1x128x64xf32, #gpu.address_space<workgroup>>
            %27 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
            %28 = arith.addf %27, %26 : f32
            memref.store %28, %alloca_6[%c0, %c0] : memref<1x1xf32>
          }
          %19 = memref.load %alloca_6[%c0, %c0] : memref<1x1xf32>
          %shuffleResult, %valid = gpu.shuffle xor %19, %c16_i32, %c32_i32 : f32
          %20 = arith.addf %19, %shuffleResult : f32
          %shuffleResult_7, %valid_8 = gpu.shuffle xor %20, %c8_i32, %c32_i32 : f32
          %21 = arith.addf %20, %shuffleResult_7 : f32
          %shuffleResult_9, %valid_10 = gpu.shuffle xor %21, %c4_i32, %c32_i32 : f32
          %22 = arith.addf %21, %shuffleResult_9 : f32
          %shuffleResult_11, %valid_12 = gpu.shuffle xor %22, %c2_i32, %c32_i32 : f32
          %23 = arith.addf %22, %shuffleResult_11 : f32
          %shuffleResult_13, %valid_14 = gpu.shuffle xor %23, %c1_i32, %c32_i32 : f32
          %24 = arith.addf %23, %shuffleResult_13 : f32
          scf.if %10 {
            %25 = memref.load %arg7[%c0, %18] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %26 = arith.addf %25, %24 : f32
            memref.store %26, %arg7[%c0, %18] : memref<1x128xf32, #gpu.address_space<workgroup>>
          }
        }
        scf.for %arg13 = %c0 to %c8 step %c1 {
          %18 = affine.apply #map19(%12, %arg13)
          scf.for %arg14 = %c0 to %c4 step %c1 {
            %19 = memref.load %arg11[%c0, %18] : memref<1x128xf32, #gpu.address_space<workgroup>>
            %20 = memref.load %alloca_3[%c0, %arg13, %arg14] : memref<1x8x4xf32>
            %21 = arith.mulf %20, %19 : f32
            memref.store %21, %alloca_3[%c0, %arg13, %arg14] : memref<1x8x4xf32>
          }
        }
        %17 = affine.apply #map19(%thread_id_y, %arg12)
        scf.for %arg13 = %c0 to %c4 step %c1 {
          %18 = affine.apply #map11(%thread_id_y, %arg13)
          %19 = affine.apply #map11(%17, %arg13)
          %20 = vector.load %arg2[%block_id_z, %19, %7] : memref<8x256x64xf32>, vector<4xf32>
          vector.store %20, %arg6[%c0, %18, %7] : memref<1x64x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg13 = %c0 to %c64 step %c4 {
          %alloca_6 = memref.alloca() {weft.name = "powers_frag"} : memref<8x4xf32>
          scf.for %arg14 = %c0 to %c8 step %c1 {
            %18 = affine.apply #map19(%12, %arg14)
            %19 = vector.load %arg8[%c0, %18, %arg13] : memref<1x128x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %19, %alloca_6[%arg14, %c0] : memref<8x4xf32>, vector<4xf32>
          }
          %alloca_7 = memref.alloca() {weft.name = "V_frag"} : memref<4x4xf32>
          scf.for %arg14 = %c0 to %c4 step %c1 {
            %18 = affine.apply #map19(%arg13, %arg14)
            %19 = vector.load %arg6[%c0, %18, %7] : memref<1x64x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %19, %alloca_7[%arg14, %c0] : memref<4x4xf32>, vector<4xf32>
          }
          scf.for %arg14 = %c0 to %c8 step %c1 {
            scf.for %arg15 = %c0 to %c4 step %c1 {
              scf.for %arg16 = %c0 to %c4 step %c1 {
                %18 = memref.load %alloca_6[%arg14, %arg15] : memref<8x4xf32>
                %19 = memref.load %alloca_7[%arg15, %arg16] : memref<4x4xf32>
                %20 = memref.load %alloca_3[%c0, %arg14, %arg16] : memref<1x8x4xf32>
                %21 = arith.mulf %18, %19 : f32
                %22 = arith.addf %20, %21 : f32
                memref.store %22, %alloca_3[%c0, %arg14, %arg16] : memref<1x8x4xf32>
              }
            }
          }
        }
      }
      %15 = affine.apply #map25(%block_id_y, %thread_id_y)
      scf.for %arg12 = %c0 to %c8 step %c1 {
        %16 = memref.load %alloca_3[%c0, %arg12, %c0] : memref<1x8x4xf32>
        %17 = affine.apply #map19(%12, %arg12)
        %18 = memref.load %arg7[%c0, %17] : memref<1x128xf32, #gpu.address_space<workgroup>>
        %19 = arith.divf %16, %18 : f32
        %20 = memref.load %alloca_3[%c0, %arg12, %c1] : memref<1x8x4xf32>
        %21 = arith.divf %20, %18 : f32
        %22 = memref.load %alloca_3[%c0, %arg12, %c2] : memref<1x8x4xf32>
        %23 = arith.divf %22, %18 : f32
        %24 = memref.load %alloca_3[%c0, %arg12, %c3] : memref<1x8x4xf32>
        %25 = arith.divf %24, %18 : f32
        %26 = vector.from_elements %19, %21, %23, %25 : vector<4xf32>
        %27 = affine.apply #map19(%15, %arg12)
        vector.store %26, %arg3[%block_id_z, %27, %7] : memref<8x256x64xf32>, vector<4xf32>
      }
      gpu.return
    }
  }
}
