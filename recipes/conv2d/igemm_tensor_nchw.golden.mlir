// weft golden igemm_tensor_nchw.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map5 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map7 = affine_map<(d0) -> (d0 floordiv 16)>
#map8 = affine_map<(d0, d1) -> (d0 * 8 - (d1 floordiv 16) * 8 + d1 floordiv 2)>
#map9 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map10 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map12 = affine_map<(d0, d1) -> ((d0 * 16 + d1 floordiv 16) floordiv 9)>
#map13 = affine_map<(d0, d1, d2) -> (d0 + ((d1 * 16 + d2 floordiv 16) mod 9) floordiv 3)>
#map14 = affine_map<(d0) -> (d0 - 1)>
#map15 = affine_map<(d0, d1, d2) -> (d0 + (d1 * 16 + d2 floordiv 16) mod 3)>
#map16 = affine_map<(d0) -> (d0 + 1)>
#map17 = affine_map<(d0) -> (d0 + 2)>
#map18 = affine_map<(d0) -> (d0 + 3)>
#map19 = affine_map<(d0) -> (d0 + 4)>
#map20 = affine_map<(d0) -> (d0 + 5)>
#map21 = affine_map<(d0) -> (d0 + 6)>
#map22 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map23 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 4) * 64)>
#map24 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map25 = affine_map<(d0) -> (d0 mod 16)>
#map26 = affine_map<(d0) -> ((d0 mod 4) * 32)>
#map27 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map28 = affine_map<(d0) -> (d0 + 32)>
#map29 = affine_map<(d0, d1) -> (d0 + d1)>
#map30 = affine_map<(d0) -> (d0 * 8)>
#map31 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 16 + d2 floordiv 16 + 32) floordiv 9)>
#map32 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 16 + d3 floordiv 16 + 32) mod 9) floordiv 3)>
#map33 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 16 + d3 floordiv 16 + 32) mod 3)>
#map34 = affine_map<(d0) -> ((d0 floordiv 32) mod 2)>
#map35 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map36 = affine_map<(d0) -> ((d0 floordiv 32 + 1) mod 2)>
#map37 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 4) * 64)>
#map38 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 4) * 32)>
module attributes {gpu.container_module} {
  func.func @conv2d_nchw(%arg0: memref<1x16x16x16xbf16> {weft.name = "X"}, %arg1: memref<32x16x3x3xbf16> {weft.name = "W"}, %arg2: memref<1x32x16x16xf32> {bufferize.result, weft.name = "Y"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @conv2d_nchw_kernel::@conv2d_nchw blocks in (%c2, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1x16x16x16xbf16>, %arg1 : memref<32x16x3x3xbf16>, %arg2 : memref<1x32x16x16xf32>)
    return
  }
  gpu.module @conv2d_nchw_kernel {
    gpu.func @conv2d_nchw(%arg0: memref<1x16x16x16xbf16> {weft.name = "X"}, %arg1: memref<32x16x3x3xbf16> {weft.name = "W"}, %arg2: memref<1x32x16x16xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<2x128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "W_shared"}, %arg4 : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "X_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %cst = arith.constant dense<0.000000e+00> : vector<8xbf16>
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c32 = arith.constant 32 : index
      %c160 = arith.constant 160 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : bf16
      %cst_1 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [32, 144], strides: [144, 1] : memref<32x16x3x3xbf16> to memref<32x144xbf16>
      %reinterpret_cast_2 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [1, 32, 256], strides: [8192, 256, 1] : memref<1x32x16x16xf32> to memref<1x32x256xf32>
      %alloca = memref.alloca() {weft.name = "W_next"} : memref<16xbf16>
      %alloca_3 = memref.alloca() {weft.name = "X_next"} : memref<16xbf16>
      %alloca_4 = memref.alloca() {weft.name = "acc"} : memref<4x4x2x1x1x1x2xf32>
      scf.for %arg5 = %c0 to %c4 step %c1 {
        scf.for %arg6 = %c0 to %c4 step %c1 {
          scf.for %arg7 = %c0 to %c2 step %c1 {
            scf.for %arg8 = %c0 to %c2 step %c1 {
              memref.store %cst_1, %alloca_4[%arg5, %arg6, %arg7, %c0, %c0, %c0, %arg8] : memref<4x4x2x1x1x1x2xf32>
            }
          }
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = arith.cmpi slt, %2, %c144 : index
      %4 = affine.apply #map3(%thread_id_x)
      %5 = affine.apply #map4(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %19 = affine.apply #map5(%4, %arg5)
        %20 = arith.cmpi slt, %19, %c32 : index
        %21 = arith.andi %3, %20 : i1
        %22 = scf.if %21 -> (vector<8xbf16>) {
          %24 = vector.load %reinterpret_cast[%19, %2] : memref<32x144xbf16>, vector<8xbf16>
          scf.yield %24 : vector<8xbf16>
        } else {
          scf.yield %cst : vector<8xbf16>
        }
        %23 = arith.xori %2, %5 : index
        vector.store %22, %arg3[%c0, %19, %23] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      %8 = affine.apply #map8(%block_id_x, %thread_id_x)
      %9 = affine.apply #map9(%thread_id_x)
      %10 = affine.apply #map10(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %19 = affine.apply #map11(%7, %arg5)
        %20 = arith.cmpi slt, %19, %c144 : index
        %21 = affine.apply #map12(%arg5, %thread_id_x)
        %22 = affine.apply #map13(%8, %arg5, %thread_id_x)
        %23 = affine.apply #map14(%22)
        %24 = affine.apply #map15(%9, %arg5, %thread_id_x)
        %25 = affine.apply #map14(%24)
        %26 = arith.cmpi ult, %23, %c16 : index
        %27 = arith.cmpi ult, %25, %c16 : index
        %28 = arith.andi %26, %27 : i1
        %29 = arith.andi %20, %28 : i1
        %30 = scf.if %29 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %25] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %31 = arith.cmpi ult, %24, %c16 : index
        %32 = arith.andi %26, %31 : i1
        %33 = arith.andi %20, %32 : i1
        %34 = scf.if %33 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %24] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %35 = affine.apply #map16(%24)
        %36 = arith.cmpi ult, %35, %c16 : index
        %37 = arith.andi %26, %36 : i1
        %38 = arith.andi %20, %37 : i1
        %39 = scf.if %38 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %35] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %40 = affine.apply #map17(%24)
        %41 = arith.cmpi ult, %40, %c16 : index
        %42 = arith.andi %26, %41 : i1
        %43 = arith.andi %20, %42 : i1
        %44 = scf.if %43 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %40] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %45 = affine.apply #map18(%24)
        %46 = arith.cmpi ult, %45, %c16 : index
        %47 = arith.andi %26, %46 : i1
        %48 = arith.andi %20, %47 : i1
        %49 = scf.if %48 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %45] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %50 = affine.apply #map19(%24)
        %51 = arith.cmpi ult, %50, %c16 : index
        %52 = arith.andi %26, %51 : i1
        %53 = arith.andi %20, %52 : i1
        %54 = scf.if %53 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %50] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %55 = affine.apply #map20(%24)
        %56 = arith.cmpi ult, %55, %c16 : index
        %57 = arith.andi %26, %56 : i1
        %58 = arith.andi %20, %57 : i1
        %59 = scf.if %58 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %55] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %60 = affine.apply #map21(%24)
        %61 = arith.cmpi ult, %60, %c16 : index
        %62 = arith.andi %26, %61 : i1
        %63 = arith.andi %20, %62 : i1
        %64 = scf.if %63 -> (bf16) {
          %67 = memref.load %arg0[%c0, %21, %23, %60] : memref<1x16x16x16xbf16>
          scf.yield %67 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %65 = vector.from_elements %30, %34, %39, %44, %49, %54, %59, %64 : vector<8xbf16>
        %66 = arith.xori %6, %10 : index
        vector.store %65, %arg4[%c0, %c0, %19, %66] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %11 = affine.apply #map22(%1)
      %12 = affine.apply #map23(%thread_id_x, %0)
      %13 = affine.apply #map24(%thread_id_x)
      %14 = affine.apply #map25(%thread_id_x)
      %15 = affine.apply #map26(%0)
      %16 = affine.apply #map27(%thread_id_x)
      scf.for %arg5 = %c0 to %c160 step %c32 {
        %19 = affine.apply #map28(%arg5)
        %20 = arith.cmpi slt, %19, %c160 : index
        %21 = affine.apply #map29(%2, %arg5)
        %22 = affine.apply #map28(%21)
        %23 = affine.apply #map29(%7, %arg5)
        scf.if %20 {
          %26 = arith.cmpi slt, %22, %c144 : index
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %27 = affine.apply #map30(%arg6)
            %28 = affine.apply #map5(%4, %arg6)
            %29 = arith.cmpi slt, %28, %c32 : index
            %30 = arith.andi %26, %29 : i1
            %31 = scf.if %30 -> (vector<8xbf16>) {
              %32 = vector.load %reinterpret_cast[%28, %22] : memref<32x144xbf16>, vector<8xbf16>
              scf.yield %32 : vector<8xbf16>
            } else {
              scf.yield %cst : vector<8xbf16>
            }
            vector.store %31, %alloca[%27] : memref<16xbf16>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %27 = affine.apply #map30(%arg6)
            %28 = affine.apply #map11(%23, %arg6)
            %29 = affine.apply #map28(%28)
            %30 = arith.cmpi slt, %29, %c144 : index
            %31 = affine.apply #map31(%arg5, %arg6, %thread_id_x)
            %32 = affine.apply #map32(%8, %arg5, %arg6, %thread_id_x)
            %33 = affine.apply #map14(%32)
            %34 = affine.apply #map33(%9, %arg5, %arg6, %thread_id_x)
            %35 = affine.apply #map14(%34)
            %36 = arith.cmpi ult, %33, %c16 : index
            %37 = arith.cmpi ult, %35, %c16 : index
            %38 = arith.andi %36, %37 : i1
            %39 = arith.andi %30, %38 : i1
            %40 = scf.if %39 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %35] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %41 = arith.cmpi ult, %34, %c16 : index
            %42 = arith.andi %36, %41 : i1
            %43 = arith.andi %30, %42 : i1
            %44 = scf.if %43 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %34] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %45 = affine.apply #map16(%34)
            %46 = arith.cmpi ult, %45, %c16 : index
            %47 = arith.andi %36, %46 : i1
            %48 = arith.andi %30, %47 : i1
            %49 = scf.if %48 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %45] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %50 = affine.apply #map17(%34)
            %51 = arith.cmpi ult, %50, %c16 : index
            %52 = arith.andi %36, %51 : i1
            %53 = arith.andi %30, %52 : i1
            %54 = scf.if %53 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %50] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %55 = affine.apply #map18(%34)
            %56 = arith.cmpi ult, %55, %c16 : index
            %57 = arith.andi %36, %56 : i1
            %58 = arith.andi %30, %57 : i1
            %59 = scf.if %58 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %55] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %60 = affine.apply #map19(%34)
            %61 = arith.cmpi ult, %60, %c16 : index
            %62 = arith.andi %36, %61 : i1
            %63 = arith.andi %30, %62 : i1
            %64 = scf.if %63 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %60] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %65 = affine.apply #map20(%34)
            %66 = arith.cmpi ult, %65, %c16 : index
            %67 = arith.andi %36, %66 : i1
            %68 = arith.andi %30, %67 : i1
            %69 = scf.if %68 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %65] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %70 = affine.apply #map21(%34)
            %71 = arith.cmpi ult, %70, %c16 : index
            %72 = arith.andi %36, %71 : i1
            %73 = arith.andi %30, %72 : i1
            %74 = scf.if %73 -> (bf16) {
              %76 = memref.load %arg0[%c0, %31, %33, %70] : memref<1x16x16x16xbf16>
              scf.yield %76 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %75 = vector.from_elements %40, %44, %49, %54, %59, %64, %69, %74 : vector<8xbf16>
            vector.store %75, %alloca_3[%27] : memref<16xbf16>, vector<8xbf16>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %24 = affine.apply #map34(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<4x4x2xbf16>
          %26 = affine.apply #map29(%11, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %28 = affine.apply #map11(%12, %arg7)
            %29 = arith.xori %26, %13 : index
            %30 = nvgpu.ldmatrix %arg3[%24, %28, %29] {numTiles = 4 : i32, transpose = false} : memref<2x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %30, %alloca_5[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_6 = memref.alloca() {weft.name = "X_frag"} : memref<4x2x2xbf16>
          %27 = affine.apply #map29(%14, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %28 = affine.apply #map35(%15, %arg7)
            %29 = arith.xori %28, %16 : index
            %30 = nvgpu.ldmatrix %arg4[%24, %c0, %27, %29] {numTiles = 2 : i32, transpose = true} : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %30, %alloca_6[%arg7, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %28 = vector.load %alloca_4[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %29 = vector.shape_cast %28 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %30 = vector.load %alloca_5[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %31 = vector.load %alloca_6[%arg8, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
              %32 = nvgpu.mma.sync(%30, %31, %29) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %33 = vector.shape_cast %32 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %33, %alloca_4[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %25 = affine.apply #map36(%arg5)
        scf.if %20 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %26 = affine.apply #map30(%arg6)
            %27 = vector.load %alloca[%26] : memref<16xbf16>, vector<8xbf16>
            %28 = affine.apply #map5(%4, %arg6)
            %29 = arith.xori %2, %5 : index
            vector.store %27, %arg3[%25, %28, %29] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %26 = affine.apply #map30(%arg6)
            %27 = vector.load %alloca_3[%26] : memref<16xbf16>, vector<8xbf16>
            %28 = affine.apply #map11(%7, %arg6)
            %29 = arith.xori %6, %10 : index
            vector.store %27, %arg4[%25, %c0, %28, %29] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
        }
      }
      %17 = affine.apply #map37(%1, %0)
      %18 = affine.apply #map38(%block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %19 = affine.apply #map11(%17, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %20 = affine.apply #map35(%18, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %21 = affine.apply #map35(%19, %arg7)
            %22 = arith.cmpi slt, %21, %c32 : index
            scf.if %22 {
              %23 = vector.load %alloca_4[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2xf32>
              vector.store %23, %reinterpret_cast_2[%c0, %21, %20] : memref<1x32x256xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
