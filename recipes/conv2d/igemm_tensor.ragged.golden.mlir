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
#map13 = affine_map<(d0) -> (d0 floordiv 16)>
#map14 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map15 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map16 = affine_map<(d0) -> (d0 mod 16)>
#map17 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map18 = affine_map<(d0, d1) -> (d0 + d1)>
#map19 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8) mod 5)>
#map20 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 1) mod 5)>
#map21 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 2) mod 5)>
#map22 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 3) mod 5)>
#map23 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 4) mod 5)>
#map24 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 6) mod 5)>
#map25 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 7) mod 5)>
#map26 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8) floordiv 15)>
#map27 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8) mod 15) floordiv 5)>
#map28 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 1) floordiv 15)>
#map29 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 1) mod 15) floordiv 5)>
#map30 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 2) floordiv 15)>
#map31 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 2) mod 15) floordiv 5)>
#map32 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 3) floordiv 15)>
#map33 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 3) mod 15) floordiv 5)>
#map34 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 4) floordiv 15)>
#map35 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 4) mod 15) floordiv 5)>
#map36 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 5) floordiv 15)>
#map37 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 5) mod 15) floordiv 5 - 1)>
#map38 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 6) floordiv 15)>
#map39 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 6) mod 15) floordiv 5)>
#map40 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 8 + 7) floordiv 15)>
#map41 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 8 + 7) mod 15) floordiv 5)>
#map42 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map43 = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1 * 32 + d2 floordiv 4) floordiv 180)>
#map44 = affine_map<(d0, d1, d2, d3) -> (d0 + (((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 180) floordiv 12) * 2)>
#map45 = affine_map<(d0) -> (d0 - 1)>
#map46 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 12) * 2)>
#map47 = affine_map<(d0) -> (((d0 floordiv 2) mod 4) * 8)>
#map48 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map49 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map50 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map51 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + (d2 floordiv 2) * 64)>
#map52 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
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
      %22 = affine.apply #map14(%1)
      %23 = affine.apply #map15(%thread_id_x, %0)
      %24 = affine.apply #map16(%thread_id_x)
      %25 = affine.apply #map17(%0)
      scf.for %arg5 = %c0 to %c64 step %c32 {
        %28 = affine.apply #map18(%2, %arg5)
        %29 = arith.cmpi slt, %28, %c45 : index
        %30 = affine.apply #map19(%arg5, %thread_id_x)
        %31 = affine.apply #map4(%28)
        %32 = arith.cmpi slt, %31, %c45 : index
        %33 = affine.apply #map20(%arg5, %thread_id_x)
        %34 = affine.apply #map5(%28)
        %35 = arith.cmpi slt, %34, %c45 : index
        %36 = affine.apply #map21(%arg5, %thread_id_x)
        %37 = affine.apply #map6(%28)
        %38 = arith.cmpi slt, %37, %c45 : index
        %39 = affine.apply #map22(%arg5, %thread_id_x)
        %40 = affine.apply #map7(%28)
        %41 = arith.cmpi slt, %40, %c45 : index
        %42 = affine.apply #map23(%arg5, %thread_id_x)
        %43 = affine.apply #map8(%28)
        %44 = arith.cmpi slt, %43, %c45 : index
        %45 = affine.apply #map9(%28)
        %46 = arith.cmpi slt, %45, %c45 : index
        %47 = affine.apply #map24(%arg5, %thread_id_x)
        %48 = affine.apply #map10(%28)
        %49 = arith.cmpi slt, %48, %c45 : index
        %50 = affine.apply #map25(%arg5, %thread_id_x)
        %51 = affine.apply #map26(%arg5, %thread_id_x)
        %52 = affine.apply #map27(%arg5, %thread_id_x)
        %53 = affine.apply #map28(%arg5, %thread_id_x)
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
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %68 = affine.apply #map42(%19, %arg6)
          %69 = affine.apply #map42(%20, %arg6)
          %70 = arith.cmpi slt, %69, %c540 : index
          %71 = affine.apply #map43(%block_id_y, %arg6, %thread_id_x)
          %72 = affine.apply #map44(%51, %block_id_y, %arg6, %thread_id_x)
          %73 = affine.apply #map45(%72)
          %74 = affine.apply #map46(%52, %block_id_y, %arg6, %thread_id_x)
          %75 = affine.apply #map45(%74)
          %76 = arith.cmpi ult, %73, %c29 : index
          %77 = arith.cmpi ult, %75, %c23 : index
          %78 = arith.andi %76, %77 : i1
          %79 = arith.andi %70, %78 : i1
          %80 = arith.andi %29, %79 : i1
          %81 = scf.if %80 -> (bf16) {
            %154 = memref.load %arg0[%71, %73, %75, %30] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %82 = affine.apply #map44(%53, %block_id_y, %arg6, %thread_id_x)
          %83 = affine.apply #map45(%82)
          %84 = affine.apply #map46(%54, %block_id_y, %arg6, %thread_id_x)
          %85 = affine.apply #map45(%84)
          %86 = arith.cmpi ult, %83, %c29 : index
          %87 = arith.cmpi ult, %85, %c23 : index
          %88 = arith.andi %86, %87 : i1
          %89 = arith.andi %70, %88 : i1
          %90 = arith.andi %32, %89 : i1
          %91 = scf.if %90 -> (bf16) {
            %154 = memref.load %arg0[%71, %83, %85, %33] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %92 = affine.apply #map44(%55, %block_id_y, %arg6, %thread_id_x)
          %93 = affine.apply #map45(%92)
          %94 = affine.apply #map46(%56, %block_id_y, %arg6, %thread_id_x)
          %95 = affine.apply #map45(%94)
          %96 = arith.cmpi ult, %93, %c29 : index
          %97 = arith.cmpi ult, %95, %c23 : index
          %98 = arith.andi %96, %97 : i1
          %99 = arith.andi %70, %98 : i1
          %100 = arith.andi %35, %99 : i1
          %101 = scf.if %100 -> (bf16) {
            %154 = memref.load %arg0[%71, %93, %95, %36] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %102 = affine.apply #map44(%57, %block_id_y, %arg6, %thread_id_x)
          %103 = affine.apply #map45(%102)
          %104 = affine.apply #map46(%58, %block_id_y, %arg6, %thread_id_x)
          %105 = affine.apply #map45(%104)
          %106 = arith.cmpi ult, %103, %c29 : index
          %107 = arith.cmpi ult, %105, %c23 : index
          %108 = arith.andi %106, %107 : i1
          %109 = arith.andi %70, %108 : i1
          %110 = arith.andi %38, %109 : i1
          %111 = scf.if %110 -> (bf16) {
            %154 = memref.load %arg0[%71, %103, %105, %39] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %112 = affine.apply #map44(%59, %block_id_y, %arg6, %thread_id_x)
          %113 = affine.apply #map45(%112)
          %114 = affine.apply #map46(%60, %block_id_y, %arg6, %thread_id_x)
          %115 = affine.apply #map45(%114)
          %116 = arith.cmpi ult, %113, %c29 : index
          %117 = arith.cmpi ult, %115, %c23 : index
          %118 = arith.andi %116, %117 : i1
          %119 = arith.andi %70, %118 : i1
          %120 = arith.andi %41, %119 : i1
          %121 = scf.if %120 -> (bf16) {
            %154 = memref.load %arg0[%71, %113, %115, %42] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %122 = affine.apply #map44(%61, %block_id_y, %arg6, %thread_id_x)
          %123 = affine.apply #map45(%122)
          %124 = affine.apply #map46(%62, %block_id_y, %arg6, %thread_id_x)
          %125 = arith.cmpi ult, %123, %c29 : index
          %126 = arith.cmpi ult, %124, %c23 : index
          %127 = arith.andi %125, %126 : i1
          %128 = arith.andi %70, %127 : i1
          %129 = arith.andi %44, %128 : i1
          %130 = scf.if %129 -> (bf16) {
            %154 = memref.load %arg0[%71, %123, %124, %30] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %131 = affine.apply #map44(%63, %block_id_y, %arg6, %thread_id_x)
          %132 = affine.apply #map45(%131)
          %133 = affine.apply #map46(%64, %block_id_y, %arg6, %thread_id_x)
          %134 = affine.apply #map45(%133)
          %135 = arith.cmpi ult, %132, %c29 : index
          %136 = arith.cmpi ult, %134, %c23 : index
          %137 = arith.andi %135, %136 : i1
          %138 = arith.andi %70, %137 : i1
          %139 = arith.andi %46, %138 : i1
          %140 = scf.if %139 -> (bf16) {
            %154 = memref.load %arg0[%71, %132, %134, %47] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %141 = affine.apply #map44(%65, %block_id_y, %arg6, %thread_id_x)
          %142 = affine.apply #map45(%141)
          %143 = affine.apply #map46(%66, %block_id_y, %arg6, %thread_id_x)
          %144 = affine.apply #map45(%143)
          %145 = arith.cmpi ult, %142, %c29 : index
          %146 = arith.cmpi ult, %144, %c23 : index
          %147 = arith.andi %145, %146 : i1
          %148 = arith.andi %70, %147 : i1
          %149 = arith.andi %49, %148 : i1
          %150 = scf.if %149 -> (bf16) {
            %154 = memref.load %arg0[%71, %142, %144, %50] : memref<3x29x23x5xbf16>
            scf.yield %154 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %151 = vector.from_elements %81, %91, %101, %111, %121, %130, %140, %150 : vector<8xbf16>
          %152 = affine.apply #map47(%68)
          %153 = arith.xori %2, %152 : index
          vector.store %151, %arg3[%68, %153] : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %67 = affine.apply #map18(%21, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %68 = affine.apply #map48(%21, %arg6)
          %69 = affine.apply #map48(%67, %arg6)
          %70 = arith.cmpi slt, %69, %c45 : index
          %71 = arith.andi %70, %4 : i1
          %72 = scf.if %71 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %3] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %73 = arith.andi %70, %6 : i1
          %74 = scf.if %73 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %5] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %75 = arith.andi %70, %8 : i1
          %76 = scf.if %75 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %7] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %77 = arith.andi %70, %10 : i1
          %78 = scf.if %77 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %9] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %79 = arith.andi %70, %12 : i1
          %80 = scf.if %79 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %11] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %81 = arith.andi %70, %14 : i1
          %82 = scf.if %81 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %13] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %83 = arith.andi %70, %16 : i1
          %84 = scf.if %83 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %15] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %85 = arith.andi %70, %18 : i1
          %86 = scf.if %85 -> (bf16) {
            %90 = memref.load %reinterpret_cast[%69, %17] : memref<45x39xbf16>
            scf.yield %90 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %87 = vector.from_elements %72, %74, %76, %78, %80, %82, %84, %86 : vector<8xbf16>
          %88 = affine.apply #map49(%68)
          %89 = arith.xori %3, %88 : index
          vector.store %87, %arg4[%68, %89] : memref<32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<4x4x2xbf16>
          %68 = affine.apply #map18(%22, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %71 = affine.apply #map50(%23, %arg7)
            %72 = affine.apply #map47(%71)
            %73 = arith.xori %68, %72 : index
            %74 = nvgpu.ldmatrix %arg3[%71, %73] {numTiles = 4 : i32, transpose = false} : memref<128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %74, %alloca_2[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_3 = memref.alloca() {weft.name = "W_frag"} : memref<8x2x2xbf16>
          %69 = affine.apply #map18(%24, %arg6)
          %70 = affine.apply #map49(%69)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %71 = affine.apply #map48(%25, %arg7)
            %72 = arith.xori %71, %70 : index
            %73 = nvgpu.ldmatrix %arg4[%69, %72] {numTiles = 2 : i32, transpose = true} : memref<32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %73, %alloca_3[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %71 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %72 = vector.shape_cast %71 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %73 = vector.load %alloca_2[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %74 = vector.load %alloca_3[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %75 = nvgpu.mma.sync(%73, %74, %72) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %76 = vector.shape_cast %75 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %76, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %26 = affine.apply #map51(%block_id_y, %1, %0)
      %27 = affine.apply #map52(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %28 = affine.apply #map50(%26, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %29 = affine.apply #map48(%27, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %30 = affine.apply #map48(%28, %arg7)
            %31 = arith.cmpi slt, %30, %c540 : index
            scf.if %31 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %32 = affine.apply #map18(%29, %arg8)
                %33 = arith.cmpi slt, %32, %c39 : index
                scf.if %33 {
                  %34 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
                  memref.store %34, %reinterpret_cast_1[%30, %32] : memref<540x39xf32>
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
