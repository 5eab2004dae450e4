// As it was lowered at 6ab49bc8: the parts of all warps of the block are combined, whichever row they belong to. What is stated
// is what it ought to combine.
#row = affine_set<(d0, d1, d2)[s0, s1, s2] : (d1 - s1 == 0)>
#map = affine_map<(d0, d1) -> (d0 * 4 + d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 4 + d1 + d2)>
module attributes {gpu.container_module} {
  func.func @row_sums(%arg0: memref<12x200xf32> {weft.name = "x"}, %arg1: memref<12xf32> {bufferize.result, weft.name = "result0"}) {
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c4 = arith.constant 4 : index
    gpu.launch_func  @row_sums_kernel::@row_sums blocks in (%c3, %c1, %c1) threads in (%c32, %c4, %c1)  args(%arg0 : memref<12x200xf32>, %arg1 : memref<12xf32>)
    return
  }
  gpu.module @row_sums_kernel {
    gpu.func @row_sums(%arg0: memref<12x200xf32> {weft.name = "x"}, %arg1: memref<12xf32> {weft.name = "result0"}) workgroup(%arg2 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "result0_parts"}) kernel attributes {known_block_size = array<i32: 32, 4, 1>, known_grid_size = array<i32: 3, 1, 1>} {
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c32 = arith.constant 32 : index
      %c200 = arith.constant 200 : index
      %cst = arith.constant -0.000000e+00 : f32
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "result0"} : memref<1xf32>
      memref.store %cst_0, %alloca[%c0] : memref<1xf32>
      %alloca_1 = memref.alloca() {weft.combiner = "arith.addf", weft.name = "part", weft.participants = #row} : memref<1xf32>
      memref.store %cst, %alloca_1[%c0] : memref<1xf32>
      %0 = affine.apply #map(%block_id_x, %thread_id_y)
      scf.for %arg3 = %thread_id_x to %c200 step %c32 {
        %19 = memref.load %arg0[%0, %arg3] : memref<12x200xf32>
        %20 = memref.load %alloca_1[%c0] : memref<1xf32>
        %21 = arith.addf %19, %20 : f32
        memref.store %21, %alloca_1[%c0] : memref<1xf32>
      }
      %1 = memref.load %alloca_1[%c0] : memref<1xf32>
      %shuffleResult, %valid = gpu.shuffle xor %1, %c16_i32, %c32_i32 : f32
      %2 = arith.addf %1, %shuffleResult : f32
      %shuffleResult_2, %valid_3 = gpu.shuffle xor %2, %c8_i32, %c32_i32 : f32
      %3 = arith.addf %2, %shuffleResult_2 : f32
      %shuffleResult_4, %valid_5 = gpu.shuffle xor %3, %c4_i32, %c32_i32 : f32
      %4 = arith.addf %3, %shuffleResult_4 : f32
      %shuffleResult_6, %valid_7 = gpu.shuffle xor %4, %c2_i32, %c32_i32 : f32
      %5 = arith.addf %4, %shuffleResult_6 : f32
      %shuffleResult_8, %valid_9 = gpu.shuffle xor %5, %c1_i32, %c32_i32 : f32
      %6 = arith.addf %5, %shuffleResult_8 : f32
      %7 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %7 {
        memref.store %6, %arg2[%c0, %thread_id_y] : memref<1x4xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %8 = memref.load %arg2[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %9 = memref.load %arg2[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %10 = arith.addf %8, %9 : f32
      %11 = memref.load %arg2[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %12 = arith.addf %10, %11 : f32
      %13 = memref.load %arg2[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %14 = arith.addf %12, %13 : f32
      %15 = memref.load %alloca[%c0] : memref<1xf32>
      %16 = arith.addf %15, %14 : f32
      memref.store %16, %alloca[%c0] : memref<1xf32>
      %17 = arith.cmpi slt, %thread_id_x, %c1 : index
      %18 = affine.apply #map1(%block_id_x, %thread_id_y, %thread_id_x)
      scf.if %17 {
        %19 = memref.load %alloca[%thread_id_x] : memref<1xf32>
        memref.store %19, %arg1[%18] : memref<12xf32>
      }
      gpu.return
    }
  }
}

