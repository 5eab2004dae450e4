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
        %26 = arith.cmpi sge, %23, %c0 : index
        %27 = arith.cmpi slt, %23, %c8 : index
        %28 = arith.andi %26, %27 : i1
        %29 = arith.cmpi sge, %25, %c0 : index
        %30 = arith.andi %28, %29 : i1
        %31 = arith.cmpi slt, %25, %c16 : index
        %32 = arith.andi %30, %31 : i1
        %33 = scf.if %32 -> (vector<4xf32>) {
          %83 = vector.load %arg0[%c0, %23, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %83 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %34 = vector.extract %33[0] : f32 from vector<4xf32>
        memref.store %34, %arg3[%c0, %2, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %35 = vector.extract %33[1] : f32 from vector<4xf32>
        memref.store %35, %arg3[%c0, %4, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %36 = vector.extract %33[2] : f32 from vector<4xf32>
        memref.store %36, %arg3[%c0, %5, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %37 = vector.extract %33[3] : f32 from vector<4xf32>
        memref.store %37, %arg3[%c0, %6, %3] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %38 = affine.apply #map4(%22)
        %39 = arith.cmpi sge, %38, %c0 : index
        %40 = arith.cmpi slt, %38, %c8 : index
        %41 = arith.andi %39, %40 : i1
        %42 = arith.andi %41, %29 : i1
        %43 = arith.andi %42, %31 : i1
        %44 = scf.if %43 -> (vector<4xf32>) {
          %83 = vector.load %arg0[%c0, %38, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %83 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %45 = vector.extract %44[0] : f32 from vector<4xf32>
        memref.store %45, %arg3[%c0, %2, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %46 = vector.extract %44[1] : f32 from vector<4xf32>
        memref.store %46, %arg3[%c0, %4, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %47 = vector.extract %44[2] : f32 from vector<4xf32>
        memref.store %47, %arg3[%c0, %5, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %48 = vector.extract %44[3] : f32 from vector<4xf32>
        memref.store %48, %arg3[%c0, %6, %7] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %49 = affine.apply #map6(%22)
        %50 = arith.cmpi sge, %49, %c0 : index
        %51 = arith.cmpi slt, %49, %c8 : index
        %52 = arith.andi %50, %51 : i1
        %53 = arith.andi %52, %29 : i1
        %54 = arith.andi %53, %31 : i1
        %55 = scf.if %54 -> (vector<4xf32>) {
          %83 = vector.load %arg0[%c0, %49, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %83 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %56 = vector.extract %55[0] : f32 from vector<4xf32>
        memref.store %56, %arg3[%c0, %2, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %57 = vector.extract %55[1] : f32 from vector<4xf32>
        memref.store %57, %arg3[%c0, %4, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %58 = vector.extract %55[2] : f32 from vector<4xf32>
        memref.store %58, %arg3[%c0, %5, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %59 = vector.extract %55[3] : f32 from vector<4xf32>
        memref.store %59, %arg3[%c0, %6, %8] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %60 = affine.apply #map22(%22)
        %61 = arith.cmpi sge, %60, %c0 : index
        %62 = arith.cmpi slt, %60, %c8 : index
        %63 = arith.andi %61, %62 : i1
        %64 = arith.andi %63, %29 : i1
        %65 = arith.andi %64, %31 : i1
        %66 = scf.if %65 -> (vector<4xf32>) {
          %83 = vector.load %arg0[%c0, %60, %25, %21] : memref<1x8x16x64xf32>, vector<4xf32>
          scf.yield %83 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %67 = vector.extract %66[0] : f32 from vector<4xf32>
        memref.store %67, %arg3[%c0, %2, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %68 = vector.extract %66[1] : f32 from vector<4xf32>
        memref.store %68, %arg3[%c0, %4, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %69 = vector.extract %66[2] : f32 from vector<4xf32>
        memref.store %69, %arg3[%c0, %5, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %70 = vector.extract %66[3] : f32 from vector<4xf32>
        memref.store %70, %arg3[%c0, %6, %9] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
        %71 = affine.apply #map20(%17, %arg5)
        scf.for %arg9 = %c0 to %c2 step %c1 {
          %83 = affine.apply #map23(%16, %arg9)
          %84 = affine.apply #map23(%71, %arg9)
          %85 = vector.load %reinterpret_cast[%84, %10] : memref<576x64xf32>, vector<4xf32>
          vector.store %85, %arg4[%c0, %83, %10] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg9 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg10 = %c0 to %c2 step %c1 {
            %83 = affine.apply #map24(%arg10)
            %84 = affine.apply #map25(%18, %arg10)
            %85 = vector.load %arg3[%c0, %arg9, %84] : memref<1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %85, %alloca_1[%83] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg10 = %c0 to %c2 step %c1 {
            %83 = affine.apply #map24(%arg10)
            %84 = affine.apply #map25(%19, %arg10)
            %85 = vector.load %arg4[%c0, %arg9, %84] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %85, %alloca_2[%83] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg10 = %c0 to %c8 step %c1 {
            scf.for %arg11 = %c0 to %c8 step %c1 {
              %83 = memref.load %alloca_1[%arg10] : memref<8xf32>
              %84 = memref.load %alloca_2[%arg11] : memref<8xf32>
              %85 = memref.load %alloca[%c0, %arg10, %arg11] : memref<1x8x8xf32>
              %86 = arith.mulf %83, %84 : f32
              %87 = arith.addf %85, %86 : f32
              memref.store %87, %alloca[%c0, %arg10, %arg11] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %72 = affine.apply #map26(%arg8)
        %73 = arith.cmpi sge, %72, %c64 : index
        %74 = affine.apply #map27(%arg8)
        %75 = arith.select %73, %74, %72 : index
        %76 = affine.apply #map4(%arg7)
        %77 = arith.select %73, %76, %arg7 : index
        %78 = arith.cmpi sge, %77, %c3 : index
        %79 = affine.apply #map28(%77)
        %80 = arith.select %78, %79, %77 : index
        %81 = affine.apply #map4(%arg6)
        %82 = arith.select %78, %81, %arg6 : index
        scf.yield %82, %80, %75 : index, index, index
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
