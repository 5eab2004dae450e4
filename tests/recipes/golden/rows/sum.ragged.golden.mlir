// weft golden sum --set n=99999
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map3 = affine_map<(d0, d1) -> (d0 + d1)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (0 == 0)>
module attributes {gpu.container_module} {
  func.func @sum(%arg0: memref<99999xf32> {weft.name = "X"}, %arg1: memref<f32> {bufferize.result, weft.name = "sum"}) {
    %c1 = arith.constant 1 : index
    gpu.launch_func  @sum_1_kernel::@sum_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)  args(%arg1 : memref<f32>)
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "sum_2"} : memref<391xf32>
    %c391 = arith.constant 391 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @sum_kernel::@sum blocks in (%c391, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<99999xf32>, %alloc : memref<391xf32>)
    gpu.launch_func  @sum_2_kernel::@sum_2 blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg1 : memref<f32>, %alloc : memref<391xf32>)
    return
  }
  gpu.module @sum_kernel {
    gpu.func @sum(%arg0: memref<99999xf32> {weft.name = "X"}, %arg1: memref<391xf32> {weft.name = "sum_2"}) workgroup(%arg2 : memref<1x8xf32, #gpu.address_space<workgroup>> {weft.name = "sum_2_parts"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 391, 1, 1>} {
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
      %c99999 = arith.constant 99999 : index
      %cst = arith.constant -0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "sum_2"} : memref<1xf32>
      memref.store %cst_0, %alloca[%c0] : memref<1xf32>
      %alloca_1 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<1xf32>
      memref.store %cst, %alloca_1[%c0] : memref<1xf32>
      %2 = memref.load %alloca_1[%c0] : memref<1xf32>
      %3 = affine.apply #map2(%block_id_x, %thread_id_x)
      %4 = arith.cmpi slt, %3, %c99999 : index
      %5 = scf.if %4 -> (f32) {
        %33 = memref.load %arg0[%3] : memref<99999xf32>
        scf.yield %33 : f32
      } else {
        scf.yield %cst_0 : f32
      }
      %6 = arith.addf %2, %5 : f32
      memref.store %6, %alloca_1[%c0] : memref<1xf32>
      %7 = memref.load %alloca_1[%c0] : memref<1xf32>
      %shuffleResult, %valid = gpu.shuffle xor %7, %c16_i32, %c32_i32 : f32
      %8 = arith.addf %7, %shuffleResult : f32
      %shuffleResult_2, %valid_3 = gpu.shuffle xor %8, %c8_i32, %c32_i32 : f32
      %9 = arith.addf %8, %shuffleResult_2 : f32
      %shuffleResult_4, %valid_5 = gpu.shuffle xor %9, %c4_i32, %c32_i32 : f32
      %10 = arith.addf %9, %shuffleResult_4 : f32
      %shuffleResult_6, %valid_7 = gpu.shuffle xor %10, %c2_i32, %c32_i32 : f32
      %11 = arith.addf %10, %shuffleResult_6 : f32
      %shuffleResult_8, %valid_9 = gpu.shuffle xor %11, %c1_i32, %c32_i32 : f32
      %12 = arith.addf %11, %shuffleResult_8 : f32
      %13 = arith.cmpi eq, %1, %c0 : index
      scf.if %13 {
        memref.store %12, %arg2[%c0, %0] : memref<1x8xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %14 = memref.load %arg2[%c0, %c0] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %15 = memref.load %arg2[%c0, %c1] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %16 = arith.addf %14, %15 : f32
      %17 = memref.load %arg2[%c0, %c2] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %18 = arith.addf %16, %17 : f32
      %19 = memref.load %arg2[%c0, %c3] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %20 = arith.addf %18, %19 : f32
      %21 = memref.load %arg2[%c0, %c4] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %22 = arith.addf %20, %21 : f32
      %23 = memref.load %arg2[%c0, %c5] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %24 = arith.addf %22, %23 : f32
      %25 = memref.load %arg2[%c0, %c6] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %26 = arith.addf %24, %25 : f32
      %27 = memref.load %arg2[%c0, %c7] : memref<1x8xf32, #gpu.address_space<workgroup>>
      %28 = arith.addf %26, %27 : f32
      %29 = memref.load %alloca[%c0] : memref<1xf32>
      %30 = arith.addf %29, %28 : f32
      memref.store %30, %alloca[%c0] : memref<1xf32>
      %31 = arith.cmpi slt, %thread_id_x, %c1 : index
      %32 = affine.apply #map3(%block_id_x, %thread_id_x)
      scf.if %31 {
        %33 = memref.load %alloca[%thread_id_x] : memref<1xf32>
        memref.store %33, %arg1[%32] : memref<391xf32>
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
    gpu.func @sum_2(%arg0: memref<f32> {weft.name = "sum"}, %arg1: memref<391xf32> {weft.name = "sum_2"}) workgroup(%arg2 : memref<8xf32, #gpu.address_space<workgroup>> {weft.name = "sum_parts"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
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
      %c391 = arith.constant 391 : index
      %cst = arith.constant -0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %alloca = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #set} : memref<f32>
      memref.store %cst, %alloca[] : memref<f32>
      scf.for %arg3 = %thread_id_x to %c391 step %c256 {
        %25 = memref.load %arg1[%arg3] : memref<391xf32>
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
