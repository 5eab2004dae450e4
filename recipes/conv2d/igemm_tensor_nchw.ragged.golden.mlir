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
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map12 = affine_map<(d0) -> (((d0 floordiv 2) mod 4) * 8)>
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
#map32 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map33 = affine_map<(d0, d1) -> ((d0 * 16 + d1 floordiv 16) floordiv 9)>
#map34 = affine_map<(d0, d1, d2) -> (d0 + ((d1 * 16 + d2 floordiv 16) mod 9) floordiv 3)>
#map35 = affine_map<(d0) -> (d0 - 1)>
#map36 = affine_map<(d0, d1, d2) -> (d0 + (d1 * 16 + d2 floordiv 16) mod 3)>
#map37 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map38 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map39 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 4) * 64)>
#map40 = affine_map<(d0) -> (d0 mod 16)>
#map41 = affine_map<(d0) -> ((d0 mod 4) * 32)>
#map42 = affine_map<(d0) -> (d0 + 32)>
#map43 = affine_map<(d0, d1) -> (d0 + d1)>
#map44 = affine_map<(d0) -> (d0 + 33)>
#map45 = affine_map<(d0) -> (d0 + 34)>
#map46 = affine_map<(d0) -> (d0 + 35)>
#map47 = affine_map<(d0) -> (d0 + 36)>
#map48 = affine_map<(d0) -> (d0 + 37)>
#map49 = affine_map<(d0) -> (d0 + 38)>
#map50 = affine_map<(d0) -> (d0 + 39)>
#map51 = affine_map<(d0) -> (d0 * 8)>
#map52 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 16 + d2 floordiv 16 + 32) floordiv 9)>
#map53 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 16 + d3 floordiv 16 + 32) mod 9) floordiv 3)>
#map54 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 16 + d3 floordiv 16 + 32) mod 3)>
#map55 = affine_map<(d0) -> ((d0 floordiv 32) mod 2)>
#map56 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map57 = affine_map<(d0) -> ((d0 floordiv 32 + 1) mod 2)>
#map58 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 4) * 32)>
#map59 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 4) * 64)>
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
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %59 = affine.apply #map11(%18, %arg5)
        %60 = arith.cmpi slt, %59, %c39 : index
        %61 = arith.andi %3, %60 : i1
        %62 = scf.if %61 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %2] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %63 = arith.andi %5, %60 : i1
        %64 = scf.if %63 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %4] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %65 = arith.andi %7, %60 : i1
        %66 = scf.if %65 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %6] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %67 = arith.andi %9, %60 : i1
        %68 = scf.if %67 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %8] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %69 = arith.andi %11, %60 : i1
        %70 = scf.if %69 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %10] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %71 = arith.andi %13, %60 : i1
        %72 = scf.if %71 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %12] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %73 = arith.andi %15, %60 : i1
        %74 = scf.if %73 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %14] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %75 = arith.andi %17, %60 : i1
        %76 = scf.if %75 -> (bf16) {
          %80 = memref.load %reinterpret_cast[%59, %16] : memref<39x45xbf16>
          scf.yield %80 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %77 = vector.from_elements %62, %64, %66, %68, %70, %72, %74, %76 : vector<8xbf16>
        %78 = affine.apply #map12(%59)
        %79 = arith.xori %2, %78 : index
        vector.store %77, %arg3[%c0, %59, %79] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %19 = affine.apply #map13(%block_id_x, %thread_id_x)
      %20 = arith.cmpi slt, %19, %c180 : index
      %21 = affine.apply #map3(%19)
      %22 = arith.cmpi slt, %21, %c180 : index
      %23 = affine.apply #map4(%19)
      %24 = arith.cmpi slt, %23, %c180 : index
      %25 = affine.apply #map5(%19)
      %26 = arith.cmpi slt, %25, %c180 : index
      %27 = affine.apply #map6(%19)
      %28 = arith.cmpi slt, %27, %c180 : index
      %29 = affine.apply #map7(%19)
      %30 = arith.cmpi slt, %29, %c180 : index
      %31 = affine.apply #map8(%19)
      %32 = arith.cmpi slt, %31, %c180 : index
      %33 = affine.apply #map9(%19)
      %34 = arith.cmpi slt, %33, %c180 : index
      %35 = affine.apply #map14(%thread_id_x)
      %36 = affine.apply #map15(%thread_id_x)
      %37 = affine.apply #map16(%block_id_x, %thread_id_x)
      %38 = affine.apply #map17(%block_id_x, %thread_id_x)
      %39 = affine.apply #map18(%block_id_x, %thread_id_x)
      %40 = affine.apply #map19(%block_id_x, %thread_id_x)
      %41 = affine.apply #map20(%block_id_x, %thread_id_x)
      %42 = affine.apply #map21(%block_id_x, %thread_id_x)
      %43 = affine.apply #map22(%block_id_x, %thread_id_x)
      %44 = affine.apply #map23(%block_id_x, %thread_id_x)
      %45 = affine.apply #map24(%block_id_x, %thread_id_x)
      %46 = affine.apply #map25(%block_id_x, %thread_id_x)
      %47 = affine.apply #map26(%block_id_x, %thread_id_x)
      %48 = affine.apply #map27(%block_id_x, %thread_id_x)
      %49 = affine.apply #map28(%block_id_x, %thread_id_x)
      %50 = affine.apply #map29(%block_id_x, %thread_id_x)
      %51 = affine.apply #map30(%block_id_x, %thread_id_x)
      %52 = affine.apply #map31(%block_id_x, %thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %59 = affine.apply #map32(%36, %arg5)
        %60 = arith.cmpi slt, %59, %c45 : index
        %61 = affine.apply #map33(%arg5, %thread_id_x)
        %62 = affine.apply #map34(%37, %arg5, %thread_id_x)
        %63 = affine.apply #map35(%62)
        %64 = affine.apply #map36(%38, %arg5, %thread_id_x)
        %65 = affine.apply #map35(%64)
        %66 = arith.cmpi ult, %63, %c29 : index
        %67 = arith.cmpi ult, %65, %c23 : index
        %68 = arith.andi %66, %67 : i1
        %69 = arith.andi %20, %68 : i1
        %70 = arith.andi %60, %69 : i1
        %71 = scf.if %70 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %63, %65] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %72 = affine.apply #map34(%39, %arg5, %thread_id_x)
        %73 = affine.apply #map35(%72)
        %74 = affine.apply #map36(%40, %arg5, %thread_id_x)
        %75 = affine.apply #map35(%74)
        %76 = arith.cmpi ult, %73, %c29 : index
        %77 = arith.cmpi ult, %75, %c23 : index
        %78 = arith.andi %76, %77 : i1
        %79 = arith.andi %22, %78 : i1
        %80 = arith.andi %60, %79 : i1
        %81 = scf.if %80 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %73, %75] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %82 = affine.apply #map34(%41, %arg5, %thread_id_x)
        %83 = affine.apply #map35(%82)
        %84 = affine.apply #map36(%42, %arg5, %thread_id_x)
        %85 = affine.apply #map35(%84)
        %86 = arith.cmpi ult, %83, %c29 : index
        %87 = arith.cmpi ult, %85, %c23 : index
        %88 = arith.andi %86, %87 : i1
        %89 = arith.andi %24, %88 : i1
        %90 = arith.andi %60, %89 : i1
        %91 = scf.if %90 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %83, %85] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %92 = affine.apply #map34(%43, %arg5, %thread_id_x)
        %93 = affine.apply #map35(%92)
        %94 = affine.apply #map36(%44, %arg5, %thread_id_x)
        %95 = affine.apply #map35(%94)
        %96 = arith.cmpi ult, %93, %c29 : index
        %97 = arith.cmpi ult, %95, %c23 : index
        %98 = arith.andi %96, %97 : i1
        %99 = arith.andi %26, %98 : i1
        %100 = arith.andi %60, %99 : i1
        %101 = scf.if %100 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %93, %95] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %102 = affine.apply #map34(%45, %arg5, %thread_id_x)
        %103 = affine.apply #map35(%102)
        %104 = affine.apply #map36(%46, %arg5, %thread_id_x)
        %105 = affine.apply #map35(%104)
        %106 = arith.cmpi ult, %103, %c29 : index
        %107 = arith.cmpi ult, %105, %c23 : index
        %108 = arith.andi %106, %107 : i1
        %109 = arith.andi %28, %108 : i1
        %110 = arith.andi %60, %109 : i1
        %111 = scf.if %110 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %103, %105] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %112 = affine.apply #map34(%47, %arg5, %thread_id_x)
        %113 = affine.apply #map35(%112)
        %114 = affine.apply #map36(%48, %arg5, %thread_id_x)
        %115 = affine.apply #map35(%114)
        %116 = arith.cmpi ult, %113, %c29 : index
        %117 = arith.cmpi ult, %115, %c23 : index
        %118 = arith.andi %116, %117 : i1
        %119 = arith.andi %30, %118 : i1
        %120 = arith.andi %60, %119 : i1
        %121 = scf.if %120 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %113, %115] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %122 = affine.apply #map34(%49, %arg5, %thread_id_x)
        %123 = affine.apply #map35(%122)
        %124 = affine.apply #map36(%50, %arg5, %thread_id_x)
        %125 = affine.apply #map35(%124)
        %126 = arith.cmpi ult, %123, %c29 : index
        %127 = arith.cmpi ult, %125, %c23 : index
        %128 = arith.andi %126, %127 : i1
        %129 = arith.andi %32, %128 : i1
        %130 = arith.andi %60, %129 : i1
        %131 = scf.if %130 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %123, %125] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %132 = affine.apply #map34(%51, %arg5, %thread_id_x)
        %133 = affine.apply #map35(%132)
        %134 = affine.apply #map36(%52, %arg5, %thread_id_x)
        %135 = affine.apply #map35(%134)
        %136 = arith.cmpi ult, %133, %c29 : index
        %137 = arith.cmpi ult, %135, %c23 : index
        %138 = arith.andi %136, %137 : i1
        %139 = arith.andi %34, %138 : i1
        %140 = arith.andi %60, %139 : i1
        %141 = scf.if %140 -> (bf16) {
          %145 = memref.load %arg0[%block_id_z, %61, %133, %135] : memref<3x5x29x23xbf16>
          scf.yield %145 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %142 = vector.from_elements %71, %81, %91, %101, %111, %121, %131, %141 : vector<8xbf16>
        %143 = affine.apply #map37(%59)
        %144 = arith.xori %35, %143 : index
        vector.store %142, %arg4[%c0, %c0, %59, %144] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %53 = affine.apply #map38(%1)
      %54 = affine.apply #map39(%thread_id_x, %0)
      %55 = affine.apply #map40(%thread_id_x)
      %56 = affine.apply #map41(%0)
      scf.for %arg5 = %c0 to %c64 step %c32 {
        %59 = affine.apply #map42(%arg5)
        %60 = arith.cmpi slt, %59, %c64 : index
        %61 = affine.apply #map43(%2, %arg5)
        %62 = affine.apply #map42(%61)
        %63 = affine.apply #map44(%61)
        %64 = affine.apply #map45(%61)
        %65 = affine.apply #map46(%61)
        %66 = affine.apply #map47(%61)
        %67 = affine.apply #map48(%61)
        %68 = affine.apply #map49(%61)
        %69 = affine.apply #map50(%61)
        %70 = affine.apply #map43(%36, %arg5)
        scf.if %60 {
          %73 = arith.cmpi slt, %62, %c45 : index
          %74 = arith.cmpi slt, %63, %c45 : index
          %75 = arith.cmpi slt, %64, %c45 : index
          %76 = arith.cmpi slt, %65, %c45 : index
          %77 = arith.cmpi slt, %66, %c45 : index
          %78 = arith.cmpi slt, %67, %c45 : index
          %79 = arith.cmpi slt, %68, %c45 : index
          %80 = arith.cmpi slt, %69, %c45 : index
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %81 = affine.apply #map51(%arg6)
            %82 = affine.apply #map11(%18, %arg6)
            %83 = arith.cmpi slt, %82, %c39 : index
            %84 = arith.andi %73, %83 : i1
            %85 = scf.if %84 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %62] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %86 = arith.andi %74, %83 : i1
            %87 = scf.if %86 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %63] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %88 = arith.andi %75, %83 : i1
            %89 = scf.if %88 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %64] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %90 = arith.andi %76, %83 : i1
            %91 = scf.if %90 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %65] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %92 = arith.andi %77, %83 : i1
            %93 = scf.if %92 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %66] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %94 = arith.andi %78, %83 : i1
            %95 = scf.if %94 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %67] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %96 = arith.andi %79, %83 : i1
            %97 = scf.if %96 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %68] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %98 = arith.andi %80, %83 : i1
            %99 = scf.if %98 -> (bf16) {
              %101 = memref.load %reinterpret_cast[%82, %69] : memref<39x45xbf16>
              scf.yield %101 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %100 = vector.from_elements %85, %87, %89, %91, %93, %95, %97, %99 : vector<8xbf16>
            vector.store %100, %alloca[%81] : memref<16xbf16>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %81 = affine.apply #map51(%arg6)
            %82 = affine.apply #map32(%70, %arg6)
            %83 = affine.apply #map42(%82)
            %84 = arith.cmpi slt, %83, %c45 : index
            %85 = affine.apply #map52(%arg5, %arg6, %thread_id_x)
            %86 = affine.apply #map53(%37, %arg5, %arg6, %thread_id_x)
            %87 = affine.apply #map35(%86)
            %88 = affine.apply #map54(%38, %arg5, %arg6, %thread_id_x)
            %89 = affine.apply #map35(%88)
            %90 = arith.cmpi ult, %87, %c29 : index
            %91 = arith.cmpi ult, %89, %c23 : index
            %92 = arith.andi %90, %91 : i1
            %93 = arith.andi %20, %92 : i1
            %94 = arith.andi %84, %93 : i1
            %95 = scf.if %94 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %87, %89] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %96 = affine.apply #map53(%39, %arg5, %arg6, %thread_id_x)
            %97 = affine.apply #map35(%96)
            %98 = affine.apply #map54(%40, %arg5, %arg6, %thread_id_x)
            %99 = affine.apply #map35(%98)
            %100 = arith.cmpi ult, %97, %c29 : index
            %101 = arith.cmpi ult, %99, %c23 : index
            %102 = arith.andi %100, %101 : i1
            %103 = arith.andi %22, %102 : i1
            %104 = arith.andi %84, %103 : i1
            %105 = scf.if %104 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %97, %99] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %106 = affine.apply #map53(%41, %arg5, %arg6, %thread_id_x)
            %107 = affine.apply #map35(%106)
            %108 = affine.apply #map54(%42, %arg5, %arg6, %thread_id_x)
            %109 = affine.apply #map35(%108)
            %110 = arith.cmpi ult, %107, %c29 : index
            %111 = arith.cmpi ult, %109, %c23 : index
            %112 = arith.andi %110, %111 : i1
            %113 = arith.andi %24, %112 : i1
            %114 = arith.andi %84, %113 : i1
            %115 = scf.if %114 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %107, %109] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %116 = affine.apply #map53(%43, %arg5, %arg6, %thread_id_x)
            %117 = affine.apply #map35(%116)
            %118 = affine.apply #map54(%44, %arg5, %arg6, %thread_id_x)
            %119 = affine.apply #map35(%118)
            %120 = arith.cmpi ult, %117, %c29 : index
            %121 = arith.cmpi ult, %119, %c23 : index
            %122 = arith.andi %120, %121 : i1
            %123 = arith.andi %26, %122 : i1
            %124 = arith.andi %84, %123 : i1
            %125 = scf.if %124 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %117, %119] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %126 = affine.apply #map53(%45, %arg5, %arg6, %thread_id_x)
            %127 = affine.apply #map35(%126)
            %128 = affine.apply #map54(%46, %arg5, %arg6, %thread_id_x)
            %129 = affine.apply #map35(%128)
            %130 = arith.cmpi ult, %127, %c29 : index
            %131 = arith.cmpi ult, %129, %c23 : index
            %132 = arith.andi %130, %131 : i1
            %133 = arith.andi %28, %132 : i1
            %134 = arith.andi %84, %133 : i1
            %135 = scf.if %134 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %127, %129] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %136 = affine.apply #map53(%47, %arg5, %arg6, %thread_id_x)
            %137 = affine.apply #map35(%136)
            %138 = affine.apply #map54(%48, %arg5, %arg6, %thread_id_x)
            %139 = affine.apply #map35(%138)
            %140 = arith.cmpi ult, %137, %c29 : index
            %141 = arith.cmpi ult, %139, %c23 : index
            %142 = arith.andi %140, %141 : i1
            %143 = arith.andi %30, %142 : i1
            %144 = arith.andi %84, %143 : i1
            %145 = scf.if %144 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %137, %139] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %146 = affine.apply #map53(%49, %arg5, %arg6, %thread_id_x)
            %147 = affine.apply #map35(%146)
            %148 = affine.apply #map54(%50, %arg5, %arg6, %thread_id_x)
            %149 = affine.apply #map35(%148)
            %150 = arith.cmpi ult, %147, %c29 : index
            %151 = arith.cmpi ult, %149, %c23 : index
            %152 = arith.andi %150, %151 : i1
            %153 = arith.andi %32, %152 : i1
            %154 = arith.andi %84, %153 : i1
            %155 = scf.if %154 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %147, %149] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %156 = affine.apply #map53(%51, %arg5, %arg6, %thread_id_x)
            %157 = affine.apply #map35(%156)
            %158 = affine.apply #map54(%52, %arg5, %arg6, %thread_id_x)
            %159 = affine.apply #map35(%158)
            %160 = arith.cmpi ult, %157, %c29 : index
            %161 = arith.cmpi ult, %159, %c23 : index
            %162 = arith.andi %160, %161 : i1
            %163 = arith.andi %34, %162 : i1
            %164 = arith.andi %84, %163 : i1
            %165 = scf.if %164 -> (bf16) {
              %167 = memref.load %arg0[%block_id_z, %85, %157, %159] : memref<3x5x29x23xbf16>
              scf.yield %167 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %166 = vector.from_elements %95, %105, %115, %125, %135, %145, %155, %165 : vector<8xbf16>
            vector.store %166, %alloca_2[%81] : memref<16xbf16>, vector<8xbf16>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %71 = affine.apply #map55(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_4 = memref.alloca() {weft.name = "W_frag"} : memref<4x4x2xbf16>
          %73 = affine.apply #map43(%53, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %76 = affine.apply #map32(%54, %arg7)
            %77 = affine.apply #map12(%76)
            %78 = arith.xori %73, %77 : index
            %79 = nvgpu.ldmatrix %arg3[%71, %76, %78] {numTiles = 4 : i32, transpose = false} : memref<2x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %79, %alloca_4[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_5 = memref.alloca() {weft.name = "X_frag"} : memref<4x2x2xbf16>
          %74 = affine.apply #map43(%55, %arg6)
          %75 = affine.apply #map37(%74)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %76 = affine.apply #map56(%56, %arg7)
            %77 = arith.xori %76, %75 : index
            %78 = nvgpu.ldmatrix %arg4[%71, %c0, %74, %77] {numTiles = 2 : i32, transpose = true} : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %78, %alloca_5[%arg7, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %76 = vector.load %alloca_3[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %77 = vector.shape_cast %76 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %78 = vector.load %alloca_4[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %79 = vector.load %alloca_5[%arg8, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
              %80 = nvgpu.mma.sync(%78, %79, %77) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %81 = vector.shape_cast %80 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %81, %alloca_3[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %72 = affine.apply #map57(%arg5)
        scf.if %60 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %73 = affine.apply #map51(%arg6)
            %74 = vector.load %alloca[%73] : memref<16xbf16>, vector<8xbf16>
            %75 = affine.apply #map11(%18, %arg6)
            %76 = affine.apply #map12(%75)
            %77 = arith.xori %2, %76 : index
            vector.store %74, %arg3[%72, %75, %77] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %73 = affine.apply #map51(%arg6)
            %74 = vector.load %alloca_2[%73] : memref<16xbf16>, vector<8xbf16>
            %75 = affine.apply #map32(%36, %arg6)
            %76 = affine.apply #map37(%75)
            %77 = arith.xori %35, %76 : index
            vector.store %74, %arg4[%72, %c0, %75, %77] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
        }
      }
      %57 = affine.apply #map58(%block_id_x, %thread_id_x, %0)
      %58 = affine.apply #map59(%1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %59 = affine.apply #map32(%58, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %60 = affine.apply #map56(%57, %arg6)
          %61 = arith.cmpi slt, %60, %c180 : index
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %62 = affine.apply #map56(%59, %arg7)
            %63 = arith.cmpi slt, %62, %c39 : index
            %64 = arith.andi %63, %61 : i1
            scf.if %64 {
              %65 = vector.load %alloca_3[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2xf32>
              vector.store %65, %reinterpret_cast_1[%block_id_z, %62, %60] : memref<3x39x180xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
