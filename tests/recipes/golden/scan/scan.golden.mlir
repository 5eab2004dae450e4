// weft golden scan
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 8192 + d1 * 4)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 1024)>
#map4 = affine_map<(d0) -> (d0 * 4)>
#map5 = affine_map<(d0, d1) -> (d0 + d1)>
#map6 = affine_map<(d0) -> (d0 - 31)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (0 == 0)>
module attributes {gpu.container_module} {
  func.func @scan(%arg0: memref<1048576xf32> {weft.name = "X"}, %arg1: memref<1048576xf32> {bufferize.result, weft.name = "Y"}) {
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "sum"} : memref<f32>
    %c1 = arith.constant 1 : index
    gpu.launch_func  @scan_1_kernel::@scan_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)  args(%alloc : memref<f32>)
    %alloc_0 = memref.alloc() {alignment = 64 : i64, weft.name = "Y_2"} : memref<128xf32>
    %alloc_1 = memref.alloc() {alignment = 64 : i64, weft.name = "sum_2"} : memref<128xf32>
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @scan_kernel::@scan blocks in (%c128, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1048576xf32>, %alloc_1 : memref<128xf32>)
    %c1024 = arith.constant 1024 : index
    gpu.launch_func  @scan_2_kernel::@scan_2 blocks in (%c1, %c1, %c1) threads in (%c1024, %c1, %c1)  args(%alloc_1 : memref<128xf32>, %alloc : memref<f32>, %alloc_0 : memref<128xf32>)
    gpu.launch_func  @scan_3_kernel::@scan_3 blocks in (%c128, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1048576xf32>, %arg1 : memref<1048576xf32>, %alloc_0 : memref<128xf32>)
    return
  }
  gpu.module @scan_kernel {
    gpu.func @scan(%arg0: memref<1048576xf32> {weft.name = "X"}, %arg1: memref<128xf32> {weft.name = "sum_2"}) workgroup(%arg2 : memref<8xf32, #gpu.address_space<workgroup>> {weft.name = "sum_2_parts"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 128, 1, 1>} {
      %c7 = arith.constant 7 : index
      %c6 = arith.constant 6 : index
      %c5 = arith.constant 5 : index
      %c4 = arith.constant 4 : index
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
      %cst = arith.constant -0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "sum_2"} : memref<f32>
      memref.store %cst, %alloca[] : memref<f32>
      %alloca_0 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<f32>
      memref.store %cst, %alloca_0[] : memref<f32>
      %2 = affine.apply #map2(%block_id_x, %thread_id_x)
      scf.for %arg3 = %c0 to %c8 step %c1 {
        %28 = affine.apply #map3(%2, %arg3)
        %29 = vector.load %arg0[%28] : memref<1048576xf32>, vector<4xf32>
        %30 = vector.extract %29[0] : f32 from vector<4xf32>
        %31 = memref.load %alloca_0[] : memref<f32>
        %32 = arith.addf %31, %30 : f32
        memref.store %32, %alloca_0[] : memref<f32>
        %33 = vector.extract %29[1] : f32 from vector<4xf32>
        %34 = memref.load %alloca_0[] : memref<f32>
        %35 = arith.addf %34, %33 : f32
        memref.store %35, %alloca_0[] : memref<f32>
        %36 = vector.extract %29[2] : f32 from vector<4xf32>
        %37 = memref.load %alloca_0[] : memref<f32>
        %38 = arith.addf %37, %36 : f32
        memref.store %38, %alloca_0[] : memref<f32>
        %39 = vector.extract %29[3] : f32 from vector<4xf32>
        %40 = memref.load %alloca_0[] : memref<f32>
        %41 = arith.addf %40, %39 : f32
        memref.store %41, %alloca_0[] : memref<f32>
      }
      %3 = memref.load %alloca_0[] : memref<f32>
      %shuffleResult, %valid = gpu.shuffle xor %3, %c16_i32, %c32_i32 : f32
      %4 = arith.addf %3, %shuffleResult : f32
      %shuffleResult_1, %valid_2 = gpu.shuffle xor %4, %c8_i32, %c32_i32 : f32
      %5 = arith.addf %4, %shuffleResult_1 : f32
      %shuffleResult_3, %valid_4 = gpu.shuffle xor %5, %c4_i32, %c32_i32 : f32
      %6 = arith.addf %5, %shuffleResult_3 : f32
      %shuffleResult_5, %valid_6 = gpu.shuffle xor %6, %c2_i32, %c32_i32 : f32
      %7 = arith.addf %6, %shuffleResult_5 : f32
      %shuffleResult_7, %valid_8 = gpu.shuffle xor %7, %c1_i32, %c32_i32 : f32
      %8 = arith.addf %7, %shuffleResult_7 : f32
      %9 = arith.cmpi eq, %1, %c0 : index
      scf.if %9 {
        memref.store %8, %arg2[%0] : memref<8xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %10 = memref.load %arg2[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
      %11 = memref.load %arg2[%c1] : memref<8xf32, #gpu.address_space<workgroup>>
      %12 = arith.addf %10, %11 : f32
      %13 = memref.load %arg2[%c2] : memref<8xf32, #gpu.address_space<workgroup>>
      %14 = arith.addf %12, %13 : f32
      %15 = memref.load %arg2[%c3] : memref<8xf32, #gpu.address_space<workgroup>>
      %16 = arith.addf %14, %15 : f32
      %17 = memref.load %arg2[%c4] : memref<8xf32, #gpu.address_space<workgroup>>
      %18 = arith.addf %16, %17 : f32
      %19 = memref.load %arg2[%c5] : memref<8xf32, #gpu.address_space<workgroup>>
      %20 = arith.addf %18, %19 : f32
      %21 = memref.load %arg2[%c6] : memref<8xf32, #gpu.address_space<workgroup>>
      %22 = arith.addf %20, %21 : f32
      %23 = memref.load %arg2[%c7] : memref<8xf32, #gpu.address_space<workgroup>>
      %24 = arith.addf %22, %23 : f32
      %25 = memref.load %alloca[] : memref<f32>
      %26 = arith.addf %25, %24 : f32
      memref.store %26, %alloca[] : memref<f32>
      %27 = arith.cmpi slt, %thread_id_x, %c1 : index
      scf.if %27 {
        %28 = memref.load %alloca[] : memref<f32>
        memref.store %28, %arg1[%block_id_x] : memref<128xf32>
      }
      gpu.return
    }
  }
  gpu.module @scan_1_kernel {
    gpu.func @scan_1(%arg0: memref<f32> {weft.name = "sum"}) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %cst = arith.constant 0.000000e+00 : f32
      memref.store %cst, %arg0[] : memref<f32>
      gpu.return
    }
  }
  gpu.module @scan_2_kernel {
    gpu.func @scan_2(%arg0: memref<128xf32> {weft.name = "sum_2"}, %arg1: memref<f32> {weft.name = "sum"}, %arg2: memref<128xf32> {weft.name = "Y_2"}) workgroup(%arg3 : memref<32xf32, #gpu.address_space<workgroup>> {weft.name = "sum_parts"}) kernel attributes {known_block_size = array<i32: 1024, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c31 = arith.constant 31 : index
      %c30 = arith.constant 30 : index
      %c29 = arith.constant 29 : index
      %c28 = arith.constant 28 : index
      %c27 = arith.constant 27 : index
      %c26 = arith.constant 26 : index
      %c25 = arith.constant 25 : index
      %c24 = arith.constant 24 : index
      %c23 = arith.constant 23 : index
      %c22 = arith.constant 22 : index
      %c21 = arith.constant 21 : index
      %c20 = arith.constant 20 : index
      %c19 = arith.constant 19 : index
      %c18 = arith.constant 18 : index
      %c17 = arith.constant 17 : index
      %c16 = arith.constant 16 : index
      %c15 = arith.constant 15 : index
      %c14 = arith.constant 14 : index
      %c13 = arith.constant 13 : index
      %c12 = arith.constant 12 : index
      %c11 = arith.constant 11 : index
      %c10 = arith.constant 10 : index
      %c9 = arith.constant 9 : index
      %c8 = arith.constant 8 : index
      %c7 = arith.constant 7 : index
      %c6 = arith.constant 6 : index
      %c5 = arith.constant 5 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c16_i32 = arith.constant 16 : i32
      %c8_i32 = arith.constant 8 : i32
      %c4_i32 = arith.constant 4 : i32
      %c2_i32 = arith.constant 2 : i32
      %c32_i32 = arith.constant 32 : i32
      %c1_i32 = arith.constant 1 : i32
      %c128 = arith.constant 128 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant -0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %alloca = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<f32>
      %alloca_0 = memref.alloca() {weft.name = "carry"} : memref<f32>
      %alloca_1 = memref.alloca() {weft.name = "start"} : memref<f32>
      %alloca_2 = memref.alloca() {weft.name = "sum_2"} : memref<4xf32>
      memref.store %cst, %alloca_0[] : memref<f32>
      memref.store %cst, %alloca_1[] : memref<f32>
      %2 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %2 {
        %151 = memref.load %arg1[] : memref<f32>
        memref.store %151, %alloca_1[] : memref<f32>
      }
      %3 = memref.load %alloca_1[] : memref<f32>
      memref.store %3, %alloca[] : memref<f32>
      %4 = affine.apply #map4(%thread_id_x)
      scf.for %arg4 = %c0 to %c4 step %c1 {
        %151 = affine.apply #map5(%4, %arg4)
        %152 = arith.cmpi slt, %151, %c128 : index
        scf.if %152 {
          %153 = memref.load %arg0[%151] : memref<128xf32>
          memref.store %153, %alloca_2[%arg4] : memref<4xf32>
          %154 = memref.load %alloca_2[%arg4] : memref<4xf32>
          %155 = memref.load %alloca[] : memref<f32>
          %156 = arith.addf %155, %154 : f32
          memref.store %156, %alloca[] : memref<f32>
        }
      }
      %5 = memref.load %alloca[] : memref<f32>
      %shuffleResult, %valid = gpu.shuffle up %5, %c1_i32, %c32_i32 : f32
      %6 = arith.addf %shuffleResult, %5 : f32
      %7 = arith.select %valid, %6, %5 : f32
      %shuffleResult_3, %valid_4 = gpu.shuffle up %7, %c2_i32, %c32_i32 : f32
      %8 = arith.addf %shuffleResult_3, %7 : f32
      %9 = arith.select %valid_4, %8, %7 : f32
      %shuffleResult_5, %valid_6 = gpu.shuffle up %9, %c4_i32, %c32_i32 : f32
      %10 = arith.addf %shuffleResult_5, %9 : f32
      %11 = arith.select %valid_6, %10, %9 : f32
      %shuffleResult_7, %valid_8 = gpu.shuffle up %11, %c8_i32, %c32_i32 : f32
      %12 = arith.addf %shuffleResult_7, %11 : f32
      %13 = arith.select %valid_8, %12, %11 : f32
      %shuffleResult_9, %valid_10 = gpu.shuffle up %13, %c16_i32, %c32_i32 : f32
      %14 = arith.addf %shuffleResult_9, %13 : f32
      %15 = arith.select %valid_10, %14, %13 : f32
      %shuffleResult_11, %valid_12 = gpu.shuffle up %15, %c1_i32, %c32_i32 : f32
      %16 = arith.select %valid_12, %shuffleResult_11, %cst : f32
      %17 = affine.apply #map6(%0)
      %18 = arith.cmpi eq, %17, %c0 : index
      scf.if %18 {
        memref.store %15, %arg3[%1] : memref<32xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %19 = memref.load %arg3[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
      %20 = arith.cmpi sge, %1, %c1 : index
      %21 = arith.select %20, %19, %cst : f32
      %22 = memref.load %arg3[%c1] : memref<32xf32, #gpu.address_space<workgroup>>
      %23 = arith.addf %19, %22 : f32
      %24 = arith.cmpi sge, %1, %c2 : index
      %25 = arith.select %24, %23, %21 : f32
      %26 = memref.load %arg3[%c2] : memref<32xf32, #gpu.address_space<workgroup>>
      %27 = arith.addf %23, %26 : f32
      %28 = arith.cmpi sge, %1, %c3 : index
      %29 = arith.select %28, %27, %25 : f32
      %30 = memref.load %arg3[%c3] : memref<32xf32, #gpu.address_space<workgroup>>
      %31 = arith.addf %27, %30 : f32
      %32 = arith.cmpi sge, %1, %c4 : index
      %33 = arith.select %32, %31, %29 : f32
      %34 = memref.load %arg3[%c4] : memref<32xf32, #gpu.address_space<workgroup>>
      %35 = arith.addf %31, %34 : f32
      %36 = arith.cmpi sge, %1, %c5 : index
      %37 = arith.select %36, %35, %33 : f32
      %38 = memref.load %arg3[%c5] : memref<32xf32, #gpu.address_space<workgroup>>
      %39 = arith.addf %35, %38 : f32
      %40 = arith.cmpi sge, %1, %c6 : index
      %41 = arith.select %40, %39, %37 : f32
      %42 = memref.load %arg3[%c6] : memref<32xf32, #gpu.address_space<workgroup>>
      %43 = arith.addf %39, %42 : f32
      %44 = arith.cmpi sge, %1, %c7 : index
      %45 = arith.select %44, %43, %41 : f32
      %46 = memref.load %arg3[%c7] : memref<32xf32, #gpu.address_space<workgroup>>
      %47 = arith.addf %43, %46 : f32
      %48 = arith.cmpi sge, %1, %c8 : index
      %49 = arith.select %48, %47, %45 : f32
      %50 = memref.load %arg3[%c8] : memref<32xf32, #gpu.address_space<workgroup>>
      %51 = arith.addf %47, %50 : f32
      %52 = arith.cmpi sge, %1, %c9 : index
      %53 = arith.select %52, %51, %49 : f32
      %54 = memref.load %arg3[%c9] : memref<32xf32, #gpu.address_space<workgroup>>
      %55 = arith.addf %51, %54 : f32
      %56 = arith.cmpi sge, %1, %c10 : index
      %57 = arith.select %56, %55, %53 : f32
      %58 = memref.load %arg3[%c10] : memref<32xf32, #gpu.address_space<workgroup>>
      %59 = arith.addf %55, %58 : f32
      %60 = arith.cmpi sge, %1, %c11 : index
      %61 = arith.select %60, %59, %57 : f32
      %62 = memref.load %arg3[%c11] : memref<32xf32, #gpu.address_space<workgroup>>
      %63 = arith.addf %59, %62 : f32
      %64 = arith.cmpi sge, %1, %c12 : index
      %65 = arith.select %64, %63, %61 : f32
      %66 = memref.load %arg3[%c12] : memref<32xf32, #gpu.address_space<workgroup>>
      %67 = arith.addf %63, %66 : f32
      %68 = arith.cmpi sge, %1, %c13 : index
      %69 = arith.select %68, %67, %65 : f32
      %70 = memref.load %arg3[%c13] : memref<32xf32, #gpu.address_space<workgroup>>
      %71 = arith.addf %67, %70 : f32
      %72 = arith.cmpi sge, %1, %c14 : index
      %73 = arith.select %72, %71, %69 : f32
      %74 = memref.load %arg3[%c14] : memref<32xf32, #gpu.address_space<workgroup>>
      %75 = arith.addf %71, %74 : f32
      %76 = arith.cmpi sge, %1, %c15 : index
      %77 = arith.select %76, %75, %73 : f32
      %78 = memref.load %arg3[%c15] : memref<32xf32, #gpu.address_space<workgroup>>
      %79 = arith.addf %75, %78 : f32
      %80 = arith.cmpi sge, %1, %c16 : index
      %81 = arith.select %80, %79, %77 : f32
      %82 = memref.load %arg3[%c16] : memref<32xf32, #gpu.address_space<workgroup>>
      %83 = arith.addf %79, %82 : f32
      %84 = arith.cmpi sge, %1, %c17 : index
      %85 = arith.select %84, %83, %81 : f32
      %86 = memref.load %arg3[%c17] : memref<32xf32, #gpu.address_space<workgroup>>
      %87 = arith.addf %83, %86 : f32
      %88 = arith.cmpi sge, %1, %c18 : index
      %89 = arith.select %88, %87, %85 : f32
      %90 = memref.load %arg3[%c18] : memref<32xf32, #gpu.address_space<workgroup>>
      %91 = arith.addf %87, %90 : f32
      %92 = arith.cmpi sge, %1, %c19 : index
      %93 = arith.select %92, %91, %89 : f32
      %94 = memref.load %arg3[%c19] : memref<32xf32, #gpu.address_space<workgroup>>
      %95 = arith.addf %91, %94 : f32
      %96 = arith.cmpi sge, %1, %c20 : index
      %97 = arith.select %96, %95, %93 : f32
      %98 = memref.load %arg3[%c20] : memref<32xf32, #gpu.address_space<workgroup>>
      %99 = arith.addf %95, %98 : f32
      %100 = arith.cmpi sge, %1, %c21 : index
      %101 = arith.select %100, %99, %97 : f32
      %102 = memref.load %arg3[%c21] : memref<32xf32, #gpu.address_space<workgroup>>
      %103 = arith.addf %99, %102 : f32
      %104 = arith.cmpi sge, %1, %c22 : index
      %105 = arith.select %104, %103, %101 : f32
      %106 = memref.load %arg3[%c22] : memref<32xf32, #gpu.address_space<workgroup>>
      %107 = arith.addf %103, %106 : f32
      %108 = arith.cmpi sge, %1, %c23 : index
      %109 = arith.select %108, %107, %105 : f32
      %110 = memref.load %arg3[%c23] : memref<32xf32, #gpu.address_space<workgroup>>
      %111 = arith.addf %107, %110 : f32
      %112 = arith.cmpi sge, %1, %c24 : index
      %113 = arith.select %112, %111, %109 : f32
      %114 = memref.load %arg3[%c24] : memref<32xf32, #gpu.address_space<workgroup>>
      %115 = arith.addf %111, %114 : f32
      %116 = arith.cmpi sge, %1, %c25 : index
      %117 = arith.select %116, %115, %113 : f32
      %118 = memref.load %arg3[%c25] : memref<32xf32, #gpu.address_space<workgroup>>
      %119 = arith.addf %115, %118 : f32
      %120 = arith.cmpi sge, %1, %c26 : index
      %121 = arith.select %120, %119, %117 : f32
      %122 = memref.load %arg3[%c26] : memref<32xf32, #gpu.address_space<workgroup>>
      %123 = arith.addf %119, %122 : f32
      %124 = arith.cmpi sge, %1, %c27 : index
      %125 = arith.select %124, %123, %121 : f32
      %126 = memref.load %arg3[%c27] : memref<32xf32, #gpu.address_space<workgroup>>
      %127 = arith.addf %123, %126 : f32
      %128 = arith.cmpi sge, %1, %c28 : index
      %129 = arith.select %128, %127, %125 : f32
      %130 = memref.load %arg3[%c28] : memref<32xf32, #gpu.address_space<workgroup>>
      %131 = arith.addf %127, %130 : f32
      %132 = arith.cmpi sge, %1, %c29 : index
      %133 = arith.select %132, %131, %129 : f32
      %134 = memref.load %arg3[%c29] : memref<32xf32, #gpu.address_space<workgroup>>
      %135 = arith.addf %131, %134 : f32
      %136 = arith.cmpi sge, %1, %c30 : index
      %137 = arith.select %136, %135, %133 : f32
      %138 = memref.load %arg3[%c30] : memref<32xf32, #gpu.address_space<workgroup>>
      %139 = arith.addf %135, %138 : f32
      %140 = arith.cmpi sge, %1, %c31 : index
      %141 = arith.select %140, %139, %137 : f32
      %142 = memref.load %arg3[%c31] : memref<32xf32, #gpu.address_space<workgroup>>
      %143 = arith.addf %139, %142 : f32
      %144 = arith.addf %141, %16 : f32
      %145 = memref.load %alloca_0[] : memref<f32>
      %146 = arith.addf %145, %144 : f32
      %147 = memref.load %alloca_1[] : memref<f32>
      %148 = arith.addf %146, %147 : f32
      memref.store %148, %alloca[] : memref<f32>
      scf.for %arg4 = %c0 to %c4 step %c1 {
        %151 = affine.apply #map5(%4, %arg4)
        %152 = arith.cmpi slt, %151, %c128 : index
        scf.if %152 {
          %153 = memref.load %alloca_2[%arg4] : memref<4xf32>
          %154 = memref.load %alloca[] : memref<f32>
          %155 = arith.addf %154, %153 : f32
          memref.store %155, %alloca[] : memref<f32>
          memref.store %154, %arg2[%151] : memref<128xf32>
        }
      }
      %149 = arith.addf %145, %143 : f32
      memref.store %149, %alloca_0[] : memref<f32>
      %150 = memref.load %alloca_0[] : memref<f32>
      scf.if %2 {
        memref.store %150, %arg1[] : memref<f32>
      }
      gpu.return
    }
  }
  gpu.module @scan_3_kernel {
    gpu.func @scan_3(%arg0: memref<1048576xf32> {weft.name = "X"}, %arg1: memref<1048576xf32> {weft.name = "Y"}, %arg2: memref<128xf32> {weft.name = "Y_2"}) workgroup(%arg3 : memref<f32, #gpu.address_space<workgroup>> {weft.name = "sum_tile"}, %arg4 : memref<8xf32, #gpu.address_space<workgroup>> {weft.name = "sum_tile_parts"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 128, 1, 1>} {
      %c7 = arith.constant 7 : index
      %c6 = arith.constant 6 : index
      %c5 = arith.constant 5 : index
      %c4 = arith.constant 4 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c16_i32 = arith.constant 16 : i32
      %c8_i32 = arith.constant 8 : i32
      %c4_i32 = arith.constant 4 : i32
      %c2_i32 = arith.constant 2 : i32
      %c32_i32 = arith.constant 32 : i32
      %c1_i32 = arith.constant 1 : i32
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant -0.000000e+00 : f32
      %c1 = arith.constant 1 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %2 = arith.cmpi slt, %thread_id_x, %c1 : index
      scf.if %2 {
        %15 = memref.load %arg2[%block_id_x] : memref<128xf32>
        memref.store %15, %arg3[] : memref<f32, #gpu.address_space<workgroup>>
      }
      %alloca = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<f32>
      %alloca_0 = memref.alloca() {weft.name = "carry"} : memref<f32>
      %alloca_1 = memref.alloca() {weft.name = "start"} : memref<f32>
      %alloca_2 = memref.alloca() {weft.name = "X"} : memref<4xf32>
      memref.store %cst, %alloca_0[] : memref<f32>
      memref.store %cst, %alloca_1[] : memref<f32>
      %3 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %3 {
        %15 = memref.load %arg3[] : memref<f32, #gpu.address_space<workgroup>>
        memref.store %15, %alloca_1[] : memref<f32>
      }
      %4 = affine.apply #map6(%0)
      %5 = arith.cmpi eq, %4, %c0 : index
      %6 = arith.cmpi sge, %1, %c1 : index
      %7 = arith.cmpi sge, %1, %c2 : index
      %8 = arith.cmpi sge, %1, %c3 : index
      %9 = arith.cmpi sge, %1, %c4 : index
      %10 = arith.cmpi sge, %1, %c5 : index
      %11 = arith.cmpi sge, %1, %c6 : index
      %12 = arith.cmpi sge, %1, %c7 : index
      %13 = affine.apply #map2(%block_id_x, %thread_id_x)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %15 = memref.load %alloca_1[] : memref<f32>
        memref.store %15, %alloca[] : memref<f32>
        %16 = affine.apply #map3(%13, %arg5)
        %17 = vector.load %arg0[%16] : memref<1048576xf32>, vector<4xf32>
        vector.store %17, %alloca_2[%c0] : memref<4xf32>, vector<4xf32>
        %18 = vector.load %alloca_2[%c0] : memref<4xf32>, vector<4xf32>
        %19 = vector.extract %18[0] : f32 from vector<4xf32>
        %20 = memref.load %alloca[] : memref<f32>
        %21 = arith.addf %20, %19 : f32
        memref.store %21, %alloca[] : memref<f32>
        %22 = vector.extract %18[1] : f32 from vector<4xf32>
        %23 = memref.load %alloca[] : memref<f32>
        %24 = arith.addf %23, %22 : f32
        memref.store %24, %alloca[] : memref<f32>
        %25 = vector.extract %18[2] : f32 from vector<4xf32>
        %26 = memref.load %alloca[] : memref<f32>
        %27 = arith.addf %26, %25 : f32
        memref.store %27, %alloca[] : memref<f32>
        %28 = vector.extract %18[3] : f32 from vector<4xf32>
        %29 = memref.load %alloca[] : memref<f32>
        %30 = arith.addf %29, %28 : f32
        memref.store %30, %alloca[] : memref<f32>
        %31 = memref.load %alloca[] : memref<f32>
        %shuffleResult, %valid = gpu.shuffle up %31, %c1_i32, %c32_i32 : f32
        %32 = arith.addf %shuffleResult, %31 : f32
        %33 = arith.select %valid, %32, %31 : f32
        %shuffleResult_3, %valid_4 = gpu.shuffle up %33, %c2_i32, %c32_i32 : f32
        %34 = arith.addf %shuffleResult_3, %33 : f32
        %35 = arith.select %valid_4, %34, %33 : f32
        %shuffleResult_5, %valid_6 = gpu.shuffle up %35, %c4_i32, %c32_i32 : f32
        %36 = arith.addf %shuffleResult_5, %35 : f32
        %37 = arith.select %valid_6, %36, %35 : f32
        %shuffleResult_7, %valid_8 = gpu.shuffle up %37, %c8_i32, %c32_i32 : f32
        %38 = arith.addf %shuffleResult_7, %37 : f32
        %39 = arith.select %valid_8, %38, %37 : f32
        %shuffleResult_9, %valid_10 = gpu.shuffle up %39, %c16_i32, %c32_i32 : f32
        %40 = arith.addf %shuffleResult_9, %39 : f32
        %41 = arith.select %valid_10, %40, %39 : f32
        %shuffleResult_11, %valid_12 = gpu.shuffle up %41, %c1_i32, %c32_i32 : f32
        %42 = arith.select %valid_12, %shuffleResult_11, %cst : f32
        scf.if %5 {
          memref.store %41, %arg4[%1] : memref<8xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %43 = memref.load %arg4[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
        %44 = arith.select %6, %43, %cst : f32
        %45 = memref.load %arg4[%c1] : memref<8xf32, #gpu.address_space<workgroup>>
        %46 = arith.addf %43, %45 : f32
        %47 = arith.select %7, %46, %44 : f32
        %48 = memref.load %arg4[%c2] : memref<8xf32, #gpu.address_space<workgroup>>
        %49 = arith.addf %46, %48 : f32
        %50 = arith.select %8, %49, %47 : f32
        %51 = memref.load %arg4[%c3] : memref<8xf32, #gpu.address_space<workgroup>>
        %52 = arith.addf %49, %51 : f32
        %53 = arith.select %9, %52, %50 : f32
        %54 = memref.load %arg4[%c4] : memref<8xf32, #gpu.address_space<workgroup>>
        %55 = arith.addf %52, %54 : f32
        %56 = arith.select %10, %55, %53 : f32
        %57 = memref.load %arg4[%c5] : memref<8xf32, #gpu.address_space<workgroup>>
        %58 = arith.addf %55, %57 : f32
        %59 = arith.select %11, %58, %56 : f32
        %60 = memref.load %arg4[%c6] : memref<8xf32, #gpu.address_space<workgroup>>
        %61 = arith.addf %58, %60 : f32
        %62 = arith.select %12, %61, %59 : f32
        %63 = memref.load %arg4[%c7] : memref<8xf32, #gpu.address_space<workgroup>>
        %64 = arith.addf %61, %63 : f32
        %65 = arith.addf %62, %42 : f32
        %66 = memref.load %alloca_0[] : memref<f32>
        %67 = arith.addf %66, %65 : f32
        %68 = memref.load %alloca_1[] : memref<f32>
        %69 = arith.addf %67, %68 : f32
        memref.store %69, %alloca[] : memref<f32>
        %70 = vector.load %alloca_2[%c0] : memref<4xf32>, vector<4xf32>
        %71 = vector.extract %70[0] : f32 from vector<4xf32>
        %72 = memref.load %alloca[] : memref<f32>
        %73 = arith.addf %72, %71 : f32
        memref.store %73, %alloca[] : memref<f32>
        %74 = vector.extract %70[1] : f32 from vector<4xf32>
        %75 = memref.load %alloca[] : memref<f32>
        %76 = arith.addf %75, %74 : f32
        memref.store %76, %alloca[] : memref<f32>
        %77 = vector.extract %70[2] : f32 from vector<4xf32>
        %78 = memref.load %alloca[] : memref<f32>
        %79 = arith.addf %78, %77 : f32
        memref.store %79, %alloca[] : memref<f32>
        %80 = vector.extract %70[3] : f32 from vector<4xf32>
        %81 = memref.load %alloca[] : memref<f32>
        %82 = arith.addf %81, %80 : f32
        memref.store %82, %alloca[] : memref<f32>
        %83 = vector.from_elements %73, %76, %79, %82 : vector<4xf32>
        vector.store %83, %arg1[%16] : memref<1048576xf32>, vector<4xf32>
        %84 = arith.addf %66, %64 : f32
        memref.store %84, %alloca_0[] : memref<f32>
        memref.store %cst, %alloca_1[] : memref<f32>
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %14 = memref.load %alloca_0[] : memref<f32>
      scf.if %3 {
        memref.store %14, %arg3[] : memref<f32, #gpu.address_space<workgroup>>
      }
      gpu.return
    }
  }
}
