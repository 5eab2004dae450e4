// weft golden softmax
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> (d0 * 4)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 512)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (0 == 0)>
module attributes {gpu.container_module} {
  func.func @softmax(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<64x4096xf32> {bufferize.result, weft.name = "Y"}) {
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @softmax_kernel::@softmax blocks in (%c64, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<64x4096xf32>, %arg1 : memref<64x4096xf32>)
    return
  }
  gpu.module @softmax_kernel {
    gpu.func @softmax(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<64x4096xf32> {weft.name = "Y"}) workgroup(%arg2 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "largest_parts"}, %arg3 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "sum_parts"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>} {
      %cst = arith.constant -0.000000e+00 : f32
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 1.000000e+00 : f32
      %cst_1 = arith.constant 0.000000e+00 : f32
      %cst_2 = arith.constant 0xFF800000 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "sum"} : memref<1xf32>
      %alloca_3 = memref.alloca() {weft.name = "largest"} : memref<1xf32>
      memref.store %cst_2, %alloca_3[%c0] : memref<1xf32>
      %alloca_4 = memref.alloca() {weft.name = "X_tile"} : memref<32xf32>
      %2 = affine.apply #map2(%thread_id_x)
      scf.for %arg4 = %c0 to %c8 step %c1 {
        %34 = affine.apply #map2(%arg4)
        %35 = affine.apply #map3(%2, %arg4)
        %36 = vector.load %arg0[%block_id_x, %35] : memref<64x4096xf32>, vector<4xf32>
        vector.store %36, %alloca_4[%34] : memref<32xf32>, vector<4xf32>
      }
      %alloca_5 = memref.alloca() {weft.combiner = "arith.maximumf", weft.name = "part", weft.participants = #set} : memref<1xf32>
      memref.store %cst_2, %alloca_5[%c0] : memref<1xf32>
      scf.for %arg4 = %c0 to %c8 step %c1 {
        %34 = affine.apply #map2(%arg4)
        %35 = vector.load %alloca_4[%34] : memref<32xf32>, vector<4xf32>
        %36 = vector.extract %35[0] : f32 from vector<4xf32>
        %37 = memref.load %alloca_5[%c0] : memref<1xf32>
        %38 = arith.maximumf %36, %37 : f32
        memref.store %38, %alloca_5[%c0] : memref<1xf32>
        %39 = vector.extract %35[1] : f32 from vector<4xf32>
        %40 = memref.load %alloca_5[%c0] : memref<1xf32>
        %41 = arith.maximumf %39, %40 : f32
        memref.store %41, %alloca_5[%c0] : memref<1xf32>
        %42 = vector.extract %35[2] : f32 from vector<4xf32>
        %43 = memref.load %alloca_5[%c0] : memref<1xf32>
        %44 = arith.maximumf %42, %43 : f32
        memref.store %44, %alloca_5[%c0] : memref<1xf32>
        %45 = vector.extract %35[3] : f32 from vector<4xf32>
        %46 = memref.load %alloca_5[%c0] : memref<1xf32>
        %47 = arith.maximumf %45, %46 : f32
        memref.store %47, %alloca_5[%c0] : memref<1xf32>
      }
      %3 = memref.load %alloca_5[%c0] : memref<1xf32>
      %shuffleResult, %valid = gpu.shuffle xor %3, %c16_i32, %c32_i32 : f32
      %4 = arith.maximumf %3, %shuffleResult : f32
      %shuffleResult_6, %valid_7 = gpu.shuffle xor %4, %c8_i32, %c32_i32 : f32
      %5 = arith.maximumf %4, %shuffleResult_6 : f32
      %shuffleResult_8, %valid_9 = gpu.shuffle xor %5, %c4_i32, %c32_i32 : f32
      %6 = arith.maximumf %5, %shuffleResult_8 : f32
      %shuffleResult_10, %valid_11 = gpu.shuffle xor %6, %c2_i32, %c32_i32 : f32
      %7 = arith.maximumf %6, %shuffleResult_10 : f32
      %shuffleResult_12, %valid_13 = gpu.shuffle xor %7, %c1_i32, %c32_i32 : f32
      %8 = arith.maximumf %7, %shuffleResult_12 : f32
      %9 = arith.cmpi eq, %1, %c0 : index
      scf.if %9 {
        memref.store %8, %arg2[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %10 = memref.load %arg2[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %11 = memref.load %arg2[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %12 = arith.maximumf %10, %11 : f32
      %13 = memref.load %arg2[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %14 = arith.maximumf %12, %13 : f32
      %15 = memref.load %arg2[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %16 = arith.maximumf %14, %15 : f32
      %17 = memref.load %alloca_3[%c0] : memref<1xf32>
      %18 = arith.maximumf %17, %16 : f32
      memref.store %18, %alloca_3[%c0] : memref<1xf32>
      memref.store %cst_1, %alloca[%c0] : memref<1xf32>
      %alloca_14 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
      memref.store %cst, %alloca_14[%c0] : memref<1xf32>
      scf.for %arg4 = %c0 to %c8 step %c1 {
        %34 = affine.apply #map2(%arg4)
        %35 = vector.load %alloca_4[%34] : memref<32xf32>, vector<4xf32>
        %36 = vector.extract %35[0] : f32 from vector<4xf32>
        %37 = memref.load %alloca_3[%c0] : memref<1xf32>
        %38 = memref.load %alloca_14[%c0] : memref<1xf32>
        %39 = arith.subf %36, %37 : f32
        %40 = math.exp %39 : f32
        %41 = arith.addf %38, %40 : f32
        memref.store %41, %alloca_14[%c0] : memref<1xf32>
        %42 = vector.extract %35[1] : f32 from vector<4xf32>
        %43 = memref.load %alloca_3[%c0] : memref<1xf32>
        %44 = memref.load %alloca_14[%c0] : memref<1xf32>
        %45 = arith.subf %42, %43 : f32
        %46 = math.exp %45 : f32
        %47 = arith.addf %44, %46 : f32
        memref.store %47, %alloca_14[%c0] : memref<1xf32>
        %48 = vector.extract %35[2] : f32 from vector<4xf32>
        %49 = memref.load %alloca_3[%c0] : memref<1xf32>
        %50 = memref.load %alloca_14[%c0] : memref<1xf32>
        %51 = arith.subf %48, %49 : f32
        %52 = math.exp %51 : f32
        %53 = arith.addf %50, %52 : f32
        memref.store %53, %alloca_14[%c0] : memref<1xf32>
        %54 = vector.extract %35[3] : f32 from vector<4xf32>
        %55 = memref.load %alloca_3[%c0] : memref<1xf32>
        %56 = memref.load %alloca_14[%c0] : memref<1xf32>
        %57 = arith.subf %54, %55 : f32
        %58 = math.exp %57 : f32
        %59 = arith.addf %56, %58 : f32
        memref.store %59, %alloca_14[%c0] : memref<1xf32>
      }
      %19 = memref.load %alloca_14[%c0] : memref<1xf32>
      %shuffleResult_15, %valid_16 = gpu.shuffle xor %19, %c16_i32, %c32_i32 : f32
      %20 = arith.addf %19, %shuffleResult_15 : f32
      %shuffleResult_17, %valid_18 = gpu.shuffle xor %20, %c8_i32, %c32_i32 : f32
      %21 = arith.addf %20, %shuffleResult_17 : f32
      %shuffleResult_19, %valid_20 = gpu.shuffle xor %21, %c4_i32, %c32_i32 : f32
      %22 = arith.addf %21, %shuffleResult_19 : f32
      %shuffleResult_21, %valid_22 = gpu.shuffle xor %22, %c2_i32, %c32_i32 : f32
      %23 = arith.addf %22, %shuffleResult_21 : f32
      %shuffleResult_23, %valid_24 = gpu.shuffle xor %23, %c1_i32, %c32_i32 : f32
      %24 = arith.addf %23, %shuffleResult_23 : f32
      scf.if %9 {
        memref.store %24, %arg3[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %25 = memref.load %arg3[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %26 = memref.load %arg3[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %27 = arith.addf %25, %26 : f32
      %28 = memref.load %arg3[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %29 = arith.addf %27, %28 : f32
      %30 = memref.load %arg3[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %31 = arith.addf %29, %30 : f32
      %32 = memref.load %alloca[%c0] : memref<1xf32>
      %33 = arith.addf %32, %31 : f32
      memref.store %33, %alloca[%c0] : memref<1xf32>
      scf.for %arg4 = %c0 to %c8 step %c1 {
        %34 = affine.apply #map2(%arg4)
        %35 = vector.load %alloca_4[%34] : memref<32xf32>, vector<4xf32>
        %36 = vector.extract %35[0] : f32 from vector<4xf32>
        %37 = memref.load %alloca_3[%c0] : memref<1xf32>
        %38 = memref.load %alloca[%c0] : memref<1xf32>
        %39 = arith.subf %36, %37 : f32
        %40 = math.exp %39 : f32
        %41 = arith.divf %cst_0, %38 : f32
        %42 = arith.mulf %40, %41 : f32
        %43 = vector.extract %35[1] : f32 from vector<4xf32>
        %44 = arith.subf %43, %37 : f32
        %45 = math.exp %44 : f32
        %46 = arith.mulf %45, %41 : f32
        %47 = vector.extract %35[2] : f32 from vector<4xf32>
        %48 = arith.subf %47, %37 : f32
        %49 = math.exp %48 : f32
        %50 = arith.mulf %49, %41 : f32
        %51 = vector.extract %35[3] : f32 from vector<4xf32>
        %52 = arith.subf %51, %37 : f32
        %53 = math.exp %52 : f32
        %54 = arith.mulf %53, %41 : f32
        %55 = vector.from_elements %42, %46, %50, %54 : vector<4xf32>
        %56 = affine.apply #map3(%2, %arg4)
        vector.store %55, %arg1[%block_id_x, %56] : memref<64x4096xf32>, vector<4xf32>
      }
      gpu.return
    }
  }
}
