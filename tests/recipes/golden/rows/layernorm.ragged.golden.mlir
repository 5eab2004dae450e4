// weft golden layernorm --set m=70 --set n=333
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 4 + d1)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (d0 floordiv 32 - s0 floordiv 32 == 0)>
module attributes {gpu.container_module} {
  func.func @layernorm(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<333xf32> {weft.name = "Gamma"}, %arg2: memref<333xf32> {weft.name = "Beta"}, %arg3: memref<70x333xf32> {bufferize.result, weft.name = "Y"}) {
    %c18 = arith.constant 18 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @layernorm_kernel::@layernorm blocks in (%c18, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<70x333xf32>, %arg1 : memref<333xf32>, %arg2 : memref<333xf32>, %arg3 : memref<70x333xf32>)
    return
  }
  gpu.module @layernorm_kernel {
    gpu.func @layernorm(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<333xf32> {weft.name = "Gamma"}, %arg2: memref<333xf32> {weft.name = "Beta"}, %arg3: memref<70x333xf32> {weft.name = "Y"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 18, 1, 1>, weft.max_registers = 168 : i64} {
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %cst = arith.constant -0.000000e+00 : f32
      %c333 = arith.constant 333 : index
      %c1 = arith.constant 1 : index
      %c11 = arith.constant 11 : index
      %c0 = arith.constant 0 : index
      %c70 = arith.constant 70 : index
      %cst_0 = arith.constant 9.99999974E-6 : f32
      %cst_1 = arith.constant 3.330000e+02 : f32
      %cst_2 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "X_tile"} : memref<11xf32>
      %alloca_3 = memref.alloca() {weft.name = "sum"} : memref<1xf32>
      %alloca_4 = memref.alloca() {weft.name = "squares"} : memref<1xf32>
      %2 = affine.apply #map2(%block_id_x, %1)
      %3 = arith.cmpi slt, %2, %c70 : index
      scf.if %3 {
        memref.store %cst_2, %alloca_4[%c0] : memref<1xf32>
        scf.for %arg4 = %c0 to %c11 step %c1 {
          %21 = affine.apply #map3(%0, %arg4)
          %22 = arith.cmpi slt, %21, %c333 : index
          scf.if %22 {
            %23 = memref.load %arg0[%2, %21] : memref<70x333xf32>
            memref.store %23, %alloca[%arg4] : memref<11xf32>
          }
        }
        %4 = memref.load %alloca_4[%c0] : memref<1xf32>
        memref.store %4, %alloca_3[%c0] : memref<1xf32>
        %alloca_5 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
        memref.store %cst, %alloca_5[%c0] : memref<1xf32>
        scf.for %arg4 = %c0 to %c11 step %c1 {
          %21 = affine.apply #map3(%0, %arg4)
          %22 = arith.cmpi slt, %21, %c333 : index
          scf.if %22 {
            %23 = memref.load %alloca[%arg4] : memref<11xf32>
            %24 = memref.load %alloca_5[%c0] : memref<1xf32>
            %25 = arith.addf %24, %23 : f32
            memref.store %25, %alloca_5[%c0] : memref<1xf32>
          }
        }
        %5 = memref.load %alloca_5[%c0] : memref<1xf32>
        %shuffleResult, %valid = gpu.shuffle xor %5, %c16_i32, %c32_i32 : f32
        %6 = arith.addf %5, %shuffleResult : f32
        %shuffleResult_6, %valid_7 = gpu.shuffle xor %6, %c8_i32, %c32_i32 : f32
        %7 = arith.addf %6, %shuffleResult_6 : f32
        %shuffleResult_8, %valid_9 = gpu.shuffle xor %7, %c4_i32, %c32_i32 : f32
        %8 = arith.addf %7, %shuffleResult_8 : f32
        %shuffleResult_10, %valid_11 = gpu.shuffle xor %8, %c2_i32, %c32_i32 : f32
        %9 = arith.addf %8, %shuffleResult_10 : f32
        %shuffleResult_12, %valid_13 = gpu.shuffle xor %9, %c1_i32, %c32_i32 : f32
        %10 = arith.addf %9, %shuffleResult_12 : f32
        %11 = memref.load %alloca_3[%c0] : memref<1xf32>
        %12 = arith.addf %11, %10 : f32
        memref.store %12, %alloca_3[%c0] : memref<1xf32>
        %alloca_14 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
        memref.store %cst, %alloca_14[%c0] : memref<1xf32>
        scf.for %arg4 = %c0 to %c11 step %c1 {
          %21 = affine.apply #map3(%0, %arg4)
          %22 = arith.cmpi slt, %21, %c333 : index
          scf.if %22 {
            %23 = memref.load %alloca[%arg4] : memref<11xf32>
            %24 = memref.load %alloca_3[%c0] : memref<1xf32>
            %25 = memref.load %alloca_14[%c0] : memref<1xf32>
            %26 = arith.divf %24, %cst_1 : f32
            %27 = arith.subf %23, %26 : f32
            %28 = arith.mulf %27, %27 : f32
            %29 = arith.addf %25, %28 : f32
            memref.store %29, %alloca_14[%c0] : memref<1xf32>
          }
        }
        %13 = memref.load %alloca_14[%c0] : memref<1xf32>
        %shuffleResult_15, %valid_16 = gpu.shuffle xor %13, %c16_i32, %c32_i32 : f32
        %14 = arith.addf %13, %shuffleResult_15 : f32
        %shuffleResult_17, %valid_18 = gpu.shuffle xor %14, %c8_i32, %c32_i32 : f32
        %15 = arith.addf %14, %shuffleResult_17 : f32
        %shuffleResult_19, %valid_20 = gpu.shuffle xor %15, %c4_i32, %c32_i32 : f32
        %16 = arith.addf %15, %shuffleResult_19 : f32
        %shuffleResult_21, %valid_22 = gpu.shuffle xor %16, %c2_i32, %c32_i32 : f32
        %17 = arith.addf %16, %shuffleResult_21 : f32
        %shuffleResult_23, %valid_24 = gpu.shuffle xor %17, %c1_i32, %c32_i32 : f32
        %18 = arith.addf %17, %shuffleResult_23 : f32
        %19 = memref.load %alloca_4[%c0] : memref<1xf32>
        %20 = arith.addf %19, %18 : f32
        memref.store %20, %alloca_4[%c0] : memref<1xf32>
        scf.for %arg4 = %c0 to %c11 step %c1 {
          %21 = affine.apply #map3(%0, %arg4)
          %22 = arith.cmpi slt, %21, %c333 : index
          scf.if %22 {
            %23 = memref.load %alloca[%arg4] : memref<11xf32>
            %24 = memref.load %alloca_3[%c0] : memref<1xf32>
            %25 = memref.load %alloca_4[%c0] : memref<1xf32>
            %26 = memref.load %arg1[%21] : memref<333xf32>
            %27 = memref.load %arg2[%21] : memref<333xf32>
            %28 = arith.divf %24, %cst_1 : f32
            %29 = arith.subf %23, %28 : f32
            %30 = arith.divf %25, %cst_1 : f32
            %31 = arith.addf %30, %cst_0 : f32
            %32 = math.rsqrt %31 : f32
            %33 = arith.mulf %29, %32 : f32
            %34 = arith.mulf %33, %26 : f32
            %35 = arith.addf %34, %27 : f32
            memref.store %35, %arg3[%2, %21] : memref<70x333xf32>
          }
        }
      }
      gpu.return
    }
  }
}
