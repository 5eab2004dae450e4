// weft golden igemm_split_k.weft
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
#map11 = affine_map<(d0) -> ((d0 * 3) floordiv 4)>
#map12 = affine_map<(d0) -> (((d0 * 3) floordiv 4) * -3 + (d0 * 9) floordiv 4)>
#map13 = affine_map<(d0) -> (((d0 * 9) mod 4) * 16)>
#map14 = affine_map<(d0) -> ((d0 floordiv 4) floordiv 16)>
#map15 = affine_map<(d0) -> ((d0 floordiv 4) mod 16)>
#map16 = affine_map<(d0) -> (d0 floordiv 16)>
#map17 = affine_map<(d0, d1) -> (d0 * 144 + d1 floordiv 16)>
#map18 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map19 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map20 = affine_map<(d0, d1) -> (d0 + d1)>
#map21 = affine_map<(d0) -> (d0 - 1)>
#map22 = affine_map<(d0) -> (d0 + 5)>
#map23 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map24 = affine_map<(d0) -> (d0 * 4)>
#map25 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map26 = affine_map<(d0) -> (d0 + 16)>
#map27 = affine_map<(d0) -> (d0 - 48)>
#map28 = affine_map<(d0) -> (d0 - 3)>
#map29 = affine_map<(d0, d1) -> (d0 * 4 + d1 floordiv 64)>
#map30 = affine_map<(d0) -> (d0 mod 64)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<1x8x16x64xf32> {weft.name = "X"}, %arg1: memref<3x3x64x64xf32> {weft.name = "W"}, %arg2: memref<1x8x16x64xf32> {bufferize.result, weft.name = "Y"}) {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<4x128x64xf32>
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c1, %c4) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x8x16x64xf32>, %arg1 : memref<3x3x64x64xf32>, %alloc : memref<4x128x64xf32>)
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @conv2d_1_kernel::@conv2d_1 blocks in (%c32, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<1x8x16x64xf32>, %alloc : memref<4x128x64xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<1x8x16x64xf32> {weft.name = "X"}, %arg1: memref<3x3x64x64xf32> {weft.name = "W"}, %arg2: memref<4x128x64xf32>) workgroup(%arg3 : memref<1x16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<1x16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 4>} {
      %c64 = arith.constant 64 : index
      %c3 = arith.constant 3 : index
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_z = gpu.block_id z
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [576, 64], strides: [64, 1] : memref<3x3x64x64xf32> to memref<576x64xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
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
      %11 = affine.apply #map11(%block_id_z)
      %12 = affine.apply #map12(%block_id_z)
      %13 = affine.apply #map13(%block_id_z)
      %14 = affine.apply #map14(%thread_id_x)
      %15 = affine.apply #map15(%thread_id_x)
      %16 = affine.apply #map16(%thread_id_x)
      %17 = affine.apply #map17(%block_id_z, %thread_id_x)
      %18 = affine.apply #map18(%1, %0)
      %19 = affine.apply #map19(%thread_id_x, %1)
      %20:3 = scf.for %arg5 = %c0 to %c144 step %c16 iter_args(%arg6 = %11, %arg7 = %12, %arg8 = %13) -> (index, index, index) {
        %21 = affine.apply #map20(%2, %arg8)
        %22 = affine.apply #map20(%14, %arg6)
        %23 = affine.apply #map21(%22)
        %24 = affine.apply #map20(%15, %arg7)
        %25 = affine.apply #map21(%24)
        %26 = arith.cmpi ult, %23, %c8 : index
        %27 = arith.cmpi ult, %25, %c16 : index
        %28 = arith.andi %26, %27 : i1
        %29 = scf.if %28 -> (vector<4xf32>) {
          %70 = vector.load %arg0[%c0, %23, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %70 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %30 = vector.extract %29[0] : f32 from vector<4xf32>
        memref.store %30, %arg3[%c0, %2, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %31 = vector.extract %29[1] : f32 from vector<4xf32>
        memref.store %31, %arg3[%c0, %4, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %32 = vector.extract %29[2] : f32 from vector<4xf32>
        memref.store %32, %arg3[%c0, %5, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %33 = vector.extract %29[3] : f32 from vector<4xf32>
        memref.store %33, %arg3[%c0, %6, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %34 = affine.apply #map4(%22)
        %35 = arith.cmpi ult, %34, %c8 : index
        %36 = arith.andi %35, %27 : i1
        %37 = scf.if %36 -> (vector<4xf32>) {
          %70 = vector.load %arg0[%c0, %34, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %70 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %38 = vector.extract %37[0] : f32 from vector<4xf32>
        memref.store %38, %arg3[%c0, %2, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %39 = vector.extract %37[1] : f32 from vector<4xf32>
        memref.store %39, %arg3[%c0, %4, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %40 = vector.extract %37[2] : f32 from vector<4xf32>
        memref.store %40, %arg3[%c0, %5, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %41 = vector.extract %37[3] : f32 from vector<4xf32>
        memref.store %41, %arg3[%c0, %6, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %42 = affine.apply #map6(%22)
        %43 = arith.cmpi ult, %42, %c8 : index
        %44 = arith.andi %43, %27 : i1
        %45 = scf.if %44 -> (vector<4xf32>) {
          %70 = vector.load %arg0[%c0, %42, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %70 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %46 = vector.extract %45[0] : f32 from vector<4xf32>
        memref.store %46, %arg3[%c0, %2, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %47 = vector.extract %45[1] : f32 from vector<4xf32>
        memref.store %47, %arg3[%c0, %4, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %48 = vector.extract %45[2] : f32 from vector<4xf32>
        memref.store %48, %arg3[%c0, %5, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %49 = vector.extract %45[3] : f32 from vector<4xf32>
        memref.store %49, %arg3[%c0, %6, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %50 = affine.apply #map22(%22)
        %51 = arith.cmpi ult, %50, %c8 : index
        %52 = arith.andi %51, %27 : i1
        %53 = scf.if %52 -> (vector<4xf32>) {
          %70 = vector.load %arg0[%c0, %50, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %70 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %54 = vector.extract %53[0] : f32 from vector<4xf32>
        memref.store %54, %arg3[%c0, %2, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %55 = vector.extract %53[1] : f32 from vector<4xf32>
        memref.store %55, %arg3[%c0, %4, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %56 = vector.extract %53[2] : f32 from vector<4xf32>
        memref.store %56, %arg3[%c0, %5, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %57 = vector.extract %53[3] : f32 from vector<4xf32>
        memref.store %57, %arg3[%c0, %6, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %58 = affine.apply #map20(%17, %arg5)
        scf.for %arg9 = %c0 to %c2 step %c1 {
          %70 = affine.apply #map23(%16, %arg9)
          %71 = affine.apply #map23(%58, %arg9)
          %72 = vector.load %reinterpret_cast[%71, %10] : memref<576x64xf32>, vector<4xf32>
          vector.store %72, %arg4[%c0, %70, %10] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg9 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg10 = %c0 to %c2 step %c1 {
            %70 = affine.apply #map24(%arg10)
            %71 = affine.apply #map25(%18, %arg10)
            %72 = vector.load %arg3[%c0, %arg9, %71] : memref<1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %72, %alloca_1[%70] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg10 = %c0 to %c2 step %c1 {
            %70 = affine.apply #map24(%arg10)
            %71 = affine.apply #map25(%19, %arg10)
            %72 = vector.load %arg4[%c0, %arg9, %71] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %72, %alloca_2[%70] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg10 = %c0 to %c8 step %c1 {
            scf.for %arg11 = %c0 to %c8 step %c1 {
              %70 = memref.load %alloca_1[%arg10] : memref<8xf32>
              %71 = memref.load %alloca_2[%arg11] : memref<8xf32>
              %72 = memref.load %alloca[%c0, %arg10, %arg11] : memref<1x8x8xf32>
              %73 = arith.mulf %70, %71 : f32
              %74 = arith.addf %72, %73 : f32
              memref.store %74, %alloca[%c0, %arg10, %arg11] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %59 = affine.apply #map26(%arg8)
        %60 = arith.cmpi sge, %59, %c64 : index
        %61 = affine.apply #map27(%arg8)
        %62 = arith.select %60, %61, %59 : index
        %63 = affine.apply #map4(%arg7)
        %64 = arith.select %60, %63, %arg7 : index
        %65 = arith.cmpi sge, %64, %c3 : index
        %66 = affine.apply #map28(%64)
        %67 = arith.select %65, %66, %64 : index
        %68 = affine.apply #map4(%arg6)
        %69 = arith.select %65, %68, %arg6 : index
        scf.yield %69, %67, %62 : index, index, index
      } {weft.counters = [{below = 4 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 64 : i64, multiple = 16 : i64, name = "c"}]}
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %21 = affine.apply #map20(%18, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %22 = affine.apply #map24(%arg6)
          %23 = vector.load %alloca[%c0, %arg5, %22] : memref<1x8x8xf32>, vector<4xf32>
          %24 = affine.apply #map25(%19, %arg6)
          vector.store %23, %arg2[%block_id_z, %21, %24] : memref<4x128x64xf32>, vector<4xf32>
        }
      }
      gpu.return
    }
  }
  gpu.module @conv2d_1_kernel {
    gpu.func @conv2d_1(%arg0: memref<1x8x16x64xf32> {weft.name = "Y"}, %arg1: memref<4x128x64xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [128, 64], strides: [64, 1] : memref<1x8x16x64xf32> to memref<128x64xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = affine.apply #map29(%block_id_x, %thread_id_x)
      %1 = affine.apply #map30(%thread_id_x)
      scf.for %arg2 = %c0 to %c4 step %c1 {
        %3 = memref.load %arg1[%arg2, %0, %1] : memref<4x128x64xf32>
        %4 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        %5 = arith.addf %4, %3 : f32
        memref.store %5, %alloca[%c0, %c0] : memref<1x1xf32>
      } {weft.unroll}
      %2 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
      memref.store %2, %reinterpret_cast[%0, %1] : memref<128x64xf32>
      gpu.return
    }
  }
}
