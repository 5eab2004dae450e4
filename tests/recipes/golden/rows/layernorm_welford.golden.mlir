// weft golden layernorm_welford
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> (d0 * 4)>
#map3 = affine_map<(d0, d1) -> (d0 + d1 * 512)>
#set = affine_set<(d0, d1, d2)[s0, s1, s2] : (0 == 0)>
module attributes {gpu.container_module} {
  func.func @layernorm_welford(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<4096xf32> {weft.name = "Gamma"}, %arg2: memref<4096xf32> {weft.name = "Beta"}, %arg3: memref<64x4096xf32> {bufferize.result, weft.name = "Y"}) {
    %c64 = arith.constant 64 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @layernorm_welford_kernel::@layernorm_welford blocks in (%c64, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<64x4096xf32>, %arg1 : memref<4096xf32>, %arg2 : memref<4096xf32>, %arg3 : memref<64x4096xf32>)
    return
  }
  gpu.module @layernorm_welford_kernel {
    gpu.func @layernorm_welford(%arg0: memref<64x4096xf32> {weft.name = "X"}, %arg1: memref<4096xf32> {weft.name = "Gamma"}, %arg2: memref<4096xf32> {weft.name = "Beta"}, %arg3: memref<64x4096xf32> {weft.name = "Y"}) workgroup(%arg4 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "w_parts"}, %arg5 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "w_tile_parts"}, %arg6 : memref<1x4xf32, #gpu.address_space<workgroup>> {weft.name = "w_tile_2_parts"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 64, 1, 1>, weft.max_registers = 168 : i64} {
      %c3 = arith.constant 3 : index
      %c2 = arith.constant 2 : index
      %c1_i32 = arith.constant 1 : i32
      %c2_i32 = arith.constant 2 : i32
      %c4_i32 = arith.constant 4 : i32
      %c8_i32 = arith.constant 8 : i32
      %cst = arith.constant 5.000000e-01 : f32
      %c16_i32 = arith.constant 16 : i32
      %c32_i32 = arith.constant 32 : i32
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 9.99999974E-6 : f32
      %cst_1 = arith.constant 4.096000e+03 : f32
      %cst_2 = arith.constant 1.000000e+00 : f32
      %cst_3 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "s0"} : memref<1xf32>
      memref.store %cst_3, %alloca[%c0] : memref<1xf32>
      %alloca_4 = memref.alloca() {weft.name = "X_tile"} : memref<32xf32>
      %2 = affine.apply #map2(%thread_id_x)
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %161 = affine.apply #map2(%arg7)
        %162 = affine.apply #map3(%2, %arg7)
        %163 = vector.load %arg0[%block_id_x, %162] : memref<64x4096xf32>, vector<4xf32>
        vector.store %163, %alloca_4[%161] : memref<32xf32>, vector<4xf32>
      }
      %alloca_5 = memref.alloca() {weft.name = "w"} : memref<1xf32>
      %3 = memref.load %alloca[%c0] : memref<1xf32>
      memref.store %3, %alloca_5[%c0] : memref<1xf32>
      %alloca_6 = memref.alloca() {weft.name = "w_tile"} : memref<1xf32>
      %4 = memref.load %alloca[%c0] : memref<1xf32>
      memref.store %4, %alloca_6[%c0] : memref<1xf32>
      %alloca_7 = memref.alloca() {weft.name = "w_tile_2"} : memref<1xf32>
      %5 = memref.load %alloca[%c0] : memref<1xf32>
      memref.store %5, %alloca_7[%c0] : memref<1xf32>
      %alloca_8 = memref.alloca() {weft.combiner = "a count, a mean, and squared differences from it", weft.name = "part", weft.participants = #set} : memref<1xf32>
      %alloca_9 = memref.alloca() {weft.combiner = "a count, a mean, and squared differences from it", weft.name = "part", weft.participants = #set} : memref<1xf32>
      %alloca_10 = memref.alloca() {weft.combiner = "a count, a mean, and squared differences from it", weft.name = "part", weft.participants = #set} : memref<1xf32>
      memref.store %cst_3, %alloca_8[%c0] : memref<1xf32>
      memref.store %cst_3, %alloca_9[%c0] : memref<1xf32>
      memref.store %cst_3, %alloca_10[%c0] : memref<1xf32>
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %161 = affine.apply #map2(%arg7)
        %162 = vector.load %alloca_4[%161] : memref<32xf32>, vector<4xf32>
        %163 = vector.extract %162[0] : f32 from vector<4xf32>
        %164 = memref.load %alloca_8[%c0] : memref<1xf32>
        %165 = memref.load %alloca_9[%c0] : memref<1xf32>
        %166 = memref.load %alloca_10[%c0] : memref<1xf32>
        %167 = arith.addf %164, %cst_2 : f32
        %168 = arith.subf %163, %165 : f32
        %169 = arith.divf %cst_2, %167 : f32
        %170 = arith.mulf %168, %169 : f32
        %171 = arith.addf %165, %170 : f32
        %172 = arith.subf %163, %171 : f32
        %173 = arith.mulf %168, %172 : f32
        %174 = arith.addf %166, %173 : f32
        memref.store %167, %alloca_8[%c0] : memref<1xf32>
        memref.store %171, %alloca_9[%c0] : memref<1xf32>
        memref.store %174, %alloca_10[%c0] : memref<1xf32>
        %175 = vector.extract %162[1] : f32 from vector<4xf32>
        %176 = memref.load %alloca_8[%c0] : memref<1xf32>
        %177 = memref.load %alloca_9[%c0] : memref<1xf32>
        %178 = memref.load %alloca_10[%c0] : memref<1xf32>
        %179 = arith.addf %176, %cst_2 : f32
        %180 = arith.subf %175, %177 : f32
        %181 = arith.divf %cst_2, %179 : f32
        %182 = arith.mulf %180, %181 : f32
        %183 = arith.addf %177, %182 : f32
        %184 = arith.subf %175, %183 : f32
        %185 = arith.mulf %180, %184 : f32
        %186 = arith.addf %178, %185 : f32
        memref.store %179, %alloca_8[%c0] : memref<1xf32>
        memref.store %183, %alloca_9[%c0] : memref<1xf32>
        memref.store %186, %alloca_10[%c0] : memref<1xf32>
        %187 = vector.extract %162[2] : f32 from vector<4xf32>
        %188 = memref.load %alloca_8[%c0] : memref<1xf32>
        %189 = memref.load %alloca_9[%c0] : memref<1xf32>
        %190 = memref.load %alloca_10[%c0] : memref<1xf32>
        %191 = arith.addf %188, %cst_2 : f32
        %192 = arith.subf %187, %189 : f32
        %193 = arith.divf %cst_2, %191 : f32
        %194 = arith.mulf %192, %193 : f32
        %195 = arith.addf %189, %194 : f32
        %196 = arith.subf %187, %195 : f32
        %197 = arith.mulf %192, %196 : f32
        %198 = arith.addf %190, %197 : f32
        memref.store %191, %alloca_8[%c0] : memref<1xf32>
        memref.store %195, %alloca_9[%c0] : memref<1xf32>
        memref.store %198, %alloca_10[%c0] : memref<1xf32>
        %199 = vector.extract %162[3] : f32 from vector<4xf32>
        %200 = memref.load %alloca_8[%c0] : memref<1xf32>
        %201 = memref.load %alloca_9[%c0] : memref<1xf32>
        %202 = memref.load %alloca_10[%c0] : memref<1xf32>
        %203 = arith.addf %200, %cst_2 : f32
        %204 = arith.subf %199, %201 : f32
        %205 = arith.divf %cst_2, %203 : f32
        %206 = arith.mulf %204, %205 : f32
        %207 = arith.addf %201, %206 : f32
        %208 = arith.subf %199, %207 : f32
        %209 = arith.mulf %204, %208 : f32
        %210 = arith.addf %202, %209 : f32
        memref.store %203, %alloca_8[%c0] : memref<1xf32>
        memref.store %207, %alloca_9[%c0] : memref<1xf32>
        memref.store %210, %alloca_10[%c0] : memref<1xf32>
      }
      %6 = memref.load %alloca_8[%c0] : memref<1xf32>
      %7 = memref.load %alloca_9[%c0] : memref<1xf32>
      %8 = memref.load %alloca_10[%c0] : memref<1xf32>
      %shuffleResult, %valid = gpu.shuffle xor %6, %c16_i32, %c32_i32 : f32
      %shuffleResult_11, %valid_12 = gpu.shuffle xor %7, %c16_i32, %c32_i32 : f32
      %shuffleResult_13, %valid_14 = gpu.shuffle xor %8, %c16_i32, %c32_i32 : f32
      %9 = arith.addf %6, %shuffleResult : f32
      %10 = arith.maximumf %9, %cst_2 : f32
      %11 = arith.subf %shuffleResult_11, %7 : f32
      %12 = arith.subf %shuffleResult, %6 : f32
      %13 = arith.divf %12, %10 : f32
      %14 = arith.addf %7, %shuffleResult_11 : f32
      %15 = arith.mulf %11, %13 : f32
      %16 = arith.addf %14, %15 : f32
      %17 = arith.mulf %6, %shuffleResult : f32
      %18 = arith.divf %17, %10 : f32
      %19 = arith.mulf %11, %11 : f32
      %20 = arith.mulf %19, %18 : f32
      %21 = arith.mulf %16, %cst : f32
      %22 = arith.addf %8, %shuffleResult_13 : f32
      %23 = arith.addf %22, %20 : f32
      %shuffleResult_15, %valid_16 = gpu.shuffle xor %9, %c8_i32, %c32_i32 : f32
      %shuffleResult_17, %valid_18 = gpu.shuffle xor %21, %c8_i32, %c32_i32 : f32
      %shuffleResult_19, %valid_20 = gpu.shuffle xor %23, %c8_i32, %c32_i32 : f32
      %24 = arith.addf %9, %shuffleResult_15 : f32
      %25 = arith.maximumf %24, %cst_2 : f32
      %26 = arith.subf %shuffleResult_17, %21 : f32
      %27 = arith.subf %shuffleResult_15, %9 : f32
      %28 = arith.divf %27, %25 : f32
      %29 = arith.addf %21, %shuffleResult_17 : f32
      %30 = arith.mulf %26, %28 : f32
      %31 = arith.addf %29, %30 : f32
      %32 = arith.mulf %9, %shuffleResult_15 : f32
      %33 = arith.divf %32, %25 : f32
      %34 = arith.mulf %26, %26 : f32
      %35 = arith.mulf %34, %33 : f32
      %36 = arith.mulf %31, %cst : f32
      %37 = arith.addf %23, %shuffleResult_19 : f32
      %38 = arith.addf %37, %35 : f32
      %shuffleResult_21, %valid_22 = gpu.shuffle xor %24, %c4_i32, %c32_i32 : f32
      %shuffleResult_23, %valid_24 = gpu.shuffle xor %36, %c4_i32, %c32_i32 : f32
      %shuffleResult_25, %valid_26 = gpu.shuffle xor %38, %c4_i32, %c32_i32 : f32
      %39 = arith.addf %24, %shuffleResult_21 : f32
      %40 = arith.maximumf %39, %cst_2 : f32
      %41 = arith.subf %shuffleResult_23, %36 : f32
      %42 = arith.subf %shuffleResult_21, %24 : f32
      %43 = arith.divf %42, %40 : f32
      %44 = arith.addf %36, %shuffleResult_23 : f32
      %45 = arith.mulf %41, %43 : f32
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %24, %shuffleResult_21 : f32
      %48 = arith.divf %47, %40 : f32
      %49 = arith.mulf %41, %41 : f32
      %50 = arith.mulf %49, %48 : f32
      %51 = arith.mulf %46, %cst : f32
      %52 = arith.addf %38, %shuffleResult_25 : f32
      %53 = arith.addf %52, %50 : f32
      %shuffleResult_27, %valid_28 = gpu.shuffle xor %39, %c2_i32, %c32_i32 : f32
      %shuffleResult_29, %valid_30 = gpu.shuffle xor %51, %c2_i32, %c32_i32 : f32
      %shuffleResult_31, %valid_32 = gpu.shuffle xor %53, %c2_i32, %c32_i32 : f32
      %54 = arith.addf %39, %shuffleResult_27 : f32
      %55 = arith.maximumf %54, %cst_2 : f32
      %56 = arith.subf %shuffleResult_29, %51 : f32
      %57 = arith.subf %shuffleResult_27, %39 : f32
      %58 = arith.divf %57, %55 : f32
      %59 = arith.addf %51, %shuffleResult_29 : f32
      %60 = arith.mulf %56, %58 : f32
      %61 = arith.addf %59, %60 : f32
      %62 = arith.mulf %39, %shuffleResult_27 : f32
      %63 = arith.divf %62, %55 : f32
      %64 = arith.mulf %56, %56 : f32
      %65 = arith.mulf %64, %63 : f32
      %66 = arith.mulf %61, %cst : f32
      %67 = arith.addf %53, %shuffleResult_31 : f32
      %68 = arith.addf %67, %65 : f32
      %shuffleResult_33, %valid_34 = gpu.shuffle xor %54, %c1_i32, %c32_i32 : f32
      %shuffleResult_35, %valid_36 = gpu.shuffle xor %66, %c1_i32, %c32_i32 : f32
      %shuffleResult_37, %valid_38 = gpu.shuffle xor %68, %c1_i32, %c32_i32 : f32
      %69 = arith.addf %54, %shuffleResult_33 : f32
      %70 = arith.maximumf %69, %cst_2 : f32
      %71 = arith.subf %shuffleResult_35, %66 : f32
      %72 = arith.subf %shuffleResult_33, %54 : f32
      %73 = arith.divf %72, %70 : f32
      %74 = arith.addf %66, %shuffleResult_35 : f32
      %75 = arith.mulf %71, %73 : f32
      %76 = arith.addf %74, %75 : f32
      %77 = arith.mulf %54, %shuffleResult_33 : f32
      %78 = arith.divf %77, %70 : f32
      %79 = arith.mulf %71, %71 : f32
      %80 = arith.mulf %79, %78 : f32
      %81 = arith.mulf %76, %cst : f32
      %82 = arith.addf %68, %shuffleResult_37 : f32
      %83 = arith.addf %82, %80 : f32
      %84 = arith.cmpi eq, %1, %c0 : index
      scf.if %84 {
        memref.store %69, %arg4[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
        memref.store %81, %arg5[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
        memref.store %83, %arg6[%c0, %0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %85 = memref.load %arg4[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %86 = memref.load %arg5[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %87 = memref.load %arg6[%c0, %c0] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %88 = memref.load %arg4[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %89 = memref.load %arg5[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %90 = memref.load %arg6[%c0, %c1] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %91 = arith.addf %85, %88 : f32
      %92 = arith.maximumf %91, %cst_2 : f32
      %93 = arith.subf %89, %86 : f32
      %94 = arith.subf %88, %85 : f32
      %95 = arith.divf %94, %92 : f32
      %96 = arith.addf %86, %89 : f32
      %97 = arith.mulf %93, %95 : f32
      %98 = arith.addf %96, %97 : f32
      %99 = arith.mulf %85, %88 : f32
      %100 = arith.divf %99, %92 : f32
      %101 = arith.mulf %93, %93 : f32
      %102 = arith.mulf %101, %100 : f32
      %103 = arith.mulf %98, %cst : f32
      %104 = arith.addf %87, %90 : f32
      %105 = arith.addf %104, %102 : f32
      %106 = memref.load %arg4[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %107 = memref.load %arg5[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %108 = memref.load %arg6[%c0, %c2] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %109 = arith.addf %91, %106 : f32
      %110 = arith.maximumf %109, %cst_2 : f32
      %111 = arith.subf %107, %103 : f32
      %112 = arith.subf %106, %91 : f32
      %113 = arith.divf %112, %110 : f32
      %114 = arith.addf %103, %107 : f32
      %115 = arith.mulf %111, %113 : f32
      %116 = arith.addf %114, %115 : f32
      %117 = arith.mulf %91, %106 : f32
      %118 = arith.divf %117, %110 : f32
      %119 = arith.mulf %111, %111 : f32
      %120 = arith.mulf %119, %118 : f32
      %121 = arith.mulf %116, %cst : f32
      %122 = arith.addf %105, %108 : f32
      %123 = arith.addf %122, %120 : f32
      %124 = memref.load %arg4[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %125 = memref.load %arg5[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %126 = memref.load %arg6[%c0, %c3] : memref<1x4xf32, #gpu.address_space<workgroup>>
      %127 = arith.addf %109, %124 : f32
      %128 = arith.maximumf %127, %cst_2 : f32
      %129 = arith.subf %125, %121 : f32
      %130 = arith.subf %124, %109 : f32
      %131 = arith.divf %130, %128 : f32
      %132 = arith.addf %121, %125 : f32
      %133 = arith.mulf %129, %131 : f32
      %134 = arith.addf %132, %133 : f32
      %135 = arith.mulf %109, %124 : f32
      %136 = arith.divf %135, %128 : f32
      %137 = arith.mulf %129, %129 : f32
      %138 = arith.mulf %137, %136 : f32
      %139 = arith.mulf %134, %cst : f32
      %140 = arith.addf %123, %126 : f32
      %141 = arith.addf %140, %138 : f32
      %142 = memref.load %alloca_5[%c0] : memref<1xf32>
      %143 = memref.load %alloca_6[%c0] : memref<1xf32>
      %144 = memref.load %alloca_7[%c0] : memref<1xf32>
      %145 = arith.addf %142, %127 : f32
      %146 = arith.cmpf oeq, %145, %cst_3 : f32
      %147 = arith.select %146, %cst_2, %145 : f32
      %148 = arith.subf %139, %143 : f32
      %149 = arith.subf %127, %142 : f32
      %150 = arith.divf %149, %147 : f32
      %151 = arith.addf %143, %139 : f32
      %152 = arith.mulf %148, %150 : f32
      %153 = arith.addf %151, %152 : f32
      %154 = arith.mulf %142, %127 : f32
      %155 = arith.divf %154, %147 : f32
      %156 = arith.mulf %148, %148 : f32
      %157 = arith.mulf %156, %155 : f32
      %158 = arith.mulf %153, %cst : f32
      %159 = arith.addf %144, %141 : f32
      %160 = arith.addf %159, %157 : f32
      memref.store %145, %alloca_5[%c0] : memref<1xf32>
      memref.store %158, %alloca_6[%c0] : memref<1xf32>
      memref.store %160, %alloca_7[%c0] : memref<1xf32>
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %161 = affine.apply #map2(%arg7)
        %162 = affine.apply #map3(%2, %arg7)
        %163 = vector.load %alloca_4[%161] : memref<32xf32>, vector<4xf32>
        %164 = vector.load %arg1[%162] : memref<4096xf32>, vector<4xf32>
        %165 = vector.load %arg2[%162] : memref<4096xf32>, vector<4xf32>
        %166 = vector.extract %163[0] : f32 from vector<4xf32>
        %167 = memref.load %alloca_6[%c0] : memref<1xf32>
        %168 = memref.load %alloca_7[%c0] : memref<1xf32>
        %169 = vector.extract %164[0] : f32 from vector<4xf32>
        %170 = vector.extract %165[0] : f32 from vector<4xf32>
        %171 = arith.subf %166, %167 : f32
        %172 = arith.divf %168, %cst_1 : f32
        %173 = arith.addf %172, %cst_0 : f32
        %174 = math.rsqrt %173 : f32
        %175 = arith.mulf %171, %174 : f32
        %176 = arith.mulf %175, %169 : f32
        %177 = arith.addf %176, %170 : f32
        %178 = vector.extract %163[1] : f32 from vector<4xf32>
        %179 = vector.extract %164[1] : f32 from vector<4xf32>
        %180 = vector.extract %165[1] : f32 from vector<4xf32>
        %181 = arith.subf %178, %167 : f32
        %182 = arith.mulf %181, %174 : f32
        %183 = arith.mulf %182, %179 : f32
        %184 = arith.addf %183, %180 : f32
        %185 = vector.extract %163[2] : f32 from vector<4xf32>
        %186 = vector.extract %164[2] : f32 from vector<4xf32>
        %187 = vector.extract %165[2] : f32 from vector<4xf32>
        %188 = arith.subf %185, %167 : f32
        %189 = arith.mulf %188, %174 : f32
        %190 = arith.mulf %189, %186 : f32
        %191 = arith.addf %190, %187 : f32
        %192 = vector.extract %163[3] : f32 from vector<4xf32>
        %193 = vector.extract %164[3] : f32 from vector<4xf32>
        %194 = vector.extract %165[3] : f32 from vector<4xf32>
        %195 = arith.subf %192, %167 : f32
        %196 = arith.mulf %195, %174 : f32
        %197 = arith.mulf %196, %193 : f32
        %198 = arith.addf %197, %194 : f32
        %199 = vector.from_elements %177, %184, %191, %198 : vector<4xf32>
        vector.store %199, %arg3[%block_id_x, %162] : memref<64x4096xf32>, vector<4xf32>
      }
      gpu.return
    }
  }
}
