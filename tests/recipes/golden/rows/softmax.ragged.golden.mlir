// weft golden softmax --set m=70 --set n=333
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 4 + d1)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (d0 floordiv 32 - s0 floordiv 32 == 0)>
module attributes {gpu.container_module} {
  func.func @softmax(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<70x333xf32> {bufferize.result, weft.name = "Y"}) {
    %c18 = arith.constant 18 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @softmax_kernel::@softmax blocks in (%c18, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<70x333xf32>, %arg1 : memref<70x333xf32>)
    return
  }
  gpu.module @softmax_kernel {
    gpu.func @softmax(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<70x333xf32> {weft.name = "Y"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 18, 1, 1>} {
      %cst = arith.constant -0.000000e+00 : f32
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c333 = arith.constant 333 : index
      %c1 = arith.constant 1 : index
      %c11 = arith.constant 11 : index
      %c0 = arith.constant 0 : index
      %c70 = arith.constant 70 : index
      %cst_0 = arith.constant 1.000000e+00 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %cst_2 = arith.constant 0xFF800000 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "X_tile"} : memref<11xf32>
      %alloca_3 = memref.alloca() {weft.name = "largest"} : memref<1xf32>
      %alloca_4 = memref.alloca() {weft.name = "sum"} : memref<1xf32>
      %2 = affine.apply #map2(%block_id_x, %1)
      %3 = arith.cmpi slt, %2, %c70 : index
      scf.if %3 {
        memref.store %cst_2, %alloca_3[%c0] : memref<1xf32>
        scf.for %arg2 = %c0 to %c11 step %c1 {
          %20 = affine.apply #map3(%0, %arg2)
          %21 = arith.cmpi slt, %20, %c333 : index
          scf.if %21 {
            %22 = memref.load %arg0[%2, %20] : memref<70x333xf32>
            memref.store %22, %alloca[%arg2] : memref<11xf32>
          }
        }
        %alloca_5 = memref.alloca() {weft.combiner = "arith.maximumf", weft.name = "part", weft.participants = #set} : memref<1xf32>
        memref.store %cst_2, %alloca_5[%c0] : memref<1xf32>
        scf.for %arg2 = %c0 to %c11 step %c1 {
          %20 = affine.apply #map3(%0, %arg2)
          %21 = arith.cmpi slt, %20, %c333 : index
          scf.if %21 {
            %22 = memref.load %alloca[%arg2] : memref<11xf32>
            %23 = memref.load %alloca_5[%c0] : memref<1xf32>
            %24 = arith.maximumf %22, %23 : f32
            memref.store %24, %alloca_5[%c0] : memref<1xf32>
          }
        }
        %4 = memref.load %alloca_5[%c0] : memref<1xf32>
        %shuffleResult, %valid = gpu.shuffle xor %4, %c16_i32, %c32_i32 : f32
        %5 = arith.maximumf %4, %shuffleResult : f32
        %shuffleResult_6, %valid_7 = gpu.shuffle xor %5, %c8_i32, %c32_i32 : f32
        %6 = arith.maximumf %5, %shuffleResult_6 : f32
        %shuffleResult_8, %valid_9 = gpu.shuffle xor %6, %c4_i32, %c32_i32 : f32
        %7 = arith.maximumf %6, %shuffleResult_8 : f32
        %shuffleResult_10, %valid_11 = gpu.shuffle xor %7, %c2_i32, %c32_i32 : f32
        %8 = arith.maximumf %7, %shuffleResult_10 : f32
        %shuffleResult_12, %valid_13 = gpu.shuffle xor %8, %c1_i32, %c32_i32 : f32
        %9 = arith.maximumf %8, %shuffleResult_12 : f32
        %10 = memref.load %alloca_3[%c0] : memref<1xf32>
        %11 = arith.maximumf %10, %9 : f32
        memref.store %11, %alloca_3[%c0] : memref<1xf32>
        memref.store %cst_1, %alloca_4[%c0] : memref<1xf32>
        %alloca_14 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
        memref.store %cst, %alloca_14[%c0] : memref<1xf32>
        scf.for %arg2 = %c0 to %c11 step %c1 {
          %20 = affine.apply #map3(%0, %arg2)
          %21 = arith.cmpi slt, %20, %c333 : index
          scf.if %21 {
            %22 = memref.load %alloca[%arg2] : memref<11xf32>
            %23 = memref.load %alloca_3[%c0] : memref<1xf32>
            %24 = memref.load %alloca_14[%c0] : memref<1xf32>
            %25 = arith.subf %22, %23 : f32
            %26 = math.exp %25 : f32
            %27 = arith.addf %24, %26 : f32
            memref.store %27, %alloca_14[%c0] : memref<1xf32>
          }
        }
        %12 = memref.load %alloca_14[%c0] : memref<1xf32>
        %shuffleResult_15, %valid_16 = gpu.shuffle xor %12, %c16_i32, %c32_i32 : f32
        %13 = arith.addf %12, %shuffleResult_15 : f32
        %shuffleResult_17, %valid_18 = gpu.shuffle xor %13, %c8_i32, %c32_i32 : f32
        %14 = arith.addf %13, %shuffleResult_17 : f32
        %shuffleResult_19, %valid_20 = gpu.shuffle xor %14, %c4_i32, %c32_i32 : f32
        %15 = arith.addf %14, %shuffleResult_19 : f32
        %shuffleResult_21, %valid_22 = gpu.shuffle xor %15, %c2_i32, %c32_i32 : f32
        %16 = arith.addf %15, %shuffleResult_21 : f32
        %shuffleResult_23, %valid_24 = gpu.shuffle xor %16, %c1_i32, %c32_i32 : f32
        %17 = arith.addf %16, %shuffleResult_23 : f32
        %18 = memref.load %alloca_4[%c0] : memref<1xf32>
        %19 = arith.addf %18, %17 : f32
        memref.store %19, %alloca_4[%c0] : memref<1xf32>
        scf.for %arg2 = %c0 to %c11 step %c1 {
          %20 = affine.apply #map3(%0, %arg2)
          %21 = arith.cmpi slt, %20, %c333 : index
          scf.if %21 {
            %22 = memref.load %alloca[%arg2] : memref<11xf32>
            %23 = memref.load %alloca_3[%c0] : memref<1xf32>
            %24 = memref.load %alloca_4[%c0] : memref<1xf32>
            %25 = arith.subf %22, %23 : f32
            %26 = math.exp %25 : f32
            %27 = arith.divf %cst_0, %24 : f32
            %28 = arith.mulf %26, %27 : f32
            memref.store %28, %arg1[%2, %20] : memref<70x333xf32>
          }
        }
      }
      gpu.return
    }
  }
}
