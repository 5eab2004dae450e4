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
#map46 = affine_map<(d0, d1, d2) -> ((d0 mod 4) * 8 + d0 - (d1 floordiv 2) * 64 - d2)>
#map47 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
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
        %55 = affine.apply #map38(%5, %arg7)
        %56 = arith.cmpi slt, %55, %c45 : index
        %57 = affine.apply #map38(%42, %arg8)
        %58 = affine.apply #map39(%57)
        %59 = affine.apply #map38(%43, %arg9)
        %60 = affine.apply #map39(%59)
        %61 = arith.cmpi ult, %58, %c29 : index
        %62 = arith.cmpi ult, %60, %c23 : index
        %63 = arith.andi %56, %3 : i1
        %64 = arith.andi %63, %61 : i1
        %65 = arith.andi %64, %62 : i1
        %66 = scf.if %65 -> (f32) {
          %260 = memref.load %arg0[%4, %58, %60, %arg10] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %67 = affine.apply #map6(%55)
        %68 = arith.cmpi slt, %67, %c45 : index
        %69 = affine.apply #map38(%42, %arg11)
        %70 = affine.apply #map39(%69)
        %71 = affine.apply #map38(%43, %arg12)
        %72 = affine.apply #map39(%71)
        %73 = arith.cmpi ult, %70, %c29 : index
        %74 = arith.cmpi ult, %72, %c23 : index
        %75 = arith.andi %68, %3 : i1
        %76 = arith.andi %75, %73 : i1
        %77 = arith.andi %76, %74 : i1
        %78 = scf.if %77 -> (f32) {
          %260 = memref.load %arg0[%4, %70, %72, %arg13] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %79 = affine.apply #map7(%55)
        %80 = arith.cmpi slt, %79, %c45 : index
        %81 = affine.apply #map38(%42, %arg14)
        %82 = affine.apply #map39(%81)
        %83 = affine.apply #map38(%43, %arg15)
        %84 = affine.apply #map39(%83)
        %85 = arith.cmpi ult, %82, %c29 : index
        %86 = arith.cmpi ult, %84, %c23 : index
        %87 = arith.andi %80, %3 : i1
        %88 = arith.andi %87, %85 : i1
        %89 = arith.andi %88, %86 : i1
        %90 = scf.if %89 -> (f32) {
          %260 = memref.load %arg0[%4, %82, %84, %arg16] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %91 = affine.apply #map8(%55)
        %92 = arith.cmpi slt, %91, %c45 : index
        %93 = affine.apply #map38(%42, %arg17)
        %94 = affine.apply #map39(%93)
        %95 = affine.apply #map38(%43, %arg18)
        %96 = affine.apply #map39(%95)
        %97 = arith.cmpi ult, %94, %c29 : index
        %98 = arith.cmpi ult, %96, %c23 : index
        %99 = arith.andi %92, %3 : i1
        %100 = arith.andi %99, %97 : i1
        %101 = arith.andi %100, %98 : i1
        %102 = scf.if %101 -> (f32) {
          %260 = memref.load %arg0[%4, %94, %96, %arg19] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %66, %arg5[%5, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %78, %arg5[%7, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %90, %arg5[%8, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %102, %arg5[%9, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %103 = affine.apply #map38(%44, %arg8)
        %104 = affine.apply #map39(%103)
        %105 = affine.apply #map38(%45, %arg9)
        %106 = affine.apply #map39(%105)
        %107 = arith.cmpi ult, %104, %c29 : index
        %108 = arith.cmpi ult, %106, %c23 : index
        %109 = arith.andi %56, %11 : i1
        %110 = arith.andi %109, %107 : i1
        %111 = arith.andi %110, %108 : i1
        %112 = scf.if %111 -> (f32) {
          %260 = memref.load %arg0[%12, %104, %106, %arg10] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %113 = affine.apply #map38(%44, %arg11)
        %114 = affine.apply #map39(%113)
        %115 = affine.apply #map38(%45, %arg12)
        %116 = affine.apply #map39(%115)
        %117 = arith.cmpi ult, %114, %c29 : index
        %118 = arith.cmpi ult, %116, %c23 : index
        %119 = arith.andi %68, %11 : i1
        %120 = arith.andi %119, %117 : i1
        %121 = arith.andi %120, %118 : i1
        %122 = scf.if %121 -> (f32) {
          %260 = memref.load %arg0[%12, %114, %116, %arg13] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %123 = affine.apply #map38(%44, %arg14)
        %124 = affine.apply #map39(%123)
        %125 = affine.apply #map38(%45, %arg15)
        %126 = affine.apply #map39(%125)
        %127 = arith.cmpi ult, %124, %c29 : index
        %128 = arith.cmpi ult, %126, %c23 : index
        %129 = arith.andi %80, %11 : i1
        %130 = arith.andi %129, %127 : i1
        %131 = arith.andi %130, %128 : i1
        %132 = scf.if %131 -> (f32) {
          %260 = memref.load %arg0[%12, %124, %126, %arg16] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %133 = affine.apply #map38(%44, %arg17)
        %134 = affine.apply #map39(%133)
        %135 = affine.apply #map38(%45, %arg18)
        %136 = affine.apply #map39(%135)
        %137 = arith.cmpi ult, %134, %c29 : index
        %138 = arith.cmpi ult, %136, %c23 : index
        %139 = arith.andi %92, %11 : i1
        %140 = arith.andi %139, %137 : i1
        %141 = arith.andi %140, %138 : i1
        %142 = scf.if %141 -> (f32) {
          %260 = memref.load %arg0[%12, %134, %136, %arg19] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %112, %arg5[%5, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %122, %arg5[%7, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %132, %arg5[%8, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %142, %arg5[%9, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %143 = affine.apply #map38(%46, %arg8)
        %144 = affine.apply #map39(%143)
        %145 = affine.apply #map38(%47, %arg9)
        %146 = affine.apply #map39(%145)
        %147 = arith.cmpi ult, %144, %c29 : index
        %148 = arith.cmpi ult, %146, %c23 : index
        %149 = arith.andi %56, %15 : i1
        %150 = arith.andi %149, %147 : i1
        %151 = arith.andi %150, %148 : i1
        %152 = scf.if %151 -> (f32) {
          %260 = memref.load %arg0[%16, %144, %146, %arg10] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %153 = affine.apply #map38(%46, %arg11)
        %154 = affine.apply #map39(%153)
        %155 = affine.apply #map38(%47, %arg12)
        %156 = affine.apply #map39(%155)
        %157 = arith.cmpi ult, %154, %c29 : index
        %158 = arith.cmpi ult, %156, %c23 : index
        %159 = arith.andi %68, %15 : i1
        %160 = arith.andi %159, %157 : i1
        %161 = arith.andi %160, %158 : i1
        %162 = scf.if %161 -> (f32) {
          %260 = memref.load %arg0[%16, %154, %156, %arg13] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %163 = affine.apply #map38(%46, %arg14)
        %164 = affine.apply #map39(%163)
        %165 = affine.apply #map38(%47, %arg15)
        %166 = affine.apply #map39(%165)
        %167 = arith.cmpi ult, %164, %c29 : index
        %168 = arith.cmpi ult, %166, %c23 : index
        %169 = arith.andi %80, %15 : i1
        %170 = arith.andi %169, %167 : i1
        %171 = arith.andi %170, %168 : i1
        %172 = scf.if %171 -> (f32) {
          %260 = memref.load %arg0[%16, %164, %166, %arg16] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %173 = affine.apply #map38(%46, %arg17)
        %174 = affine.apply #map39(%173)
        %175 = affine.apply #map38(%47, %arg18)
        %176 = affine.apply #map39(%175)
        %177 = arith.cmpi ult, %174, %c29 : index
        %178 = arith.cmpi ult, %176, %c23 : index
        %179 = arith.andi %92, %15 : i1
        %180 = arith.andi %179, %177 : i1
        %181 = arith.andi %180, %178 : i1
        %182 = scf.if %181 -> (f32) {
          %260 = memref.load %arg0[%16, %174, %176, %arg19] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %152, %arg5[%5, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %162, %arg5[%7, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %172, %arg5[%8, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %182, %arg5[%9, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %183 = affine.apply #map38(%48, %arg8)
        %184 = affine.apply #map40(%183)
        %185 = arith.cmpi ult, %184, %c29 : index
        %186 = arith.andi %56, %19 : i1
        %187 = arith.andi %186, %185 : i1
        %188 = arith.andi %187, %62 : i1
        %189 = scf.if %188 -> (f32) {
          %260 = memref.load %arg0[%20, %184, %60, %arg10] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %190 = affine.apply #map38(%48, %arg11)
        %191 = affine.apply #map40(%190)
        %192 = arith.cmpi ult, %191, %c29 : index
        %193 = arith.andi %68, %19 : i1
        %194 = arith.andi %193, %192 : i1
        %195 = arith.andi %194, %74 : i1
        %196 = scf.if %195 -> (f32) {
          %260 = memref.load %arg0[%20, %191, %72, %arg13] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %197 = affine.apply #map38(%48, %arg14)
        %198 = affine.apply #map40(%197)
        %199 = arith.cmpi ult, %198, %c29 : index
        %200 = arith.andi %80, %19 : i1
        %201 = arith.andi %200, %199 : i1
        %202 = arith.andi %201, %86 : i1
        %203 = scf.if %202 -> (f32) {
          %260 = memref.load %arg0[%20, %198, %84, %arg16] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        %204 = affine.apply #map38(%48, %arg17)
        %205 = affine.apply #map40(%204)
        %206 = arith.cmpi ult, %205, %c29 : index
        %207 = arith.andi %92, %19 : i1
        %208 = arith.andi %207, %206 : i1
        %209 = arith.andi %208, %98 : i1
        %210 = scf.if %209 -> (f32) {
          %260 = memref.load %arg0[%20, %205, %96, %arg19] : memref<3x29x23x5xf32>
          scf.yield %260 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %189, %arg5[%5, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %196, %arg5[%7, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %203, %arg5[%8, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %210, %arg5[%9, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %211 = affine.apply #map38(%49, %arg7)
        scf.for %arg20 = %c0 to %c2 step %c1 {
          %260 = affine.apply #map41(%49, %arg20)
          %261 = affine.apply #map41(%211, %arg20)
          %262 = arith.cmpi slt, %261, %c45 : index
          %263 = arith.andi %262, %23 : i1
          %264 = scf.if %263 -> (f32) {
            %272 = memref.load %reinterpret_cast[%261, %22] : memref<45x39xf32>
            scf.yield %272 : f32
          } else {
            scf.yield %cst : f32
          }
          %265 = arith.andi %262, %25 : i1
          %266 = scf.if %265 -> (f32) {
            %272 = memref.load %reinterpret_cast[%261, %24] : memref<45x39xf32>
            scf.yield %272 : f32
          } else {
            scf.yield %cst : f32
          }
          %267 = arith.andi %262, %27 : i1
          %268 = scf.if %267 -> (f32) {
            %272 = memref.load %reinterpret_cast[%261, %26] : memref<45x39xf32>
            scf.yield %272 : f32
          } else {
            scf.yield %cst : f32
          }
          %269 = arith.andi %262, %29 : i1
          %270 = scf.if %269 -> (f32) {
            %272 = memref.load %reinterpret_cast[%261, %28] : memref<45x39xf32>
            scf.yield %272 : f32
          } else {
            scf.yield %cst : f32
          }
          %271 = vector.from_elements %264, %266, %268, %270 : vector<4xf32>
          vector.store %271, %arg6[%260, %22] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg20 = %c0 to %c16 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg21 = %c0 to %c2 step %c1 {
            %260 = affine.apply #map42(%arg21)
            %261 = affine.apply #map43(%50, %arg21)
            %262 = vector.load %arg5[%arg20, %261] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %262, %alloca_4[%260] : memref<8xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg21 = %c0 to %c2 step %c1 {
            %260 = affine.apply #map42(%arg21)
            %261 = affine.apply #map43(%51, %arg21)
            %262 = vector.load %arg6[%arg20, %261] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %262, %alloca_5[%260] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg21 = %c0 to %c8 step %c1 {
            scf.for %arg22 = %c0 to %c8 step %c1 {
              %260 = memref.load %alloca_4[%arg21] : memref<8xf32>
              %261 = memref.load %alloca_5[%arg22] : memref<8xf32>
              %262 = memref.load %alloca[%arg21, %arg22] : memref<8x8xf32>
              %263 = arith.mulf %260, %261 : f32
              %264 = arith.addf %262, %263 : f32
              memref.store %264, %alloca[%arg21, %arg22] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %212 = affine.apply #map6(%arg10)
        %213 = arith.cmpi sge, %212, %c5 : index
        %214 = affine.apply #map44(%arg10)
        %215 = arith.select %213, %214, %212 : index
        %216 = affine.apply #map6(%arg9)
        %217 = arith.select %213, %216, %arg9 : index
        %218 = arith.cmpi sge, %217, %c3 : index
        %219 = affine.apply #map45(%217)
        %220 = arith.select %218, %219, %217 : index
        %221 = affine.apply #map6(%arg8)
        %222 = affine.apply #map7(%arg8)
        %223 = arith.select %218, %222, %221 : index
        %224 = affine.apply #map6(%arg13)
        %225 = arith.cmpi sge, %224, %c5 : index
        %226 = affine.apply #map44(%arg13)
        %227 = arith.select %225, %226, %224 : index
        %228 = affine.apply #map6(%arg12)
        %229 = arith.select %225, %228, %arg12 : index
        %230 = arith.cmpi sge, %229, %c3 : index
        %231 = affine.apply #map45(%229)
        %232 = arith.select %230, %231, %229 : index
        %233 = affine.apply #map6(%arg11)
        %234 = affine.apply #map7(%arg11)
        %235 = arith.select %230, %234, %233 : index
        %236 = affine.apply #map6(%arg16)
        %237 = arith.cmpi sge, %236, %c5 : index
        %238 = affine.apply #map44(%arg16)
        %239 = arith.select %237, %238, %236 : index
        %240 = affine.apply #map6(%arg15)
        %241 = arith.select %237, %240, %arg15 : index
        %242 = arith.cmpi sge, %241, %c3 : index
        %243 = affine.apply #map45(%241)
        %244 = arith.select %242, %243, %241 : index
        %245 = affine.apply #map6(%arg14)
        %246 = affine.apply #map7(%arg14)
        %247 = arith.select %242, %246, %245 : index
        %248 = affine.apply #map6(%arg19)
        %249 = arith.cmpi sge, %248, %c5 : index
        %250 = affine.apply #map44(%arg19)
        %251 = arith.select %249, %250, %248 : index
        %252 = affine.apply #map6(%arg18)
        %253 = arith.select %249, %252, %arg18 : index
        %254 = arith.cmpi sge, %253, %c3 : index
        %255 = affine.apply #map45(%253)
        %256 = arith.select %254, %255, %253 : index
        %257 = affine.apply #map6(%arg17)
        %258 = affine.apply #map7(%arg17)
        %259 = arith.select %254, %258, %257 : index
        scf.yield %223, %220, %215, %235, %232, %227, %247, %244, %239, %259, %256, %251 : index, index, index, index, index, index, index, index, index, index, index, index
      } {weft.counters = [{below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}, {below = 5 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}, {below = 5 : i64, name = "c"}]}
      %alloca_2 = memref.alloca() : memref<8x8xf32>
      %alloca_3 = memref.alloca() : memref<8x8xf32>
      %53 = affine.apply #map46(%thread_id_x, %1, %0)
      scf.for %arg7 = %c0 to %c8 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %55 = memref.load %alloca[%arg7, %arg8] : memref<8x8xf32>
          %56 = affine.apply #map38(%53, %arg8)
          %57 = arith.cmpi slt, %56, %c39 : index
          %58 = scf.if %57 -> (f32) {
            %60 = memref.load %arg2[%56] : memref<39xf32>
            scf.yield %60 : f32
          } else {
            scf.yield %cst : f32
          }
          %59 = arith.addf %55, %58 : f32
          memref.store %59, %alloca_3[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      %54 = affine.apply #map47(%block_id_y, %1, %0)
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %55 = affine.apply #map38(%54, %arg7)
        %56 = arith.cmpi slt, %55, %c540 : index
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %57 = memref.load %alloca_3[%arg7, %arg8] : memref<8x8xf32>
          %58 = affine.apply #map38(%53, %arg8)
          %59 = arith.cmpi slt, %58, %c39 : index
          %60 = arith.andi %56, %59 : i1
          %61 = scf.if %60 -> (f32) {
            %63 = memref.load %reinterpret_cast_0[%55, %58] : memref<540x39xf32>
            scf.yield %63 : f32
          } else {
            scf.yield %cst : f32
          }
          %62 = arith.addf %57, %61 : f32
          memref.store %62, %alloca_3[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %55 = memref.load %alloca_3[%arg7, %arg8] : memref<8x8xf32>
          %56 = arith.maximumf %55, %cst : f32
          memref.store %56, %alloca_2[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %55 = affine.apply #map38(%54, %arg7)
        %56 = arith.cmpi slt, %55, %c540 : index
        scf.if %56 {
          scf.for %arg8 = %c0 to %c8 step %c1 {
            %57 = affine.apply #map38(%51, %arg8)
            %58 = arith.cmpi slt, %57, %c39 : index
            scf.if %58 {
              %59 = memref.load %alloca_2[%arg7, %arg8] : memref<8x8xf32>
              memref.store %59, %reinterpret_cast_1[%55, %57] : memref<540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
