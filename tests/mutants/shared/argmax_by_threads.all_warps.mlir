// As it was lowered at 6ab49bc8: the parts of all warps of the block are combined, whichever row they belong to. What is stated
// is what it ought to combine.
#row = affine_set<(d0, d1, d2)[s0, s1, s2] : (d1 - s1 == 0)>
#map = affine_map<(d0, d1) -> (d0 * 3 + d1)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 3 + d1 + d2)>
module attributes {gpu.container_module} {
  func.func @first_largest(%arg0: memref<6x70xf32> {weft.name = "x"}, %arg1: memref<6xf32> {bufferize.result, weft.name = "result0"}, %arg2: memref<6xi32> {bufferize.result, weft.name = "result1"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c3 = arith.constant 3 : index
    gpu.launch_func  @first_largest_kernel::@first_largest blocks in (%c2, %c1, %c1) threads in (%c32, %c3, %c1)  args(%arg0 : memref<6x70xf32>, %arg1 : memref<6xf32>, %arg2 : memref<6xi32>)
    return
  }
  gpu.module @first_largest_kernel {
    gpu.func @first_largest(%arg0: memref<6x70xf32> {weft.name = "x"}, %arg1: memref<6xf32> {weft.name = "result0"}, %arg2: memref<6xi32> {weft.name = "result1"}) workgroup(%arg3 : memref<1x3xf32, #gpu.address_space<workgroup>> {weft.name = "result0_parts"}, %arg4 : memref<1x3xi32, #gpu.address_space<workgroup>> {weft.name = "result1_parts"}) kernel attributes {known_block_size = array<i32: 32, 3, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c32 = arith.constant 32 : index
      %c70 = arith.constant 70 : index
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %c0 = arith.constant 0 : index
      %c0_i32 = arith.constant 0 : i32
      %cst = arith.constant 0xFF800000 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "result1"} : memref<1xi32>
      %alloca_0 = memref.alloca() {weft.name = "result0"} : memref<1xf32>
      memref.store %cst, %alloca_0[%c0] : memref<1xf32>
      memref.store %c0_i32, %alloca[%c0] : memref<1xi32>
      %alloca_1 = memref.alloca() {weft.combiner = "the largest and its index", weft.name = "part", weft.participants = #row} : memref<1xf32>
      %alloca_2 = memref.alloca() {weft.combiner = "the largest and its index", weft.name = "part", weft.participants = #row} : memref<1xi32>
      memref.store %cst, %alloca_1[%c0] : memref<1xf32>
      memref.store %c2147483647_i32, %alloca_2[%c0] : memref<1xi32>
      %0 = affine.apply #map(%block_id_x, %thread_id_y)
      scf.for %arg5 = %thread_id_x to %c70 step %c32 {
        %66 = memref.load %arg0[%0, %arg5] : memref<6x70xf32>
        %67 = memref.load %alloca_1[%c0] : memref<1xf32>
        %68 = memref.load %alloca_2[%c0] : memref<1xi32>
        %69 = arith.index_cast %arg5 : index to i32
        %70 = arith.cmpf ogt, %66, %67 : f32
        %71 = arith.select %70, %66, %67 : f32
        %72 = arith.select %70, %69, %68 : i32
        memref.store %71, %alloca_1[%c0] : memref<1xf32>
        memref.store %72, %alloca_2[%c0] : memref<1xi32>
      }
      %1 = memref.load %alloca_1[%c0] : memref<1xf32>
      %2 = memref.load %alloca_2[%c0] : memref<1xi32>
      %shuffleResult, %valid = gpu.shuffle xor %1, %c16_i32, %c32_i32 : f32
      %shuffleResult_3, %valid_4 = gpu.shuffle xor %2, %c16_i32, %c32_i32 : i32
      %3 = arith.cmpf ogt, %shuffleResult, %1 : f32
      %4 = arith.cmpf oeq, %shuffleResult, %1 : f32
      %5 = arith.cmpi slt, %shuffleResult_3, %2 : i32
      %6 = arith.andi %4, %5 : i1
      %7 = arith.ori %3, %6 : i1
      %8 = arith.select %7, %shuffleResult, %1 : f32
      %9 = arith.select %7, %shuffleResult_3, %2 : i32
      %shuffleResult_5, %valid_6 = gpu.shuffle xor %8, %c8_i32, %c32_i32 : f32
      %shuffleResult_7, %valid_8 = gpu.shuffle xor %9, %c8_i32, %c32_i32 : i32
      %10 = arith.cmpf ogt, %shuffleResult_5, %8 : f32
      %11 = arith.cmpf oeq, %shuffleResult_5, %8 : f32
      %12 = arith.cmpi slt, %shuffleResult_7, %9 : i32
      %13 = arith.andi %11, %12 : i1
      %14 = arith.ori %10, %13 : i1
      %15 = arith.select %14, %shuffleResult_5, %8 : f32
      %16 = arith.select %14, %shuffleResult_7, %9 : i32
      %shuffleResult_9, %valid_10 = gpu.shuffle xor %15, %c4_i32, %c32_i32 : f32
      %shuffleResult_11, %valid_12 = gpu.shuffle xor %16, %c4_i32, %c32_i32 : i32
      %17 = arith.cmpf ogt, %shuffleResult_9, %15 : f32
      %18 = arith.cmpf oeq, %shuffleResult_9, %15 : f32
      %19 = arith.cmpi slt, %shuffleResult_11, %16 : i32
      %20 = arith.andi %18, %19 : i1
      %21 = arith.ori %17, %20 : i1
      %22 = arith.select %21, %shuffleResult_9, %15 : f32
      %23 = arith.select %21, %shuffleResult_11, %16 : i32
      %shuffleResult_13, %valid_14 = gpu.shuffle xor %22, %c2_i32, %c32_i32 : f32
      %shuffleResult_15, %valid_16 = gpu.shuffle xor %23, %c2_i32, %c32_i32 : i32
      %24 = arith.cmpf ogt, %shuffleResult_13, %22 : f32
      %25 = arith.cmpf oeq, %shuffleResult_13, %22 : f32
      %26 = arith.cmpi slt, %shuffleResult_15, %23 : i32
      %27 = arith.andi %25, %26 : i1
      %28 = arith.ori %24, %27 : i1
      %29 = arith.select %28, %shuffleResult_13, %22 : f32
      %30 = arith.select %28, %shuffleResult_15, %23 : i32
      %shuffleResult_17, %valid_18 = gpu.shuffle xor %29, %c1_i32, %c32_i32 : f32
      %shuffleResult_19, %valid_20 = gpu.shuffle xor %30, %c1_i32, %c32_i32 : i32
      %31 = arith.cmpf ogt, %shuffleResult_17, %29 : f32
      %32 = arith.cmpf oeq, %shuffleResult_17, %29 : f32
      %33 = arith.cmpi slt, %shuffleResult_19, %30 : i32
      %34 = arith.andi %32, %33 : i1
      %35 = arith.ori %31, %34 : i1
      %36 = arith.select %35, %shuffleResult_17, %29 : f32
      %37 = arith.select %35, %shuffleResult_19, %30 : i32
      %38 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %38 {
        memref.store %36, %arg3[%c0, %thread_id_y] : memref<1x3xf32, #gpu.address_space<workgroup>>
        memref.store %37, %arg4[%c0, %thread_id_y] : memref<1x3xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %39 = memref.load %arg3[%c0, %c0] : memref<1x3xf32, #gpu.address_space<workgroup>>
      %40 = memref.load %arg4[%c0, %c0] : memref<1x3xi32, #gpu.address_space<workgroup>>
      %41 = memref.load %arg3[%c0, %c1] : memref<1x3xf32, #gpu.address_space<workgroup>>
      %42 = memref.load %arg4[%c0, %c1] : memref<1x3xi32, #gpu.address_space<workgroup>>
      %43 = arith.cmpf ogt, %41, %39 : f32
      %44 = arith.cmpf oeq, %41, %39 : f32
      %45 = arith.cmpi slt, %42, %40 : i32
      %46 = arith.andi %44, %45 : i1
      %47 = arith.ori %43, %46 : i1
      %48 = arith.select %47, %41, %39 : f32
      %49 = arith.select %47, %42, %40 : i32
      %50 = memref.load %arg3[%c0, %c2] : memref<1x3xf32, #gpu.address_space<workgroup>>
      %51 = memref.load %arg4[%c0, %c2] : memref<1x3xi32, #gpu.address_space<workgroup>>
      %52 = arith.cmpf ogt, %50, %48 : f32
      %53 = arith.cmpf oeq, %50, %48 : f32
      %54 = arith.cmpi slt, %51, %49 : i32
      %55 = arith.andi %53, %54 : i1
      %56 = arith.ori %52, %55 : i1
      %57 = arith.select %56, %50, %48 : f32
      %58 = arith.select %56, %51, %49 : i32
      %59 = memref.load %alloca_0[%c0] : memref<1xf32>
      %60 = memref.load %alloca[%c0] : memref<1xi32>
      %61 = arith.cmpf ogt, %57, %59 : f32
      %62 = arith.select %61, %57, %59 : f32
      %63 = arith.select %61, %58, %60 : i32
      memref.store %62, %alloca_0[%c0] : memref<1xf32>
      memref.store %63, %alloca[%c0] : memref<1xi32>
      %64 = arith.cmpi slt, %thread_id_x, %c1 : index
      %65 = affine.apply #map1(%block_id_x, %thread_id_y, %thread_id_x)
      scf.if %64 {
        %66 = memref.load %alloca[%thread_id_x] : memref<1xi32>
        memref.store %66, %arg2[%65] : memref<6xi32>
        %67 = memref.load %alloca_0[%thread_id_x] : memref<1xf32>
        memref.store %67, %arg1[%65] : memref<6xf32>
      }
      gpu.return
    }
  }
}

