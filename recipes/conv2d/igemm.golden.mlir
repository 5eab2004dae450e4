// weft golden igemm.weft
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0) -> (d0 + 1)>
#map5 = affine_map<(d0) -> (d0 + 2)>
#map6 = affine_map<(d0) -> (d0 + 3)>
#map7 = affine_map<(d0) -> (d0 + 32)>
#map8 = affine_map<(d0) -> (d0 + 64)>
#map9 = affine_map<(d0) -> (d0 + 96)>
#map10 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map11 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16)>
#map12 = affine_map<(d0) -> ((d0 floordiv 4) mod 16)>
#map13 = affine_map<(d0) -> (d0 floordiv 16)>
#map14 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map15 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map16 = affine_map<(d0, d1) -> (d0 + d1)>
#map17 = affine_map<(d0) -> (d0 - 1)>
#map18 = affine_map<(d0) -> (d0 + 5)>
#map19 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map20 = affine_map<(d0) -> (d0 * 4)>
#map21 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map22 = affine_map<(d0) -> (d0 - 2)>
#map23 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<1x16x16x32xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c2, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x16x16x16xf32>, %arg1 : memref<3x3x16x32xf32>, %arg2 : memref<1x16x16x32xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<1x16x16x32xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 2, 1>} {
      %c3 = arith.constant 3 : index
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_y = gpu.block_id y
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [144, 32], strides: [32, 1] : memref<3x3x16x32xf32> to memref<144x32xf32>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [256, 32], strides: [32, 1] : memref<1x16x16x32xf32> to memref<256x32xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca[%arg5, %arg6] : memref<8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%thread_id_x)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%2)
      %7 = affine.apply #map7(%3)
      %8 = affine.apply #map8(%3)
      %9 = affine.apply #map9(%3)
      %10 = affine.apply #map10(%thread_id_x)
      %11 = arith.cmpi slt, %10, %c32 : index
      %12 = affine.apply #map11(%block_id_y, %thread_id_x)
      %13 = affine.apply #map12(%thread_id_x)
      %14 = affine.apply #map13(%thread_id_x)
      %15 = affine.apply #map14(%1, %0)
      %16 = affine.apply #map15(%thread_id_x, %1)
      %17:2 = scf.for %arg5 = %c0 to %c144 step %c16 iter_args(%arg6 = %c0, %arg7 = %c0) -> (index, index) {
        %19 = affine.apply #map16(%12, %arg6)
        %20 = affine.apply #map17(%19)
        %21 = affine.apply #map16(%13, %arg7)
        %22 = affine.apply #map17(%21)
        %23 = arith.cmpi sge, %20, %c0 : index
        %24 = arith.cmpi slt, %20, %c16 : index
        %25 = arith.andi %23, %24 : i1
        %26 = arith.cmpi sge, %22, %c0 : index
        %27 = arith.andi %25, %26 : i1
        %28 = arith.cmpi slt, %22, %c16 : index
        %29 = arith.andi %27, %28 : i1
        %30 = scf.if %29 -> (vector<4xf32>) {
          %75 = vector.load %arg0[%c0, %20, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %75 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %31 = vector.extract %30[0] : f32 from vector<4xf32>
        memref.store %31, %arg3[%2, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %32 = vector.extract %30[1] : f32 from vector<4xf32>
        memref.store %32, %arg3[%4, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %33 = vector.extract %30[2] : f32 from vector<4xf32>
        memref.store %33, %arg3[%5, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %34 = vector.extract %30[3] : f32 from vector<4xf32>
        memref.store %34, %arg3[%6, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %35 = affine.apply #map4(%19)
        %36 = arith.cmpi sge, %35, %c0 : index
        %37 = arith.cmpi slt, %35, %c16 : index
        %38 = arith.andi %36, %37 : i1
        %39 = arith.andi %38, %26 : i1
        %40 = arith.andi %39, %28 : i1
        %41 = scf.if %40 -> (vector<4xf32>) {
          %75 = vector.load %arg0[%c0, %35, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %75 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %42 = vector.extract %41[0] : f32 from vector<4xf32>
        memref.store %42, %arg3[%2, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %43 = vector.extract %41[1] : f32 from vector<4xf32>
        memref.store %43, %arg3[%4, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %44 = vector.extract %41[2] : f32 from vector<4xf32>
        memref.store %44, %arg3[%5, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %45 = vector.extract %41[3] : f32 from vector<4xf32>
        memref.store %45, %arg3[%6, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %46 = affine.apply #map6(%19)
        %47 = arith.cmpi sge, %46, %c0 : index
        %48 = arith.cmpi slt, %46, %c16 : index
        %49 = arith.andi %47, %48 : i1
        %50 = arith.andi %49, %26 : i1
        %51 = arith.andi %50, %28 : i1
        %52 = scf.if %51 -> (vector<4xf32>) {
          %75 = vector.load %arg0[%c0, %46, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %75 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %53 = vector.extract %52[0] : f32 from vector<4xf32>
        memref.store %53, %arg3[%2, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %54 = vector.extract %52[1] : f32 from vector<4xf32>
        memref.store %54, %arg3[%4, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %55 = vector.extract %52[2] : f32 from vector<4xf32>
        memref.store %55, %arg3[%5, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %56 = vector.extract %52[3] : f32 from vector<4xf32>
        memref.store %56, %arg3[%6, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %57 = affine.apply #map18(%19)
        %58 = arith.cmpi sge, %57, %c0 : index
        %59 = arith.cmpi slt, %57, %c16 : index
        %60 = arith.andi %58, %59 : i1
        %61 = arith.andi %60, %26 : i1
        %62 = arith.andi %61, %28 : i1
        %63 = scf.if %62 -> (vector<4xf32>) {
          %75 = vector.load %arg0[%c0, %57, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %75 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %64 = vector.extract %63[0] : f32 from vector<4xf32>
        memref.store %64, %arg3[%2, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %65 = vector.extract %63[1] : f32 from vector<4xf32>
        memref.store %65, %arg3[%4, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %66 = vector.extract %63[2] : f32 from vector<4xf32>
        memref.store %66, %arg3[%5, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %67 = vector.extract %63[3] : f32 from vector<4xf32>
        memref.store %67, %arg3[%6, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %68 = affine.apply #map16(%14, %arg5)
        scf.for %arg8 = %c0 to %c2 step %c1 {
          %75 = affine.apply #map19(%14, %arg8)
          %76 = affine.apply #map19(%68, %arg8)
          %77 = scf.if %11 -> (vector<4xf32>) {
            %78 = vector.load %reinterpret_cast[%76, %10] : memref<144x32xf32>, vector<4xf32>
            scf.yield %78 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          vector.store %77, %arg4[%75, %10] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg8 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %75 = affine.apply #map20(%arg9)
            %76 = affine.apply #map21(%15, %arg9)
            %77 = vector.load %arg3[%arg8, %76] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %77, %alloca_2[%75] : memref<8xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %75 = affine.apply #map20(%arg9)
            %76 = affine.apply #map21(%16, %arg9)
            %77 = vector.load %arg4[%arg8, %76] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %77, %alloca_3[%75] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %75 = memref.load %alloca_2[%arg9] : memref<8xf32>
              %76 = memref.load %alloca_3[%arg10] : memref<8xf32>
              %77 = memref.load %alloca[%arg9, %arg10] : memref<8x8xf32>
              %78 = arith.mulf %75, %76 : f32
              %79 = arith.addf %77, %78 : f32
              memref.store %79, %alloca[%arg9, %arg10] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %69 = affine.apply #map4(%arg7)
        %70 = arith.cmpi sge, %69, %c3 : index
        %71 = affine.apply #map22(%arg7)
        %72 = arith.select %70, %71, %69 : index
        %73 = affine.apply #map4(%arg6)
        %74 = arith.select %70, %73, %arg6 : index
        scf.yield %74, %72 : index, index
      } {weft.counters = [{below = 4 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}]}
      %18 = affine.apply #map23(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %19 = affine.apply #map16(%18, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %20 = affine.apply #map21(%16, %arg6)
          %21 = arith.cmpi slt, %20, %c32 : index
          %22 = affine.apply #map20(%arg6)
          scf.if %21 {
            %23 = vector.load %alloca[%arg5, %22] : memref<8x8xf32>, vector<4xf32>
            vector.store %23, %reinterpret_cast_1[%19, %20] : memref<256x32xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
