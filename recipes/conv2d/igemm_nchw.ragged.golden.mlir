// weft golden igemm_nchw.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> (d0 floordiv 16)>
#map7 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map8 = affine_map<(d0, d1) -> (d0 * 64 + (d1 mod 16) * 4)>
#map9 = affine_map<(d0) -> (d0 + 8)>
#map10 = affine_map<(d0) -> ((d0 floordiv 16) floordiv 9)>
#map11 = affine_map<(d0) -> (((d0 floordiv 16) mod 9) floordiv 3)>
#map12 = affine_map<(d0) -> ((d0 floordiv 16) mod 3)>
#map13 = affine_map<(d0) -> ((d0 floordiv 16 + 8) floordiv 9)>
#map14 = affine_map<(d0) -> (((d0 floordiv 16 + 8) mod 9) floordiv 3)>
#map15 = affine_map<(d0) -> ((d0 floordiv 16 + 8) mod 3)>
#map16 = affine_map<(d0) -> (d0 floordiv 4)>
#map17 = affine_map<(d0, d1) -> (((d0 * 16 + d1 mod 16) floordiv 3) * 2)>
#map18 = affine_map<(d0, d1) -> (((d0 * 16 + d1 mod 16) mod 3) * 8)>
#map19 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map20 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map21 = affine_map<(d0, d1) -> (d0 + d1)>
#map22 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map23 = affine_map<(d0) -> (d0 - 1)>
#map24 = affine_map<(d0) -> (d0 + 5)>
#map25 = affine_map<(d0) -> (d0 * 4)>
#map26 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map27 = affine_map<(d0) -> (d0 - 2)>
#map28 = affine_map<(d0) -> (d0 - 3)>
#map29 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 4) * 8 + (d2 mod 2) * 32)>
module attributes {gpu.container_module} {
  func.func @conv2d_nchw(%arg0: memref<3x5x29x23xf32> {weft.name = "X"}, %arg1: memref<39x5x3x3xf32> {weft.name = "W"}, %arg2: memref<3x39x15x12xf32> {bufferize.result, weft.name = "Y"}) {
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_nchw_kernel::@conv2d_nchw blocks in (%c3, %c1, %c3) threads in (%c128, %c1, %c1)  args(%arg0 : memref<3x5x29x23xf32>, %arg1 : memref<39x5x3x3xf32>, %arg2 : memref<3x39x15x12xf32>)
    return
  }
  gpu.module @conv2d_nchw_kernel {
    gpu.func @conv2d_nchw(%arg0: memref<3x5x29x23xf32> {weft.name = "X"}, %arg1: memref<39x5x3x3xf32> {weft.name = "W"}, %arg2: memref<3x39x15x12xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}, %arg4 : memref<1x16x64xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 3, 1, 3>} {
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c180 = arith.constant 180 : index
      %c2 = arith.constant 2 : index
      %c39 = arith.constant 39 : index
      %c45 = arith.constant 45 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c48 = arith.constant 48 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %block_id_z = gpu.block_id z
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [39, 45], strides: [45, 1] : memref<39x5x3x3xf32> to memref<39x45xf32>
      %reinterpret_cast_0 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [3, 39, 180], strides: [7020, 180, 1] : memref<3x39x15x12xf32> to memref<3x39x180xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      %8 = affine.apply #map8(%block_id_x, %thread_id_x)
      %9 = arith.cmpi slt, %8, %c180 : index
      %10 = affine.apply #map3(%8)
      %11 = arith.cmpi slt, %10, %c180 : index
      %12 = affine.apply #map4(%8)
      %13 = arith.cmpi slt, %12, %c180 : index
      %14 = affine.apply #map5(%8)
      %15 = arith.cmpi slt, %14, %c180 : index
      %16 = affine.apply #map9(%6)
      %17 = affine.apply #map10(%thread_id_x)
      %18 = affine.apply #map11(%thread_id_x)
      %19 = affine.apply #map12(%thread_id_x)
      %20 = affine.apply #map13(%thread_id_x)
      %21 = affine.apply #map14(%thread_id_x)
      %22 = affine.apply #map15(%thread_id_x)
      %23 = affine.apply #map16(%thread_id_x)
      %24 = affine.apply #map17(%block_id_x, %thread_id_x)
      %25 = affine.apply #map18(%block_id_x, %thread_id_x)
      %26 = affine.apply #map19(%1, %0)
      %27 = affine.apply #map20(%thread_id_x, %1)
      %28:6 = scf.for %arg5 = %c0 to %c48 step %c16 iter_args(%arg6 = %17, %arg7 = %18, %arg8 = %19, %arg9 = %20, %arg10 = %21, %arg11 = %22) -> (index, index, index, index, index, index) {
        %30 = affine.apply #map21(%2, %arg5)
        %31 = arith.cmpi slt, %30, %c45 : index
        %32 = affine.apply #map3(%30)
        %33 = arith.cmpi slt, %32, %c45 : index
        %34 = affine.apply #map4(%30)
        %35 = arith.cmpi slt, %34, %c45 : index
        %36 = affine.apply #map5(%30)
        %37 = arith.cmpi slt, %36, %c45 : index
        scf.for %arg12 = %c0 to %c4 step %c1 {
          %126 = affine.apply #map22(%23, %arg12)
          %127 = arith.cmpi slt, %126, %c39 : index
          %128 = arith.andi %31, %127 : i1
          %129 = scf.if %128 -> (f32) {
            %136 = memref.load %reinterpret_cast[%126, %30] : memref<39x45xf32>
            scf.yield %136 : f32
          } else {
            scf.yield %cst : f32
          }
          %130 = arith.andi %33, %127 : i1
          %131 = scf.if %130 -> (f32) {
            %136 = memref.load %reinterpret_cast[%126, %32] : memref<39x45xf32>
            scf.yield %136 : f32
          } else {
            scf.yield %cst : f32
          }
          %132 = arith.andi %35, %127 : i1
          %133 = scf.if %132 -> (f32) {
            %136 = memref.load %reinterpret_cast[%126, %34] : memref<39x45xf32>
            scf.yield %136 : f32
          } else {
            scf.yield %cst : f32
          }
          %134 = arith.andi %37, %127 : i1
          %135 = scf.if %134 -> (f32) {
            %136 = memref.load %reinterpret_cast[%126, %36] : memref<39x45xf32>
            scf.yield %136 : f32
          } else {
            scf.yield %cst : f32
          }
          memref.store %129, %arg3[%2, %126] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %131, %arg3[%3, %126] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %133, %arg3[%4, %126] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %135, %arg3[%5, %126] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %38 = affine.apply #map21(%6, %arg5)
        %39 = arith.cmpi slt, %38, %c45 : index
        %40 = affine.apply #map21(%24, %arg7)
        %41 = affine.apply #map23(%40)
        %42 = affine.apply #map21(%25, %arg8)
        %43 = affine.apply #map23(%42)
        %44 = arith.cmpi ult, %41, %c29 : index
        %45 = arith.cmpi ult, %43, %c23 : index
        %46 = arith.andi %39, %9 : i1
        %47 = arith.andi %46, %44 : i1
        %48 = arith.andi %47, %45 : i1
        %49 = scf.if %48 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg6, %41, %43] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %50 = affine.apply #map3(%42)
        %51 = arith.cmpi ult, %50, %c23 : index
        %52 = arith.andi %39, %11 : i1
        %53 = arith.andi %52, %44 : i1
        %54 = arith.andi %53, %51 : i1
        %55 = scf.if %54 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg6, %41, %50] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %56 = affine.apply #map5(%42)
        %57 = arith.cmpi ult, %56, %c23 : index
        %58 = arith.andi %39, %13 : i1
        %59 = arith.andi %58, %44 : i1
        %60 = arith.andi %59, %57 : i1
        %61 = scf.if %60 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg6, %41, %56] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %62 = affine.apply #map24(%42)
        %63 = arith.cmpi ult, %62, %c23 : index
        %64 = arith.andi %39, %15 : i1
        %65 = arith.andi %64, %44 : i1
        %66 = arith.andi %65, %63 : i1
        %67 = scf.if %66 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg6, %41, %62] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %68 = vector.from_elements %49, %55, %61, %67 : vector<4xf32>
        vector.store %68, %arg4[%c0, %6, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        %69 = affine.apply #map9(%38)
        %70 = arith.cmpi slt, %69, %c45 : index
        %71 = affine.apply #map21(%24, %arg10)
        %72 = affine.apply #map23(%71)
        %73 = affine.apply #map21(%25, %arg11)
        %74 = affine.apply #map23(%73)
        %75 = arith.cmpi ult, %72, %c29 : index
        %76 = arith.cmpi ult, %74, %c23 : index
        %77 = arith.andi %70, %9 : i1
        %78 = arith.andi %77, %75 : i1
        %79 = arith.andi %78, %76 : i1
        %80 = scf.if %79 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg9, %72, %74] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %81 = affine.apply #map3(%73)
        %82 = arith.cmpi ult, %81, %c23 : index
        %83 = arith.andi %70, %11 : i1
        %84 = arith.andi %83, %75 : i1
        %85 = arith.andi %84, %82 : i1
        %86 = scf.if %85 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg9, %72, %81] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %87 = affine.apply #map5(%73)
        %88 = arith.cmpi ult, %87, %c23 : index
        %89 = arith.andi %70, %13 : i1
        %90 = arith.andi %89, %75 : i1
        %91 = arith.andi %90, %88 : i1
        %92 = scf.if %91 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg9, %72, %87] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %93 = affine.apply #map24(%73)
        %94 = arith.cmpi ult, %93, %c23 : index
        %95 = arith.andi %70, %15 : i1
        %96 = arith.andi %95, %75 : i1
        %97 = arith.andi %96, %94 : i1
        %98 = scf.if %97 -> (f32) {
          %126 = memref.load %arg0[%block_id_z, %arg9, %72, %93] : memref<3x5x29x23xf32>
          scf.yield %126 : f32
        } else {
          scf.yield %cst : f32
        }
        %99 = vector.from_elements %80, %86, %92, %98 : vector<4xf32>
        vector.store %99, %arg4[%c0, %16, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg12 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %126 = affine.apply #map25(%arg13)
            %127 = affine.apply #map26(%26, %arg13)
            %128 = vector.load %arg3[%arg12, %127] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %128, %alloca_1[%126] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %126 = affine.apply #map25(%arg13)
            %127 = affine.apply #map26(%27, %arg13)
            %128 = vector.load %arg4[%c0, %arg12, %127] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %128, %alloca_2[%126] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg13 = %c0 to %c8 step %c1 {
            scf.for %arg14 = %c0 to %c8 step %c1 {
              %126 = memref.load %alloca_1[%arg13] : memref<8xf32>
              %127 = memref.load %alloca_2[%arg14] : memref<8xf32>
              %128 = memref.load %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
              %129 = arith.mulf %127, %126 : f32
              %130 = arith.addf %128, %129 : f32
              memref.store %130, %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %100 = affine.apply #map3(%arg8)
        %101 = arith.cmpi sge, %100, %c3 : index
        %102 = affine.apply #map27(%arg8)
        %103 = arith.select %101, %102, %100 : index
        %104 = affine.apply #map4(%arg7)
        %105 = affine.apply #map5(%arg7)
        %106 = arith.select %101, %105, %104 : index
        %107 = arith.cmpi sge, %106, %c3 : index
        %108 = affine.apply #map28(%106)
        %109 = arith.select %107, %108, %106 : index
        %110 = affine.apply #map3(%arg6)
        %111 = affine.apply #map4(%arg6)
        %112 = arith.select %107, %111, %110 : index
        %113 = affine.apply #map3(%arg11)
        %114 = arith.cmpi sge, %113, %c3 : index
        %115 = affine.apply #map27(%arg11)
        %116 = arith.select %114, %115, %113 : index
        %117 = affine.apply #map4(%arg10)
        %118 = affine.apply #map5(%arg10)
        %119 = arith.select %114, %118, %117 : index
        %120 = arith.cmpi sge, %119, %c3 : index
        %121 = affine.apply #map28(%119)
        %122 = arith.select %120, %121, %119 : index
        %123 = affine.apply #map3(%arg9)
        %124 = affine.apply #map4(%arg9)
        %125 = arith.select %120, %124, %123 : index
        scf.yield %112, %109, %103, %125, %122, %116 : index, index, index, index, index, index
      } {weft.counters = [{below = 7 : i64, name = "c"}, {below = 3 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 8 : i64, name = "c"}, {below = 3 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}]}
      %29 = affine.apply #map29(%block_id_x, %thread_id_x, %1)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %30 = affine.apply #map21(%26, %arg5)
        %31 = arith.cmpi slt, %30, %c39 : index
        scf.if %31 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %32 = affine.apply #map26(%29, %arg6)
            %33 = arith.cmpi slt, %32, %c180 : index
            %34 = affine.apply #map25(%arg6)
            scf.if %33 {
              %35 = vector.load %alloca[%c0, %arg5, %34] : memref<1x8x8xf32>, vector<4xf32>
              vector.store %35, %reinterpret_cast_0[%block_id_z, %30, %32] : memref<3x39x180xf32>, vector<4xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
