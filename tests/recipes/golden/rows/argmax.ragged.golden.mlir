// weft golden argmax --set m=70 --set n=333
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 4 + d1)>
#map3 = affine_map<(d0, d1, d2) -> (d0 * 4 + d1 - d2 * 31)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (d0 floordiv 32 - s0 floordiv 32 == 0)>
module attributes {gpu.container_module} {
  func.func @argmax(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<70xf32> {bufferize.result, weft.name = "largest"}, %arg2: memref<70xi32> {bufferize.result, weft.name = "index"}) {
    %c18 = arith.constant 18 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @argmax_kernel::@argmax blocks in (%c18, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<70x333xf32>, %arg1 : memref<70xf32>, %arg2 : memref<70xi32>)
    return
  }
  gpu.module @argmax_kernel {
    gpu.func @argmax(%arg0: memref<70x333xf32> {weft.name = "X"}, %arg1: memref<70xf32> {weft.name = "largest"}, %arg2: memref<70xi32> {weft.name = "index"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 18, 1, 1>} {
      %c1 = arith.constant 1 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c32 = arith.constant 32 : index
      %c333 = arith.constant 333 : index
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %c0 = arith.constant 0 : index
      %c70 = arith.constant 70 : index
      %c0_i32 = arith.constant 0 : i32
      %cst = arith.constant 0xFF800000 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "index"} : memref<1xi32>
      %alloca_0 = memref.alloca() {weft.name = "largest"} : memref<1xf32>
      %2 = affine.apply #map2(%block_id_x, %1)
      %3 = arith.cmpi slt, %2, %c70 : index
      %4 = affine.apply #map3(%block_id_x, %thread_id_x, %1)
      scf.if %3 {
        memref.store %cst, %alloca_0[%c0] : memref<1xf32>
        memref.store %c0_i32, %alloca[%c0] : memref<1xi32>
        %alloca_1 = memref.alloca() {weft.combiner = "the largest and its index", weft.name = "part", weft.participants = #set} : memref<1xf32>
        %alloca_2 = memref.alloca() {weft.combiner = "the largest and its index", weft.name = "part", weft.participants = #set} : memref<1xi32>
        memref.store %cst, %alloca_1[%c0] : memref<1xf32>
        memref.store %c2147483647_i32, %alloca_2[%c0] : memref<1xi32>
        scf.for %arg3 = %0 to %c333 step %c32 {
          %48 = memref.load %arg0[%2, %arg3] : memref<70x333xf32>
          %49 = memref.load %alloca_1[%c0] : memref<1xf32>
          %50 = memref.load %alloca_2[%c0] : memref<1xi32>
          %51 = arith.index_cast %arg3 : index to i32
          %52 = arith.cmpf ogt, %48, %49 : f32
          %53 = arith.select %52, %48, %49 : f32
          %54 = arith.select %52, %51, %50 : i32
          memref.store %53, %alloca_1[%c0] : memref<1xf32>
          memref.store %54, %alloca_2[%c0] : memref<1xi32>
        }
        %5 = memref.load %alloca_1[%c0] : memref<1xf32>
        %6 = memref.load %alloca_2[%c0] : memref<1xi32>
        %shuffleResult, %valid = gpu.shuffle xor %5, %c16_i32, %c32_i32 : f32
        %shuffleResult_3, %valid_4 = gpu.shuffle xor %6, %c16_i32, %c32_i32 : i32
        %7 = arith.cmpf ogt, %shuffleResult, %5 : f32
        %8 = arith.cmpf oeq, %shuffleResult, %5 : f32
        %9 = arith.cmpi slt, %shuffleResult_3, %6 : i32
        %10 = arith.andi %8, %9 : i1
        %11 = arith.ori %7, %10 : i1
        %12 = arith.select %11, %shuffleResult, %5 : f32
        %13 = arith.select %11, %shuffleResult_3, %6 : i32
        %shuffleResult_5, %valid_6 = gpu.shuffle xor %12, %c8_i32, %c32_i32 : f32
        %shuffleResult_7, %valid_8 = gpu.shuffle xor %13, %c8_i32, %c32_i32 : i32
        %14 = arith.cmpf ogt, %shuffleResult_5, %12 : f32
        %15 = arith.cmpf oeq, %shuffleResult_5, %12 : f32
        %16 = arith.cmpi slt, %shuffleResult_7, %13 : i32
        %17 = arith.andi %15, %16 : i1
        %18 = arith.ori %14, %17 : i1
        %19 = arith.select %18, %shuffleResult_5, %12 : f32
        %20 = arith.select %18, %shuffleResult_7, %13 : i32
        %shuffleResult_9, %valid_10 = gpu.shuffle xor %19, %c4_i32, %c32_i32 : f32
        %shuffleResult_11, %valid_12 = gpu.shuffle xor %20, %c4_i32, %c32_i32 : i32
        %21 = arith.cmpf ogt, %shuffleResult_9, %19 : f32
        %22 = arith.cmpf oeq, %shuffleResult_9, %19 : f32
        %23 = arith.cmpi slt, %shuffleResult_11, %20 : i32
        %24 = arith.andi %22, %23 : i1
        %25 = arith.ori %21, %24 : i1
        %26 = arith.select %25, %shuffleResult_9, %19 : f32
        %27 = arith.select %25, %shuffleResult_11, %20 : i32
        %shuffleResult_13, %valid_14 = gpu.shuffle xor %26, %c2_i32, %c32_i32 : f32
        %shuffleResult_15, %valid_16 = gpu.shuffle xor %27, %c2_i32, %c32_i32 : i32
        %28 = arith.cmpf ogt, %shuffleResult_13, %26 : f32
        %29 = arith.cmpf oeq, %shuffleResult_13, %26 : f32
        %30 = arith.cmpi slt, %shuffleResult_15, %27 : i32
        %31 = arith.andi %29, %30 : i1
        %32 = arith.ori %28, %31 : i1
        %33 = arith.select %32, %shuffleResult_13, %26 : f32
        %34 = arith.select %32, %shuffleResult_15, %27 : i32
        %shuffleResult_17, %valid_18 = gpu.shuffle xor %33, %c1_i32, %c32_i32 : f32
        %shuffleResult_19, %valid_20 = gpu.shuffle xor %34, %c1_i32, %c32_i32 : i32
        %35 = arith.cmpf ogt, %shuffleResult_17, %33 : f32
        %36 = arith.cmpf oeq, %shuffleResult_17, %33 : f32
        %37 = arith.cmpi slt, %shuffleResult_19, %34 : i32
        %38 = arith.andi %36, %37 : i1
        %39 = arith.ori %35, %38 : i1
        %40 = arith.select %39, %shuffleResult_17, %33 : f32
        %41 = arith.select %39, %shuffleResult_19, %34 : i32
        %42 = memref.load %alloca_0[%c0] : memref<1xf32>
        %43 = memref.load %alloca[%c0] : memref<1xi32>
        %44 = arith.cmpf ogt, %40, %42 : f32
        %45 = arith.select %44, %40, %42 : f32
        %46 = arith.select %44, %41, %43 : i32
        memref.store %45, %alloca_0[%c0] : memref<1xf32>
        memref.store %46, %alloca[%c0] : memref<1xi32>
        %47 = arith.cmpi slt, %0, %c1 : index
        scf.if %47 {
          %48 = memref.load %alloca[%0] : memref<1xi32>
          memref.store %48, %arg2[%4] : memref<70xi32>
          %49 = memref.load %alloca_0[%0] : memref<1xf32>
          memref.store %49, %arg1[%4] : memref<70xf32>
        }
      }
      gpu.return
    }
  }
}
