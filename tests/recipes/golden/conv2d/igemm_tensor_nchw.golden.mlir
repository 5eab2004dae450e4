// weft golden igemm_tensor_nchw
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map5 = affine_map<(d0) -> (d0 * 8)>
#map6 = affine_map<(d0) -> ((d0 floordiv 4) * -32)>
#map7 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map8 = affine_map<(d0, d1) -> (d0 + d1)>
#map9 = affine_map<(d0) -> (d0 floordiv 16)>
#map10 = affine_map<(d0, d1) -> (d0 * 8 - (d1 floordiv 16) * 8 + d1 floordiv 2)>
#map11 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map12 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map13 = affine_map<(d0) -> ((d0 floordiv 16) * -128)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map15 = affine_map<(d0, d1) -> ((d0 * 16 + d1 floordiv 16) floordiv 9)>
#map16 = affine_map<(d0, d1, d2) -> (d0 + ((d1 * 16 + d2 floordiv 16) mod 9) floordiv 3)>
#map17 = affine_map<(d0) -> (d0 - 1)>
#map18 = affine_map<(d0, d1, d2) -> (d0 + (d1 * 16 + d2 floordiv 16) mod 3)>
#map19 = affine_map<(d0) -> (d0 + 1)>
#map20 = affine_map<(d0) -> (d0 + 2)>
#map21 = affine_map<(d0) -> (d0 + 3)>
#map22 = affine_map<(d0) -> (d0 + 4)>
#map23 = affine_map<(d0) -> (d0 + 5)>
#map24 = affine_map<(d0) -> (d0 + 6)>
#map25 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map26 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 4) * 64)>
#map27 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map28 = affine_map<(d0) -> (d0 mod 16)>
#map29 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map30 = affine_map<(d0) -> (d0 * 32)>
#map31 = affine_map<(d0) -> ((d0 floordiv 4) * -128)>
#map32 = affine_map<(d0) -> (d0 + 32)>
#map33 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 16 + d2 floordiv 16 + 32) floordiv 9)>
#map34 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 16 + d3 floordiv 16 + 32) mod 9) floordiv 3)>
#map35 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 16 + d3 floordiv 16 + 32) mod 3)>
#map36 = affine_map<(d0) -> ((d0 floordiv 32) mod 2)>
#map37 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map38 = affine_map<(d0) -> ((d0 floordiv 32 + 1) mod 2)>
#map39 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 4) * 64)>
#map40 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 4) * 32)>
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
      %6 = affine.apply #map5(%thread_id_x)
      %7 = affine.apply #map6(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %22 = affine.apply #map7(%4, %arg5)
        %23 = arith.cmpi slt, %22, %c32 : index
        %24 = arith.andi %3, %23 : i1
        %25 = scf.if %24 -> (vector<8xbf16>) {
          %28 = vector.load %reinterpret_cast[%22, %2] : memref<32x144xbf16>, vector<8xbf16>
          scf.yield %28 : vector<8xbf16>
        } else {
          scf.yield %cst : vector<8xbf16>
        }
        %26 = arith.xori %6, %5 : index
        %27 = affine.apply #map8(%7, %26)
        vector.store %25, %arg3[%c0, %22, %27] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %8 = affine.apply #map9(%thread_id_x)
      %9 = affine.apply #map10(%block_id_x, %thread_id_x)
      %10 = affine.apply #map11(%thread_id_x)
      %11 = affine.apply #map12(%thread_id_x)
      %12 = affine.apply #map13(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %22 = affine.apply #map14(%8, %arg5)
        %23 = arith.cmpi slt, %22, %c144 : index
        %24 = affine.apply #map15(%arg5, %thread_id_x)
        %25 = affine.apply #map16(%9, %arg5, %thread_id_x)
        %26 = affine.apply #map17(%25)
        %27 = affine.apply #map18(%10, %arg5, %thread_id_x)
        %28 = affine.apply #map17(%27)
        %29 = arith.cmpi ult, %26, %c16 : index
        %30 = arith.cmpi ult, %28, %c16 : index
        %31 = arith.andi %29, %30 : i1
        %32 = arith.andi %23, %31 : i1
        %33 = scf.if %32 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %28] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %34 = arith.cmpi ult, %27, %c16 : index
        %35 = arith.andi %29, %34 : i1
        %36 = arith.andi %23, %35 : i1
        %37 = scf.if %36 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %27] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %38 = affine.apply #map19(%27)
        %39 = arith.cmpi ult, %38, %c16 : index
        %40 = arith.andi %29, %39 : i1
        %41 = arith.andi %23, %40 : i1
        %42 = scf.if %41 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %38] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %43 = affine.apply #map20(%27)
        %44 = arith.cmpi ult, %43, %c16 : index
        %45 = arith.andi %29, %44 : i1
        %46 = arith.andi %23, %45 : i1
        %47 = scf.if %46 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %43] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %48 = affine.apply #map21(%27)
        %49 = arith.cmpi ult, %48, %c16 : index
        %50 = arith.andi %29, %49 : i1
        %51 = arith.andi %23, %50 : i1
        %52 = scf.if %51 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %48] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %53 = affine.apply #map22(%27)
        %54 = arith.cmpi ult, %53, %c16 : index
        %55 = arith.andi %29, %54 : i1
        %56 = arith.andi %23, %55 : i1
        %57 = scf.if %56 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %53] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %58 = affine.apply #map23(%27)
        %59 = arith.cmpi ult, %58, %c16 : index
        %60 = arith.andi %29, %59 : i1
        %61 = arith.andi %23, %60 : i1
        %62 = scf.if %61 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %58] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %63 = affine.apply #map24(%27)
        %64 = arith.cmpi ult, %63, %c16 : index
        %65 = arith.andi %29, %64 : i1
        %66 = arith.andi %23, %65 : i1
        %67 = scf.if %66 -> (bf16) {
          %71 = memref.load %arg0[%c0, %24, %26, %63] : memref<1x16x16x16xbf16>
          scf.yield %71 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %68 = vector.from_elements %33, %37, %42, %47, %52, %57, %62, %67 : vector<8xbf16>
        %69 = arith.xori %6, %11 : index
        %70 = affine.apply #map8(%12, %69)
        vector.store %68, %arg4[%c0, %c0, %22, %70] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %13 = affine.apply #map25(%1)
      %14 = affine.apply #map26(%thread_id_x, %0)
      %15 = affine.apply #map27(%thread_id_x)
      %16 = affine.apply #map28(%thread_id_x)
      %17 = affine.apply #map29(%thread_id_x)
      %18 = affine.apply #map30(%0)
      %19 = affine.apply #map31(%0)
      scf.for %arg5 = %c0 to %c160 step %c32 {
        %22 = affine.apply #map32(%arg5)
        %23 = arith.cmpi slt, %22, %c160 : index
        %24 = affine.apply #map8(%2, %arg5)
        %25 = affine.apply #map32(%24)
        %26 = affine.apply #map8(%8, %arg5)
        scf.if %23 {
          %29 = arith.cmpi slt, %25, %c144 : index
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %30 = affine.apply #map5(%arg6)
            %31 = affine.apply #map7(%4, %arg6)
            %32 = arith.cmpi slt, %31, %c32 : index
            %33 = arith.andi %29, %32 : i1
            %34 = scf.if %33 -> (vector<8xbf16>) {
              %35 = vector.load %reinterpret_cast[%31, %25] : memref<32x144xbf16>, vector<8xbf16>
              scf.yield %35 : vector<8xbf16>
            } else {
              scf.yield %cst : vector<8xbf16>
            }
            vector.store %34, %alloca[%30] : memref<16xbf16>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %30 = affine.apply #map5(%arg6)
            %31 = affine.apply #map14(%26, %arg6)
            %32 = affine.apply #map32(%31)
            %33 = arith.cmpi slt, %32, %c144 : index
            %34 = affine.apply #map33(%arg5, %arg6, %thread_id_x)
            %35 = affine.apply #map34(%9, %arg5, %arg6, %thread_id_x)
            %36 = affine.apply #map17(%35)
            %37 = affine.apply #map35(%10, %arg5, %arg6, %thread_id_x)
            %38 = affine.apply #map17(%37)
            %39 = arith.cmpi ult, %36, %c16 : index
            %40 = arith.cmpi ult, %38, %c16 : index
            %41 = arith.andi %39, %40 : i1
            %42 = arith.andi %33, %41 : i1
            %43 = scf.if %42 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %38] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %44 = arith.cmpi ult, %37, %c16 : index
            %45 = arith.andi %39, %44 : i1
            %46 = arith.andi %33, %45 : i1
            %47 = scf.if %46 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %37] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %48 = affine.apply #map19(%37)
            %49 = arith.cmpi ult, %48, %c16 : index
            %50 = arith.andi %39, %49 : i1
            %51 = arith.andi %33, %50 : i1
            %52 = scf.if %51 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %48] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %53 = affine.apply #map20(%37)
            %54 = arith.cmpi ult, %53, %c16 : index
            %55 = arith.andi %39, %54 : i1
            %56 = arith.andi %33, %55 : i1
            %57 = scf.if %56 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %53] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %58 = affine.apply #map21(%37)
            %59 = arith.cmpi ult, %58, %c16 : index
            %60 = arith.andi %39, %59 : i1
            %61 = arith.andi %33, %60 : i1
            %62 = scf.if %61 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %58] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %63 = affine.apply #map22(%37)
            %64 = arith.cmpi ult, %63, %c16 : index
            %65 = arith.andi %39, %64 : i1
            %66 = arith.andi %33, %65 : i1
            %67 = scf.if %66 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %63] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %68 = affine.apply #map23(%37)
            %69 = arith.cmpi ult, %68, %c16 : index
            %70 = arith.andi %39, %69 : i1
            %71 = arith.andi %33, %70 : i1
            %72 = scf.if %71 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %68] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %73 = affine.apply #map24(%37)
            %74 = arith.cmpi ult, %73, %c16 : index
            %75 = arith.andi %39, %74 : i1
            %76 = arith.andi %33, %75 : i1
            %77 = scf.if %76 -> (bf16) {
              %79 = memref.load %arg0[%c0, %34, %36, %73] : memref<1x16x16x16xbf16>
              scf.yield %79 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %78 = vector.from_elements %43, %47, %52, %57, %62, %67, %72, %77 : vector<8xbf16>
            vector.store %78, %alloca_3[%30] : memref<16xbf16>, vector<8xbf16>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %27 = affine.apply #map36(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<4x4x2xbf16>
          %29 = affine.apply #map8(%13, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %31 = affine.apply #map14(%14, %arg7)
            %32 = arith.xori %29, %15 : index
            %33 = nvgpu.ldmatrix %arg3[%27, %31, %32] {numTiles = 4 : i32, transpose = false} : memref<2x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %33, %alloca_5[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_6 = memref.alloca() {weft.name = "X_frag"} : memref<4x2x2xbf16>
          %30 = affine.apply #map8(%16, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %31 = affine.apply #map37(%18, %arg7)
            %32 = arith.xori %31, %17 : index
            %33 = affine.apply #map8(%19, %32)
            %34 = nvgpu.ldmatrix %arg4[%27, %c0, %30, %33] {numTiles = 2 : i32, transpose = true} : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %34, %alloca_6[%arg7, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %31 = vector.load %alloca_4[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %32 = vector.shape_cast %31 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %33 = vector.load %alloca_5[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %34 = vector.load %alloca_6[%arg8, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
              %35 = nvgpu.mma.sync(%33, %34, %32) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %36 = vector.shape_cast %35 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %36, %alloca_4[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %28 = affine.apply #map38(%arg5)
        scf.if %23 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %29 = affine.apply #map5(%arg6)
            %30 = vector.load %alloca[%29] : memref<16xbf16>, vector<8xbf16>
            %31 = affine.apply #map7(%4, %arg6)
            %32 = arith.xori %6, %5 : index
            %33 = affine.apply #map8(%7, %32)
            vector.store %30, %arg3[%28, %31, %33] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %29 = affine.apply #map5(%arg6)
            %30 = vector.load %alloca_3[%29] : memref<16xbf16>, vector<8xbf16>
            %31 = affine.apply #map14(%8, %arg6)
            %32 = arith.xori %6, %11 : index
            %33 = affine.apply #map8(%12, %32)
            vector.store %30, %arg4[%28, %c0, %31, %33] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
        }
      }
      %20 = affine.apply #map39(%1, %0)
      %21 = affine.apply #map40(%block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %22 = affine.apply #map14(%20, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %23 = affine.apply #map37(%21, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map37(%22, %arg7)
            %25 = arith.cmpi slt, %24, %c32 : index
            scf.if %25 {
              %26 = vector.load %alloca_4[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2xf32>
              vector.store %26, %reinterpret_cast_2[%c0, %24, %23] : memref<1x32x256xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
