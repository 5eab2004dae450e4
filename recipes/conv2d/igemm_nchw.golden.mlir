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
          %95 = affine.apply #map21(%15, %arg12)
          %96 = arith.cmpi slt, %95, %c32 : index
          %97 = scf.if %96 -> (vector<4xf32>) {
            %102 = vector.load %reinterpret_cast[%95, %22] : memref<32x144xf32>, vector<4xf32>
            scf.yield %102 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %98 = vector.extract %97[0] : f32 from vector<4xf32>
          memref.store %98, %arg3[%2, %95] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %99 = vector.extract %97[1] : f32 from vector<4xf32>
          memref.store %99, %arg3[%3, %95] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %100 = vector.extract %97[2] : f32 from vector<4xf32>
          memref.store %100, %arg3[%4, %95] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %101 = vector.extract %97[3] : f32 from vector<4xf32>
          memref.store %101, %arg3[%5, %95] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %23 = affine.apply #map20(%16, %arg7)
        %24 = affine.apply #map22(%23)
        %25 = affine.apply #map20(%2, %arg8)
        %26 = affine.apply #map22(%25)
        %27 = arith.cmpi ult, %24, %c16 : index
        %28 = arith.cmpi ult, %26, %c16 : index
        %29 = arith.andi %27, %28 : i1
        %30 = scf.if %29 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg6, %24, %26] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %31 = affine.apply #map20(%17, %arg7)
        %32 = affine.apply #map22(%31)
        %33 = arith.cmpi ult, %32, %c16 : index
        %34 = arith.cmpi ult, %25, %c16 : index
        %35 = arith.andi %33, %34 : i1
        %36 = scf.if %35 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg6, %32, %25] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %37 = affine.apply #map3(%25)
        %38 = arith.cmpi ult, %37, %c16 : index
        %39 = arith.andi %33, %38 : i1
        %40 = scf.if %39 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg6, %32, %37] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %41 = affine.apply #map4(%25)
        %42 = arith.cmpi ult, %41, %c16 : index
        %43 = arith.andi %33, %42 : i1
        %44 = scf.if %43 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg6, %32, %41] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %45 = vector.from_elements %30, %36, %40, %44 : vector<4xf32>
        vector.store %45, %arg4[%c0, %6, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        %46 = affine.apply #map20(%16, %arg10)
        %47 = affine.apply #map22(%46)
        %48 = affine.apply #map20(%2, %arg11)
        %49 = affine.apply #map22(%48)
        %50 = arith.cmpi ult, %47, %c16 : index
        %51 = arith.cmpi ult, %49, %c16 : index
        %52 = arith.andi %50, %51 : i1
        %53 = scf.if %52 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg9, %47, %49] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %54 = affine.apply #map20(%17, %arg10)
        %55 = affine.apply #map22(%54)
        %56 = arith.cmpi ult, %55, %c16 : index
        %57 = arith.cmpi ult, %48, %c16 : index
        %58 = arith.andi %56, %57 : i1
        %59 = scf.if %58 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg9, %55, %48] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %60 = affine.apply #map3(%48)
        %61 = arith.cmpi ult, %60, %c16 : index
        %62 = arith.andi %56, %61 : i1
        %63 = scf.if %62 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg9, %55, %60] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %64 = affine.apply #map4(%48)
        %65 = arith.cmpi ult, %64, %c16 : index
        %66 = arith.andi %56, %65 : i1
        %67 = scf.if %66 -> (f32) {
          %95 = memref.load %arg0[%c0, %arg9, %55, %64] : memref<1x16x16x16xf32>
          scf.yield %95 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %68 = vector.from_elements %53, %59, %63, %67 : vector<4xf32>
        vector.store %68, %arg4[%c0, %8, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg12 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %95 = affine.apply #map23(%arg13)
            %96 = affine.apply #map24(%18, %arg13)
            %97 = vector.load %arg3[%arg12, %96] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %97, %alloca_2[%95] : memref<8xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %95 = affine.apply #map23(%arg13)
            %96 = affine.apply #map24(%19, %arg13)
            %97 = vector.load %arg4[%c0, %arg12, %96] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %97, %alloca_3[%95] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg13 = %c0 to %c8 step %c1 {
            scf.for %arg14 = %c0 to %c8 step %c1 {
              %95 = memref.load %alloca_2[%arg13] : memref<8xf32>
              %96 = memref.load %alloca_3[%arg14] : memref<8xf32>
              %97 = memref.load %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
              %98 = arith.mulf %96, %95 : f32
              %99 = arith.addf %97, %98 : f32
              memref.store %99, %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %69 = affine.apply #map3(%arg8)
        %70 = arith.cmpi sge, %69, %c3 : index
        %71 = affine.apply #map25(%arg8)
        %72 = arith.select %70, %71, %69 : index
        %73 = affine.apply #map4(%arg7)
        %74 = affine.apply #map5(%arg7)
        %75 = arith.select %70, %74, %73 : index
        %76 = arith.cmpi sge, %75, %c3 : index
        %77 = affine.apply #map26(%75)
        %78 = arith.select %76, %77, %75 : index
        %79 = affine.apply #map3(%arg6)
        %80 = affine.apply #map4(%arg6)
        %81 = arith.select %76, %80, %79 : index
        %82 = affine.apply #map3(%arg11)
        %83 = arith.cmpi sge, %82, %c3 : index
        %84 = affine.apply #map25(%arg11)
        %85 = arith.select %83, %84, %82 : index
        %86 = affine.apply #map4(%arg10)
        %87 = affine.apply #map5(%arg10)
        %88 = arith.select %83, %87, %86 : index
        %89 = arith.cmpi sge, %88, %c3 : index
        %90 = affine.apply #map26(%88)
        %91 = arith.select %89, %90, %88 : index
        %92 = affine.apply #map3(%arg9)
        %93 = affine.apply #map4(%arg9)
        %94 = arith.select %89, %93, %92 : index
        scf.yield %81, %78, %72, %94, %91, %85 : index, index, index, index, index, index
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
