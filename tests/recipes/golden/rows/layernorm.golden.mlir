// weft golden layernorm
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> (d0 * 4)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 512)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (0 == 0)>
module attributes {gpu.container_module} {
  func.func @layernorm(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<4096xf32> {weft.name = "Gamma"}, %arg2: memref<4096xf32> {weft.name = "Beta"}, %arg3: memref<64x4096xf32> {bufferize.result, weft.name = "Y"}) {
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @layernorm_kernel::@layernorm blocks in (%c64, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<64x4096xf32>, %arg1 : memref<4096xf32>, %arg2 : memref<4096xf32>, %arg3 : memref<64x4096xf32>)
    return
  }
  gpu.module @layernorm_kernel {
    gpu.func @layernorm(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<4096xf32> {weft.name = "Gamma"}, %arg2: memref<4096xf32> {weft.name = "Beta"}, %arg3: memref<64x4096xf32> {weft.name = "Y"}) workgroup(%arg4 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "sum_parts"}, %arg5 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "squares_parts"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>, weft.max_registers = 168 : i64} {
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %cst = arith.constant -0.000000e+00 : f32
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 9.99999974E-6 : f32
      %cst_1 = arith.constant 4.096000e+03 : f32
      %cst_2 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "squares"} : memref<1xf32>
      memref.store %cst_2, %alloca[%c0] : memref<1xf32>
      %alloca_3 = memref.alloca() {weft.name = "X_tile"} : memref<32xf32>
      %2 = affine.apply #map2(%thread_id_x)
      scf.for %arg6 = %c0 to %c8 step %c1 {
        %35 = affine.apply #map2(%arg6)
        %36 = affine.apply #map3(%2, %arg6)
        %37 = vector.load %arg0[%block_id_x, %36] : memref<64x4096xf32>, vector<4xf32>
        vector.store %37, %alloca_3[%35] : memref<32xf32>, vector<4xf32>
      }
      %alloca_4 = memref.alloca() {weft.name = "sum"} : memref<1xf32>
      %3 = memref.load %alloca[%c0] : memref<1xf32>
      memref.store %3, %alloca_4[%c0] : memref<1xf32>
      %alloca_5 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
      memref.store %cst, %alloca_5[%c0] : memref<1xf32>
      scf.for %arg6 = %c0 to %c8 step %c1 {
        %35 = affine.apply #map2(%arg6)
        %36 = vector.load %alloca_3[%35] : memref<32xf32>, vector<4xf32>
        %37 = vector.extract %36[0] : f32 from vector<4xf32>
        %38 = memref.load %alloca_5[%c0] : memref<1xf32>
        %39 = arith.addf %38, %37 : f32
        memref.store %39, %alloca_5[%c0] : memref<1xf32>
        %40 = vector.extract %36[1] : f32 from vector<4xf32>
        %41 = memref.load %alloca_5[%c0] : memref<1xf32>
        %42 = arith.addf %41, %40 : f32
        memref.store %42, %alloca_5[%c0] : memref<1xf32>
        %43 = vector.extract %36[2] : f32 from vector<4xf32>
        %44 = memref.load %alloca_5[%c0] : memref<1xf32>
        %45 = arith.addf %44, %43 : f32
        memref.store %45, %alloca_5[%c0] : memref<1xf32>
        %46 = vector.extract %36[3] : f32 from vector<4xf32>
        %47 = memref.load %alloca_5[%c0] : memref<1xf32>
        %48 = arith.addf %47, %46 : f32
        memref.store %48, %alloca_5[%c0] : memref<1xf32>
      }
      %4 = memref.load %alloca_5[%c0] : memref<1xf32>
      %shuffleResult, %valid = gpu.shuffle xor %4, %c16_i32, %c32_i32 : f32
      %5 = arith.addf %4, %shuffleResult : f32
      %shuffleResult_6, %valid_7 = gpu.shuffle xor %5, %c8_i32, %c32_i32 : f32
      %6 = arith.addf %5, %shuffleResult_6 : f32
      %shuffleResult_8, %valid_9 = gpu.shuffle xor %6, %c4_i32, %c32_i32 : f32
      %7 = arith.addf %6, %shuffleResult_8 : f32
      %shuffleResult_10, %valid_11 = gpu.shuffle xor %7, %c2_i32, %c32_i32 : f32
      %8 = arith.addf %7, %shuffleResult_10 : f32
      %shuffleResult_12, %valid_13 = gpu.shuffle xor %8, %c1_i32, %c32_i32 : f32
      %9 = arith.addf %8, %shuffleResult_12 : f32
      %10 = arith.cmpi eq, %1, %c0 : index
      scf.if %10 {
        memref.store %9, %arg4[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %11 = memref.load %arg4[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %12 = memref.load %arg4[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %13 = arith.addf %11, %12 : f32
      %14 = memref.load %arg4[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %15 = arith.addf %13, %14 : f32
      %16 = memref.load %arg4[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %17 = arith.addf %15, %16 : f32
      %18 = memref.load %alloca_4[%c0] : memref<1xf32>
      %19 = arith.addf %18, %17 : f32
      memref.store %19, %alloca_4[%c0] : memref<1xf32>
      %alloca_14 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
      memref.store %cst, %alloca_14[%c0] : memref<1xf32>
      scf.for %arg6 = %c0 to %c8 step %c1 {
        %35 = affine.apply #map2(%arg6)
        %36 = vector.load %alloca_3[%35] : memref<32xf32>, vector<4xf32>
        %37 = vector.extract %36[0] : f32 from vector<4xf32>
        %38 = memref.load %alloca_4[%c0] : memref<1xf32>
        %39 = memref.load %alloca_14[%c0] : memref<1xf32>
        %40 = arith.divf %38, %cst_1 : f32
        %41 = arith.subf %37, %40 : f32
        %42 = arith.mulf %41, %41 : f32
        %43 = arith.addf %39, %42 : f32
        memref.store %43, %alloca_14[%c0] : memref<1xf32>
        %44 = vector.extract %36[1] : f32 from vector<4xf32>
        %45 = memref.load %alloca_4[%c0] : memref<1xf32>
        %46 = memref.load %alloca_14[%c0] : memref<1xf32>
        %47 = arith.divf %45, %cst_1 : f32
        %48 = arith.subf %44, %47 : f32
        %49 = arith.mulf %48, %48 : f32
        %50 = arith.addf %46, %49 : f32
        memref.store %50, %alloca_14[%c0] : memref<1xf32>
        %51 = vector.extract %36[2] : f32 from vector<4xf32>
        %52 = memref.load %alloca_4[%c0] : memref<1xf32>
        %53 = memref.load %alloca_14[%c0] : memref<1xf32>
        %54 = arith.divf %52, %cst_1 : f32
        %55 = arith.subf %51, %54 : f32
        %56 = arith.mulf %55, %55 : f32
        %57 = arith.addf %53, %56 : f32
        memref.store %57, %alloca_14[%c0] : memref<1xf32>
        %58 = vector.extract %36[3] : f32 from vector<4xf32>
        %59 = memref.load %alloca_4[%c0] : memref<1xf32>
        %60 = memref.load %alloca_14[%c0] : memref<1xf32>
        %61 = arith.divf %59, %cst_1 : f32
        %62 = arith.subf %58, %61 : f32
        %63 = arith.mulf %62, %62 : f32
        %64 = arith.addf %60, %63 : f32
        memref.store %64, %alloca_14[%c0] : memref<1xf32>
      }
      %20 = memref.load %alloca_14[%c0] : memref<1xf32>
      %shuffleResult_15, %valid_16 = gpu.shuffle xor %20, %c16_i32, %c32_i32 : f32
      %21 = arith.addf %20, %shuffleResult_15 : f32
      %shuffleResult_17, %valid_18 = gpu.shuffle xor %21, %c8_i32, %c32_i32 : f32
      %22 = arith.addf %21, %shuffleResult_17 : f32
      %shuffleResult_19, %valid_20 = gpu.shuffle xor %22, %c4_i32, %c32_i32 : f32
      %23 = arith.addf %22, %shuffleResult_19 : f32
      %shuffleResult_21, %valid_22 = gpu.shuffle xor %23, %c2_i32, %c32_i32 : f32
      %24 = arith.addf %23, %shuffleResult_21 : f32
      %shuffleResult_23, %valid_24 = gpu.shuffle xor %24, %c1_i32, %c32_i32 : f32
      %25 = arith.addf %24, %shuffleResult_23 : f32
      scf.if %10 {
        memref.store %25, %arg5[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %26 = memref.load %arg5[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %27 = memref.load %arg5[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %28 = arith.addf %26, %27 : f32
      %29 = memref.load %arg5[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %30 = arith.addf %28, %29 : f32
      %31 = memref.load %arg5[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %32 = arith.addf %30, %31 : f32
      %33 = memref.load %alloca[%c0] : memref<1xf32>
      %34 = arith.addf %33, %32 : f32
      memref.store %34, %alloca[%c0] : memref<1xf32>
      scf.for %arg6 = %c0 to %c8 step %c1 {
        %35 = affine.apply #map2(%arg6)
        %36 = affine.apply #map3(%2, %arg6)
        %37 = vector.load %alloca_3[%35] : memref<32xf32>, vector<4xf32>
        %38 = vector.load %arg1[%36] : memref<4096xf32>, vector<4xf32>
        %39 = vector.load %arg2[%36] : memref<4096xf32>, vector<4xf32>
        %40 = vector.extract %37[0] : f32 from vector<4xf32>
        %41 = memref.load %alloca_4[%c0] : memref<1xf32>
        %42 = memref.load %alloca[%c0] : memref<1xf32>
        %43 = vector.extract %38[0] : f32 from vector<4xf32>
        %44 = vector.extract %39[0] : f32 from vector<4xf32>
        %45 = arith.divf %41, %cst_1 : f32
        %46 = arith.subf %40, %45 : f32
        %47 = arith.divf %42, %cst_1 : f32
        %48 = arith.addf %47, %cst_0 : f32
        %49 = math.rsqrt %48 : f32
        %50 = arith.mulf %46, %49 : f32
        %51 = arith.mulf %50, %43 : f32
        %52 = arith.addf %51, %44 : f32
        %53 = vector.extract %37[1] : f32 from vector<4xf32>
        %54 = vector.extract %38[1] : f32 from vector<4xf32>
        %55 = vector.extract %39[1] : f32 from vector<4xf32>
        %56 = arith.subf %53, %45 : f32
        %57 = arith.mulf %56, %49 : f32
        %58 = arith.mulf %57, %54 : f32
        %59 = arith.addf %58, %55 : f32
        %60 = vector.extract %37[2] : f32 from vector<4xf32>
        %61 = vector.extract %38[2] : f32 from vector<4xf32>
        %62 = vector.extract %39[2] : f32 from vector<4xf32>
        %63 = arith.subf %60, %45 : f32
        %64 = arith.mulf %63, %49 : f32
        %65 = arith.mulf %64, %61 : f32
        %66 = arith.addf %65, %62 : f32
        %67 = vector.extract %37[3] : f32 from vector<4xf32>
        %68 = vector.extract %38[3] : f32 from vector<4xf32>
        %69 = vector.extract %39[3] : f32 from vector<4xf32>
        %70 = arith.subf %67, %45 : f32
        %71 = arith.mulf %70, %49 : f32
        %72 = arith.mulf %71, %68 : f32
        %73 = arith.addf %72, %69 : f32
        %74 = vector.from_elements %52, %59, %66, %73 : vector<4xf32>
        vector.store %74, %arg3[%block_id_x, %36] : memref<64x4096xf32>, vector<4xf32>
      }
      gpu.return
    }
  }
}
