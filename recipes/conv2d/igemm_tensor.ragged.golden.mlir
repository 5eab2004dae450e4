// weft golden igemm_tensor.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map4 = affine_map<(d0) -> (d0 + 1)>
#map5 = affine_map<(d0) -> (d0 + 2)>
#map6 = affine_map<(d0) -> (d0 + 3)>
#map7 = affine_map<(d0) -> (d0 + 4)>
#map8 = affine_map<(d0) -> (d0 + 5)>
#map9 = affine_map<(d0) -> (d0 + 6)>
#map10 = affine_map<(d0) -> (d0 + 7)>
#map11 = affine_map<(d0) -> (d0 floordiv 4)>
#map12 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map13 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map14 = affine_map<(d0) -> (d0 floordiv 16)>
#map15 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map16 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map17 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map18 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map19 = affine_map<(d0) -> (d0 mod 16)>
#map20 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map21 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map22 = affine_map<(d0, d1) -> (d0 + d1)>
#map23 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8) mod 5)>
#map24 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 1) mod 5)>
#map25 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 2) mod 5)>
#map26 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 3) mod 5)>
#map27 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 4) mod 5)>
#map28 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 6) mod 5)>
#map29 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 7) mod 5)>
#map30 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8) floordiv 15)>
#map31 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8) mod 15) floordiv 5)>
#map32 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 1) floordiv 15)>
#map33 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 1) mod 15) floordiv 5)>
#map34 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 2) floordiv 15)>
#map35 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 2) mod 15) floordiv 5)>
#map36 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 3) floordiv 15)>
#map37 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 3) mod 15) floordiv 5)>
#map38 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 4) floordiv 15)>
#map39 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 4) mod 15) floordiv 5)>
#map40 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 5) floordiv 15)>
#map41 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 5) mod 15) floordiv 5 - 1)>
#map42 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 6) floordiv 15)>
#map43 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 6) mod 15) floordiv 5)>
#map44 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 7) floordiv 15)>
#map45 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 7) mod 15) floordiv 5)>
#map46 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map47 = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1 * 32 + d2 floordiv 4) floordiv 180)>
#map48 = affine_map<(d0, d1, d2, d3) -> (d0 + (((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 180) floordiv 12) * 2)>
#map49 = affine_map<(d0) -> (d0 - 1)>
#map50 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 12) * 2)>
#map51 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map52 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map53 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
#map54 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<3x29x23x5xbf16> {weft.name = "X"}, %arg1: memref<3x3x5x39xbf16> {weft.name = "W"}, %arg2: memref<3x15x12x39xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c5, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<3x29x23x5xbf16>, %arg1 : memref<3x3x5x39xbf16>, %arg2 : memref<3x15x12x39xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<3x29x23x5xbf16> {weft.name = "X"}, %arg1: memref<3x3x5x39xbf16> {weft.name = "W"}, %arg2: memref<3x15x12x39xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 5, 1>} {
      %c16 = arith.constant 16 : index
      %c39 = arith.constant 39 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c540 = arith.constant 540 : index
      %c45 = arith.constant 45 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : bf16
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_y = gpu.block_id y
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [45, 39], strides: [39, 1] : memref<3x3x5x39xbf16> to memref<45x39xbf16>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [540, 39], strides: [39, 1] : memref<3x15x12x39xf32> to memref<540x39xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<4x8x2x1x1x2xf32>
      scf.for %arg5 = %c0 to %c4 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c2 step %c1 {
            scf.for %arg8 = %c0 to %c2 step %c1 {
              memref.store %cst_0, %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
            }
          }
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%thread_id_x)
      %4 = arith.cmpi slt, %3, %c39 : index
      %5 = affine.apply #map4(%3)
      %6 = arith.cmpi slt, %5, %c39 : index
      %7 = affine.apply #map5(%3)
      %8 = arith.cmpi slt, %7, %c39 : index
      %9 = affine.apply #map6(%3)
      %10 = arith.cmpi slt, %9, %c39 : index
      %11 = affine.apply #map7(%3)
      %12 = arith.cmpi slt, %11, %c39 : index
      %13 = affine.apply #map8(%3)
      %14 = arith.cmpi slt, %13, %c39 : index
      %15 = affine.apply #map9(%3)
      %16 = arith.cmpi slt, %15, %c39 : index
      %17 = affine.apply #map10(%3)
      %18 = arith.cmpi slt, %17, %c39 : index
      %19 = affine.apply #map11(%thread_id_x)
      %20 = affine.apply #map12(%block_id_y, %thread_id_x)
      %21 = affine.apply #map13(%thread_id_x)
      %22 = affine.apply #map14(%thread_id_x)
      %23 = affine.apply #map15(%thread_id_x)
      %24 = affine.apply #map16(%1)
      %25 = affine.apply #map17(%thread_id_x, %0)
      %26 = affine.apply #map18(%thread_id_x)
      %27 = affine.apply #map19(%thread_id_x)
      %28 = affine.apply #map20(%0)
      %29 = affine.apply #map21(%thread_id_x)
      scf.for %arg5 = %c0 to %c64 step %c32 {
        %32 = affine.apply #map22(%2, %arg5)
        %33 = arith.cmpi slt, %32, %c45 : index
        %34 = affine.apply #map23(%arg5, %thread_id_x)
        %35 = affine.apply #map4(%32)
        %36 = arith.cmpi slt, %35, %c45 : index
        %37 = affine.apply #map24(%arg5, %thread_id_x)
        %38 = affine.apply #map5(%32)
        %39 = arith.cmpi slt, %38, %c45 : index
        %40 = affine.apply #map25(%arg5, %thread_id_x)
        %41 = affine.apply #map6(%32)
        %42 = arith.cmpi slt, %41, %c45 : index
        %43 = affine.apply #map26(%arg5, %thread_id_x)
        %44 = affine.apply #map7(%32)
        %45 = arith.cmpi slt, %44, %c45 : index
        %46 = affine.apply #map27(%arg5, %thread_id_x)
        %47 = affine.apply #map8(%32)
        %48 = arith.cmpi slt, %47, %c45 : index
        %49 = affine.apply #map9(%32)
        %50 = arith.cmpi slt, %49, %c45 : index
        %51 = affine.apply #map28(%arg5, %thread_id_x)
        %52 = affine.apply #map10(%32)
        %53 = arith.cmpi slt, %52, %c45 : index
        %54 = affine.apply #map29(%arg5, %thread_id_x)
        %55 = affine.apply #map30(%arg5, %thread_id_x)
        %56 = affine.apply #map31(%arg5, %thread_id_x)
        %57 = affine.apply #map32(%arg5, %thread_id_x)
        %58 = affine.apply #map33(%arg5, %thread_id_x)
        %59 = affine.apply #map34(%arg5, %thread_id_x)
        %60 = affine.apply #map35(%arg5, %thread_id_x)
        %61 = affine.apply #map36(%arg5, %thread_id_x)
        %62 = affine.apply #map37(%arg5, %thread_id_x)
        %63 = affine.apply #map38(%arg5, %thread_id_x)
        %64 = affine.apply #map39(%arg5, %thread_id_x)
        %65 = affine.apply #map40(%arg5, %thread_id_x)
        %66 = affine.apply #map41(%arg5, %thread_id_x)
        %67 = affine.apply #map42(%arg5, %thread_id_x)
        %68 = affine.apply #map43(%arg5, %thread_id_x)
        %69 = affine.apply #map44(%arg5, %thread_id_x)
        %70 = affine.apply #map45(%arg5, %thread_id_x)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %72 = affine.apply #map46(%19, %arg6)
          %73 = affine.apply #map46(%20, %arg6)
          %74 = arith.cmpi slt, %73, %c540 : index
          %75 = affine.apply #map47(%block_id_y, %arg6, %thread_id_x)
          %76 = affine.apply #map48(%55, %block_id_y, %arg6, %thread_id_x)
          %77 = affine.apply #map49(%76)
          %78 = affine.apply #map50(%56, %block_id_y, %arg6, %thread_id_x)
          %79 = affine.apply #map49(%78)
          %80 = arith.cmpi ult, %77, %c29 : index
          %81 = arith.cmpi ult, %79, %c23 : index
          %82 = arith.andi %80, %81 : i1
          %83 = arith.andi %74, %82 : i1
          %84 = arith.andi %33, %83 : i1
          %85 = scf.if %84 -> (bf16) {
            %157 = memref.load %arg0[%75, %77, %79, %34] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %86 = affine.apply #map48(%57, %block_id_y, %arg6, %thread_id_x)
          %87 = affine.apply #map49(%86)
          %88 = affine.apply #map50(%58, %block_id_y, %arg6, %thread_id_x)
          %89 = affine.apply #map49(%88)
          %90 = arith.cmpi ult, %87, %c29 : index
          %91 = arith.cmpi ult, %89, %c23 : index
          %92 = arith.andi %90, %91 : i1
          %93 = arith.andi %74, %92 : i1
          %94 = arith.andi %36, %93 : i1
          %95 = scf.if %94 -> (bf16) {
            %157 = memref.load %arg0[%75, %87, %89, %37] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %96 = affine.apply #map48(%59, %block_id_y, %arg6, %thread_id_x)
          %97 = affine.apply #map49(%96)
          %98 = affine.apply #map50(%60, %block_id_y, %arg6, %thread_id_x)
          %99 = affine.apply #map49(%98)
          %100 = arith.cmpi ult, %97, %c29 : index
          %101 = arith.cmpi ult, %99, %c23 : index
          %102 = arith.andi %100, %101 : i1
          %103 = arith.andi %74, %102 : i1
          %104 = arith.andi %39, %103 : i1
          %105 = scf.if %104 -> (bf16) {
            %157 = memref.load %arg0[%75, %97, %99, %40] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %106 = affine.apply #map48(%61, %block_id_y, %arg6, %thread_id_x)
          %107 = affine.apply #map49(%106)
          %108 = affine.apply #map50(%62, %block_id_y, %arg6, %thread_id_x)
          %109 = affine.apply #map49(%108)
          %110 = arith.cmpi ult, %107, %c29 : index
          %111 = arith.cmpi ult, %109, %c23 : index
          %112 = arith.andi %110, %111 : i1
          %113 = arith.andi %74, %112 : i1
          %114 = arith.andi %42, %113 : i1
          %115 = scf.if %114 -> (bf16) {
            %157 = memref.load %arg0[%75, %107, %109, %43] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %116 = affine.apply #map48(%63, %block_id_y, %arg6, %thread_id_x)
          %117 = affine.apply #map49(%116)
          %118 = affine.apply #map50(%64, %block_id_y, %arg6, %thread_id_x)
          %119 = affine.apply #map49(%118)
          %120 = arith.cmpi ult, %117, %c29 : index
          %121 = arith.cmpi ult, %119, %c23 : index
          %122 = arith.andi %120, %121 : i1
          %123 = arith.andi %74, %122 : i1
          %124 = arith.andi %45, %123 : i1
          %125 = scf.if %124 -> (bf16) {
            %157 = memref.load %arg0[%75, %117, %119, %46] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %126 = affine.apply #map48(%65, %block_id_y, %arg6, %thread_id_x)
          %127 = affine.apply #map49(%126)
          %128 = affine.apply #map50(%66, %block_id_y, %arg6, %thread_id_x)
          %129 = arith.cmpi ult, %127, %c29 : index
          %130 = arith.cmpi ult, %128, %c23 : index
          %131 = arith.andi %129, %130 : i1
          %132 = arith.andi %74, %131 : i1
          %133 = arith.andi %48, %132 : i1
          %134 = scf.if %133 -> (bf16) {
            %157 = memref.load %arg0[%75, %127, %128, %34] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %135 = affine.apply #map48(%67, %block_id_y, %arg6, %thread_id_x)
          %136 = affine.apply #map49(%135)
          %137 = affine.apply #map50(%68, %block_id_y, %arg6, %thread_id_x)
          %138 = affine.apply #map49(%137)
          %139 = arith.cmpi ult, %136, %c29 : index
          %140 = arith.cmpi ult, %138, %c23 : index
          %141 = arith.andi %139, %140 : i1
          %142 = arith.andi %74, %141 : i1
          %143 = arith.andi %50, %142 : i1
          %144 = scf.if %143 -> (bf16) {
            %157 = memref.load %arg0[%75, %136, %138, %51] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %145 = affine.apply #map48(%69, %block_id_y, %arg6, %thread_id_x)
          %146 = affine.apply #map49(%145)
          %147 = affine.apply #map50(%70, %block_id_y, %arg6, %thread_id_x)
          %148 = affine.apply #map49(%147)
          %149 = arith.cmpi ult, %146, %c29 : index
          %150 = arith.cmpi ult, %148, %c23 : index
          %151 = arith.andi %149, %150 : i1
          %152 = arith.andi %74, %151 : i1
          %153 = arith.andi %53, %152 : i1
          %154 = scf.if %153 -> (bf16) {
            %157 = memref.load %arg0[%75, %146, %148, %54] : memref<3x29x23x5xbf16>
            scf.yield %157 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %155 = vector.from_elements %85, %95, %105, %115, %125, %134, %144, %154 : vector<8xbf16>
          %156 = arith.xori %2, %21 : index
          vector.store %155, %arg3[%72, %156] : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %71 = affine.apply #map22(%22, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %72 = affine.apply #map51(%22, %arg6)
          %73 = affine.apply #map51(%71, %arg6)
          %74 = arith.cmpi slt, %73, %c45 : index
          %75 = arith.andi %74, %4 : i1
          %76 = scf.if %75 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %3] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %77 = arith.andi %74, %6 : i1
          %78 = scf.if %77 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %5] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %79 = arith.andi %74, %8 : i1
          %80 = scf.if %79 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %7] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %81 = arith.andi %74, %10 : i1
          %82 = scf.if %81 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %9] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %83 = arith.andi %74, %12 : i1
          %84 = scf.if %83 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %11] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %85 = arith.andi %74, %14 : i1
          %86 = scf.if %85 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %13] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %87 = arith.andi %74, %16 : i1
          %88 = scf.if %87 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %15] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %89 = arith.andi %74, %18 : i1
          %90 = scf.if %89 -> (bf16) {
            %93 = memref.load %reinterpret_cast[%73, %17] : memref<45x39xbf16>
            scf.yield %93 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %91 = vector.from_elements %76, %78, %80, %82, %84, %86, %88, %90 : vector<8xbf16>
          %92 = arith.xori %3, %23 : index
          vector.store %91, %arg4[%72, %92] : memref<32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<4x4x2xbf16>
          %72 = affine.apply #map22(%24, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %74 = affine.apply #map52(%25, %arg7)
            %75 = arith.xori %72, %26 : index
            %76 = nvgpu.ldmatrix %arg3[%74, %75] {numTiles = 4 : i32, transpose = false} : memref<128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %76, %alloca_2[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_3 = memref.alloca() {weft.name = "W_frag"} : memref<8x2x2xbf16>
          %73 = affine.apply #map22(%27, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %74 = affine.apply #map51(%28, %arg7)
            %75 = arith.xori %74, %29 : index
            %76 = nvgpu.ldmatrix %arg4[%73, %75] {numTiles = 2 : i32, transpose = true} : memref<32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %76, %alloca_3[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %74 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %75 = vector.shape_cast %74 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %76 = vector.load %alloca_2[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %77 = vector.load %alloca_3[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %78 = nvgpu.mma.sync(%76, %77, %75) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %79 = vector.shape_cast %78 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %79, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %30 = affine.apply #map53(%block_id_y, %1, %0)
      %31 = affine.apply #map54(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %32 = affine.apply #map52(%30, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %33 = affine.apply #map51(%31, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %34 = affine.apply #map51(%32, %arg7)
            %35 = arith.cmpi slt, %34, %c540 : index
            scf.if %35 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %36 = affine.apply #map22(%33, %arg8)
                %37 = arith.cmpi slt, %36, %c39 : index
                scf.if %37 {
                  %38 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
                  memref.store %38, %reinterpret_cast_1[%34, %36] : memref<540x39xf32>
                }
              }
            }
          }
        }
      }
      gpu.return
    }
  }
}
