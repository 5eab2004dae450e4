// weft golden igemm_tensor_nchw.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> (d0 + 4)>
#map7 = affine_map<(d0) -> (d0 + 5)>
#map8 = affine_map<(d0) -> (d0 + 6)>
#map9 = affine_map<(d0) -> (d0 + 7)>
#map10 = affine_map<(d0) -> (d0 floordiv 4)>
#map11 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map13 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 16) * 8)>
#map14 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map15 = affine_map<(d0) -> (d0 floordiv 16)>
#map16 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2) floordiv 3) * 2)>
#map17 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2) mod 3) * 8)>
#map18 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 1) floordiv 12) * 2)>
#map19 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 1) mod 12) * 2)>
#map20 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 1) floordiv 6) * 2)>
#map21 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 1) mod 6) * 4)>
#map22 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 3) floordiv 12) * 2)>
#map23 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 3) mod 12) * 2)>
#map24 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2 + 1) floordiv 3) * 2)>
#map25 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2 + 1) mod 3) * 8)>
#map26 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 5) floordiv 12) * 2)>
#map27 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 5) mod 12) * 2)>
#map28 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 3) floordiv 6) * 2)>
#map29 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 3) mod 6) * 4)>
#map30 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 7) floordiv 12) * 2)>
#map31 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 7) mod 12) * 2)>
#map32 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map33 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map34 = affine_map<(d0, d1) -> ((d0 * 16 + d1 floordiv 16) floordiv 9)>
#map35 = affine_map<(d0, d1, d2) -> (d0 + ((d1 * 16 + d2 floordiv 16) mod 9) floordiv 3)>
#map36 = affine_map<(d0) -> (d0 - 1)>
#map37 = affine_map<(d0, d1, d2) -> (d0 + (d1 * 16 + d2 floordiv 16) mod 3)>
#map38 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map39 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 4) * 64)>
#map40 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map41 = affine_map<(d0) -> (d0 mod 16)>
#map42 = affine_map<(d0) -> ((d0 mod 4) * 32)>
#map43 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map44 = affine_map<(d0) -> (d0 + 32)>
#map45 = affine_map<(d0, d1) -> (d0 + d1)>
#map46 = affine_map<(d0) -> (d0 + 33)>
#map47 = affine_map<(d0) -> (d0 + 34)>
#map48 = affine_map<(d0) -> (d0 + 35)>
#map49 = affine_map<(d0) -> (d0 + 36)>
#map50 = affine_map<(d0) -> (d0 + 37)>
#map51 = affine_map<(d0) -> (d0 + 38)>
#map52 = affine_map<(d0) -> (d0 + 39)>
#map53 = affine_map<(d0) -> (d0 * 8)>
#map54 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 16 + d2 floordiv 16 + 32) floordiv 9)>
#map55 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 16 + d3 floordiv 16 + 32) mod 9) floordiv 3)>
#map56 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 16 + d3 floordiv 16 + 32) mod 3)>
#map57 = affine_map<(d0) -> ((d0 floordiv 32) mod 2)>
#map58 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map59 = affine_map<(d0) -> ((d0 floordiv 32 + 1) mod 2)>
#map60 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 4) * 32)>
#map61 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 4) * 64)>
module attributes {gpu.container_module} {
  func.func @conv2d_nchw(%arg0: memref<3x5x29x23xbf16> {weft.name = "X"}, %arg1: memref<39x5x3x3xbf16> {weft.name = "W"}, %arg2: memref<3x39x15x12xf32> {bufferize.result, weft.name = "Y"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @conv2d_nchw_kernel::@conv2d_nchw blocks in (%c2, %c1, %c3) threads in (%c256, %c1, %c1)  args(%arg0 : memref<3x5x29x23xbf16>, %arg1 : memref<39x5x3x3xbf16>, %arg2 : memref<3x39x15x12xf32>)
    return
  }
  gpu.module @conv2d_nchw_kernel {
    gpu.func @conv2d_nchw(%arg0: memref<3x5x29x23xbf16> {weft.name = "X"}, %arg1: memref<39x5x3x3xbf16> {weft.name = "W"}, %arg2: memref<3x39x15x12xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<2x128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "W_shared"}, %arg4 : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "X_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 1, 3>} {
      %c16 = arith.constant 16 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c180 = arith.constant 180 : index
      %c39 = arith.constant 39 : index
      %c45 = arith.constant 45 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : bf16
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_z = gpu.block_id z
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [39, 45], strides: [45, 1] : memref<39x5x3x3xbf16> to memref<39x45xbf16>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [3, 39, 180], strides: [7020, 180, 1] : memref<3x39x15x12xf32> to memref<3x39x180xf32>
      %alloca = memref.alloca() {weft.name = "W_next"} : memref<16xbf16>
      %alloca_2 = memref.alloca() {weft.name = "X_next"} : memref<16xbf16>
      %alloca_3 = memref.alloca() {weft.name = "acc"} : memref<4x4x2x1x1x1x2xf32>
      scf.for %arg5 = %c0 to %c4 step %c1 {
        scf.for %arg6 = %c0 to %c4 step %c1 {
          scf.for %arg7 = %c0 to %c2 step %c1 {
            scf.for %arg8 = %c0 to %c2 step %c1 {
              memref.store %cst_0, %alloca_3[%arg5, %arg6, %arg7, %c0, %c0, %c0, %arg8] : memref<4x4x2x1x1x1x2xf32>
            }
          }
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = arith.cmpi slt, %2, %c45 : index
      %4 = affine.apply #map3(%2)
      %5 = arith.cmpi slt, %4, %c45 : index
      %6 = affine.apply #map4(%2)
      %7 = arith.cmpi slt, %6, %c45 : index
      %8 = affine.apply #map5(%2)
      %9 = arith.cmpi slt, %8, %c45 : index
      %10 = affine.apply #map6(%2)
      %11 = arith.cmpi slt, %10, %c45 : index
      %12 = affine.apply #map7(%2)
      %13 = arith.cmpi slt, %12, %c45 : index
      %14 = affine.apply #map8(%2)
      %15 = arith.cmpi slt, %14, %c45 : index
      %16 = affine.apply #map9(%2)
      %17 = arith.cmpi slt, %16, %c45 : index
      %18 = affine.apply #map10(%thread_id_x)
      %19 = affine.apply #map11(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %63 = affine.apply #map12(%18, %arg5)
        %64 = arith.cmpi slt, %63, %c39 : index
        %65 = arith.andi %3, %64 : i1
        %66 = scf.if %65 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %2] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %67 = arith.andi %5, %64 : i1
        %68 = scf.if %67 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %4] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %69 = arith.andi %7, %64 : i1
        %70 = scf.if %69 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %6] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %71 = arith.andi %9, %64 : i1
        %72 = scf.if %71 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %8] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %73 = arith.andi %11, %64 : i1
        %74 = scf.if %73 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %10] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %75 = arith.andi %13, %64 : i1
        %76 = scf.if %75 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %12] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %77 = arith.andi %15, %64 : i1
        %78 = scf.if %77 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %14] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %79 = arith.andi %17, %64 : i1
        %80 = scf.if %79 -> (bf16) {
          %83 = memref.load %reinterpret_cast[%63, %16] : memref<39x45xbf16>
          scf.yield %83 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %81 = vector.from_elements %66, %68, %70, %72, %74, %76, %78, %80 : vector<8xbf16>
        %82 = arith.xori %2, %19 : index
        vector.store %81, %arg3[%c0, %63, %82] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %20 = affine.apply #map13(%block_id_x, %thread_id_x)
      %21 = arith.cmpi slt, %20, %c180 : index
      %22 = affine.apply #map3(%20)
      %23 = arith.cmpi slt, %22, %c180 : index
      %24 = affine.apply #map4(%20)
      %25 = arith.cmpi slt, %24, %c180 : index
      %26 = affine.apply #map5(%20)
      %27 = arith.cmpi slt, %26, %c180 : index
      %28 = affine.apply #map6(%20)
      %29 = arith.cmpi slt, %28, %c180 : index
      %30 = affine.apply #map7(%20)
      %31 = arith.cmpi slt, %30, %c180 : index
      %32 = affine.apply #map8(%20)
      %33 = arith.cmpi slt, %32, %c180 : index
      %34 = affine.apply #map9(%20)
      %35 = arith.cmpi slt, %34, %c180 : index
      %36 = affine.apply #map14(%thread_id_x)
      %37 = affine.apply #map15(%thread_id_x)
      %38 = affine.apply #map16(%block_id_x, %thread_id_x)
      %39 = affine.apply #map17(%block_id_x, %thread_id_x)
      %40 = affine.apply #map18(%block_id_x, %thread_id_x)
      %41 = affine.apply #map19(%block_id_x, %thread_id_x)
      %42 = affine.apply #map20(%block_id_x, %thread_id_x)
      %43 = affine.apply #map21(%block_id_x, %thread_id_x)
      %44 = affine.apply #map22(%block_id_x, %thread_id_x)
      %45 = affine.apply #map23(%block_id_x, %thread_id_x)
      %46 = affine.apply #map24(%block_id_x, %thread_id_x)
      %47 = affine.apply #map25(%block_id_x, %thread_id_x)
      %48 = affine.apply #map26(%block_id_x, %thread_id_x)
      %49 = affine.apply #map27(%block_id_x, %thread_id_x)
      %50 = affine.apply #map28(%block_id_x, %thread_id_x)
      %51 = affine.apply #map29(%block_id_x, %thread_id_x)
      %52 = affine.apply #map30(%block_id_x, %thread_id_x)
      %53 = affine.apply #map31(%block_id_x, %thread_id_x)
      %54 = affine.apply #map32(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %63 = affine.apply #map33(%37, %arg5)
        %64 = arith.cmpi slt, %63, %c45 : index
        %65 = affine.apply #map34(%arg5, %thread_id_x)
        %66 = affine.apply #map35(%38, %arg5, %thread_id_x)
        %67 = affine.apply #map36(%66)
        %68 = affine.apply #map37(%39, %arg5, %thread_id_x)
        %69 = affine.apply #map36(%68)
        %70 = arith.cmpi ult, %67, %c29 : index
        %71 = arith.cmpi ult, %69, %c23 : index
        %72 = arith.andi %70, %71 : i1
        %73 = arith.andi %21, %72 : i1
        %74 = arith.andi %64, %73 : i1
        %75 = scf.if %74 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %67, %69] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %76 = affine.apply #map35(%40, %arg5, %thread_id_x)
        %77 = affine.apply #map36(%76)
        %78 = affine.apply #map37(%41, %arg5, %thread_id_x)
        %79 = affine.apply #map36(%78)
        %80 = arith.cmpi ult, %77, %c29 : index
        %81 = arith.cmpi ult, %79, %c23 : index
        %82 = arith.andi %80, %81 : i1
        %83 = arith.andi %23, %82 : i1
        %84 = arith.andi %64, %83 : i1
        %85 = scf.if %84 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %77, %79] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %86 = affine.apply #map35(%42, %arg5, %thread_id_x)
        %87 = affine.apply #map36(%86)
        %88 = affine.apply #map37(%43, %arg5, %thread_id_x)
        %89 = affine.apply #map36(%88)
        %90 = arith.cmpi ult, %87, %c29 : index
        %91 = arith.cmpi ult, %89, %c23 : index
        %92 = arith.andi %90, %91 : i1
        %93 = arith.andi %25, %92 : i1
        %94 = arith.andi %64, %93 : i1
        %95 = scf.if %94 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %87, %89] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %96 = affine.apply #map35(%44, %arg5, %thread_id_x)
        %97 = affine.apply #map36(%96)
        %98 = affine.apply #map37(%45, %arg5, %thread_id_x)
        %99 = affine.apply #map36(%98)
        %100 = arith.cmpi ult, %97, %c29 : index
        %101 = arith.cmpi ult, %99, %c23 : index
        %102 = arith.andi %100, %101 : i1
        %103 = arith.andi %27, %102 : i1
        %104 = arith.andi %64, %103 : i1
        %105 = scf.if %104 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %97, %99] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %106 = affine.apply #map35(%46, %arg5, %thread_id_x)
        %107 = affine.apply #map36(%106)
        %108 = affine.apply #map37(%47, %arg5, %thread_id_x)
        %109 = affine.apply #map36(%108)
        %110 = arith.cmpi ult, %107, %c29 : index
        %111 = arith.cmpi ult, %109, %c23 : index
        %112 = arith.andi %110, %111 : i1
        %113 = arith.andi %29, %112 : i1
        %114 = arith.andi %64, %113 : i1
        %115 = scf.if %114 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %107, %109] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %116 = affine.apply #map35(%48, %arg5, %thread_id_x)
        %117 = affine.apply #map36(%116)
        %118 = affine.apply #map37(%49, %arg5, %thread_id_x)
        %119 = affine.apply #map36(%118)
        %120 = arith.cmpi ult, %117, %c29 : index
        %121 = arith.cmpi ult, %119, %c23 : index
        %122 = arith.andi %120, %121 : i1
        %123 = arith.andi %31, %122 : i1
        %124 = arith.andi %64, %123 : i1
        %125 = scf.if %124 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %117, %119] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %126 = affine.apply #map35(%50, %arg5, %thread_id_x)
        %127 = affine.apply #map36(%126)
        %128 = affine.apply #map37(%51, %arg5, %thread_id_x)
        %129 = affine.apply #map36(%128)
        %130 = arith.cmpi ult, %127, %c29 : index
        %131 = arith.cmpi ult, %129, %c23 : index
        %132 = arith.andi %130, %131 : i1
        %133 = arith.andi %33, %132 : i1
        %134 = arith.andi %64, %133 : i1
        %135 = scf.if %134 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %127, %129] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %136 = affine.apply #map35(%52, %arg5, %thread_id_x)
        %137 = affine.apply #map36(%136)
        %138 = affine.apply #map37(%53, %arg5, %thread_id_x)
        %139 = affine.apply #map36(%138)
        %140 = arith.cmpi ult, %137, %c29 : index
        %141 = arith.cmpi ult, %139, %c23 : index
        %142 = arith.andi %140, %141 : i1
        %143 = arith.andi %35, %142 : i1
        %144 = arith.andi %64, %143 : i1
        %145 = scf.if %144 -> (bf16) {
          %148 = memref.load %arg0[%block_id_z, %65, %137, %139] : memref<3x5x29x23xbf16>
          scf.yield %148 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %146 = vector.from_elements %75, %85, %95, %105, %115, %125, %135, %145 : vector<8xbf16>
        %147 = arith.xori %36, %54 : index
        vector.store %146, %arg4[%c0, %c0, %63, %147] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %55 = affine.apply #map38(%1)
      %56 = affine.apply #map39(%thread_id_x, %0)
      %57 = affine.apply #map40(%thread_id_x)
      %58 = affine.apply #map41(%thread_id_x)
      %59 = affine.apply #map42(%0)
      %60 = affine.apply #map43(%thread_id_x)
      scf.for %arg5 = %c0 to %c64 step %c32 {
        %63 = affine.apply #map44(%arg5)
        %64 = arith.cmpi slt, %63, %c64 : index
        %65 = affine.apply #map45(%2, %arg5)
        %66 = affine.apply #map44(%65)
        %67 = affine.apply #map46(%65)
        %68 = affine.apply #map47(%65)
        %69 = affine.apply #map48(%65)
        %70 = affine.apply #map49(%65)
        %71 = affine.apply #map50(%65)
        %72 = affine.apply #map51(%65)
        %73 = affine.apply #map52(%65)
        %74 = affine.apply #map45(%37, %arg5)
        scf.if %64 {
          %77 = arith.cmpi slt, %66, %c45 : index
          %78 = arith.cmpi slt, %67, %c45 : index
          %79 = arith.cmpi slt, %68, %c45 : index
          %80 = arith.cmpi slt, %69, %c45 : index
          %81 = arith.cmpi slt, %70, %c45 : index
          %82 = arith.cmpi slt, %71, %c45 : index
          %83 = arith.cmpi slt, %72, %c45 : index
          %84 = arith.cmpi slt, %73, %c45 : index
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %85 = affine.apply #map53(%arg6)
            %86 = affine.apply #map12(%18, %arg6)
            %87 = arith.cmpi slt, %86, %c39 : index
            %88 = arith.andi %77, %87 : i1
            %89 = scf.if %88 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %66] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %90 = arith.andi %78, %87 : i1
            %91 = scf.if %90 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %67] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %92 = arith.andi %79, %87 : i1
            %93 = scf.if %92 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %68] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %94 = arith.andi %80, %87 : i1
            %95 = scf.if %94 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %69] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %96 = arith.andi %81, %87 : i1
            %97 = scf.if %96 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %70] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %98 = arith.andi %82, %87 : i1
            %99 = scf.if %98 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %71] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %100 = arith.andi %83, %87 : i1
            %101 = scf.if %100 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %72] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %102 = arith.andi %84, %87 : i1
            %103 = scf.if %102 -> (bf16) {
              %105 = memref.load %reinterpret_cast[%86, %73] : memref<39x45xbf16>
              scf.yield %105 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %104 = vector.from_elements %89, %91, %93, %95, %97, %99, %101, %103 : vector<8xbf16>
            vector.store %104, %alloca[%85] : memref<16xbf16>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %85 = affine.apply #map53(%arg6)
            %86 = affine.apply #map33(%74, %arg6)
            %87 = affine.apply #map44(%86)
            %88 = arith.cmpi slt, %87, %c45 : index
            %89 = affine.apply #map54(%arg5, %arg6, %thread_id_x)
            %90 = affine.apply #map55(%38, %arg5, %arg6, %thread_id_x)
            %91 = affine.apply #map36(%90)
            %92 = affine.apply #map56(%39, %arg5, %arg6, %thread_id_x)
            %93 = affine.apply #map36(%92)
            %94 = arith.cmpi ult, %91, %c29 : index
            %95 = arith.cmpi ult, %93, %c23 : index
            %96 = arith.andi %94, %95 : i1
            %97 = arith.andi %21, %96 : i1
            %98 = arith.andi %88, %97 : i1
            %99 = scf.if %98 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %91, %93] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %100 = affine.apply #map55(%40, %arg5, %arg6, %thread_id_x)
            %101 = affine.apply #map36(%100)
            %102 = affine.apply #map56(%41, %arg5, %arg6, %thread_id_x)
            %103 = affine.apply #map36(%102)
            %104 = arith.cmpi ult, %101, %c29 : index
            %105 = arith.cmpi ult, %103, %c23 : index
            %106 = arith.andi %104, %105 : i1
            %107 = arith.andi %23, %106 : i1
            %108 = arith.andi %88, %107 : i1
            %109 = scf.if %108 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %101, %103] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %110 = affine.apply #map55(%42, %arg5, %arg6, %thread_id_x)
            %111 = affine.apply #map36(%110)
            %112 = affine.apply #map56(%43, %arg5, %arg6, %thread_id_x)
            %113 = affine.apply #map36(%112)
            %114 = arith.cmpi ult, %111, %c29 : index
            %115 = arith.cmpi ult, %113, %c23 : index
            %116 = arith.andi %114, %115 : i1
            %117 = arith.andi %25, %116 : i1
            %118 = arith.andi %88, %117 : i1
            %119 = scf.if %118 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %111, %113] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %120 = affine.apply #map55(%44, %arg5, %arg6, %thread_id_x)
            %121 = affine.apply #map36(%120)
            %122 = affine.apply #map56(%45, %arg5, %arg6, %thread_id_x)
            %123 = affine.apply #map36(%122)
            %124 = arith.cmpi ult, %121, %c29 : index
            %125 = arith.cmpi ult, %123, %c23 : index
            %126 = arith.andi %124, %125 : i1
            %127 = arith.andi %27, %126 : i1
            %128 = arith.andi %88, %127 : i1
            %129 = scf.if %128 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %121, %123] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %130 = affine.apply #map55(%46, %arg5, %arg6, %thread_id_x)
            %131 = affine.apply #map36(%130)
            %132 = affine.apply #map56(%47, %arg5, %arg6, %thread_id_x)
            %133 = affine.apply #map36(%132)
            %134 = arith.cmpi ult, %131, %c29 : index
            %135 = arith.cmpi ult, %133, %c23 : index
            %136 = arith.andi %134, %135 : i1
            %137 = arith.andi %29, %136 : i1
            %138 = arith.andi %88, %137 : i1
            %139 = scf.if %138 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %131, %133] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %140 = affine.apply #map55(%48, %arg5, %arg6, %thread_id_x)
            %141 = affine.apply #map36(%140)
            %142 = affine.apply #map56(%49, %arg5, %arg6, %thread_id_x)
            %143 = affine.apply #map36(%142)
            %144 = arith.cmpi ult, %141, %c29 : index
            %145 = arith.cmpi ult, %143, %c23 : index
            %146 = arith.andi %144, %145 : i1
            %147 = arith.andi %31, %146 : i1
            %148 = arith.andi %88, %147 : i1
            %149 = scf.if %148 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %141, %143] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %150 = affine.apply #map55(%50, %arg5, %arg6, %thread_id_x)
            %151 = affine.apply #map36(%150)
            %152 = affine.apply #map56(%51, %arg5, %arg6, %thread_id_x)
            %153 = affine.apply #map36(%152)
            %154 = arith.cmpi ult, %151, %c29 : index
            %155 = arith.cmpi ult, %153, %c23 : index
            %156 = arith.andi %154, %155 : i1
            %157 = arith.andi %33, %156 : i1
            %158 = arith.andi %88, %157 : i1
            %159 = scf.if %158 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %151, %153] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %160 = affine.apply #map55(%52, %arg5, %arg6, %thread_id_x)
            %161 = affine.apply #map36(%160)
            %162 = affine.apply #map56(%53, %arg5, %arg6, %thread_id_x)
            %163 = affine.apply #map36(%162)
            %164 = arith.cmpi ult, %161, %c29 : index
            %165 = arith.cmpi ult, %163, %c23 : index
            %166 = arith.andi %164, %165 : i1
            %167 = arith.andi %35, %166 : i1
            %168 = arith.andi %88, %167 : i1
            %169 = scf.if %168 -> (bf16) {
              %171 = memref.load %arg0[%block_id_z, %89, %161, %163] : memref<3x5x29x23xbf16>
              scf.yield %171 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %170 = vector.from_elements %99, %109, %119, %129, %139, %149, %159, %169 : vector<8xbf16>
            vector.store %170, %alloca_2[%85] : memref<16xbf16>, vector<8xbf16>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %75 = affine.apply #map57(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_4 = memref.alloca() {weft.name = "W_frag"} : memref<4x4x2xbf16>
          %77 = affine.apply #map45(%55, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %79 = affine.apply #map33(%56, %arg7)
            %80 = arith.xori %77, %57 : index
            %81 = nvgpu.ldmatrix %arg3[%75, %79, %80] {numTiles = 4 : i32, transpose = false} : memref<2x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %81, %alloca_4[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_5 = memref.alloca() {weft.name = "X_frag"} : memref<4x2x2xbf16>
          %78 = affine.apply #map45(%58, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %79 = affine.apply #map58(%59, %arg7)
            %80 = arith.xori %79, %60 : index
            %81 = nvgpu.ldmatrix %arg4[%75, %c0, %78, %80] {numTiles = 2 : i32, transpose = true} : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %81, %alloca_5[%arg7, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %79 = vector.load %alloca_3[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %80 = vector.shape_cast %79 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %81 = vector.load %alloca_4[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %82 = vector.load %alloca_5[%arg8, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
              %83 = nvgpu.mma.sync(%81, %82, %80) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %84 = vector.shape_cast %83 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %84, %alloca_3[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %76 = affine.apply #map59(%arg5)
        scf.if %64 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %77 = affine.apply #map53(%arg6)
            %78 = vector.load %alloca[%77] : memref<16xbf16>, vector<8xbf16>
            %79 = affine.apply #map12(%18, %arg6)
            %80 = arith.xori %2, %19 : index
            vector.store %78, %arg3[%76, %79, %80] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %77 = affine.apply #map53(%arg6)
            %78 = vector.load %alloca_2[%77] : memref<16xbf16>, vector<8xbf16>
            %79 = affine.apply #map33(%37, %arg6)
            %80 = arith.xori %36, %54 : index
            vector.store %78, %arg4[%76, %c0, %79, %80] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
        }
      }
      %61 = affine.apply #map60(%block_id_x, %thread_id_x, %0)
      %62 = affine.apply #map61(%1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %63 = affine.apply #map33(%62, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %64 = affine.apply #map58(%61, %arg6)
          %65 = arith.cmpi slt, %64, %c180 : index
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %66 = affine.apply #map58(%63, %arg7)
            %67 = arith.cmpi slt, %66, %c39 : index
            %68 = arith.andi %67, %65 : i1
            scf.if %68 {
              %69 = vector.load %alloca_3[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2xf32>
              vector.store %69, %reinterpret_cast_1[%block_id_z, %66, %64] : memref<3x39x180xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
