// weft golden sum
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 1024 + d1 * 4)>
#map3 = affine_map<(d0, d1) -> (d0 + d1)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (0 == 0)>
module attributes {gpu.container_module} {
  func.func @sum(%arg0: memref<1000000xf32> {weft.name = "X"}, %arg1: memref<f32> {bufferize.result, weft.name = "sum"}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func  @sum_1_kernel::@sum_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)  args(%arg1 : memref<f32>)
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "sum_2"} : memref<977xf32>
    %c977 = arith.constant 977 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @sum_kernel::@sum blocks in (%c977, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1000000xf32>, %alloc : memref<977xf32>)
    gpu.launch_func  @sum_2_kernel::@sum_2 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg1 : memref<f32>, %alloc : memref<977xf32>)
    return
  }
  gpu.module @sum_kernel {
    gpu.func @sum(%arg0: memref<1000000xf32> {weft.name = "X"}, %arg1: memref<977xf32> {weft.name = "sum_2"}) workgroup(%arg2 : memref<1x8xf32, #gpu.address_space<workgroup>> {weft.name = "sum_2_parts"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 977, 1, 1>} {
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c7 = arith.constant 7 : index
      %c6 = arith.constant 6 : index
      %c5 = arith.constant 5 : index
      %c4 = arith.constant 4 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c1000000 = arith.constant 1000000 : index
      %cst_0 = arith.constant -0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %cst_1 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "sum_2"} : memref<1xf32>
      memref.store %cst_1, %alloca[%c0] : memref<1xf32>
      %alloca_2 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
      memref.store %cst_0, %alloca_2[%c0] : memref<1xf32>
      %2 = affine.apply #map2(%block_id_x, %thread_id_x)
      %3 = arith.cmpi slt, %2, %c1000000 : index
      %4 = scf.if %3 -> (vector<4xf32>) {
        %43 = vector.load %arg0[%2] : memref<1000000xf32>, vector<4xf32>
        scf.yield %43 : vector<4xf32>
      } else {
        scf.yield %cst : vector<4xf32>
      }
      %5 = memref.load %alloca_2[%c0] : memref<1xf32>
      %6 = vector.extract %4[0] : f32 from vector<4xf32>
      %7 = arith.addf %5, %6 : f32
      memref.store %7, %alloca_2[%c0] : memref<1xf32>
      %8 = memref.load %alloca_2[%c0] : memref<1xf32>
      %9 = vector.extract %4[1] : f32 from vector<4xf32>
      %10 = arith.addf %8, %9 : f32
      memref.store %10, %alloca_2[%c0] : memref<1xf32>
      %11 = memref.load %alloca_2[%c0] : memref<1xf32>
      %12 = vector.extract %4[2] : f32 from vector<4xf32>
      %13 = arith.addf %11, %12 : f32
      memref.store %13, %alloca_2[%c0] : memref<1xf32>
      %14 = memref.load %alloca_2[%c0] : memref<1xf32>
      %15 = vector.extract %4[3] : f32 from vector<4xf32>
      %16 = arith.addf %14, %15 : f32
      memref.store %16, %alloca_2[%c0] : memref<1xf32>
      %17 = memref.load %alloca_2[%c0] : memref<1xf32>
      %shuffleResult, %valid = gpu.shuffle xor %17, %c16_i32, %c32_i32 : f32
      %18 = arith.addf %17, %shuffleResult : f32
      %shuffleResult_3, %valid_4 = gpu.shuffle xor %18, %c8_i32, %c32_i32 : f32
      %19 = arith.addf %18, %shuffleResult_3 : f32
      %shuffleResult_5, %valid_6 = gpu.shuffle xor %19, %c4_i32, %c32_i32 : f32
      %20 = arith.addf %19, %shuffleResult_5 : f32
      %shuffleResult_7, %valid_8 = gpu.shuffle xor %20, %c2_i32, %c32_i32 : f32
      %21 = arith.addf %20, %shuffleResult_7 : f32
      %shuffleResult_9, %valid_10 = gpu.shuffle xor %21, %c1_i32, %c32_i32 : f32
      %22 = arith.addf %21, %shuffleResult_9 : f32
      %23 = arith.cmpi eq, %1, %c0 : index
      scf.if %23 {
        memref.store %22, %arg2[%c0, %0] : memref<1x8xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %24 = memref.load %arg2[%c0, %c0] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %25 = memref.load %arg2[%c0, %c1] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %26 = arith.addf %24, %25 : f32
      %27 = memref.load %arg2[%c0, %c2] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %28 = arith.addf %26, %27 : f32
      %29 = memref.load %arg2[%c0, %c3] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %30 = arith.addf %28, %29 : f32
      %31 = memref.load %arg2[%c0, %c4] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %32 = arith.addf %30, %31 : f32
      %33 = memref.load %arg2[%c0, %c5] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %34 = arith.addf %32, %33 : f32
      %35 = memref.load %arg2[%c0, %c6] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %36 = arith.addf %34, %35 : f32
      %37 = memref.load %arg2[%c0, %c7] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %38 = arith.addf %36, %37 : f32
      %39 = memref.load %alloca[%c0] : memref<1xf32>
      %40 = arith.addf %39, %38 : f32
      memref.store %40, %alloca[%c0] : memref<1xf32>
      %41 = arith.cmpi slt, %thread_id_x, %c1 : index
      %42 = affine.apply #map3(%block_id_x, %thread_id_x)
      scf.if %41 {
        %43 = memref.load %alloca[%thread_id_x] : memref<1xf32>
        memref.store %43, %arg1[%42] : memref<977xf32>
      }
      gpu.return
    }
  }
  gpu.module @sum_1_kernel {
    gpu.func @sum_1(%arg0: memref<f32> {weft.name = "sum"}) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %cst = arith.constant 0.000000e+00 : f32
      memref.store %cst, %arg0[] : memref<f32>
      gpu.return
    }
  }
  gpu.module @sum_2_kernel {
    gpu.func @sum_2(%arg0: memref<f32> {weft.name = "sum"}, %arg1: memref<977xf32> {weft.name = "sum_2"}) workgroup(%arg2 : memref<8xf32, #gpu.address_space<workgroup>> {weft.name = "sum_parts"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c7 = arith.constant 7 : index
      %c6 = arith.constant 6 : index
      %c5 = arith.constant 5 : index
      %c4 = arith.constant 4 : index
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c256 = arith.constant 256 : index
      %c977 = arith.constant 977 : index
      %cst = arith.constant -0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %alloca = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<f32>
      memref.store %cst, %alloca[] : memref<f32>
      scf.for %arg3 = %thread_id_x to %c977 step %c256 {
        %25 = memref.load %arg1[%arg3] : memref<977xf32>
        %26 = memref.load %alloca[] : memref<f32>
        %27 = arith.addf %26, %25 : f32
        memref.store %27, %alloca[] : memref<f32>
      }
      %2 = memref.load %alloca[] : memref<f32>
      %shuffleResult, %valid = gpu.shuffle xor %2, %c16_i32, %c32_i32 : f32
      %3 = arith.addf %2, %shuffleResult : f32
      %shuffleResult_0, %valid_1 = gpu.shuffle xor %3, %c8_i32, %c32_i32 : f32
      %4 = arith.addf %3, %shuffleResult_0 : f32
      %shuffleResult_2, %valid_3 = gpu.shuffle xor %4, %c4_i32, %c32_i32 : f32
      %5 = arith.addf %4, %shuffleResult_2 : f32
      %shuffleResult_4, %valid_5 = gpu.shuffle xor %5, %c2_i32, %c32_i32 : f32
      %6 = arith.addf %5, %shuffleResult_4 : f32
      %shuffleResult_6, %valid_7 = gpu.shuffle xor %6, %c1_i32, %c32_i32 : f32
      %7 = arith.addf %6, %shuffleResult_6 : f32
      %8 = arith.cmpi eq, %1, %c0 : index
      scf.if %8 {
        memref.store %7, %arg2[%0] : memref<8xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %9 = memref.load %arg2[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
      %10 = memref.load %arg2[%c1] : memref<8xf32, #gpu.address_space<workgroup>>
      %11 = arith.addf %9, %10 : f32
      %12 = memref.load %arg2[%c2] : memref<8xf32, #gpu.address_space<workgroup>>
      %13 = arith.addf %11, %12 : f32
      %14 = memref.load %arg2[%c3] : memref<8xf32, #gpu.address_space<workgroup>>
      %15 = arith.addf %13, %14 : f32
      %16 = memref.load %arg2[%c4] : memref<8xf32, #gpu.address_space<workgroup>>
      %17 = arith.addf %15, %16 : f32
      %18 = memref.load %arg2[%c5] : memref<8xf32, #gpu.address_space<workgroup>>
      %19 = arith.addf %17, %18 : f32
      %20 = memref.load %arg2[%c6] : memref<8xf32, #gpu.address_space<workgroup>>
      %21 = arith.addf %19, %20 : f32
      %22 = memref.load %arg2[%c7] : memref<8xf32, #gpu.address_space<workgroup>>
      %23 = arith.addf %21, %22 : f32
      %24 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %24 {
        %25 = memref.load %arg0[] : memref<f32>
        %26 = arith.addf %25, %23 : f32
        memref.store %26, %arg0[] : memref<f32>
      }
      gpu.return
    }
  }
}
