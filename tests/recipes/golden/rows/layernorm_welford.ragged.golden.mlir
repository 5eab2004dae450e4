// weft golden layernorm_welford --set m=70 --set n=333
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 4 + d1)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (d0 floordiv 32 - s0 floordiv 32 == 0)>
module attributes {gpu.container_module} {
  func.func @layernorm_welford(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<333xf32> {weft.name = "Gamma"}, %arg2: memref<333xf32> {weft.name = "Beta"}, %arg3: memref<70x333xf32> {bufferize.result, weft.name = "Y"}) {
    %c18 = arith.constant 18 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @layernorm_welford_kernel::@layernorm_welford blocks in (%c18, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<70x333xf32>, %arg1 : memref<333xf32>, %arg2 : memref<333xf32>, %arg3 : memref<70x333xf32>)
    return
  }
  gpu.module @layernorm_welford_kernel {
    gpu.func @layernorm_welford(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<333xf32> {weft.name = "Gamma"}, %arg2: memref<333xf32> {weft.name = "Beta"}, %arg3: memref<70x333xf32> {weft.name = "Y"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 18, 1, 1>, weft.max_registers = 168 : i64} {
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %cst = arith.constant 5.000000e-01 : f32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c333 = arith.constant 333 : index
      %c1 = arith.constant 1 : index
      %c11 = arith.constant 11 : index
      %c0 = arith.constant 0 : index
      %c70 = arith.constant 70 : index
      %cst_0 = arith.constant 9.99999974E-6 : f32
      %cst_1 = arith.constant 3.330000e+02 : f32
      %cst_2 = arith.constant 1.000000e+00 : f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "X_tile"} : memref<11xf32>
      %alloca_4 = memref.alloca() {weft.name = "w_tile_2"} : memref<1xf32>
      %alloca_5 = memref.alloca() {weft.name = "s0"} : memref<1xf32>
      %alloca_6 = memref.alloca() {weft.name = "w_tile"} : memref<1xf32>
      %alloca_7 = memref.alloca() {weft.name = "w"} : memref<1xf32>
      %2 = affine.apply #map2(%block_id_x, %1)
      %3 = arith.cmpi slt, %2, %c70 : index
      scf.if %3 {
        memref.store %cst_3, %alloca_5[%c0] : memref<1xf32>
        scf.for %arg4 = %c0 to %c11 step %c1 {
          %104 = affine.apply #map3(%0, %arg4)
          %105 = arith.cmpi slt, %104, %c333 : index
          scf.if %105 {
            %106 = memref.load %arg0[%2, %104] : memref<70x333xf32>
            memref.store %106, %alloca[%arg4] : memref<11xf32>
          }
        }
        %4 = memref.load %alloca_5[%c0] : memref<1xf32>
        memref.store %4, %alloca_7[%c0] : memref<1xf32>
        %5 = memref.load %alloca_5[%c0] : memref<1xf32>
        memref.store %5, %alloca_6[%c0] : memref<1xf32>
        %6 = memref.load %alloca_5[%c0] : memref<1xf32>
        memref.store %6, %alloca_4[%c0] : memref<1xf32>
        %alloca_8 = memref.alloca() {weft.combiner = "a count, a mean, and squared differences from it", weft.name = "part", weft.participants = #set} : memref<1xf32>
        %alloca_9 = memref.alloca() {weft.combiner = "a count, a mean, and squared differences from it", weft.name = "part", weft.participants = #set} : memref<1xf32>
        %alloca_10 = memref.alloca() {weft.combiner = "a count, a mean, and squared differences from it", weft.name = "part", weft.participants = #set} : memref<1xf32>
        memref.store %cst_3, %alloca_8[%c0] : memref<1xf32>
        memref.store %cst_3, %alloca_9[%c0] : memref<1xf32>
        memref.store %cst_3, %alloca_10[%c0] : memref<1xf32>
        scf.for %arg4 = %c0 to %c11 step %c1 {
          %104 = affine.apply #map3(%0, %arg4)
          %105 = arith.cmpi slt, %104, %c333 : index
          scf.if %105 {
            %106 = memref.load %alloca[%arg4] : memref<11xf32>
            %107 = memref.load %alloca_8[%c0] : memref<1xf32>
            %108 = memref.load %alloca_9[%c0] : memref<1xf32>
            %109 = memref.load %alloca_10[%c0] : memref<1xf32>
            %110 = arith.addf %107, %cst_2 : f32
            %111 = arith.subf %106, %108 : f32
            %112 = arith.divf %cst_2, %110 : f32
            %113 = arith.mulf %111, %112 : f32
            %114 = arith.addf %108, %113 : f32
            %115 = arith.subf %106, %114 : f32
            %116 = arith.mulf %111, %115 : f32
            %117 = arith.addf %109, %116 : f32
            memref.store %110, %alloca_8[%c0] : memref<1xf32>
            memref.store %114, %alloca_9[%c0] : memref<1xf32>
            memref.store %117, %alloca_10[%c0] : memref<1xf32>
          }
        }
        %7 = memref.load %alloca_8[%c0] : memref<1xf32>
        %8 = memref.load %alloca_9[%c0] : memref<1xf32>
        %9 = memref.load %alloca_10[%c0] : memref<1xf32>
        %shuffleResult, %valid = gpu.shuffle xor %7, %c16_i32, %c32_i32 : f32
        %shuffleResult_11, %valid_12 = gpu.shuffle xor %8, %c16_i32, %c32_i32 : f32
        %shuffleResult_13, %valid_14 = gpu.shuffle xor %9, %c16_i32, %c32_i32 : f32
        %10 = arith.addf %7, %shuffleResult : f32
        %11 = arith.maximumf %10, %cst_2 : f32
        %12 = arith.subf %shuffleResult_11, %8 : f32
        %13 = arith.subf %shuffleResult, %7 : f32
        %14 = arith.divf %13, %11 : f32
        %15 = arith.addf %8, %shuffleResult_11 : f32
        %16 = arith.mulf %12, %14 : f32
        %17 = arith.addf %15, %16 : f32
        %18 = arith.mulf %7, %shuffleResult : f32
        %19 = arith.divf %18, %11 : f32
        %20 = arith.mulf %12, %12 : f32
        %21 = arith.mulf %20, %19 : f32
        %22 = arith.mulf %17, %cst : f32
        %23 = arith.addf %9, %shuffleResult_13 : f32
        %24 = arith.addf %23, %21 : f32
        %shuffleResult_15, %valid_16 = gpu.shuffle xor %10, %c8_i32, %c32_i32 : f32
        %shuffleResult_17, %valid_18 = gpu.shuffle xor %22, %c8_i32, %c32_i32 : f32
        %shuffleResult_19, %valid_20 = gpu.shuffle xor %24, %c8_i32, %c32_i32 : f32
        %25 = arith.addf %10, %shuffleResult_15 : f32
        %26 = arith.maximumf %25, %cst_2 : f32
        %27 = arith.subf %shuffleResult_17, %22 : f32
        %28 = arith.subf %shuffleResult_15, %10 : f32
        %29 = arith.divf %28, %26 : f32
        %30 = arith.addf %22, %shuffleResult_17 : f32
        %31 = arith.mulf %27, %29 : f32
        %32 = arith.addf %30, %31 : f32
        %33 = arith.mulf %10, %shuffleResult_15 : f32
        %34 = arith.divf %33, %26 : f32
        %35 = arith.mulf %27, %27 : f32
        %36 = arith.mulf %35, %34 : f32
        %37 = arith.mulf %32, %cst : f32
        %38 = arith.addf %24, %shuffleResult_19 : f32
        %39 = arith.addf %38, %36 : f32
        %shuffleResult_21, %valid_22 = gpu.shuffle xor %25, %c4_i32, %c32_i32 : f32
        %shuffleResult_23, %valid_24 = gpu.shuffle xor %37, %c4_i32, %c32_i32 : f32
        %shuffleResult_25, %valid_26 = gpu.shuffle xor %39, %c4_i32, %c32_i32 : f32
        %40 = arith.addf %25, %shuffleResult_21 : f32
        %41 = arith.maximumf %40, %cst_2 : f32
        %42 = arith.subf %shuffleResult_23, %37 : f32
        %43 = arith.subf %shuffleResult_21, %25 : f32
        %44 = arith.divf %43, %41 : f32
        %45 = arith.addf %37, %shuffleResult_23 : f32
        %46 = arith.mulf %42, %44 : f32
        %47 = arith.addf %45, %46 : f32
        %48 = arith.mulf %25, %shuffleResult_21 : f32
        %49 = arith.divf %48, %41 : f32
        %50 = arith.mulf %42, %42 : f32
        %51 = arith.mulf %50, %49 : f32
        %52 = arith.mulf %47, %cst : f32
        %53 = arith.addf %39, %shuffleResult_25 : f32
        %54 = arith.addf %53, %51 : f32
        %shuffleResult_27, %valid_28 = gpu.shuffle xor %40, %c2_i32, %c32_i32 : f32
        %shuffleResult_29, %valid_30 = gpu.shuffle xor %52, %c2_i32, %c32_i32 : f32
        %shuffleResult_31, %valid_32 = gpu.shuffle xor %54, %c2_i32, %c32_i32 : f32
        %55 = arith.addf %40, %shuffleResult_27 : f32
        %56 = arith.maximumf %55, %cst_2 : f32
        %57 = arith.subf %shuffleResult_29, %52 : f32
        %58 = arith.subf %shuffleResult_27, %40 : f32
        %59 = arith.divf %58, %56 : f32
        %60 = arith.addf %52, %shuffleResult_29 : f32
        %61 = arith.mulf %57, %59 : f32
        %62 = arith.addf %60, %61 : f32
        %63 = arith.mulf %40, %shuffleResult_27 : f32
        %64 = arith.divf %63, %56 : f32
        %65 = arith.mulf %57, %57 : f32
        %66 = arith.mulf %65, %64 : f32
        %67 = arith.mulf %62, %cst : f32
        %68 = arith.addf %54, %shuffleResult_31 : f32
        %69 = arith.addf %68, %66 : f32
        %shuffleResult_33, %valid_34 = gpu.shuffle xor %55, %c1_i32, %c32_i32 : f32
        %shuffleResult_35, %valid_36 = gpu.shuffle xor %67, %c1_i32, %c32_i32 : f32
        %shuffleResult_37, %valid_38 = gpu.shuffle xor %69, %c1_i32, %c32_i32 : f32
        %70 = arith.addf %55, %shuffleResult_33 : f32
        %71 = arith.maximumf %70, %cst_2 : f32
        %72 = arith.subf %shuffleResult_35, %67 : f32
        %73 = arith.subf %shuffleResult_33, %55 : f32
        %74 = arith.divf %73, %71 : f32
        %75 = arith.addf %67, %shuffleResult_35 : f32
        %76 = arith.mulf %72, %74 : f32
        %77 = arith.addf %75, %76 : f32
        %78 = arith.mulf %55, %shuffleResult_33 : f32
        %79 = arith.divf %78, %71 : f32
        %80 = arith.mulf %72, %72 : f32
        %81 = arith.mulf %80, %79 : f32
        %82 = arith.mulf %77, %cst : f32
        %83 = arith.addf %69, %shuffleResult_37 : f32
        %84 = arith.addf %83, %81 : f32
        %85 = memref.load %alloca_7[%c0] : memref<1xf32>
        %86 = memref.load %alloca_6[%c0] : memref<1xf32>
        %87 = memref.load %alloca_4[%c0] : memref<1xf32>
        %88 = arith.addf %85, %70 : f32
        %89 = arith.cmpf oeq, %88, %cst_3 : f32
        %90 = arith.select %89, %cst_2, %88 : f32
        %91 = arith.subf %82, %86 : f32
        %92 = arith.subf %70, %85 : f32
        %93 = arith.divf %92, %90 : f32
        %94 = arith.addf %86, %82 : f32
        %95 = arith.mulf %91, %93 : f32
        %96 = arith.addf %94, %95 : f32
        %97 = arith.mulf %85, %70 : f32
        %98 = arith.divf %97, %90 : f32
        %99 = arith.mulf %91, %91 : f32
        %100 = arith.mulf %99, %98 : f32
        %101 = arith.mulf %96, %cst : f32
        %102 = arith.addf %87, %84 : f32
        %103 = arith.addf %102, %100 : f32
        memref.store %88, %alloca_7[%c0] : memref<1xf32>
        memref.store %101, %alloca_6[%c0] : memref<1xf32>
        memref.store %103, %alloca_4[%c0] : memref<1xf32>
        scf.for %arg4 = %c0 to %c11 step %c1 {
          %104 = affine.apply #map3(%0, %arg4)
          %105 = arith.cmpi slt, %104, %c333 : index
          scf.if %105 {
            %106 = memref.load %alloca[%arg4] : memref<11xf32>
            %107 = memref.load %alloca_6[%c0] : memref<1xf32>
            %108 = memref.load %alloca_4[%c0] : memref<1xf32>
            %109 = memref.load %arg1[%104] : memref<333xf32>
            %110 = memref.load %arg2[%104] : memref<333xf32>
            %111 = arith.subf %106, %107 : f32
            %112 = arith.divf %108, %cst_1 : f32
            %113 = arith.addf %112, %cst_0 : f32
            %114 = math.rsqrt %113 : f32
            %115 = arith.mulf %111, %114 : f32
            %116 = arith.mulf %115, %109 : f32
            %117 = arith.addf %116, %110 : f32
            memref.store %117, %arg3[%2, %104] : memref<70x333xf32>
          }
        }
      }
      gpu.return
    }
  }
}
