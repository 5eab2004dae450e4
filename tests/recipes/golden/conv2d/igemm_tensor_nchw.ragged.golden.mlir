// weft golden igemm_tensor_nchw --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
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
#map12 = affine_map<(d0) -> (d0 * 8)>
#map13 = affine_map<(d0) -> ((d0 floordiv 4) * -32)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map15 = affine_map<(d0, d1) -> (d0 + d1)>
#map16 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 16) * 8)>
#map17 = affine_map<(d0) -> (d0 floordiv 16)>
#map18 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2) floordiv 3) * 2)>
#map19 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2) mod 3) * 8)>
#map20 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 1) floordiv 12) * 2)>
#map21 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 1) mod 12) * 2)>
#map22 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 1) floordiv 6) * 2)>
#map23 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 1) mod 6) * 4)>
#map24 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 3) floordiv 12) * 2)>
#map25 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 3) mod 12) * 2)>
#map26 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2 + 1) floordiv 3) * 2)>
#map27 = affine_map<(d0, d1) -> (((d0 * 32 + (d1 mod 16) * 2 + 1) mod 3) * 8)>
#map28 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 5) floordiv 12) * 2)>
#map29 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 5) mod 12) * 2)>
#map30 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 3) floordiv 6) * 2)>
#map31 = affine_map<(d0, d1) -> (((d0 * 64 + (d1 mod 16) * 4 + 3) mod 6) * 4)>
#map32 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 7) floordiv 12) * 2)>
#map33 = affine_map<(d0, d1) -> (((d0 * 128 + (d1 mod 16) * 8 + 7) mod 12) * 2)>
#map34 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map35 = affine_map<(d0) -> ((d0 floordiv 16) * -128)>
#map36 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map37 = affine_map<(d0, d1) -> ((d0 * 16 + d1 floordiv 16) floordiv 9)>
#map38 = affine_map<(d0, d1, d2) -> (d0 + ((d1 * 16 + d2 floordiv 16) mod 9) floordiv 3)>
#map39 = affine_map<(d0) -> (d0 - 1)>
#map40 = affine_map<(d0, d1, d2) -> (d0 + (d1 * 16 + d2 floordiv 16) mod 3)>
#map41 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map42 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 4) * 64)>
#map43 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map44 = affine_map<(d0) -> (d0 mod 16)>
#map45 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map46 = affine_map<(d0) -> (d0 * 32)>
#map47 = affine_map<(d0) -> ((d0 floordiv 4) * -128)>
#map48 = affine_map<(d0) -> (d0 + 32)>
#map49 = affine_map<(d0) -> (d0 + 33)>
#map50 = affine_map<(d0) -> (d0 + 34)>
#map51 = affine_map<(d0) -> (d0 + 35)>
#map52 = affine_map<(d0) -> (d0 + 36)>
#map53 = affine_map<(d0) -> (d0 + 37)>
#map54 = affine_map<(d0) -> (d0 + 38)>
#map55 = affine_map<(d0) -> (d0 + 39)>
#map56 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 16 + d2 floordiv 16 + 32) floordiv 9)>
#map57 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 16 + d3 floordiv 16 + 32) mod 9) floordiv 3)>
#map58 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 16 + d3 floordiv 16 + 32) mod 3)>
#map59 = affine_map<(d0) -> ((d0 floordiv 32) mod 2)>
#map60 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map61 = affine_map<(d0) -> ((d0 floordiv 32 + 1) mod 2)>
#map62 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 2 + (d2 mod 4) * 32)>
#map63 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 4) * 64)>
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
      %20 = affine.apply #map12(%thread_id_x)
      %21 = affine.apply #map13(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %66 = affine.apply #map14(%18, %arg5)
        %67 = arith.cmpi slt, %66, %c39 : index
        %68 = arith.andi %3, %67 : i1
        %69 = scf.if %68 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %2] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %70 = arith.andi %5, %67 : i1
        %71 = scf.if %70 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %4] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %72 = arith.andi %7, %67 : i1
        %73 = scf.if %72 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %6] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %74 = arith.andi %9, %67 : i1
        %75 = scf.if %74 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %8] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %76 = arith.andi %11, %67 : i1
        %77 = scf.if %76 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %10] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %78 = arith.andi %13, %67 : i1
        %79 = scf.if %78 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %12] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %80 = arith.andi %15, %67 : i1
        %81 = scf.if %80 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %14] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %82 = arith.andi %17, %67 : i1
        %83 = scf.if %82 -> (bf16) {
          %87 = memref.load %reinterpret_cast[%66, %16] : memref<39x45xbf16>
          scf.yield %87 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %84 = vector.from_elements %69, %71, %73, %75, %77, %79, %81, %83 : vector<8xbf16>
        %85 = arith.xori %20, %19 : index
        %86 = affine.apply #map15(%21, %85)
        vector.store %84, %arg3[%c0, %66, %86] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %22 = affine.apply #map16(%block_id_x, %thread_id_x)
      %23 = arith.cmpi slt, %22, %c180 : index
      %24 = affine.apply #map3(%22)
      %25 = arith.cmpi slt, %24, %c180 : index
      %26 = affine.apply #map4(%22)
      %27 = arith.cmpi slt, %26, %c180 : index
      %28 = affine.apply #map5(%22)
      %29 = arith.cmpi slt, %28, %c180 : index
      %30 = affine.apply #map6(%22)
      %31 = arith.cmpi slt, %30, %c180 : index
      %32 = affine.apply #map7(%22)
      %33 = arith.cmpi slt, %32, %c180 : index
      %34 = affine.apply #map8(%22)
      %35 = arith.cmpi slt, %34, %c180 : index
      %36 = affine.apply #map9(%22)
      %37 = arith.cmpi slt, %36, %c180 : index
      %38 = affine.apply #map17(%thread_id_x)
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
      %53 = affine.apply #map32(%block_id_x, %thread_id_x)
      %54 = affine.apply #map33(%block_id_x, %thread_id_x)
      %55 = affine.apply #map34(%thread_id_x)
      %56 = affine.apply #map35(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %66 = affine.apply #map36(%38, %arg5)
        %67 = arith.cmpi slt, %66, %c45 : index
        %68 = affine.apply #map37(%arg5, %thread_id_x)
        %69 = affine.apply #map38(%39, %arg5, %thread_id_x)
        %70 = affine.apply #map39(%69)
        %71 = affine.apply #map40(%40, %arg5, %thread_id_x)
        %72 = affine.apply #map39(%71)
        %73 = arith.cmpi ult, %70, %c29 : index
        %74 = arith.cmpi ult, %72, %c23 : index
        %75 = arith.andi %73, %74 : i1
        %76 = arith.andi %23, %75 : i1
        %77 = arith.andi %67, %76 : i1
        %78 = scf.if %77 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %70, %72] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %79 = affine.apply #map38(%41, %arg5, %thread_id_x)
        %80 = affine.apply #map39(%79)
        %81 = affine.apply #map40(%42, %arg5, %thread_id_x)
        %82 = affine.apply #map39(%81)
        %83 = arith.cmpi ult, %80, %c29 : index
        %84 = arith.cmpi ult, %82, %c23 : index
        %85 = arith.andi %83, %84 : i1
        %86 = arith.andi %25, %85 : i1
        %87 = arith.andi %67, %86 : i1
        %88 = scf.if %87 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %80, %82] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %89 = affine.apply #map38(%43, %arg5, %thread_id_x)
        %90 = affine.apply #map39(%89)
        %91 = affine.apply #map40(%44, %arg5, %thread_id_x)
        %92 = affine.apply #map39(%91)
        %93 = arith.cmpi ult, %90, %c29 : index
        %94 = arith.cmpi ult, %92, %c23 : index
        %95 = arith.andi %93, %94 : i1
        %96 = arith.andi %27, %95 : i1
        %97 = arith.andi %67, %96 : i1
        %98 = scf.if %97 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %90, %92] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %99 = affine.apply #map38(%45, %arg5, %thread_id_x)
        %100 = affine.apply #map39(%99)
        %101 = affine.apply #map40(%46, %arg5, %thread_id_x)
        %102 = affine.apply #map39(%101)
        %103 = arith.cmpi ult, %100, %c29 : index
        %104 = arith.cmpi ult, %102, %c23 : index
        %105 = arith.andi %103, %104 : i1
        %106 = arith.andi %29, %105 : i1
        %107 = arith.andi %67, %106 : i1
        %108 = scf.if %107 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %100, %102] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %109 = affine.apply #map38(%47, %arg5, %thread_id_x)
        %110 = affine.apply #map39(%109)
        %111 = affine.apply #map40(%48, %arg5, %thread_id_x)
        %112 = affine.apply #map39(%111)
        %113 = arith.cmpi ult, %110, %c29 : index
        %114 = arith.cmpi ult, %112, %c23 : index
        %115 = arith.andi %113, %114 : i1
        %116 = arith.andi %31, %115 : i1
        %117 = arith.andi %67, %116 : i1
        %118 = scf.if %117 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %110, %112] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %119 = affine.apply #map38(%49, %arg5, %thread_id_x)
        %120 = affine.apply #map39(%119)
        %121 = affine.apply #map40(%50, %arg5, %thread_id_x)
        %122 = affine.apply #map39(%121)
        %123 = arith.cmpi ult, %120, %c29 : index
        %124 = arith.cmpi ult, %122, %c23 : index
        %125 = arith.andi %123, %124 : i1
        %126 = arith.andi %33, %125 : i1
        %127 = arith.andi %67, %126 : i1
        %128 = scf.if %127 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %120, %122] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %129 = affine.apply #map38(%51, %arg5, %thread_id_x)
        %130 = affine.apply #map39(%129)
        %131 = affine.apply #map40(%52, %arg5, %thread_id_x)
        %132 = affine.apply #map39(%131)
        %133 = arith.cmpi ult, %130, %c29 : index
        %134 = arith.cmpi ult, %132, %c23 : index
        %135 = arith.andi %133, %134 : i1
        %136 = arith.andi %35, %135 : i1
        %137 = arith.andi %67, %136 : i1
        %138 = scf.if %137 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %130, %132] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %139 = affine.apply #map38(%53, %arg5, %thread_id_x)
        %140 = affine.apply #map39(%139)
        %141 = affine.apply #map40(%54, %arg5, %thread_id_x)
        %142 = affine.apply #map39(%141)
        %143 = arith.cmpi ult, %140, %c29 : index
        %144 = arith.cmpi ult, %142, %c23 : index
        %145 = arith.andi %143, %144 : i1
        %146 = arith.andi %37, %145 : i1
        %147 = arith.andi %67, %146 : i1
        %148 = scf.if %147 -> (bf16) {
          %152 = memref.load %arg0[%block_id_z, %68, %140, %142] : memref<3x5x29x23xbf16>
          scf.yield %152 : bf16
        } else {
          scf.yield %cst : bf16
        }
        %149 = vector.from_elements %78, %88, %98, %108, %118, %128, %138, %148 : vector<8xbf16>
        %150 = arith.xori %20, %55 : index
        %151 = affine.apply #map15(%56, %150)
        vector.store %149, %arg4[%c0, %c0, %66, %151] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
      }
      %57 = affine.apply #map41(%1)
      %58 = affine.apply #map42(%thread_id_x, %0)
      %59 = affine.apply #map43(%thread_id_x)
      %60 = affine.apply #map44(%thread_id_x)
      %61 = affine.apply #map45(%thread_id_x)
      %62 = affine.apply #map46(%0)
      %63 = affine.apply #map47(%0)
      scf.for %arg5 = %c0 to %c64 step %c32 {
        %66 = affine.apply #map48(%arg5)
        %67 = arith.cmpi slt, %66, %c64 : index
        %68 = affine.apply #map15(%2, %arg5)
        %69 = affine.apply #map48(%68)
        %70 = affine.apply #map49(%68)
        %71 = affine.apply #map50(%68)
        %72 = affine.apply #map51(%68)
        %73 = affine.apply #map52(%68)
        %74 = affine.apply #map53(%68)
        %75 = affine.apply #map54(%68)
        %76 = affine.apply #map55(%68)
        %77 = affine.apply #map15(%38, %arg5)
        scf.if %67 {
          %80 = arith.cmpi slt, %69, %c45 : index
          %81 = arith.cmpi slt, %70, %c45 : index
          %82 = arith.cmpi slt, %71, %c45 : index
          %83 = arith.cmpi slt, %72, %c45 : index
          %84 = arith.cmpi slt, %73, %c45 : index
          %85 = arith.cmpi slt, %74, %c45 : index
          %86 = arith.cmpi slt, %75, %c45 : index
          %87 = arith.cmpi slt, %76, %c45 : index
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %88 = affine.apply #map12(%arg6)
            %89 = affine.apply #map14(%18, %arg6)
            %90 = arith.cmpi slt, %89, %c39 : index
            %91 = arith.andi %80, %90 : i1
            %92 = scf.if %91 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %69] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %93 = arith.andi %81, %90 : i1
            %94 = scf.if %93 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %70] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %95 = arith.andi %82, %90 : i1
            %96 = scf.if %95 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %71] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %97 = arith.andi %83, %90 : i1
            %98 = scf.if %97 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %72] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %99 = arith.andi %84, %90 : i1
            %100 = scf.if %99 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %73] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %101 = arith.andi %85, %90 : i1
            %102 = scf.if %101 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %74] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %103 = arith.andi %86, %90 : i1
            %104 = scf.if %103 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %75] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %105 = arith.andi %87, %90 : i1
            %106 = scf.if %105 -> (bf16) {
              %108 = memref.load %reinterpret_cast[%89, %76] : memref<39x45xbf16>
              scf.yield %108 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %107 = vector.from_elements %92, %94, %96, %98, %100, %102, %104, %106 : vector<8xbf16>
            vector.store %107, %alloca[%88] : memref<16xbf16>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %88 = affine.apply #map12(%arg6)
            %89 = affine.apply #map36(%77, %arg6)
            %90 = affine.apply #map48(%89)
            %91 = arith.cmpi slt, %90, %c45 : index
            %92 = affine.apply #map56(%arg5, %arg6, %thread_id_x)
            %93 = affine.apply #map57(%39, %arg5, %arg6, %thread_id_x)
            %94 = affine.apply #map39(%93)
            %95 = affine.apply #map58(%40, %arg5, %arg6, %thread_id_x)
            %96 = affine.apply #map39(%95)
            %97 = arith.cmpi ult, %94, %c29 : index
            %98 = arith.cmpi ult, %96, %c23 : index
            %99 = arith.andi %97, %98 : i1
            %100 = arith.andi %23, %99 : i1
            %101 = arith.andi %91, %100 : i1
            %102 = scf.if %101 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %94, %96] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %103 = affine.apply #map57(%41, %arg5, %arg6, %thread_id_x)
            %104 = affine.apply #map39(%103)
            %105 = affine.apply #map58(%42, %arg5, %arg6, %thread_id_x)
            %106 = affine.apply #map39(%105)
            %107 = arith.cmpi ult, %104, %c29 : index
            %108 = arith.cmpi ult, %106, %c23 : index
            %109 = arith.andi %107, %108 : i1
            %110 = arith.andi %25, %109 : i1
            %111 = arith.andi %91, %110 : i1
            %112 = scf.if %111 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %104, %106] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %113 = affine.apply #map57(%43, %arg5, %arg6, %thread_id_x)
            %114 = affine.apply #map39(%113)
            %115 = affine.apply #map58(%44, %arg5, %arg6, %thread_id_x)
            %116 = affine.apply #map39(%115)
            %117 = arith.cmpi ult, %114, %c29 : index
            %118 = arith.cmpi ult, %116, %c23 : index
            %119 = arith.andi %117, %118 : i1
            %120 = arith.andi %27, %119 : i1
            %121 = arith.andi %91, %120 : i1
            %122 = scf.if %121 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %114, %116] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %123 = affine.apply #map57(%45, %arg5, %arg6, %thread_id_x)
            %124 = affine.apply #map39(%123)
            %125 = affine.apply #map58(%46, %arg5, %arg6, %thread_id_x)
            %126 = affine.apply #map39(%125)
            %127 = arith.cmpi ult, %124, %c29 : index
            %128 = arith.cmpi ult, %126, %c23 : index
            %129 = arith.andi %127, %128 : i1
            %130 = arith.andi %29, %129 : i1
            %131 = arith.andi %91, %130 : i1
            %132 = scf.if %131 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %124, %126] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %133 = affine.apply #map57(%47, %arg5, %arg6, %thread_id_x)
            %134 = affine.apply #map39(%133)
            %135 = affine.apply #map58(%48, %arg5, %arg6, %thread_id_x)
            %136 = affine.apply #map39(%135)
            %137 = arith.cmpi ult, %134, %c29 : index
            %138 = arith.cmpi ult, %136, %c23 : index
            %139 = arith.andi %137, %138 : i1
            %140 = arith.andi %31, %139 : i1
            %141 = arith.andi %91, %140 : i1
            %142 = scf.if %141 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %134, %136] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %143 = affine.apply #map57(%49, %arg5, %arg6, %thread_id_x)
            %144 = affine.apply #map39(%143)
            %145 = affine.apply #map58(%50, %arg5, %arg6, %thread_id_x)
            %146 = affine.apply #map39(%145)
            %147 = arith.cmpi ult, %144, %c29 : index
            %148 = arith.cmpi ult, %146, %c23 : index
            %149 = arith.andi %147, %148 : i1
            %150 = arith.andi %33, %149 : i1
            %151 = arith.andi %91, %150 : i1
            %152 = scf.if %151 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %144, %146] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %153 = affine.apply #map57(%51, %arg5, %arg6, %thread_id_x)
            %154 = affine.apply #map39(%153)
            %155 = affine.apply #map58(%52, %arg5, %arg6, %thread_id_x)
            %156 = affine.apply #map39(%155)
            %157 = arith.cmpi ult, %154, %c29 : index
            %158 = arith.cmpi ult, %156, %c23 : index
            %159 = arith.andi %157, %158 : i1
            %160 = arith.andi %35, %159 : i1
            %161 = arith.andi %91, %160 : i1
            %162 = scf.if %161 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %154, %156] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %163 = affine.apply #map57(%53, %arg5, %arg6, %thread_id_x)
            %164 = affine.apply #map39(%163)
            %165 = affine.apply #map58(%54, %arg5, %arg6, %thread_id_x)
            %166 = affine.apply #map39(%165)
            %167 = arith.cmpi ult, %164, %c29 : index
            %168 = arith.cmpi ult, %166, %c23 : index
            %169 = arith.andi %167, %168 : i1
            %170 = arith.andi %37, %169 : i1
            %171 = arith.andi %91, %170 : i1
            %172 = scf.if %171 -> (bf16) {
              %174 = memref.load %arg0[%block_id_z, %92, %164, %166] : memref<3x5x29x23xbf16>
              scf.yield %174 : bf16
            } else {
              scf.yield %cst : bf16
            }
            %173 = vector.from_elements %102, %112, %122, %132, %142, %152, %162, %172 : vector<8xbf16>
            vector.store %173, %alloca_2[%88] : memref<16xbf16>, vector<8xbf16>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %78 = affine.apply #map59(%arg5)
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_4 = memref.alloca() {weft.name = "W_frag"} : memref<4x4x2xbf16>
          %80 = affine.apply #map15(%57, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %82 = affine.apply #map36(%58, %arg7)
            %83 = arith.xori %80, %59 : index
            %84 = nvgpu.ldmatrix %arg3[%78, %82, %83] {numTiles = 4 : i32, transpose = false} : memref<2x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %84, %alloca_4[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_5 = memref.alloca() {weft.name = "X_frag"} : memref<4x2x2xbf16>
          %81 = affine.apply #map15(%60, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %82 = affine.apply #map60(%62, %arg7)
            %83 = arith.xori %82, %61 : index
            %84 = affine.apply #map15(%63, %83)
            %85 = nvgpu.ldmatrix %arg4[%78, %c0, %81, %84] {numTiles = 2 : i32, transpose = true} : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %85, %alloca_5[%arg7, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %82 = vector.load %alloca_3[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %83 = vector.shape_cast %82 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %84 = vector.load %alloca_4[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %85 = vector.load %alloca_5[%arg8, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
              %86 = nvgpu.mma.sync(%84, %85, %83) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %87 = vector.shape_cast %86 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %87, %alloca_3[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        %79 = affine.apply #map61(%arg5)
        scf.if %67 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %80 = affine.apply #map12(%arg6)
            %81 = vector.load %alloca[%80] : memref<16xbf16>, vector<8xbf16>
            %82 = affine.apply #map14(%18, %arg6)
            %83 = arith.xori %20, %19 : index
            %84 = affine.apply #map15(%21, %83)
            vector.store %81, %arg3[%79, %82, %84] : memref<2x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %80 = affine.apply #map12(%arg6)
            %81 = vector.load %alloca_2[%80] : memref<16xbf16>, vector<8xbf16>
            %82 = affine.apply #map36(%38, %arg6)
            %83 = arith.xori %20, %55 : index
            %84 = affine.apply #map15(%56, %83)
            vector.store %81, %arg4[%79, %c0, %82, %84] : memref<2x1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
          }
        }
      }
      %64 = affine.apply #map62(%block_id_x, %thread_id_x, %0)
      %65 = affine.apply #map63(%1, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %66 = affine.apply #map36(%65, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %67 = affine.apply #map60(%64, %arg6)
          %68 = arith.cmpi slt, %67, %c180 : index
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %69 = affine.apply #map60(%66, %arg7)
            %70 = arith.cmpi slt, %69, %c39 : index
            %71 = arith.andi %70, %68 : i1
            scf.if %71 {
              %72 = vector.load %alloca_3[%arg5, %arg6, %arg7, %c0, %c0, %c0, %c0] : memref<4x4x2x1x1x1x2xf32>, vector<2xf32>
              vector.store %72, %reinterpret_cast_1[%block_id_z, %69, %67] : memref<3x39x180xf32>, vector<2xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
