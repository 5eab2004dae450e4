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
          %146 = affine.apply #map22(%23, %arg12)
          %147 = arith.cmpi slt, %146, %c39 : index
          %148 = arith.andi %31, %147 : i1
          %149 = scf.if %148 -> (f32) {
            %156 = memref.load %reinterpret_cast[%146, %30] : memref<39x45xf32>
            scf.yield %156 : f32
          } else {
            scf.yield %cst : f32
          }
          %150 = arith.andi %33, %147 : i1
          %151 = scf.if %150 -> (f32) {
            %156 = memref.load %reinterpret_cast[%146, %32] : memref<39x45xf32>
            scf.yield %156 : f32
          } else {
            scf.yield %cst : f32
          }
          %152 = arith.andi %35, %147 : i1
          %153 = scf.if %152 -> (f32) {
            %156 = memref.load %reinterpret_cast[%146, %34] : memref<39x45xf32>
            scf.yield %156 : f32
          } else {
            scf.yield %cst : f32
          }
          %154 = arith.andi %37, %147 : i1
          %155 = scf.if %154 -> (f32) {
            %156 = memref.load %reinterpret_cast[%146, %36] : memref<39x45xf32>
            scf.yield %156 : f32
          } else {
            scf.yield %cst : f32
          }
          memref.store %149, %arg3[%2, %146] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %151, %arg3[%3, %146] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %153, %arg3[%4, %146] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %155, %arg3[%5, %146] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %38 = affine.apply #map21(%6, %arg5)
        %39 = arith.cmpi slt, %38, %c45 : index
        %40 = affine.apply #map21(%24, %arg7)
        %41 = affine.apply #map23(%40)
        %42 = affine.apply #map21(%25, %arg8)
        %43 = affine.apply #map23(%42)
        %44 = arith.cmpi sge, %41, %c0 : index
        %45 = arith.cmpi slt, %41, %c29 : index
        %46 = arith.andi %44, %45 : i1
        %47 = arith.cmpi sge, %43, %c0 : index
        %48 = arith.andi %46, %47 : i1
        %49 = arith.cmpi slt, %43, %c23 : index
        %50 = arith.andi %48, %49 : i1
        %51 = arith.andi %9, %50 : i1
        %52 = arith.andi %39, %51 : i1
        %53 = scf.if %52 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg6, %41, %43] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %54 = affine.apply #map3(%42)
        %55 = arith.cmpi sge, %54, %c0 : index
        %56 = arith.andi %46, %55 : i1
        %57 = arith.cmpi slt, %54, %c23 : index
        %58 = arith.andi %56, %57 : i1
        %59 = arith.andi %11, %58 : i1
        %60 = arith.andi %39, %59 : i1
        %61 = scf.if %60 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg6, %41, %54] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %62 = affine.apply #map5(%42)
        %63 = arith.cmpi sge, %62, %c0 : index
        %64 = arith.andi %46, %63 : i1
        %65 = arith.cmpi slt, %62, %c23 : index
        %66 = arith.andi %64, %65 : i1
        %67 = arith.andi %13, %66 : i1
        %68 = arith.andi %39, %67 : i1
        %69 = scf.if %68 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg6, %41, %62] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %70 = affine.apply #map24(%42)
        %71 = arith.cmpi sge, %70, %c0 : index
        %72 = arith.andi %46, %71 : i1
        %73 = arith.cmpi slt, %70, %c23 : index
        %74 = arith.andi %72, %73 : i1
        %75 = arith.andi %15, %74 : i1
        %76 = arith.andi %39, %75 : i1
        %77 = scf.if %76 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg6, %41, %70] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %78 = vector.from_elements %53, %61, %69, %77 : vector<4xf32>
        vector.store %78, %arg4[%c0, %6, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        %79 = affine.apply #map9(%38)
        %80 = arith.cmpi slt, %79, %c45 : index
        %81 = affine.apply #map21(%24, %arg10)
        %82 = affine.apply #map23(%81)
        %83 = affine.apply #map21(%25, %arg11)
        %84 = affine.apply #map23(%83)
        %85 = arith.cmpi sge, %82, %c0 : index
        %86 = arith.cmpi slt, %82, %c29 : index
        %87 = arith.andi %85, %86 : i1
        %88 = arith.cmpi sge, %84, %c0 : index
        %89 = arith.andi %87, %88 : i1
        %90 = arith.cmpi slt, %84, %c23 : index
        %91 = arith.andi %89, %90 : i1
        %92 = arith.andi %9, %91 : i1
        %93 = arith.andi %80, %92 : i1
        %94 = scf.if %93 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg9, %82, %84] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %95 = affine.apply #map3(%83)
        %96 = arith.cmpi sge, %95, %c0 : index
        %97 = arith.andi %87, %96 : i1
        %98 = arith.cmpi slt, %95, %c23 : index
        %99 = arith.andi %97, %98 : i1
        %100 = arith.andi %11, %99 : i1
        %101 = arith.andi %80, %100 : i1
        %102 = scf.if %101 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg9, %82, %95] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %103 = affine.apply #map5(%83)
        %104 = arith.cmpi sge, %103, %c0 : index
        %105 = arith.andi %87, %104 : i1
        %106 = arith.cmpi slt, %103, %c23 : index
        %107 = arith.andi %105, %106 : i1
        %108 = arith.andi %13, %107 : i1
        %109 = arith.andi %80, %108 : i1
        %110 = scf.if %109 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg9, %82, %103] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %111 = affine.apply #map24(%83)
        %112 = arith.cmpi sge, %111, %c0 : index
        %113 = arith.andi %87, %112 : i1
        %114 = arith.cmpi slt, %111, %c23 : index
        %115 = arith.andi %113, %114 : i1
        %116 = arith.andi %15, %115 : i1
        %117 = arith.andi %80, %116 : i1
        %118 = scf.if %117 -> (f32) {
          %146 = memref.load %arg0[%block_id_z, %arg9, %82, %111] : memref<3x5x29x23xf32>
          scf.yield %146 : f32
        } else {
          scf.yield %cst : f32
        }
        %119 = vector.from_elements %94, %102, %110, %118 : vector<4xf32>
        vector.store %119, %arg4[%c0, %16, %7] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg12 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %146 = affine.apply #map25(%arg13)
            %147 = affine.apply #map26(%26, %arg13)
            %148 = vector.load %arg3[%arg12, %147] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %148, %alloca_1[%146] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg13 = %c0 to %c2 step %c1 {
            %146 = affine.apply #map25(%arg13)
            %147 = affine.apply #map26(%27, %arg13)
            %148 = vector.load %arg4[%c0, %arg12, %147] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %148, %alloca_2[%146] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg13 = %c0 to %c8 step %c1 {
            scf.for %arg14 = %c0 to %c8 step %c1 {
              %146 = memref.load %alloca_1[%arg13] : memref<8xf32>
              %147 = memref.load %alloca_2[%arg14] : memref<8xf32>
              %148 = memref.load %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
              %149 = arith.mulf %147, %146 : f32
              %150 = arith.addf %148, %149 : f32
              memref.store %150, %alloca[%c0, %arg13, %arg14] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %120 = affine.apply #map3(%arg8)
        %121 = arith.cmpi sge, %120, %c3 : index
        %122 = affine.apply #map27(%arg8)
        %123 = arith.select %121, %122, %120 : index
        %124 = affine.apply #map4(%arg7)
        %125 = affine.apply #map5(%arg7)
        %126 = arith.select %121, %125, %124 : index
        %127 = arith.cmpi sge, %126, %c3 : index
        %128 = affine.apply #map28(%126)
        %129 = arith.select %127, %128, %126 : index
        %130 = affine.apply #map3(%arg6)
        %131 = affine.apply #map4(%arg6)
        %132 = arith.select %127, %131, %130 : index
        %133 = affine.apply #map3(%arg11)
        %134 = arith.cmpi sge, %133, %c3 : index
        %135 = affine.apply #map27(%arg11)
        %136 = arith.select %134, %135, %133 : index
        %137 = affine.apply #map4(%arg10)
        %138 = affine.apply #map5(%arg10)
        %139 = arith.select %134, %138, %137 : index
        %140 = arith.cmpi sge, %139, %c3 : index
        %141 = affine.apply #map28(%139)
        %142 = arith.select %140, %141, %139 : index
        %143 = affine.apply #map3(%arg9)
        %144 = affine.apply #map4(%arg9)
        %145 = arith.select %140, %144, %143 : index
        scf.yield %132, %129, %123, %145, %142, %136 : index, index, index, index, index, index
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
