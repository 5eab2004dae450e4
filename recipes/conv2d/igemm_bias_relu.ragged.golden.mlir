// weft golden igemm_bias_relu.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2 --set residual=1
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
  func.func @conv2d_bias_relu(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<39xf32> {weft.name = "bias"}, %arg3: memref<3x15x12x39xf32> {weft.name = "residual"}, %arg4: memref<3x15x12x39xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_bias_relu_kernel::@conv2d_bias_relu blocks in (%c1, %c5, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<3x29x23x5xf32>, %arg1 : memref<3x3x5x39xf32>, %arg2 : memref<39xf32>, %arg3 : memref<3x15x12x39xf32>, %arg4 : memref<3x15x12x39xf32>)
    return
  }
  gpu.module @conv2d_bias_relu_kernel {
    gpu.func @conv2d_bias_relu(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<39xf32> {weft.name = "bias"}, %arg3: memref<3x15x12x39xf32> {weft.name = "residual"}, %arg4: memref<3x15x12x39xf32> {weft.name = "Y"}) workgroup(%arg5 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg6 : memref<16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 5, 1>} {
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
      %reinterpret_cast_0 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [540, 39], strides: [39, 1] : memref<3x15x12x39xf32> to memref<540x39xf32>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg4 to offset: [0], sizes: [540, 39], strides: [39, 1] : memref<3x15x12x39xf32> to memref<540x39xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<8x8xf32>
      scf.for %arg7 = %c0 to %c8 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca[%arg7, %arg8] : memref<8x8xf32>
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
      %52:12 = scf.for %arg7 = %c0 to %c48 step %c16 iter_args(%arg8 = %30, %arg9 = %31, %arg10 = %32, %arg11 = %33, %arg12 = %34, %arg13 = %35, %arg14 = %36, %arg15 = %37, %arg16 = %38, %arg17 = %39, %arg18 = %40, %arg19 = %41) -> (index, index, index, index, index, index, index, index, index, index, index, index) {
        %54 = affine.apply #map38(%5, %arg7)
        %55 = arith.cmpi slt, %54, %c45 : index
        %56 = affine.apply #map38(%42, %arg8)
        %57 = affine.apply #map39(%56)
        %58 = affine.apply #map38(%43, %arg9)
        %59 = affine.apply #map39(%58)
        %60 = arith.cmpi ult, %57, %c29 : index
        %61 = arith.cmpi ult, %59, %c23 : index
        %62 = arith.andi %55, %3 : i1
        %63 = arith.andi %62, %60 : i1
        %64 = arith.andi %63, %61 : i1
        %65 = scf.if %64 -> (f32) {
          %259 = memref.load %arg0[%4, %57, %59, %arg10] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %66 = affine.apply #map6(%54)
        %67 = arith.cmpi slt, %66, %c45 : index
        %68 = affine.apply #map38(%42, %arg11)
        %69 = affine.apply #map39(%68)
        %70 = affine.apply #map38(%43, %arg12)
        %71 = affine.apply #map39(%70)
        %72 = arith.cmpi ult, %69, %c29 : index
        %73 = arith.cmpi ult, %71, %c23 : index
        %74 = arith.andi %67, %3 : i1
        %75 = arith.andi %74, %72 : i1
        %76 = arith.andi %75, %73 : i1
        %77 = scf.if %76 -> (f32) {
          %259 = memref.load %arg0[%4, %69, %71, %arg13] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %78 = affine.apply #map7(%54)
        %79 = arith.cmpi slt, %78, %c45 : index
        %80 = affine.apply #map38(%42, %arg14)
        %81 = affine.apply #map39(%80)
        %82 = affine.apply #map38(%43, %arg15)
        %83 = affine.apply #map39(%82)
        %84 = arith.cmpi ult, %81, %c29 : index
        %85 = arith.cmpi ult, %83, %c23 : index
        %86 = arith.andi %79, %3 : i1
        %87 = arith.andi %86, %84 : i1
        %88 = arith.andi %87, %85 : i1
        %89 = scf.if %88 -> (f32) {
          %259 = memref.load %arg0[%4, %81, %83, %arg16] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %90 = affine.apply #map8(%54)
        %91 = arith.cmpi slt, %90, %c45 : index
        %92 = affine.apply #map38(%42, %arg17)
        %93 = affine.apply #map39(%92)
        %94 = affine.apply #map38(%43, %arg18)
        %95 = affine.apply #map39(%94)
        %96 = arith.cmpi ult, %93, %c29 : index
        %97 = arith.cmpi ult, %95, %c23 : index
        %98 = arith.andi %91, %3 : i1
        %99 = arith.andi %98, %96 : i1
        %100 = arith.andi %99, %97 : i1
        %101 = scf.if %100 -> (f32) {
          %259 = memref.load %arg0[%4, %93, %95, %arg19] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %65, %arg5[%5, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %77, %arg5[%7, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %89, %arg5[%8, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %101, %arg5[%9, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %102 = affine.apply #map38(%44, %arg8)
        %103 = affine.apply #map39(%102)
        %104 = affine.apply #map38(%45, %arg9)
        %105 = affine.apply #map39(%104)
        %106 = arith.cmpi ult, %103, %c29 : index
        %107 = arith.cmpi ult, %105, %c23 : index
        %108 = arith.andi %55, %11 : i1
        %109 = arith.andi %108, %106 : i1
        %110 = arith.andi %109, %107 : i1
        %111 = scf.if %110 -> (f32) {
          %259 = memref.load %arg0[%12, %103, %105, %arg10] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %112 = affine.apply #map38(%44, %arg11)
        %113 = affine.apply #map39(%112)
        %114 = affine.apply #map38(%45, %arg12)
        %115 = affine.apply #map39(%114)
        %116 = arith.cmpi ult, %113, %c29 : index
        %117 = arith.cmpi ult, %115, %c23 : index
        %118 = arith.andi %67, %11 : i1
        %119 = arith.andi %118, %116 : i1
        %120 = arith.andi %119, %117 : i1
        %121 = scf.if %120 -> (f32) {
          %259 = memref.load %arg0[%12, %113, %115, %arg13] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %122 = affine.apply #map38(%44, %arg14)
        %123 = affine.apply #map39(%122)
        %124 = affine.apply #map38(%45, %arg15)
        %125 = affine.apply #map39(%124)
        %126 = arith.cmpi ult, %123, %c29 : index
        %127 = arith.cmpi ult, %125, %c23 : index
        %128 = arith.andi %79, %11 : i1
        %129 = arith.andi %128, %126 : i1
        %130 = arith.andi %129, %127 : i1
        %131 = scf.if %130 -> (f32) {
          %259 = memref.load %arg0[%12, %123, %125, %arg16] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %132 = affine.apply #map38(%44, %arg17)
        %133 = affine.apply #map39(%132)
        %134 = affine.apply #map38(%45, %arg18)
        %135 = affine.apply #map39(%134)
        %136 = arith.cmpi ult, %133, %c29 : index
        %137 = arith.cmpi ult, %135, %c23 : index
        %138 = arith.andi %91, %11 : i1
        %139 = arith.andi %138, %136 : i1
        %140 = arith.andi %139, %137 : i1
        %141 = scf.if %140 -> (f32) {
          %259 = memref.load %arg0[%12, %133, %135, %arg19] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %111, %arg5[%5, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %121, %arg5[%7, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %131, %arg5[%8, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %141, %arg5[%9, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %142 = affine.apply #map38(%46, %arg8)
        %143 = affine.apply #map39(%142)
        %144 = affine.apply #map38(%47, %arg9)
        %145 = affine.apply #map39(%144)
        %146 = arith.cmpi ult, %143, %c29 : index
        %147 = arith.cmpi ult, %145, %c23 : index
        %148 = arith.andi %55, %15 : i1
        %149 = arith.andi %148, %146 : i1
        %150 = arith.andi %149, %147 : i1
        %151 = scf.if %150 -> (f32) {
          %259 = memref.load %arg0[%16, %143, %145, %arg10] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %152 = affine.apply #map38(%46, %arg11)
        %153 = affine.apply #map39(%152)
        %154 = affine.apply #map38(%47, %arg12)
        %155 = affine.apply #map39(%154)
        %156 = arith.cmpi ult, %153, %c29 : index
        %157 = arith.cmpi ult, %155, %c23 : index
        %158 = arith.andi %67, %15 : i1
        %159 = arith.andi %158, %156 : i1
        %160 = arith.andi %159, %157 : i1
        %161 = scf.if %160 -> (f32) {
          %259 = memref.load %arg0[%16, %153, %155, %arg13] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %162 = affine.apply #map38(%46, %arg14)
        %163 = affine.apply #map39(%162)
        %164 = affine.apply #map38(%47, %arg15)
        %165 = affine.apply #map39(%164)
        %166 = arith.cmpi ult, %163, %c29 : index
        %167 = arith.cmpi ult, %165, %c23 : index
        %168 = arith.andi %79, %15 : i1
        %169 = arith.andi %168, %166 : i1
        %170 = arith.andi %169, %167 : i1
        %171 = scf.if %170 -> (f32) {
          %259 = memref.load %arg0[%16, %163, %165, %arg16] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %172 = affine.apply #map38(%46, %arg17)
        %173 = affine.apply #map39(%172)
        %174 = affine.apply #map38(%47, %arg18)
        %175 = affine.apply #map39(%174)
        %176 = arith.cmpi ult, %173, %c29 : index
        %177 = arith.cmpi ult, %175, %c23 : index
        %178 = arith.andi %91, %15 : i1
        %179 = arith.andi %178, %176 : i1
        %180 = arith.andi %179, %177 : i1
        %181 = scf.if %180 -> (f32) {
          %259 = memref.load %arg0[%16, %173, %175, %arg19] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %151, %arg5[%5, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %161, %arg5[%7, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %171, %arg5[%8, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %181, %arg5[%9, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %182 = affine.apply #map38(%48, %arg8)
        %183 = affine.apply #map40(%182)
        %184 = arith.cmpi ult, %183, %c29 : index
        %185 = arith.andi %55, %19 : i1
        %186 = arith.andi %185, %184 : i1
        %187 = arith.andi %186, %61 : i1
        %188 = scf.if %187 -> (f32) {
          %259 = memref.load %arg0[%20, %183, %59, %arg10] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %189 = affine.apply #map38(%48, %arg11)
        %190 = affine.apply #map40(%189)
        %191 = arith.cmpi ult, %190, %c29 : index
        %192 = arith.andi %67, %19 : i1
        %193 = arith.andi %192, %191 : i1
        %194 = arith.andi %193, %73 : i1
        %195 = scf.if %194 -> (f32) {
          %259 = memref.load %arg0[%20, %190, %71, %arg13] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %196 = affine.apply #map38(%48, %arg14)
        %197 = affine.apply #map40(%196)
        %198 = arith.cmpi ult, %197, %c29 : index
        %199 = arith.andi %79, %19 : i1
        %200 = arith.andi %199, %198 : i1
        %201 = arith.andi %200, %85 : i1
        %202 = scf.if %201 -> (f32) {
          %259 = memref.load %arg0[%20, %197, %83, %arg16] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        %203 = affine.apply #map38(%48, %arg17)
        %204 = affine.apply #map40(%203)
        %205 = arith.cmpi ult, %204, %c29 : index
        %206 = arith.andi %91, %19 : i1
        %207 = arith.andi %206, %205 : i1
        %208 = arith.andi %207, %97 : i1
        %209 = scf.if %208 -> (f32) {
          %259 = memref.load %arg0[%20, %204, %95, %arg19] : memref<3x29x23x5xf32>
          scf.yield %259 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %188, %arg5[%5, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %195, %arg5[%7, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %202, %arg5[%8, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %209, %arg5[%9, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %210 = affine.apply #map38(%49, %arg7)
        scf.for %arg20 = %c0 to %c2 step %c1 {
          %259 = affine.apply #map41(%49, %arg20)
          %260 = affine.apply #map41(%210, %arg20)
          %261 = arith.cmpi slt, %260, %c45 : index
          %262 = arith.andi %261, %23 : i1
          %263 = scf.if %262 -> (f32) {
            %271 = memref.load %reinterpret_cast[%260, %22] : memref<45x39xf32>
            scf.yield %271 : f32
          } else {
            scf.yield %cst : f32
          }
          %264 = arith.andi %261, %25 : i1
          %265 = scf.if %264 -> (f32) {
            %271 = memref.load %reinterpret_cast[%260, %24] : memref<45x39xf32>
            scf.yield %271 : f32
          } else {
            scf.yield %cst : f32
          }
          %266 = arith.andi %261, %27 : i1
          %267 = scf.if %266 -> (f32) {
            %271 = memref.load %reinterpret_cast[%260, %26] : memref<45x39xf32>
            scf.yield %271 : f32
          } else {
            scf.yield %cst : f32
          }
          %268 = arith.andi %261, %29 : i1
          %269 = scf.if %268 -> (f32) {
            %271 = memref.load %reinterpret_cast[%260, %28] : memref<45x39xf32>
            scf.yield %271 : f32
          } else {
            scf.yield %cst : f32
          }
          %270 = vector.from_elements %263, %265, %267, %269 : vector<4xf32>
          vector.store %270, %arg6[%259, %22] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg20 = %c0 to %c16 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg21 = %c0 to %c2 step %c1 {
            %259 = affine.apply #map42(%arg21)
            %260 = affine.apply #map43(%50, %arg21)
            %261 = vector.load %arg5[%arg20, %260] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %261, %alloca_4[%259] : memref<8xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg21 = %c0 to %c2 step %c1 {
            %259 = affine.apply #map42(%arg21)
            %260 = affine.apply #map43(%51, %arg21)
            %261 = vector.load %arg6[%arg20, %260] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %261, %alloca_5[%259] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg21 = %c0 to %c8 step %c1 {
            scf.for %arg22 = %c0 to %c8 step %c1 {
              %259 = memref.load %alloca_4[%arg21] : memref<8xf32>
              %260 = memref.load %alloca_5[%arg22] : memref<8xf32>
              %261 = memref.load %alloca[%arg21, %arg22] : memref<8x8xf32>
              %262 = arith.mulf %259, %260 : f32
              %263 = arith.addf %261, %262 : f32
              memref.store %263, %alloca[%arg21, %arg22] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %211 = affine.apply #map6(%arg10)
        %212 = arith.cmpi sge, %211, %c5 : index
        %213 = affine.apply #map44(%arg10)
        %214 = arith.select %212, %213, %211 : index
        %215 = affine.apply #map6(%arg9)
        %216 = arith.select %212, %215, %arg9 : index
        %217 = arith.cmpi sge, %216, %c3 : index
        %218 = affine.apply #map45(%216)
        %219 = arith.select %217, %218, %216 : index
        %220 = affine.apply #map6(%arg8)
        %221 = affine.apply #map7(%arg8)
        %222 = arith.select %217, %221, %220 : index
        %223 = affine.apply #map6(%arg13)
        %224 = arith.cmpi sge, %223, %c5 : index
        %225 = affine.apply #map44(%arg13)
        %226 = arith.select %224, %225, %223 : index
        %227 = affine.apply #map6(%arg12)
        %228 = arith.select %224, %227, %arg12 : index
        %229 = arith.cmpi sge, %228, %c3 : index
        %230 = affine.apply #map45(%228)
        %231 = arith.select %229, %230, %228 : index
        %232 = affine.apply #map6(%arg11)
        %233 = affine.apply #map7(%arg11)
        %234 = arith.select %229, %233, %232 : index
        %235 = affine.apply #map6(%arg16)
        %236 = arith.cmpi sge, %235, %c5 : index
        %237 = affine.apply #map44(%arg16)
        %238 = arith.select %236, %237, %235 : index
        %239 = affine.apply #map6(%arg15)
        %240 = arith.select %236, %239, %arg15 : index
        %241 = arith.cmpi sge, %240, %c3 : index
        %242 = affine.apply #map45(%240)
        %243 = arith.select %241, %242, %240 : index
        %244 = affine.apply #map6(%arg14)
        %245 = affine.apply #map7(%arg14)
        %246 = arith.select %241, %245, %244 : index
        %247 = affine.apply #map6(%arg19)
        %248 = arith.cmpi sge, %247, %c5 : index
        %249 = affine.apply #map44(%arg19)
        %250 = arith.select %248, %249, %247 : index
        %251 = affine.apply #map6(%arg18)
        %252 = arith.select %248, %251, %arg18 : index
        %253 = arith.cmpi sge, %252, %c3 : index
        %254 = affine.apply #map45(%252)
        %255 = arith.select %253, %254, %252 : index
        %256 = affine.apply #map6(%arg17)
        %257 = affine.apply #map7(%arg17)
        %258 = arith.select %253, %257, %256 : index
        scf.yield %222, %219, %214, %234, %231, %226, %246, %243, %238, %258, %255, %250 : index, index, index, index, index, index, index, index, index, index, index, index
      } {weft.counters = [{below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}]}
      %alloca_2 = memref.alloca() : memref<8x8xf32>
      %alloca_3 = memref.alloca() : memref<8x8xf32>
      scf.for %arg7 = %c0 to %c8 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %54 = memref.load %alloca[%arg7, %arg8] : memref<8x8xf32>
          %55 = affine.apply #map38(%51, %arg8)
          %56 = arith.cmpi slt, %55, %c39 : index
          %57 = scf.if %56 -> (f32) {
            %59 = memref.load %arg2[%55] : memref<39xf32>
            scf.yield %59 : f32
          } else {
            scf.yield %cst : f32
          }
          %58 = arith.addf %54, %57 : f32
          memref.store %58, %alloca_3[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      %53 = affine.apply #map46(%block_id_y, %1, %0)
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %54 = affine.apply #map38(%53, %arg7)
        %55 = arith.cmpi slt, %54, %c540 : index
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %56 = memref.load %alloca_3[%arg7, %arg8] : memref<8x8xf32>
          %57 = affine.apply #map38(%51, %arg8)
          %58 = arith.cmpi slt, %57, %c39 : index
          %59 = arith.andi %55, %58 : i1
          %60 = scf.if %59 -> (f32) {
            %62 = memref.load %reinterpret_cast_0[%54, %57] : memref<540x39xf32>
            scf.yield %62 : f32
          } else {
            scf.yield %cst : f32
          }
          %61 = arith.addf %56, %60 : f32
          memref.store %61, %alloca_3[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %54 = memref.load %alloca_3[%arg7, %arg8] : memref<8x8xf32>
          %55 = arith.maximumf %54, %cst : f32
          memref.store %55, %alloca_2[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %54 = affine.apply #map38(%53, %arg7)
        %55 = arith.cmpi slt, %54, %c540 : index
        scf.if %55 {
          scf.for %arg8 = %c0 to %c8 step %c1 {
            %56 = affine.apply #map38(%51, %arg8)
            %57 = arith.cmpi slt, %56, %c39 : index
            scf.if %57 {
              %58 = memref.load %alloca_2[%arg7, %arg8] : memref<8x8xf32>
              memref.store %58, %reinterpret_cast_1[%54, %56] : memref<540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
