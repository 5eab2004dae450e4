// weft golden igemm.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map3 = affine_map<(d0, d1) -> ((d0 * 128 + d1 floordiv 4) floordiv 180)>
#map4 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map5 = affine_map<(d0) -> (d0 floordiv 4)>
#map6 = affine_map<(d0) -> (d0 + 1)>
#map7 = affine_map<(d0) -> (d0 + 2)>
#map8 = affine_map<(d0) -> (d0 + 3)>
#map9 = affine_map<(d0) -> (d0 + 32)>
#map10 = affine_map<(d0, d1) -> ((d0 * 128 + d1 floordiv 4 + 32) floordiv 180)>
#map11 = affine_map<(d0) -> (d0 + 64)>
#map12 = affine_map<(d0, d1) -> ((d0 * 128 + d1 floordiv 4 + 64) floordiv 180)>
#map13 = affine_map<(d0) -> (d0 + 96)>
#map14 = affine_map<(d0, d1) -> ((d0 * 128 + d1 floordiv 4 + 96) floordiv 180)>
#map15 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map16 = affine_map<(d0) -> (((d0 mod 4) * 4) floordiv 15)>
#map17 = affine_map<(d0) -> ((((d0 mod 4) * 4) mod 15) floordiv 5)>
#map18 = affine_map<(d0) -> (((d0 mod 4) * 4) mod 5)>
#map19 = affine_map<(d0) -> (((d0 mod 4) * 4 + 1) floordiv 15)>
#map20 = affine_map<(d0) -> ((((d0 mod 4) * 4 + 1) mod 15) floordiv 5)>
#map21 = affine_map<(d0) -> (((d0 mod 4) * 4 + 1) mod 5)>
#map22 = affine_map<(d0) -> (((d0 mod 4) * 4 + 2) floordiv 15)>
#map23 = affine_map<(d0) -> ((((d0 mod 4) * 4 + 2) mod 15) floordiv 5)>
#map24 = affine_map<(d0) -> (((d0 mod 4) * 4 + 2) mod 5)>
#map25 = affine_map<(d0) -> (((d0 mod 4) * 4 + 3) floordiv 15)>
#map26 = affine_map<(d0) -> ((((d0 mod 4) * 4 + 3) mod 15) floordiv 5)>
#map27 = affine_map<(d0) -> (((d0 mod 4) * 4 + 3) mod 5)>
#map28 = affine_map<(d0, d1) -> ((((d0 * 128 + d1 floordiv 4) mod 180) floordiv 12) * 2)>
#map29 = affine_map<(d0, d1) -> (((d0 * 128 + d1 floordiv 4) mod 12) * 2)>
#map30 = affine_map<(d0, d1) -> ((((d0 * 128 + d1 floordiv 4 + 32) mod 180) floordiv 12) * 2)>
#map31 = affine_map<(d0, d1) -> (((d0 * 128 + d1 floordiv 4 + 32) mod 12) * 2)>
#map32 = affine_map<(d0, d1) -> ((((d0 * 128 + d1 floordiv 4 + 64) mod 180) floordiv 12) * 2)>
#map33 = affine_map<(d0, d1) -> (((d0 * 128 + d1 floordiv 4 + 64) mod 12) * 2)>
#map34 = affine_map<(d0, d1) -> (((d0 * 128 + d1 floordiv 4) floordiv 12) * 2 - ((d0 * 128 + d1 floordiv 4 + 96) floordiv 180) * 30)>
#map35 = affine_map<(d0) -> (d0 floordiv 16)>
#map36 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map37 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map38 = affine_map<(d0, d1) -> (d0 + d1)>
#map39 = affine_map<(d0) -> (d0 - 1)>
#map40 = affine_map<(d0) -> (d0 + 15)>
#map41 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map42 = affine_map<(d0) -> (d0 * 4)>
#map43 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map44 = affine_map<(d0) -> (d0 - 4)>
#map45 = affine_map<(d0) -> (d0 - 3)>
#map46 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<3x15x12x39xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c5, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<3x29x23x5xf32>, %arg1 : memref<3x3x5x39xf32>, %arg2 : memref<3x15x12x39xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<3x15x12x39xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 5, 1>} {
      %c5 = arith.constant 5 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %c39 = arith.constant 39 : index
      %c2 = arith.constant 2 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c540 = arith.constant 540 : index
      %c45 = arith.constant 45 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c48 = arith.constant 48 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_y = gpu.block_id y
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [45, 39], strides: [39, 1] : memref<3x3x5x39xf32> to memref<45x39xf32>
      %reinterpret_cast_0 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [540, 39], strides: [39, 1] : memref<3x15x12x39xf32> to memref<540x39xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca[%arg5, %arg6] : memref<8x8xf32>
        }
      }
      %2 = affine.apply #map2(%block_id_y, %thread_id_x)
      %3 = arith.cmpi slt, %2, %c540 : index
      %4 = affine.apply #map3(%block_id_y, %thread_id_x)
      %5 = affine.apply #map4(%thread_id_x)
      %6 = affine.apply #map5(%thread_id_x)
      %7 = affine.apply #map6(%5)
      %8 = affine.apply #map7(%5)
      %9 = affine.apply #map8(%5)
      %10 = affine.apply #map9(%2)
      %11 = arith.cmpi slt, %10, %c540 : index
      %12 = affine.apply #map10(%block_id_y, %thread_id_x)
      %13 = affine.apply #map9(%6)
      %14 = affine.apply #map11(%2)
      %15 = arith.cmpi slt, %14, %c540 : index
      %16 = affine.apply #map12(%block_id_y, %thread_id_x)
      %17 = affine.apply #map11(%6)
      %18 = affine.apply #map13(%2)
      %19 = arith.cmpi slt, %18, %c540 : index
      %20 = affine.apply #map14(%block_id_y, %thread_id_x)
      %21 = affine.apply #map13(%6)
      %22 = affine.apply #map15(%thread_id_x)
      %23 = arith.cmpi slt, %22, %c39 : index
      %24 = affine.apply #map6(%22)
      %25 = arith.cmpi slt, %24, %c39 : index
      %26 = affine.apply #map7(%22)
      %27 = arith.cmpi slt, %26, %c39 : index
      %28 = affine.apply #map8(%22)
      %29 = arith.cmpi slt, %28, %c39 : index
      %30 = affine.apply #map16(%thread_id_x)
      %31 = affine.apply #map17(%thread_id_x)
      %32 = affine.apply #map18(%thread_id_x)
      %33 = affine.apply #map19(%thread_id_x)
      %34 = affine.apply #map20(%thread_id_x)
      %35 = affine.apply #map21(%thread_id_x)
      %36 = affine.apply #map22(%thread_id_x)
      %37 = affine.apply #map23(%thread_id_x)
      %38 = affine.apply #map24(%thread_id_x)
      %39 = affine.apply #map25(%thread_id_x)
      %40 = affine.apply #map26(%thread_id_x)
      %41 = affine.apply #map27(%thread_id_x)
      %42 = affine.apply #map28(%block_id_y, %thread_id_x)
      %43 = affine.apply #map29(%block_id_y, %thread_id_x)
      %44 = affine.apply #map30(%block_id_y, %thread_id_x)
      %45 = affine.apply #map31(%block_id_y, %thread_id_x)
      %46 = affine.apply #map32(%block_id_y, %thread_id_x)
      %47 = affine.apply #map33(%block_id_y, %thread_id_x)
      %48 = affine.apply #map34(%block_id_y, %thread_id_x)
      %49 = affine.apply #map35(%thread_id_x)
      %50 = affine.apply #map36(%1, %0)
      %51 = affine.apply #map37(%thread_id_x, %1)
      %52:12 = scf.for %arg5 = %c0 to %c48 step %c16 iter_args(%arg6 = %30, %arg7 = %31, %arg8 = %32, %arg9 = %33, %arg10 = %34, %arg11 = %35, %arg12 = %36, %arg13 = %37, %arg14 = %38, %arg15 = %39, %arg16 = %40, %arg17 = %41) -> (index, index, index, index, index, index, index, index, index, index, index, index) {
        %54 = affine.apply #map38(%5, %arg5)
        %55 = arith.cmpi slt, %54, %c45 : index
        %56 = affine.apply #map38(%42, %arg6)
        %57 = affine.apply #map39(%56)
        %58 = affine.apply #map38(%43, %arg7)
        %59 = affine.apply #map39(%58)
        %60 = arith.cmpi sge, %57, %c0 : index
        %61 = arith.cmpi slt, %57, %c29 : index
        %62 = arith.andi %60, %61 : i1
        %63 = arith.cmpi sge, %59, %c0 : index
        %64 = arith.andi %62, %63 : i1
        %65 = arith.cmpi slt, %59, %c23 : index
        %66 = arith.andi %64, %65 : i1
        %67 = arith.andi %3, %66 : i1
        %68 = arith.andi %55, %67 : i1
        %69 = scf.if %68 -> (f32) {
          %319 = memref.load %arg0[%4, %57, %59, %arg8] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %70 = affine.apply #map6(%54)
        %71 = arith.cmpi slt, %70, %c45 : index
        %72 = affine.apply #map38(%42, %arg9)
        %73 = affine.apply #map39(%72)
        %74 = affine.apply #map38(%43, %arg10)
        %75 = affine.apply #map39(%74)
        %76 = arith.cmpi sge, %73, %c0 : index
        %77 = arith.cmpi slt, %73, %c29 : index
        %78 = arith.andi %76, %77 : i1
        %79 = arith.cmpi sge, %75, %c0 : index
        %80 = arith.andi %78, %79 : i1
        %81 = arith.cmpi slt, %75, %c23 : index
        %82 = arith.andi %80, %81 : i1
        %83 = arith.andi %3, %82 : i1
        %84 = arith.andi %71, %83 : i1
        %85 = scf.if %84 -> (f32) {
          %319 = memref.load %arg0[%4, %73, %75, %arg11] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %86 = affine.apply #map7(%54)
        %87 = arith.cmpi slt, %86, %c45 : index
        %88 = affine.apply #map38(%42, %arg12)
        %89 = affine.apply #map39(%88)
        %90 = affine.apply #map38(%43, %arg13)
        %91 = affine.apply #map39(%90)
        %92 = arith.cmpi sge, %89, %c0 : index
        %93 = arith.cmpi slt, %89, %c29 : index
        %94 = arith.andi %92, %93 : i1
        %95 = arith.cmpi sge, %91, %c0 : index
        %96 = arith.andi %94, %95 : i1
        %97 = arith.cmpi slt, %91, %c23 : index
        %98 = arith.andi %96, %97 : i1
        %99 = arith.andi %3, %98 : i1
        %100 = arith.andi %87, %99 : i1
        %101 = scf.if %100 -> (f32) {
          %319 = memref.load %arg0[%4, %89, %91, %arg14] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %102 = affine.apply #map8(%54)
        %103 = arith.cmpi slt, %102, %c45 : index
        %104 = affine.apply #map38(%42, %arg15)
        %105 = affine.apply #map39(%104)
        %106 = affine.apply #map38(%43, %arg16)
        %107 = affine.apply #map39(%106)
        %108 = arith.cmpi sge, %105, %c0 : index
        %109 = arith.cmpi slt, %105, %c29 : index
        %110 = arith.andi %108, %109 : i1
        %111 = arith.cmpi sge, %107, %c0 : index
        %112 = arith.andi %110, %111 : i1
        %113 = arith.cmpi slt, %107, %c23 : index
        %114 = arith.andi %112, %113 : i1
        %115 = arith.andi %3, %114 : i1
        %116 = arith.andi %103, %115 : i1
        %117 = scf.if %116 -> (f32) {
          %319 = memref.load %arg0[%4, %105, %107, %arg17] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %69, %arg3[%5, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %85, %arg3[%7, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %101, %arg3[%8, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %117, %arg3[%9, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %118 = affine.apply #map38(%44, %arg6)
        %119 = affine.apply #map39(%118)
        %120 = affine.apply #map38(%45, %arg7)
        %121 = affine.apply #map39(%120)
        %122 = arith.cmpi sge, %119, %c0 : index
        %123 = arith.cmpi slt, %119, %c29 : index
        %124 = arith.andi %122, %123 : i1
        %125 = arith.cmpi sge, %121, %c0 : index
        %126 = arith.andi %124, %125 : i1
        %127 = arith.cmpi slt, %121, %c23 : index
        %128 = arith.andi %126, %127 : i1
        %129 = arith.andi %11, %128 : i1
        %130 = arith.andi %55, %129 : i1
        %131 = scf.if %130 -> (f32) {
          %319 = memref.load %arg0[%12, %119, %121, %arg8] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %132 = affine.apply #map38(%44, %arg9)
        %133 = affine.apply #map39(%132)
        %134 = affine.apply #map38(%45, %arg10)
        %135 = affine.apply #map39(%134)
        %136 = arith.cmpi sge, %133, %c0 : index
        %137 = arith.cmpi slt, %133, %c29 : index
        %138 = arith.andi %136, %137 : i1
        %139 = arith.cmpi sge, %135, %c0 : index
        %140 = arith.andi %138, %139 : i1
        %141 = arith.cmpi slt, %135, %c23 : index
        %142 = arith.andi %140, %141 : i1
        %143 = arith.andi %11, %142 : i1
        %144 = arith.andi %71, %143 : i1
        %145 = scf.if %144 -> (f32) {
          %319 = memref.load %arg0[%12, %133, %135, %arg11] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %146 = affine.apply #map38(%44, %arg12)
        %147 = affine.apply #map39(%146)
        %148 = affine.apply #map38(%45, %arg13)
        %149 = affine.apply #map39(%148)
        %150 = arith.cmpi sge, %147, %c0 : index
        %151 = arith.cmpi slt, %147, %c29 : index
        %152 = arith.andi %150, %151 : i1
        %153 = arith.cmpi sge, %149, %c0 : index
        %154 = arith.andi %152, %153 : i1
        %155 = arith.cmpi slt, %149, %c23 : index
        %156 = arith.andi %154, %155 : i1
        %157 = arith.andi %11, %156 : i1
        %158 = arith.andi %87, %157 : i1
        %159 = scf.if %158 -> (f32) {
          %319 = memref.load %arg0[%12, %147, %149, %arg14] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %160 = affine.apply #map38(%44, %arg15)
        %161 = affine.apply #map39(%160)
        %162 = affine.apply #map38(%45, %arg16)
        %163 = affine.apply #map39(%162)
        %164 = arith.cmpi sge, %161, %c0 : index
        %165 = arith.cmpi slt, %161, %c29 : index
        %166 = arith.andi %164, %165 : i1
        %167 = arith.cmpi sge, %163, %c0 : index
        %168 = arith.andi %166, %167 : i1
        %169 = arith.cmpi slt, %163, %c23 : index
        %170 = arith.andi %168, %169 : i1
        %171 = arith.andi %11, %170 : i1
        %172 = arith.andi %103, %171 : i1
        %173 = scf.if %172 -> (f32) {
          %319 = memref.load %arg0[%12, %161, %163, %arg17] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %131, %arg3[%5, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %145, %arg3[%7, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %159, %arg3[%8, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %173, %arg3[%9, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %174 = affine.apply #map38(%46, %arg6)
        %175 = affine.apply #map39(%174)
        %176 = affine.apply #map38(%47, %arg7)
        %177 = affine.apply #map39(%176)
        %178 = arith.cmpi sge, %175, %c0 : index
        %179 = arith.cmpi slt, %175, %c29 : index
        %180 = arith.andi %178, %179 : i1
        %181 = arith.cmpi sge, %177, %c0 : index
        %182 = arith.andi %180, %181 : i1
        %183 = arith.cmpi slt, %177, %c23 : index
        %184 = arith.andi %182, %183 : i1
        %185 = arith.andi %15, %184 : i1
        %186 = arith.andi %55, %185 : i1
        %187 = scf.if %186 -> (f32) {
          %319 = memref.load %arg0[%16, %175, %177, %arg8] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %188 = affine.apply #map38(%46, %arg9)
        %189 = affine.apply #map39(%188)
        %190 = affine.apply #map38(%47, %arg10)
        %191 = affine.apply #map39(%190)
        %192 = arith.cmpi sge, %189, %c0 : index
        %193 = arith.cmpi slt, %189, %c29 : index
        %194 = arith.andi %192, %193 : i1
        %195 = arith.cmpi sge, %191, %c0 : index
        %196 = arith.andi %194, %195 : i1
        %197 = arith.cmpi slt, %191, %c23 : index
        %198 = arith.andi %196, %197 : i1
        %199 = arith.andi %15, %198 : i1
        %200 = arith.andi %71, %199 : i1
        %201 = scf.if %200 -> (f32) {
          %319 = memref.load %arg0[%16, %189, %191, %arg11] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %202 = affine.apply #map38(%46, %arg12)
        %203 = affine.apply #map39(%202)
        %204 = affine.apply #map38(%47, %arg13)
        %205 = affine.apply #map39(%204)
        %206 = arith.cmpi sge, %203, %c0 : index
        %207 = arith.cmpi slt, %203, %c29 : index
        %208 = arith.andi %206, %207 : i1
        %209 = arith.cmpi sge, %205, %c0 : index
        %210 = arith.andi %208, %209 : i1
        %211 = arith.cmpi slt, %205, %c23 : index
        %212 = arith.andi %210, %211 : i1
        %213 = arith.andi %15, %212 : i1
        %214 = arith.andi %87, %213 : i1
        %215 = scf.if %214 -> (f32) {
          %319 = memref.load %arg0[%16, %203, %205, %arg14] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %216 = affine.apply #map38(%46, %arg15)
        %217 = affine.apply #map39(%216)
        %218 = affine.apply #map38(%47, %arg16)
        %219 = affine.apply #map39(%218)
        %220 = arith.cmpi sge, %217, %c0 : index
        %221 = arith.cmpi slt, %217, %c29 : index
        %222 = arith.andi %220, %221 : i1
        %223 = arith.cmpi sge, %219, %c0 : index
        %224 = arith.andi %222, %223 : i1
        %225 = arith.cmpi slt, %219, %c23 : index
        %226 = arith.andi %224, %225 : i1
        %227 = arith.andi %15, %226 : i1
        %228 = arith.andi %103, %227 : i1
        %229 = scf.if %228 -> (f32) {
          %319 = memref.load %arg0[%16, %217, %219, %arg17] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %187, %arg3[%5, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %201, %arg3[%7, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %215, %arg3[%8, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %229, %arg3[%9, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %230 = affine.apply #map38(%48, %arg6)
        %231 = affine.apply #map40(%230)
        %232 = arith.cmpi sge, %231, %c0 : index
        %233 = arith.cmpi slt, %231, %c29 : index
        %234 = arith.andi %232, %233 : i1
        %235 = arith.andi %234, %63 : i1
        %236 = arith.andi %235, %65 : i1
        %237 = arith.andi %19, %236 : i1
        %238 = arith.andi %55, %237 : i1
        %239 = scf.if %238 -> (f32) {
          %319 = memref.load %arg0[%20, %231, %59, %arg8] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %240 = affine.apply #map38(%48, %arg9)
        %241 = affine.apply #map40(%240)
        %242 = arith.cmpi sge, %241, %c0 : index
        %243 = arith.cmpi slt, %241, %c29 : index
        %244 = arith.andi %242, %243 : i1
        %245 = arith.andi %244, %79 : i1
        %246 = arith.andi %245, %81 : i1
        %247 = arith.andi %19, %246 : i1
        %248 = arith.andi %71, %247 : i1
        %249 = scf.if %248 -> (f32) {
          %319 = memref.load %arg0[%20, %241, %75, %arg11] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %250 = affine.apply #map38(%48, %arg12)
        %251 = affine.apply #map40(%250)
        %252 = arith.cmpi sge, %251, %c0 : index
        %253 = arith.cmpi slt, %251, %c29 : index
        %254 = arith.andi %252, %253 : i1
        %255 = arith.andi %254, %95 : i1
        %256 = arith.andi %255, %97 : i1
        %257 = arith.andi %19, %256 : i1
        %258 = arith.andi %87, %257 : i1
        %259 = scf.if %258 -> (f32) {
          %319 = memref.load %arg0[%20, %251, %91, %arg14] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        %260 = affine.apply #map38(%48, %arg15)
        %261 = affine.apply #map40(%260)
        %262 = arith.cmpi sge, %261, %c0 : index
        %263 = arith.cmpi slt, %261, %c29 : index
        %264 = arith.andi %262, %263 : i1
        %265 = arith.andi %264, %111 : i1
        %266 = arith.andi %265, %113 : i1
        %267 = arith.andi %19, %266 : i1
        %268 = arith.andi %103, %267 : i1
        %269 = scf.if %268 -> (f32) {
          %319 = memref.load %arg0[%20, %261, %107, %arg17] : memref<3x29x23x5xf32>
          scf.yield %319 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %239, %arg3[%5, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %249, %arg3[%7, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %259, %arg3[%8, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %269, %arg3[%9, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %270 = affine.apply #map38(%49, %arg5)
        scf.for %arg18 = %c0 to %c2 step %c1 {
          %319 = affine.apply #map41(%49, %arg18)
          %320 = affine.apply #map41(%270, %arg18)
          %321 = arith.cmpi slt, %320, %c45 : index
          %322 = arith.andi %321, %23 : i1
          %323 = scf.if %322 -> (f32) {
            %331 = memref.load %reinterpret_cast[%320, %22] : memref<45x39xf32>
            scf.yield %331 : f32
          } else {
            scf.yield %cst : f32
          }
          %324 = arith.andi %321, %25 : i1
          %325 = scf.if %324 -> (f32) {
            %331 = memref.load %reinterpret_cast[%320, %24] : memref<45x39xf32>
            scf.yield %331 : f32
          } else {
            scf.yield %cst : f32
          }
          %326 = arith.andi %321, %27 : i1
          %327 = scf.if %326 -> (f32) {
            %331 = memref.load %reinterpret_cast[%320, %26] : memref<45x39xf32>
            scf.yield %331 : f32
          } else {
            scf.yield %cst : f32
          }
          %328 = arith.andi %321, %29 : i1
          %329 = scf.if %328 -> (f32) {
            %331 = memref.load %reinterpret_cast[%320, %28] : memref<45x39xf32>
            scf.yield %331 : f32
          } else {
            scf.yield %cst : f32
          }
          %330 = vector.from_elements %323, %325, %327, %329 : vector<4xf32>
          vector.store %330, %arg4[%319, %22] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg18 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg19 = %c0 to %c2 step %c1 {
            %319 = affine.apply #map42(%arg19)
            %320 = affine.apply #map43(%50, %arg19)
            %321 = vector.load %arg3[%arg18, %320] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %321, %alloca_1[%319] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg19 = %c0 to %c2 step %c1 {
            %319 = affine.apply #map42(%arg19)
            %320 = affine.apply #map43(%51, %arg19)
            %321 = vector.load %arg4[%arg18, %320] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %321, %alloca_2[%319] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg19 = %c0 to %c8 step %c1 {
            scf.for %arg20 = %c0 to %c8 step %c1 {
              %319 = memref.load %alloca_1[%arg19] : memref<8xf32>
              %320 = memref.load %alloca_2[%arg20] : memref<8xf32>
              %321 = memref.load %alloca[%arg19, %arg20] : memref<8x8xf32>
              %322 = arith.mulf %319, %320 : f32
              %323 = arith.addf %321, %322 : f32
              memref.store %323, %alloca[%arg19, %arg20] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %271 = affine.apply #map6(%arg8)
        %272 = arith.cmpi sge, %271, %c5 : index
        %273 = affine.apply #map44(%arg8)
        %274 = arith.select %272, %273, %271 : index
        %275 = affine.apply #map6(%arg7)
        %276 = arith.select %272, %275, %arg7 : index
        %277 = arith.cmpi sge, %276, %c3 : index
        %278 = affine.apply #map45(%276)
        %279 = arith.select %277, %278, %276 : index
        %280 = affine.apply #map6(%arg6)
        %281 = affine.apply #map7(%arg6)
        %282 = arith.select %277, %281, %280 : index
        %283 = affine.apply #map6(%arg11)
        %284 = arith.cmpi sge, %283, %c5 : index
        %285 = affine.apply #map44(%arg11)
        %286 = arith.select %284, %285, %283 : index
        %287 = affine.apply #map6(%arg10)
        %288 = arith.select %284, %287, %arg10 : index
        %289 = arith.cmpi sge, %288, %c3 : index
        %290 = affine.apply #map45(%288)
        %291 = arith.select %289, %290, %288 : index
        %292 = affine.apply #map6(%arg9)
        %293 = affine.apply #map7(%arg9)
        %294 = arith.select %289, %293, %292 : index
        %295 = affine.apply #map6(%arg14)
        %296 = arith.cmpi sge, %295, %c5 : index
        %297 = affine.apply #map44(%arg14)
        %298 = arith.select %296, %297, %295 : index
        %299 = affine.apply #map6(%arg13)
        %300 = arith.select %296, %299, %arg13 : index
        %301 = arith.cmpi sge, %300, %c3 : index
        %302 = affine.apply #map45(%300)
        %303 = arith.select %301, %302, %300 : index
        %304 = affine.apply #map6(%arg12)
        %305 = affine.apply #map7(%arg12)
        %306 = arith.select %301, %305, %304 : index
        %307 = affine.apply #map6(%arg17)
        %308 = arith.cmpi sge, %307, %c5 : index
        %309 = affine.apply #map44(%arg17)
        %310 = arith.select %308, %309, %307 : index
        %311 = affine.apply #map6(%arg16)
        %312 = arith.select %308, %311, %arg16 : index
        %313 = arith.cmpi sge, %312, %c3 : index
        %314 = affine.apply #map45(%312)
        %315 = arith.select %313, %314, %312 : index
        %316 = affine.apply #map6(%arg15)
        %317 = affine.apply #map7(%arg15)
        %318 = arith.select %313, %317, %316 : index
        scf.yield %282, %279, %274, %294, %291, %286, %306, %303, %298, %318, %315, %310 : index, index, index, index, index, index, index, index, index, index, index, index
      } {weft.counters = [{below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}]}
      %53 = affine.apply #map46(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %54 = affine.apply #map38(%53, %arg5)
        %55 = arith.cmpi slt, %54, %c540 : index
        scf.if %55 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %56 = affine.apply #map38(%51, %arg6)
            %57 = arith.cmpi slt, %56, %c39 : index
            scf.if %57 {
              %58 = memref.load %alloca[%arg5, %arg6] : memref<8x8xf32>
              memref.store %58, %reinterpret_cast_0[%54, %56] : memref<540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
