// weft golden argmax
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> (d0 * 4)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 512)>
#map4 = affine_map<(d0) -> (d0 + 1)>
#map5 = affine_map<(d0) -> (d0 + 2)>
#map6 = affine_map<(d0) -> (d0 + 3)>
#map7 = affine_map<(d0, d1) -> (d0 + d1)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (0 == 0)>
module attributes {gpu.container_module} {
  func.func @argmax(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<64xf32> {bufferize.result, weft.name = "largest"}, %arg2: memref<64xi32> {bufferize.result, weft.name = "index"}) {
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @argmax_kernel::@argmax blocks in (%c64, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<64x4096xf32>, %arg1 : memref<64xf32>, %arg2 : memref<64xi32>)
    return
  }
  gpu.module @argmax_kernel {
    gpu.func @argmax(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<64xf32> {weft.name = "largest"}, %arg2: memref<64xi32> {weft.name = "index"}) workgroup(%arg3 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "largest_parts"}, %arg4 : memref<1x4xi32, #gpu.address_space<workgroup>> {weft.name = "index_parts"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>} {
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
      %c2147483647_i32 = arith.constant 2147483647 : i32
      %c0 = arith.constant 0 : index
      %c0_i32 = arith.constant 0 : i32
      %cst = arith.constant 0xFF800000 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "largest"} : memref<1xf32>
      memref.store %cst, %alloca[%c0] : memref<1xf32>
      %alloca_0 = memref.alloca() {weft.name = "index"} : memref<1xi32>
      memref.store %c0_i32, %alloca_0[%c0] : memref<1xi32>
      %alloca_1 = memref.alloca() {weft.combiner = "the largest and its index", weft.name = "part", weft.participants = #set} : memref<1xf32>
      %alloca_2 = memref.alloca() {weft.combiner = "the largest and its index", weft.name = "part", weft.participants = #set} : memref<1xi32>
      memref.store %cst, %alloca_1[%c0] : memref<1xf32>
      memref.store %c2147483647_i32, %alloca_2[%c0] : memref<1xi32>
      %2 = affine.apply #map2(%thread_id_x)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %77 = affine.apply #map3(%2, %arg5)
        %78 = affine.apply #map4(%77)
        %79 = affine.apply #map5(%77)
        %80 = affine.apply #map6(%77)
        %81 = vector.load %arg0[%block_id_x, %77] : memref<64x4096xf32>, vector<4xf32>
        %82 = vector.extract %81[0] : f32 from vector<4xf32>
        %83 = memref.load %alloca_1[%c0] : memref<1xf32>
        %84 = memref.load %alloca_2[%c0] : memref<1xi32>
        %85 = arith.index_cast %77 : index to i32
        %86 = arith.cmpf ogt, %82, %83 : f32
        %87 = arith.select %86, %82, %83 : f32
        %88 = arith.select %86, %85, %84 : i32
        memref.store %87, %alloca_1[%c0] : memref<1xf32>
        memref.store %88, %alloca_2[%c0] : memref<1xi32>
        %89 = vector.extract %81[1] : f32 from vector<4xf32>
        %90 = memref.load %alloca_1[%c0] : memref<1xf32>
        %91 = memref.load %alloca_2[%c0] : memref<1xi32>
        %92 = arith.index_cast %78 : index to i32
        %93 = arith.cmpf ogt, %89, %90 : f32
        %94 = arith.select %93, %89, %90 : f32
        %95 = arith.select %93, %92, %91 : i32
        memref.store %94, %alloca_1[%c0] : memref<1xf32>
        memref.store %95, %alloca_2[%c0] : memref<1xi32>
        %96 = vector.extract %81[2] : f32 from vector<4xf32>
        %97 = memref.load %alloca_1[%c0] : memref<1xf32>
        %98 = memref.load %alloca_2[%c0] : memref<1xi32>
        %99 = arith.index_cast %79 : index to i32
        %100 = arith.cmpf ogt, %96, %97 : f32
        %101 = arith.select %100, %96, %97 : f32
        %102 = arith.select %100, %99, %98 : i32
        memref.store %101, %alloca_1[%c0] : memref<1xf32>
        memref.store %102, %alloca_2[%c0] : memref<1xi32>
        %103 = vector.extract %81[3] : f32 from vector<4xf32>
        %104 = memref.load %alloca_1[%c0] : memref<1xf32>
        %105 = memref.load %alloca_2[%c0] : memref<1xi32>
        %106 = arith.index_cast %80 : index to i32
        %107 = arith.cmpf ogt, %103, %104 : f32
        %108 = arith.select %107, %103, %104 : f32
        %109 = arith.select %107, %106, %105 : i32
        memref.store %108, %alloca_1[%c0] : memref<1xf32>
        memref.store %109, %alloca_2[%c0] : memref<1xi32>
      }
      %3 = memref.load %alloca_1[%c0] : memref<1xf32>
      %4 = memref.load %alloca_2[%c0] : memref<1xi32>
      %shuffleResult, %valid = gpu.shuffle xor %3, %c16_i32, %c32_i32 : f32
      %shuffleResult_3, %valid_4 = gpu.shuffle xor %4, %c16_i32, %c32_i32 : i32
      %5 = arith.cmpf ogt, %shuffleResult, %3 : f32
      %6 = arith.cmpf oeq, %shuffleResult, %3 : f32
      %7 = arith.cmpi slt, %shuffleResult_3, %4 : i32
      %8 = arith.andi %6, %7 : i1
      %9 = arith.ori %5, %8 : i1
      %10 = arith.select %9, %shuffleResult, %3 : f32
      %11 = arith.select %9, %shuffleResult_3, %4 : i32
      %shuffleResult_5, %valid_6 = gpu.shuffle xor %10, %c8_i32, %c32_i32 : f32
      %shuffleResult_7, %valid_8 = gpu.shuffle xor %11, %c8_i32, %c32_i32 : i32
      %12 = arith.cmpf ogt, %shuffleResult_5, %10 : f32
      %13 = arith.cmpf oeq, %shuffleResult_5, %10 : f32
      %14 = arith.cmpi slt, %shuffleResult_7, %11 : i32
      %15 = arith.andi %13, %14 : i1
      %16 = arith.ori %12, %15 : i1
      %17 = arith.select %16, %shuffleResult_5, %10 : f32
      %18 = arith.select %16, %shuffleResult_7, %11 : i32
      %shuffleResult_9, %valid_10 = gpu.shuffle xor %17, %c4_i32, %c32_i32 : f32
      %shuffleResult_11, %valid_12 = gpu.shuffle xor %18, %c4_i32, %c32_i32 : i32
      %19 = arith.cmpf ogt, %shuffleResult_9, %17 : f32
      %20 = arith.cmpf oeq, %shuffleResult_9, %17 : f32
      %21 = arith.cmpi slt, %shuffleResult_11, %18 : i32
      %22 = arith.andi %20, %21 : i1
      %23 = arith.ori %19, %22 : i1
      %24 = arith.select %23, %shuffleResult_9, %17 : f32
      %25 = arith.select %23, %shuffleResult_11, %18 : i32
      %shuffleResult_13, %valid_14 = gpu.shuffle xor %24, %c2_i32, %c32_i32 : f32
      %shuffleResult_15, %valid_16 = gpu.shuffle xor %25, %c2_i32, %c32_i32 : i32
      %26 = arith.cmpf ogt, %shuffleResult_13, %24 : f32
      %27 = arith.cmpf oeq, %shuffleResult_13, %24 : f32
      %28 = arith.cmpi slt, %shuffleResult_15, %25 : i32
      %29 = arith.andi %27, %28 : i1
      %30 = arith.ori %26, %29 : i1
      %31 = arith.select %30, %shuffleResult_13, %24 : f32
      %32 = arith.select %30, %shuffleResult_15, %25 : i32
      %shuffleResult_17, %valid_18 = gpu.shuffle xor %31, %c1_i32, %c32_i32 : f32
      %shuffleResult_19, %valid_20 = gpu.shuffle xor %32, %c1_i32, %c32_i32 : i32
      %33 = arith.cmpf ogt, %shuffleResult_17, %31 : f32
      %34 = arith.cmpf oeq, %shuffleResult_17, %31 : f32
      %35 = arith.cmpi slt, %shuffleResult_19, %32 : i32
      %36 = arith.andi %34, %35 : i1
      %37 = arith.ori %33, %36 : i1
      %38 = arith.select %37, %shuffleResult_17, %31 : f32
      %39 = arith.select %37, %shuffleResult_19, %32 : i32
      %40 = arith.cmpi eq, %1, %c0 : index
      scf.if %40 {
        memref.store %38, %arg3[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
        memref.store %39, %arg4[%c0, %0] : memref<1x4xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %41 = memref.load %arg3[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %42 = memref.load %arg4[%c0, %c0] : memref<1x4xi32, #gpu.address_space<workgroup>>
      %43 = memref.load %arg3[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %44 = memref.load %arg4[%c0, %c1] : memref<1x4xi32, #gpu.address_space<workgroup>>
      %45 = arith.cmpf ogt, %43, %41 : f32
      %46 = arith.cmpf oeq, %43, %41 : f32
      %47 = arith.cmpi slt, %44, %42 : i32
      %48 = arith.andi %46, %47 : i1
      %49 = arith.ori %45, %48 : i1
      %50 = arith.select %49, %43, %41 : f32
      %51 = arith.select %49, %44, %42 : i32
      %52 = memref.load %arg3[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %53 = memref.load %arg4[%c0, %c2] : memref<1x4xi32, #gpu.address_space<workgroup>>
      %54 = arith.cmpf ogt, %52, %50 : f32
      %55 = arith.cmpf oeq, %52, %50 : f32
      %56 = arith.cmpi slt, %53, %51 : i32
      %57 = arith.andi %55, %56 : i1
      %58 = arith.ori %54, %57 : i1
      %59 = arith.select %58, %52, %50 : f32
      %60 = arith.select %58, %53, %51 : i32
      %61 = memref.load %arg3[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %62 = memref.load %arg4[%c0, %c3] : memref<1x4xi32, #gpu.address_space<workgroup>>
      %63 = arith.cmpf ogt, %61, %59 : f32
      %64 = arith.cmpf oeq, %61, %59 : f32
      %65 = arith.cmpi slt, %62, %60 : i32
      %66 = arith.andi %64, %65 : i1
      %67 = arith.ori %63, %66 : i1
      %68 = arith.select %67, %61, %59 : f32
      %69 = arith.select %67, %62, %60 : i32
      %70 = memref.load %alloca[%c0] : memref<1xf32>
      %71 = memref.load %alloca_0[%c0] : memref<1xi32>
      %72 = arith.cmpf ogt, %68, %70 : f32
      %73 = arith.select %72, %68, %70 : f32
      %74 = arith.select %72, %69, %71 : i32
      memref.store %73, %alloca[%c0] : memref<1xf32>
      memref.store %74, %alloca_0[%c0] : memref<1xi32>
      %75 = arith.cmpi slt, %thread_id_x, %c1 : index
      %76 = affine.apply #map7(%block_id_x, %thread_id_x)
      scf.if %75 {
        %77 = memref.load %alloca_0[%thread_id_x] : memref<1xi32>
        memref.store %77, %arg2[%76] : memref<64xi32>
        %78 = memref.load %alloca[%thread_id_x] : memref<1xf32>
        memref.store %78, %arg1[%76] : memref<64xf32>
      }
      gpu.return
    }
  }
}
