// weft golden igemm_nchw.weft
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> (d0 floordiv 16)>
#map7 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map8 = affine_map<(d0) -> (d0 + 8)>
#map9 = affine_map<(d0) -> ((d0 floordiv 16) floordiv 9)>
#map10 = affine_map<(d0) -> (((d0 floordiv 16) mod 9) floordiv 3)>
#map11 = affine_map<(d0) -> ((d0 floordiv 16) mod 3)>
#map12 = affine_map<(d0) -> ((d0 floordiv 16 + 8) floordiv 9)>
#map13 = affine_map<(d0) -> (((d0 floordiv 16 + 8) mod 9) floordiv 3)>
#map14 = affine_map<(d0) -> ((d0 floordiv 16 + 8) mod 3)>
#map15 = affine_map<(d0) -> (d0 floordiv 4)>
#map16 = affine_map<(d0, d1) -> (d0 * 4 + (d1 mod 16) floordiv 4)>
#map17 = affine_map<(d0, d1) -> (d0 * 4 - (d1 floordiv 16) * 4 + d1 floordiv 4)>
#map18 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map19 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map20 = affine_map<(d0, d1) -> (d0 + d1)>
#map21 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map22 = affine_map<(d0) -> (d0 - 1)>
#map23 = affine_map<(d0) -> (d0 * 4)>
#map24 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map25 = affine_map<(d0) -> (d0 - 2)>
#map26 = affine_map<(d0) -> (d0 - 3)>
#map27 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 4) * 8 + (d2 mod 2) * 32)>
module attributes {gpu.container_module} {
  func.func @conv2d_nchw(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<32x16x3x3xf32> {weft.name = "W"}, %arg2: memref<1x32x16x16xf32> {bufferize.result, weft.name = "Y"}) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_nchw_kernel::@conv2d_nchw blocks in (%c4, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x16x16x16xf32>, %arg1 : memref<32x16x3x3xf32>, %arg2 : memref<1x32x16x16xf32>)
    return
  }
  gpu.module @conv2d_nchw_kernel {
    gpu.func @conv2d_nchw(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<32x16x3x3xf32> {weft.name = "W"}, %arg2: memref<1x32x16x16xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}, %arg4 : memref<1x16x64xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %c3 = arith.constant 3 : index
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [32, 144], strides: [144, 1] : memref<32x16x3x3xf32> to memref<32x144xf32>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [1, 32, 256], strides: [8192, 256, 1] : memref<1x32x16x16xf32> to memref<1x32x256xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      %8 = affine.apply #map8(%6)
      %9 = affine.apply #map9(%thread_id_x)
      %10 = affine.apply #map10(%thread_id_x)
      %11 = affine.apply #map11(%thread_id_x)
      %12 = affine.apply #map12(%thread_id_x)
      %13 = affine.apply #map13(%thread_id_x)
      %14 = affine.apply #map14(%thread_id_x)
      %15 = affine.apply #map15(%thread_id_x)
      %16 = affine.apply #map16(%block_id_x, %thread_id_x)
      %17 = affine.apply #map17(%block_id_x, %thread_id_x)
      %18 = affine.apply #map18(%1, %0)
      %19 = affine.apply #map19(%thread_id_x, %1)
      %20:6 = scf.for %arg5 = %c0 to %c144 step %c16 iter_args(%arg6 = %9, %arg7 = %10, %arg8 = %11, %arg9 = %12, %arg10 = %13, %arg11 = %14) -> (index, index, index, index, index, index) {
        %22 = affine.apply #map20(%2, %arg5)
        scf.for %arg12 = %c0 to %c4 step %c1 {
          %119 = affine.apply #map21(%15, %arg12)
          %120 = arith.cmpi slt, %119, %c32 : index
          %121 = scf.if %120 -> (vector<4xf32>) {
            %126 = vector.load %reinterpret_cast[%119, %22] : memref<32x144xf32>, vector<4xf32>
            scf.yield %126 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %122 = vector.extract %121[0] : f32 from vector<4xf32>
          memref.store %122, %arg3[%2, %119] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %123 = vector.extract %121[1] : f32 from vector<4xf32>
          memref.store %123, %arg3[%3, %119] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %124 = vector.extract %121[2] : f32 from vector<4xf32>
          memref.store %124, %arg3[%4, %119] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %125 = vector.extract %121[3] : f32 from vector<4xf32>
          memref.store %125, %arg3[%5, %119] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %23 = affine.apply #map20(%16, %arg7)
        %24 = affine.apply #map22(%23)
        %25 = affine.apply #map20(%2, %arg8)
        %26 = affine.apply #map22(%25)
        %27 = arith.cmpi sge, %24, %c0 : index
        %28 = arith.cmpi slt, %24, %c16 : index
        %29 = arith.andi %27, %28 : i1
        %30 = arith.cmpi sge, %26, %c0 : index
        %31 = arith.andi %29, %30 : i1
        %32 = arith.cmpi slt, %26, %c16 : index
        %33 = arith.andi %31, %32 : i1
        %34 = scf.if %33 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg6, %24, %26] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %35 = affine.apply #map20(%17, %arg7)
        %36 = affine.apply #map22(%35)
        %37 = arith.cmpi sge, %36, %c0 : index
        %38 = arith.cmpi slt, %36, %c16 : index
        %39 = arith.andi %37, %38 : i1
        %40 = arith.cmpi sge, %25, %c0 : index
        %41 = arith.andi %39, %40 : i1
        %42 = arith.cmpi slt, %25, %c16 : index
        %43 = arith.andi %41, %42 : i1
        %44 = scf.if %43 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg6, %36, %25] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %45 = affine.apply #map3(%25)
        %46 = arith.cmpi sge, %45, %c0 : index
        %47 = arith.andi %39, %46 : i1
        %48 = arith.cmpi slt, %45, %c16 : index
        %49 = arith.andi %47, %48 : i1
        %50 = scf.if %49 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg6, %36, %45] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %51 = affine.apply #map4(%25)
        %52 = arith.cmpi sge, %51, %c0 : index
        %53 = arith.andi %39, %52 : i1
        %54 = arith.cmpi slt, %51, %c16 : index
        %55 = arith.andi %53, %54 : i1
        %56 = scf.if %55 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg6, %36, %51] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %57 = vector.from_elements %34, %44, %50, %56 : vector<4xf32>
        vector.store %57, %arg4[%c0, %6, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        %58 = affine.apply #map20(%16, %arg10)
        %59 = affine.apply #map22(%58)
        %60 = affine.apply #map20(%2, %arg11)
        %61 = affine.apply #map22(%60)
        %62 = arith.cmpi sge, %59, %c0 : index
        %63 = arith.cmpi slt, %59, %c16 : index
        %64 = arith.andi %62, %63 : i1
        %65 = arith.cmpi sge, %61, %c0 : index
        %66 = arith.andi %64, %65 : i1
        %67 = arith.cmpi slt, %61, %c16 : index
        %68 = arith.andi %66, %67 : i1
        %69 = scf.if %68 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg9, %59, %61] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %70 = affine.apply #map20(%17, %arg10)
        %71 = affine.apply #map22(%70)
        %72 = arith.cmpi sge, %71, %c0 : index
        %73 = arith.cmpi slt, %71, %c16 : index
        %74 = arith.andi %72, %73 : i1
        %75 = arith.cmpi sge, %60, %c0 : index
        %76 = arith.andi %74, %75 : i1
        %77 = arith.cmpi slt, %60, %c16 : index
        %78 = arith.andi %76, %77 : i1
        %79 = scf.if %78 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg9, %71, %60] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %80 = affine.apply #map3(%60)
        %81 = arith.cmpi sge, %80, %c0 : index
        %82 = arith.andi %74, %81 : i1
        %83 = arith.cmpi slt, %80, %c16 : index
        %84 = arith.andi %82, %83 : i1
        %85 = scf.if %84 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg9, %71, %80] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %86 = affine.apply #map4(%60)
        %87 = arith.cmpi sge, %86, %c0 : index
        %88 = arith.andi %74, %87 : i1
        %89 = arith.cmpi slt, %86, %c16 : index
        %90 = arith.andi %88, %89 : i1
        %91 = scf.if %90 -> (f32) {
          %119 = memref.load %arg0[%c0, %arg9, %71, %86] : memref<1x16x16x16xf32>
          scf.yield %119 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %92 = vector.from_elements %69, %79, %85, %91 : vector<4xf32>
        vector.store %92, %arg4[%c0, %8, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg12 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %119 = affine.apply #map23(%arg13)
            %120 = affine.apply #map24(%18, %arg13)
            %121 = vector.load %arg3[%arg12, %120] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %121, %alloca_2[%119] : memref<8xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %119 = affine.apply #map23(%arg13)
            %120 = affine.apply #map24(%19, %arg13)
            %121 = vector.load %arg4[%c0, %arg12, %120] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %121, %alloca_3[%119] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg13 = %c0 to %c8 step %c1 {
            scf.for %arg14 = %c0 to %c8 step %c1 {
              %119 = memref.load %alloca_2[%arg13] : memref<8xf32>
              %120 = memref.load %alloca_3[%arg14] : memref<8xf32>
              %121 = memref.load %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
              %122 = arith.mulf %120, %119 : f32
              %123 = arith.addf %121, %122 : f32
              memref.store %123, %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %93 = affine.apply #map3(%arg8)
        %94 = arith.cmpi sge, %93, %c3 : index
        %95 = affine.apply #map25(%arg8)
        %96 = arith.select %94, %95, %93 : index
        %97 = affine.apply #map4(%arg7)
        %98 = affine.apply #map5(%arg7)
        %99 = arith.select %94, %98, %97 : index
        %100 = arith.cmpi sge, %99, %c3 : index
        %101 = affine.apply #map26(%99)
        %102 = arith.select %100, %101, %99 : index
        %103 = affine.apply #map3(%arg6)
        %104 = affine.apply #map4(%arg6)
        %105 = arith.select %100, %104, %103 : index
        %106 = affine.apply #map3(%arg11)
        %107 = arith.cmpi sge, %106, %c3 : index
        %108 = affine.apply #map25(%arg11)
        %109 = arith.select %107, %108, %106 : index
        %110 = affine.apply #map4(%arg10)
        %111 = affine.apply #map5(%arg10)
        %112 = arith.select %107, %111, %110 : index
        %113 = arith.cmpi sge, %112, %c3 : index
        %114 = affine.apply #map26(%112)
        %115 = arith.select %113, %114, %112 : index
        %116 = affine.apply #map3(%arg9)
        %117 = affine.apply #map4(%arg9)
        %118 = arith.select %113, %117, %116 : index
        scf.yield %105, %102, %96, %118, %115, %109 : index, index, index, index, index, index
      } {weft.counters = [{below = 17 : i64, name = "c"}, {below = 3 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 18 : i64, name = "c"}, {below = 3 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}]}
      %21 = affine.apply #map27(%block_id_x, %thread_id_x, %1)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %22 = affine.apply #map20(%18, %arg5)
        %23 = arith.cmpi slt, %22, %c32 : index
        scf.if %23 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map23(%arg6)
            %25 = vector.load %alloca[%c0, %arg5, %24] : memref<1x8x8xf32>, vector<4xf32>
            %26 = affine.apply #map24(%21, %arg6)
            vector.store %25, %reinterpret_cast_1[%c0, %22, %26] : memref<1x32x256xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
