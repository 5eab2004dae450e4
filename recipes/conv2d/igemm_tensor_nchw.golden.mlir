// weft golden igemm_tensor_nchw.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map5 = affine_map<(d0) -> (((d0 floordiv 2) mod 4) * 8)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map7 = affine_map<(d0) -> (d0 floordiv 16)>
#map8 = affine_map<(d0, d1) -> (d0 * 8 - (d1 floordiv 16) * 8 + d1 floordiv 2)>
#map9 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map11 = affine_map<(d0, d1) -> ((d0 * 16 + d1 floordiv 16) floordiv 9)>
#map12 = affine_map<(d0, d1, d2) -> (d0 + ((d1 * 16 + d2 floordiv 16) mod 9) floordiv 3)>
#map13 = affine_map<(d0) -> (d0 - 1)>
#map14 = affine_map<(d0, d1, d2) -> (d0 + (d1 * 16 + d2 floordiv 16) mod 3)>
#map15 = affine_map<(d0) -> (d0 + 1)>
#map16 = affine_map<(d0) -> (d0 + 2)>
#map17 = affine_map<(d0) -> (d0 + 3)>
#map18 = affine_map<(d0) -> (d0 + 4)>
#map19 = affine_map<(d0) -> (d0 + 5)>
#map20 = affine_map<(d0) -> (d0 + 6)>
#map21 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map22 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map23 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 4) * 64)>
#map24 = affine_map<(d0) -> (d0 mod 16)>
#map25 = affine_map<(d0) -> ((d0 mod 4) * 32)>
#map26 = affine_map<(d0) -> (d0 + 32)>
#map27 = affine_map<(d0, d1) -> (d0 + d1)>
#map28 = affine_map<(d0) -> (d0 * 8)>
#map29 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 16 + d2 floordiv 16 + 32) floordiv 9)>
#map30 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 16 + d3 floordiv 16 + 32) mod 9) floordiv 3)>
#map31 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 16 + d3 floordiv 16 + 32) mod 3)>
#map32 = affine_map<(d0) -> ((d0 floordiv 32) mod 2)>
#map33 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map34 = affine_map<(d0) -> ((d0 floordiv 32 + 1) mod 2)>
#map35 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 4) * 64)>
#map36 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 4) * 32)>
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
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %15 = affine.apply #map4(%4, %arg5)
        %16 = arith.cmpi slt, %15, %c32 : index
        %17 = arith.andi %3, %16 : i1
        %18 = scf.if %17 -> (vector<8xbf16>) {
          %21 = vector.load %reinterpret_cast[%15, %2] : memref<32x144xbf16>, vector<8xbf16>
          scf.yield %21 : vector<8xbf16>
        } else {
          scf.yield %cst : vector<8xbf16>
        }
        %19 = affine.apply #map5(%15)
        %20 = arith.xori %2, %19 : index
        vector.store %18, %arg3[%c0, %15, %20] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %5 = affine.apply #map6(%thread_id_x)
      %6 = affine.apply #map7(%thread_id_x)
      %7 = affine.apply #map8(%block_id_x, %thread_id_x)
      %8 = affine.apply #map9(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %15 = affine.apply #map10(%6, %arg5)
        %16 = arith.cmpi slt, %15, %c144 : index
        %17 = affine.apply #map11(%arg5, %thread_id_x)
        %18 = affine.apply #map12(%7, %arg5, %thread_id_x)
        %19 = affine.apply #map13(%18)
        %20 = affine.apply #map14(%8, %arg5, %thread_id_x)
        %21 = affine.apply #map13(%20)
        %22 = arith.cmpi ult, %19, %c16 : index
        %23 = arith.cmpi ult, %21, %c16 : index
        %24 = arith.andi %22, %23 : i1
        %25 = arith.andi %16, %24 : i1
        %26 = scf.if %25 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %21] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %27 = arith.cmpi ult, %20, %c16 : index
        %28 = arith.andi %22, %27 : i1
        %29 = arith.andi %16, %28 : i1
        %30 = scf.if %29 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %20] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %31 = affine.apply #map15(%20)
        %32 = arith.cmpi ult, %31, %c16 : index
        %33 = arith.andi %22, %32 : i1
        %34 = arith.andi %16, %33 : i1
        %35 = scf.if %34 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %31] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %36 = affine.apply #map16(%20)
        %37 = arith.cmpi ult, %36, %c16 : index
        %38 = arith.andi %22, %37 : i1
        %39 = arith.andi %16, %38 : i1
        %40 = scf.if %39 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %36] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %41 = affine.apply #map17(%20)
        %42 = arith.cmpi ult, %41, %c16 : index
        %43 = arith.andi %22, %42 : i1
        %44 = arith.andi %16, %43 : i1
        %45 = scf.if %44 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %41] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %46 = affine.apply #map18(%20)
        %47 = arith.cmpi ult, %46, %c16 : index
        %48 = arith.andi %22, %47 : i1
        %49 = arith.andi %16, %48 : i1
        %50 = scf.if %49 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %46] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %51 = affine.apply #map19(%20)
        %52 = arith.cmpi ult, %51, %c16 : index
        %53 = arith.andi %22, %52 : i1
        %54 = arith.andi %16, %53 : i1
        %55 = scf.if %54 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %51] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %56 = affine.apply #map20(%20)
        %57 = arith.cmpi ult, %56, %c16 : index
        %58 = arith.andi %22, %57 : i1
        %59 = arith.andi %16, %58 : i1
        %60 = scf.if %59 -> (bf16) {
          %64 = memref.load %arg0[%c0, %17, %19, %56] : memref<1x16x16x16xbf16>
          scf.yield %64 : bf16
        } else {
          scf.yield %cst_0 : bf16
        }
        %61 = vector.from_elements %26, %30, %35, %40, %45, %50, %55, %60 : vector<8xbf16>
        %62 = affine.apply #map21(%15)
        %63 = arith.xori %5, %62 : index
        vector.store %61, %arg4[%c0, %c0, %15, %63] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %9 = affine.apply #map22(%1)
      %10 = affine.apply #map23(%thread_id_x, %0)
      %11 = affine.apply #map24(%thread_id_x)
      %12 = affine.apply #map25(%0)
      scf.for %arg5 = %c0 to %c160 step %c32 {
        %15 = affine.apply #map26(%arg5)
        %16 = arith.cmpi slt, %15, %c160 : index
        %17 = affine.apply #map27(%2, %arg5)
        %18 = affine.apply #map26(%17)
        %19 = affine.apply #map27(%6, %arg5)
        scf.if %16 {
          %22 = arith.cmpi slt, %18, %c144 : index
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %23 = affine.apply #map28(%arg6)
            %24 = affine.apply #map4(%4, %arg6)
            %25 = arith.cmpi slt, %24, %c32 : index
            %26 = arith.andi %22, %25 : i1
            %27 = scf.if %26 -> (vector<8xbf16>) {
              %28 = vector.load %reinterpret_cast[%24, %18] : memref<32x144xbf16>, vector<8xbf16>
              scf.yield %28 : vector<8xbf16>
            } else {
              scf.yield %cst : vector<8xbf16>
            }
            vector.store %27, %alloca[%23] : memref<16xbf16>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %23 = affine.apply #map28(%arg6)
            %24 = affine.apply #map10(%19, %arg6)
            %25 = affine.apply #map26(%24)
            %26 = arith.cmpi slt, %25, %c144 : index
            %27 = affine.apply #map29(%arg5, %arg6, %thread_id_x)
            %28 = affine.apply #map30(%7, %arg5, %arg6, %thread_id_x)
            %29 = affine.apply #map13(%28)
            %30 = affine.apply #map31(%8, %arg5, %arg6, %thread_id_x)
            %31 = affine.apply #map13(%30)
            %32 = arith.cmpi ult, %29, %c16 : index
            %33 = arith.cmpi ult, %31, %c16 : index
            %34 = arith.andi %32, %33 : i1
            %35 = arith.andi %26, %34 : i1
            %36 = scf.if %35 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %31] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %37 = arith.cmpi ult, %30, %c16 : index
            %38 = arith.andi %32, %37 : i1
            %39 = arith.andi %26, %38 : i1
            %40 = scf.if %39 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %30] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %41 = affine.apply #map15(%30)
            %42 = arith.cmpi ult, %41, %c16 : index
            %43 = arith.andi %32, %42 : i1
            %44 = arith.andi %26, %43 : i1
            %45 = scf.if %44 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %41] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %46 = affine.apply #map16(%30)
            %47 = arith.cmpi ult, %46, %c16 : index
            %48 = arith.andi %32, %47 : i1
            %49 = arith.andi %26, %48 : i1
            %50 = scf.if %49 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %46] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %51 = affine.apply #map17(%30)
            %52 = arith.cmpi ult, %51, %c16 : index
            %53 = arith.andi %32, %52 : i1
            %54 = arith.andi %26, %53 : i1
            %55 = scf.if %54 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %51] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %56 = affine.apply #map18(%30)
            %57 = arith.cmpi ult, %56, %c16 : index
            %58 = arith.andi %32, %57 : i1
            %59 = arith.andi %26, %58 : i1
            %60 = scf.if %59 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %56] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %61 = affine.apply #map19(%30)
            %62 = arith.cmpi ult, %61, %c16 : index
            %63 = arith.andi %32, %62 : i1
            %64 = arith.andi %26, %63 : i1
            %65 = scf.if %64 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %61] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %66 = affine.apply #map20(%30)
            %67 = arith.cmpi ult, %66, %c16 : index
            %68 = arith.andi %32, %67 : i1
            %69 = arith.andi %26, %68 : i1
            %70 = scf.if %69 -> (bf16) {
              %72 = memref.load %arg0[%c0, %27, %29, %66] : memref<1x16x16x16xbf16>
              scf.yield %72 : bf16
            } else {
              scf.yield %cst_0 : bf16
            }
            %71 = vector.from_elements %36, %40, %45, %50, %55, %60, %65, %70 : vector<8xbf16>
            vector.store %71, %alloca_3[%23] : memref<16xbf16>, vector<8xbf16>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %20 = affine.apply #map32(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<4x4x2xbf16>
          %22 = affine.apply #map27(%9, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %25 = affine.apply #map10(%10, %arg7)
            %26 = affine.apply #map5(%25)
            %27 = arith.xori %22, %26 : index
            %28 = nvgpu.ldmatrix %arg3[%20, %25, %27] {numTiles = 4 : i32, transpose = false} : memref<2x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %28, %alloca_5[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_6 = memref.alloca() {weft.name = "X_frag"} : memref<4x2x2xbf16>
          %23 = affine.apply #map27(%11, %arg6)
          %24 = affine.apply #map21(%23)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %25 = affine.apply #map33(%12, %arg7)
            %26 = arith.xori %25, %24 : index
            %27 = nvgpu.ldmatrix %arg4[%20, %c0, %23, %26] {numTiles = 2 : i32, transpose = true} : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %27, %alloca_6[%arg7, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %25 = vector.load %alloca_4[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %26 = vector.shape_cast %25 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %27 = vector.load %alloca_5[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %28 = vector.load %alloca_6[%arg8, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
              %29 = nvgpu.mma.sync(%27, %28, %26) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %30 = vector.shape_cast %29 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %30, %alloca_4[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %21 = affine.apply #map34(%arg5)
        scf.if %16 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %22 = affine.apply #map28(%arg6)
            %23 = vector.load %alloca[%22] : memref<16xbf16>, vector<8xbf16>
            %24 = affine.apply #map4(%4, %arg6)
            %25 = affine.apply #map5(%24)
            %26 = arith.xori %2, %25 : index
            vector.store %23, %arg3[%21, %24, %26] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %22 = affine.apply #map28(%arg6)
            %23 = vector.load %alloca_3[%22] : memref<16xbf16>, vector<8xbf16>
            %24 = affine.apply #map10(%6, %arg6)
            %25 = affine.apply #map21(%24)
            %26 = arith.xori %5, %25 : index
            vector.store %23, %arg4[%21, %c0, %24, %26] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
        }
      }
      %13 = affine.apply #map35(%1, %0)
      %14 = affine.apply #map36(%block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %15 = affine.apply #map10(%13, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %16 = affine.apply #map33(%14, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %17 = affine.apply #map33(%15, %arg7)
            %18 = arith.cmpi slt, %17, %c32 : index
            scf.if %18 {
              %19 = vector.load %alloca_4[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2xf32>
              vector.store %19, %reinterpret_cast_2[%c0, %17, %16] : memref<1x32x256xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
