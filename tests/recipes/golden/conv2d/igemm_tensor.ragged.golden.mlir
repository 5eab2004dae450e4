// weft golden igemm_tensor --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> (d0 + 4)>
#map7 = affine_map<(d0) -> (d0 + 5)>
#map8 = affine_map<(d0) -> (d0 + 6)>
#map9 = affine_map<(d0) -> (d0 + 7)>
#map10 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map11 = affine_map<(d0) -> (d0 floordiv 4)>
#map12 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map13 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map14 = affine_map<(d0) -> (d0 * 8)>
#map15 = affine_map<(d0) -> ((d0 floordiv 4) * -32)>
#map16 = affine_map<(d0) -> (d0 floordiv 16)>
#map17 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map18 = affine_map<(d0) -> ((d0 floordiv 16) * -128)>
#map19 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map20 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map21 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map22 = affine_map<(d0) -> (d0 mod 16)>
#map23 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map24 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map25 = affine_map<(d0, d1) -> (d0 + d1)>
#map26 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8) mod 5)>
#map27 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 1) mod 5)>
#map28 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 2) mod 5)>
#map29 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 3) mod 5)>
#map30 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 4) mod 5)>
#map31 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 6) mod 5)>
#map32 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 7) mod 5)>
#map33 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8) floordiv 15)>
#map34 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8) mod 15) floordiv 5)>
#map35 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 1) floordiv 15)>
#map36 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 1) mod 15) floordiv 5)>
#map37 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 2) floordiv 15)>
#map38 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 2) mod 15) floordiv 5)>
#map39 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 3) floordiv 15)>
#map40 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 3) mod 15) floordiv 5)>
#map41 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 4) floordiv 15)>
#map42 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 4) mod 15) floordiv 5)>
#map43 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 5) floordiv 15)>
#map44 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 5) mod 15) floordiv 5 - 1)>
#map45 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 6) floordiv 15)>
#map46 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 6) mod 15) floordiv 5)>
#map47 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 7) floordiv 15)>
#map48 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 7) mod 15) floordiv 5)>
#map49 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map50 = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1 * 32 + d2 floordiv 4) floordiv 180)>
#map51 = affine_map<(d0, d1, d2, d3) -> (d0 + (((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 180) floordiv 12) * 2)>
#map52 = affine_map<(d0) -> (d0 - 1)>
#map53 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 12) * 2)>
#map54 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map55 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map56 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
#map57 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
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
      %3 = arith.cmpi slt, %2, %c39 : index
      %4 = affine.apply #map3(%2)
      %5 = arith.cmpi slt, %4, %c39 : index
      %6 = affine.apply #map4(%2)
      %7 = arith.cmpi slt, %6, %c39 : index
      %8 = affine.apply #map5(%2)
      %9 = arith.cmpi slt, %8, %c39 : index
      %10 = affine.apply #map6(%2)
      %11 = arith.cmpi slt, %10, %c39 : index
      %12 = affine.apply #map7(%2)
      %13 = arith.cmpi slt, %12, %c39 : index
      %14 = affine.apply #map8(%2)
      %15 = arith.cmpi slt, %14, %c39 : index
      %16 = affine.apply #map9(%2)
      %17 = arith.cmpi slt, %16, %c39 : index
      %18 = affine.apply #map10(%thread_id_x)
      %19 = affine.apply #map11(%thread_id_x)
      %20 = affine.apply #map12(%block_id_y, %thread_id_x)
      %21 = affine.apply #map13(%thread_id_x)
      %22 = affine.apply #map14(%thread_id_x)
      %23 = affine.apply #map15(%thread_id_x)
      %24 = affine.apply #map16(%thread_id_x)
      %25 = affine.apply #map17(%thread_id_x)
      %26 = affine.apply #map18(%thread_id_x)
      %27 = affine.apply #map19(%1)
      %28 = affine.apply #map20(%thread_id_x, %0)
      %29 = affine.apply #map21(%thread_id_x)
      %30 = affine.apply #map22(%thread_id_x)
      %31 = affine.apply #map23(%thread_id_x)
      %32 = affine.apply #map24(%0)
      scf.for %arg5 = %c0 to %c64 step %c32 {
        %35 = affine.apply #map25(%18, %arg5)
        %36 = arith.cmpi slt, %35, %c45 : index
        %37 = affine.apply #map26(%arg5, %thread_id_x)
        %38 = affine.apply #map3(%35)
        %39 = arith.cmpi slt, %38, %c45 : index
        %40 = affine.apply #map27(%arg5, %thread_id_x)
        %41 = affine.apply #map4(%35)
        %42 = arith.cmpi slt, %41, %c45 : index
        %43 = affine.apply #map28(%arg5, %thread_id_x)
        %44 = affine.apply #map5(%35)
        %45 = arith.cmpi slt, %44, %c45 : index
        %46 = affine.apply #map29(%arg5, %thread_id_x)
        %47 = affine.apply #map6(%35)
        %48 = arith.cmpi slt, %47, %c45 : index
        %49 = affine.apply #map30(%arg5, %thread_id_x)
        %50 = affine.apply #map7(%35)
        %51 = arith.cmpi slt, %50, %c45 : index
        %52 = affine.apply #map8(%35)
        %53 = arith.cmpi slt, %52, %c45 : index
        %54 = affine.apply #map31(%arg5, %thread_id_x)
        %55 = affine.apply #map9(%35)
        %56 = arith.cmpi slt, %55, %c45 : index
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
        %71 = affine.apply #map46(%arg5, %thread_id_x)
        %72 = affine.apply #map47(%arg5, %thread_id_x)
        %73 = affine.apply #map48(%arg5, %thread_id_x)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %75 = affine.apply #map49(%19, %arg6)
          %76 = affine.apply #map49(%20, %arg6)
          %77 = arith.cmpi slt, %76, %c540 : index
          %78 = affine.apply #map50(%block_id_y, %arg6, %thread_id_x)
          %79 = affine.apply #map51(%58, %block_id_y, %arg6, %thread_id_x)
          %80 = affine.apply #map52(%79)
          %81 = affine.apply #map53(%59, %block_id_y, %arg6, %thread_id_x)
          %82 = affine.apply #map52(%81)
          %83 = arith.cmpi ult, %80, %c29 : index
          %84 = arith.cmpi ult, %82, %c23 : index
          %85 = arith.andi %83, %84 : i1
          %86 = arith.andi %77, %85 : i1
          %87 = arith.andi %36, %86 : i1
          %88 = scf.if %87 -> (bf16) {
            %161 = memref.load %arg0[%78, %80, %82, %37] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %89 = affine.apply #map51(%60, %block_id_y, %arg6, %thread_id_x)
          %90 = affine.apply #map52(%89)
          %91 = affine.apply #map53(%61, %block_id_y, %arg6, %thread_id_x)
          %92 = affine.apply #map52(%91)
          %93 = arith.cmpi ult, %90, %c29 : index
          %94 = arith.cmpi ult, %92, %c23 : index
          %95 = arith.andi %93, %94 : i1
          %96 = arith.andi %77, %95 : i1
          %97 = arith.andi %39, %96 : i1
          %98 = scf.if %97 -> (bf16) {
            %161 = memref.load %arg0[%78, %90, %92, %40] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %99 = affine.apply #map51(%62, %block_id_y, %arg6, %thread_id_x)
          %100 = affine.apply #map52(%99)
          %101 = affine.apply #map53(%63, %block_id_y, %arg6, %thread_id_x)
          %102 = affine.apply #map52(%101)
          %103 = arith.cmpi ult, %100, %c29 : index
          %104 = arith.cmpi ult, %102, %c23 : index
          %105 = arith.andi %103, %104 : i1
          %106 = arith.andi %77, %105 : i1
          %107 = arith.andi %42, %106 : i1
          %108 = scf.if %107 -> (bf16) {
            %161 = memref.load %arg0[%78, %100, %102, %43] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %109 = affine.apply #map51(%64, %block_id_y, %arg6, %thread_id_x)
          %110 = affine.apply #map52(%109)
          %111 = affine.apply #map53(%65, %block_id_y, %arg6, %thread_id_x)
          %112 = affine.apply #map52(%111)
          %113 = arith.cmpi ult, %110, %c29 : index
          %114 = arith.cmpi ult, %112, %c23 : index
          %115 = arith.andi %113, %114 : i1
          %116 = arith.andi %77, %115 : i1
          %117 = arith.andi %45, %116 : i1
          %118 = scf.if %117 -> (bf16) {
            %161 = memref.load %arg0[%78, %110, %112, %46] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %119 = affine.apply #map51(%66, %block_id_y, %arg6, %thread_id_x)
          %120 = affine.apply #map52(%119)
          %121 = affine.apply #map53(%67, %block_id_y, %arg6, %thread_id_x)
          %122 = affine.apply #map52(%121)
          %123 = arith.cmpi ult, %120, %c29 : index
          %124 = arith.cmpi ult, %122, %c23 : index
          %125 = arith.andi %123, %124 : i1
          %126 = arith.andi %77, %125 : i1
          %127 = arith.andi %48, %126 : i1
          %128 = scf.if %127 -> (bf16) {
            %161 = memref.load %arg0[%78, %120, %122, %49] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %129 = affine.apply #map51(%68, %block_id_y, %arg6, %thread_id_x)
          %130 = affine.apply #map52(%129)
          %131 = affine.apply #map53(%69, %block_id_y, %arg6, %thread_id_x)
          %132 = arith.cmpi ult, %130, %c29 : index
          %133 = arith.cmpi ult, %131, %c23 : index
          %134 = arith.andi %132, %133 : i1
          %135 = arith.andi %77, %134 : i1
          %136 = arith.andi %51, %135 : i1
          %137 = scf.if %136 -> (bf16) {
            %161 = memref.load %arg0[%78, %130, %131, %37] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %138 = affine.apply #map51(%70, %block_id_y, %arg6, %thread_id_x)
          %139 = affine.apply #map52(%138)
          %140 = affine.apply #map53(%71, %block_id_y, %arg6, %thread_id_x)
          %141 = affine.apply #map52(%140)
          %142 = arith.cmpi ult, %139, %c29 : index
          %143 = arith.cmpi ult, %141, %c23 : index
          %144 = arith.andi %142, %143 : i1
          %145 = arith.andi %77, %144 : i1
          %146 = arith.andi %53, %145 : i1
          %147 = scf.if %146 -> (bf16) {
            %161 = memref.load %arg0[%78, %139, %141, %54] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %148 = affine.apply #map51(%72, %block_id_y, %arg6, %thread_id_x)
          %149 = affine.apply #map52(%148)
          %150 = affine.apply #map53(%73, %block_id_y, %arg6, %thread_id_x)
          %151 = affine.apply #map52(%150)
          %152 = arith.cmpi ult, %149, %c29 : index
          %153 = arith.cmpi ult, %151, %c23 : index
          %154 = arith.andi %152, %153 : i1
          %155 = arith.andi %77, %154 : i1
          %156 = arith.andi %56, %155 : i1
          %157 = scf.if %156 -> (bf16) {
            %161 = memref.load %arg0[%78, %149, %151, %57] : memref<3x29x23x5xbf16>
            scf.yield %161 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %158 = vector.from_elements %88, %98, %108, %118, %128, %137, %147, %157 : vector<8xbf16>
          %159 = arith.xori %22, %21 : index
          %160 = affine.apply #map25(%23, %159)
          vector.store %158, %arg3[%75, %160] : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %74 = affine.apply #map25(%24, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %75 = affine.apply #map54(%24, %arg6)
          %76 = affine.apply #map54(%74, %arg6)
          %77 = arith.cmpi slt, %76, %c45 : index
          %78 = arith.andi %77, %3 : i1
          %79 = scf.if %78 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %2] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %80 = arith.andi %77, %5 : i1
          %81 = scf.if %80 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %4] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %82 = arith.andi %77, %7 : i1
          %83 = scf.if %82 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %6] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %84 = arith.andi %77, %9 : i1
          %85 = scf.if %84 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %8] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %86 = arith.andi %77, %11 : i1
          %87 = scf.if %86 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %10] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %88 = arith.andi %77, %13 : i1
          %89 = scf.if %88 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %12] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %90 = arith.andi %77, %15 : i1
          %91 = scf.if %90 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %14] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %92 = arith.andi %77, %17 : i1
          %93 = scf.if %92 -> (bf16) {
            %97 = memref.load %reinterpret_cast[%76, %16] : memref<45x39xbf16>
            scf.yield %97 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %94 = vector.from_elements %79, %81, %83, %85, %87, %89, %91, %93 : vector<8xbf16>
          %95 = arith.xori %22, %25 : index
          %96 = affine.apply #map25(%26, %95)
          vector.store %94, %arg4[%75, %96] : memref<32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<4x4x2xbf16>
          %75 = affine.apply #map25(%27, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %77 = affine.apply #map55(%28, %arg7)
            %78 = arith.xori %75, %29 : index
            %79 = nvgpu.ldmatrix %arg3[%77, %78] {numTiles = 4 : i32, transpose = false} : memref<128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %79, %alloca_2[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_3 = memref.alloca() {weft.name = "W_frag"} : memref<8x2x2xbf16>
          %76 = affine.apply #map25(%30, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %77 = affine.apply #map14(%arg7)
            %78 = arith.xori %77, %31 : index
            %79 = affine.apply #map25(%32, %78)
            %80 = nvgpu.ldmatrix %arg4[%76, %79] {numTiles = 2 : i32, transpose = true} : memref<32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %80, %alloca_3[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %77 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %78 = vector.shape_cast %77 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %79 = vector.load %alloca_2[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %80 = vector.load %alloca_3[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %81 = nvgpu.mma.sync(%79, %80, %78) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %82 = vector.shape_cast %81 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %82, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %33 = affine.apply #map56(%block_id_y, %1, %0)
      %34 = affine.apply #map57(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %35 = affine.apply #map55(%33, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %36 = affine.apply #map54(%34, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %37 = affine.apply #map54(%35, %arg7)
            %38 = arith.cmpi slt, %37, %c540 : index
            scf.if %38 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %39 = affine.apply #map25(%36, %arg8)
                %40 = arith.cmpi slt, %39, %c39 : index
                scf.if %40 {
                  %41 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
                  memref.store %41, %reinterpret_cast_1[%37, %39] : memref<540x39xf32>
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
