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
        %61 = arith.cmpi sge, %58, %c0 : index
        %62 = arith.cmpi slt, %58, %c29 : index
        %63 = arith.andi %61, %62 : i1
        %64 = arith.cmpi sge, %60, %c0 : index
        %65 = arith.andi %63, %64 : i1
        %66 = arith.cmpi slt, %60, %c23 : index
        %67 = arith.andi %65, %66 : i1
        %68 = arith.andi %3, %67 : i1
        %69 = arith.andi %56, %68 : i1
        %70 = scf.if %69 -> (f32) {
          %320 = memref.load %arg0[%4, %58, %60, %arg10] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %71 = affine.apply #map6(%55)
        %72 = arith.cmpi slt, %71, %c45 : index
        %73 = affine.apply #map38(%42, %arg11)
        %74 = affine.apply #map39(%73)
        %75 = affine.apply #map38(%43, %arg12)
        %76 = affine.apply #map39(%75)
        %77 = arith.cmpi sge, %74, %c0 : index
        %78 = arith.cmpi slt, %74, %c29 : index
        %79 = arith.andi %77, %78 : i1
        %80 = arith.cmpi sge, %76, %c0 : index
        %81 = arith.andi %79, %80 : i1
        %82 = arith.cmpi slt, %76, %c23 : index
        %83 = arith.andi %81, %82 : i1
        %84 = arith.andi %3, %83 : i1
        %85 = arith.andi %72, %84 : i1
        %86 = scf.if %85 -> (f32) {
          %320 = memref.load %arg0[%4, %74, %76, %arg13] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %87 = affine.apply #map7(%55)
        %88 = arith.cmpi slt, %87, %c45 : index
        %89 = affine.apply #map38(%42, %arg14)
        %90 = affine.apply #map39(%89)
        %91 = affine.apply #map38(%43, %arg15)
        %92 = affine.apply #map39(%91)
        %93 = arith.cmpi sge, %90, %c0 : index
        %94 = arith.cmpi slt, %90, %c29 : index
        %95 = arith.andi %93, %94 : i1
        %96 = arith.cmpi sge, %92, %c0 : index
        %97 = arith.andi %95, %96 : i1
        %98 = arith.cmpi slt, %92, %c23 : index
        %99 = arith.andi %97, %98 : i1
        %100 = arith.andi %3, %99 : i1
        %101 = arith.andi %88, %100 : i1
        %102 = scf.if %101 -> (f32) {
          %320 = memref.load %arg0[%4, %90, %92, %arg16] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %103 = affine.apply #map8(%55)
        %104 = arith.cmpi slt, %103, %c45 : index
        %105 = affine.apply #map38(%42, %arg17)
        %106 = affine.apply #map39(%105)
        %107 = affine.apply #map38(%43, %arg18)
        %108 = affine.apply #map39(%107)
        %109 = arith.cmpi sge, %106, %c0 : index
        %110 = arith.cmpi slt, %106, %c29 : index
        %111 = arith.andi %109, %110 : i1
        %112 = arith.cmpi sge, %108, %c0 : index
        %113 = arith.andi %111, %112 : i1
        %114 = arith.cmpi slt, %108, %c23 : index
        %115 = arith.andi %113, %114 : i1
        %116 = arith.andi %3, %115 : i1
        %117 = arith.andi %104, %116 : i1
        %118 = scf.if %117 -> (f32) {
          %320 = memref.load %arg0[%4, %106, %108, %arg19] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %70, %arg5[%5, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %86, %arg5[%7, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %102, %arg5[%8, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %118, %arg5[%9, %6] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %119 = affine.apply #map38(%44, %arg8)
        %120 = affine.apply #map39(%119)
        %121 = affine.apply #map38(%45, %arg9)
        %122 = affine.apply #map39(%121)
        %123 = arith.cmpi sge, %120, %c0 : index
        %124 = arith.cmpi slt, %120, %c29 : index
        %125 = arith.andi %123, %124 : i1
        %126 = arith.cmpi sge, %122, %c0 : index
        %127 = arith.andi %125, %126 : i1
        %128 = arith.cmpi slt, %122, %c23 : index
        %129 = arith.andi %127, %128 : i1
        %130 = arith.andi %11, %129 : i1
        %131 = arith.andi %56, %130 : i1
        %132 = scf.if %131 -> (f32) {
          %320 = memref.load %arg0[%12, %120, %122, %arg10] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %133 = affine.apply #map38(%44, %arg11)
        %134 = affine.apply #map39(%133)
        %135 = affine.apply #map38(%45, %arg12)
        %136 = affine.apply #map39(%135)
        %137 = arith.cmpi sge, %134, %c0 : index
        %138 = arith.cmpi slt, %134, %c29 : index
        %139 = arith.andi %137, %138 : i1
        %140 = arith.cmpi sge, %136, %c0 : index
        %141 = arith.andi %139, %140 : i1
        %142 = arith.cmpi slt, %136, %c23 : index
        %143 = arith.andi %141, %142 : i1
        %144 = arith.andi %11, %143 : i1
        %145 = arith.andi %72, %144 : i1
        %146 = scf.if %145 -> (f32) {
          %320 = memref.load %arg0[%12, %134, %136, %arg13] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %147 = affine.apply #map38(%44, %arg14)
        %148 = affine.apply #map39(%147)
        %149 = affine.apply #map38(%45, %arg15)
        %150 = affine.apply #map39(%149)
        %151 = arith.cmpi sge, %148, %c0 : index
        %152 = arith.cmpi slt, %148, %c29 : index
        %153 = arith.andi %151, %152 : i1
        %154 = arith.cmpi sge, %150, %c0 : index
        %155 = arith.andi %153, %154 : i1
        %156 = arith.cmpi slt, %150, %c23 : index
        %157 = arith.andi %155, %156 : i1
        %158 = arith.andi %11, %157 : i1
        %159 = arith.andi %88, %158 : i1
        %160 = scf.if %159 -> (f32) {
          %320 = memref.load %arg0[%12, %148, %150, %arg16] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %161 = affine.apply #map38(%44, %arg17)
        %162 = affine.apply #map39(%161)
        %163 = affine.apply #map38(%45, %arg18)
        %164 = affine.apply #map39(%163)
        %165 = arith.cmpi sge, %162, %c0 : index
        %166 = arith.cmpi slt, %162, %c29 : index
        %167 = arith.andi %165, %166 : i1
        %168 = arith.cmpi sge, %164, %c0 : index
        %169 = arith.andi %167, %168 : i1
        %170 = arith.cmpi slt, %164, %c23 : index
        %171 = arith.andi %169, %170 : i1
        %172 = arith.andi %11, %171 : i1
        %173 = arith.andi %104, %172 : i1
        %174 = scf.if %173 -> (f32) {
          %320 = memref.load %arg0[%12, %162, %164, %arg19] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %132, %arg5[%5, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %146, %arg5[%7, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %160, %arg5[%8, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %174, %arg5[%9, %13] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %175 = affine.apply #map38(%46, %arg8)
        %176 = affine.apply #map39(%175)
        %177 = affine.apply #map38(%47, %arg9)
        %178 = affine.apply #map39(%177)
        %179 = arith.cmpi sge, %176, %c0 : index
        %180 = arith.cmpi slt, %176, %c29 : index
        %181 = arith.andi %179, %180 : i1
        %182 = arith.cmpi sge, %178, %c0 : index
        %183 = arith.andi %181, %182 : i1
        %184 = arith.cmpi slt, %178, %c23 : index
        %185 = arith.andi %183, %184 : i1
        %186 = arith.andi %15, %185 : i1
        %187 = arith.andi %56, %186 : i1
        %188 = scf.if %187 -> (f32) {
          %320 = memref.load %arg0[%16, %176, %178, %arg10] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %189 = affine.apply #map38(%46, %arg11)
        %190 = affine.apply #map39(%189)
        %191 = affine.apply #map38(%47, %arg12)
        %192 = affine.apply #map39(%191)
        %193 = arith.cmpi sge, %190, %c0 : index
        %194 = arith.cmpi slt, %190, %c29 : index
        %195 = arith.andi %193, %194 : i1
        %196 = arith.cmpi sge, %192, %c0 : index
        %197 = arith.andi %195, %196 : i1
        %198 = arith.cmpi slt, %192, %c23 : index
        %199 = arith.andi %197, %198 : i1
        %200 = arith.andi %15, %199 : i1
        %201 = arith.andi %72, %200 : i1
        %202 = scf.if %201 -> (f32) {
          %320 = memref.load %arg0[%16, %190, %192, %arg13] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %203 = affine.apply #map38(%46, %arg14)
        %204 = affine.apply #map39(%203)
        %205 = affine.apply #map38(%47, %arg15)
        %206 = affine.apply #map39(%205)
        %207 = arith.cmpi sge, %204, %c0 : index
        %208 = arith.cmpi slt, %204, %c29 : index
        %209 = arith.andi %207, %208 : i1
        %210 = arith.cmpi sge, %206, %c0 : index
        %211 = arith.andi %209, %210 : i1
        %212 = arith.cmpi slt, %206, %c23 : index
        %213 = arith.andi %211, %212 : i1
        %214 = arith.andi %15, %213 : i1
        %215 = arith.andi %88, %214 : i1
        %216 = scf.if %215 -> (f32) {
          %320 = memref.load %arg0[%16, %204, %206, %arg16] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %217 = affine.apply #map38(%46, %arg17)
        %218 = affine.apply #map39(%217)
        %219 = affine.apply #map38(%47, %arg18)
        %220 = affine.apply #map39(%219)
        %221 = arith.cmpi sge, %218, %c0 : index
        %222 = arith.cmpi slt, %218, %c29 : index
        %223 = arith.andi %221, %222 : i1
        %224 = arith.cmpi sge, %220, %c0 : index
        %225 = arith.andi %223, %224 : i1
        %226 = arith.cmpi slt, %220, %c23 : index
        %227 = arith.andi %225, %226 : i1
        %228 = arith.andi %15, %227 : i1
        %229 = arith.andi %104, %228 : i1
        %230 = scf.if %229 -> (f32) {
          %320 = memref.load %arg0[%16, %218, %220, %arg19] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %188, %arg5[%5, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %202, %arg5[%7, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %216, %arg5[%8, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %230, %arg5[%9, %17] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %231 = affine.apply #map38(%48, %arg8)
        %232 = affine.apply #map40(%231)
        %233 = arith.cmpi sge, %232, %c0 : index
        %234 = arith.cmpi slt, %232, %c29 : index
        %235 = arith.andi %233, %234 : i1
        %236 = arith.andi %235, %64 : i1
        %237 = arith.andi %236, %66 : i1
        %238 = arith.andi %19, %237 : i1
        %239 = arith.andi %56, %238 : i1
        %240 = scf.if %239 -> (f32) {
          %320 = memref.load %arg0[%20, %232, %60, %arg10] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %241 = affine.apply #map38(%48, %arg11)
        %242 = affine.apply #map40(%241)
        %243 = arith.cmpi sge, %242, %c0 : index
        %244 = arith.cmpi slt, %242, %c29 : index
        %245 = arith.andi %243, %244 : i1
        %246 = arith.andi %245, %80 : i1
        %247 = arith.andi %246, %82 : i1
        %248 = arith.andi %19, %247 : i1
        %249 = arith.andi %72, %248 : i1
        %250 = scf.if %249 -> (f32) {
          %320 = memref.load %arg0[%20, %242, %76, %arg13] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %251 = affine.apply #map38(%48, %arg14)
        %252 = affine.apply #map40(%251)
        %253 = arith.cmpi sge, %252, %c0 : index
        %254 = arith.cmpi slt, %252, %c29 : index
        %255 = arith.andi %253, %254 : i1
        %256 = arith.andi %255, %96 : i1
        %257 = arith.andi %256, %98 : i1
        %258 = arith.andi %19, %257 : i1
        %259 = arith.andi %88, %258 : i1
        %260 = scf.if %259 -> (f32) {
          %320 = memref.load %arg0[%20, %252, %92, %arg16] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        %261 = affine.apply #map38(%48, %arg17)
        %262 = affine.apply #map40(%261)
        %263 = arith.cmpi sge, %262, %c0 : index
        %264 = arith.cmpi slt, %262, %c29 : index
        %265 = arith.andi %263, %264 : i1
        %266 = arith.andi %265, %112 : i1
        %267 = arith.andi %266, %114 : i1
        %268 = arith.andi %19, %267 : i1
        %269 = arith.andi %104, %268 : i1
        %270 = scf.if %269 -> (f32) {
          %320 = memref.load %arg0[%20, %262, %108, %arg19] : memref<3x29x23x5xf32>
          scf.yield %320 : f32
        } else {
          scf.yield %cst : f32
        }
        memref.store %240, %arg5[%5, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %250, %arg5[%7, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %260, %arg5[%8, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        memref.store %270, %arg5[%9, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %271 = affine.apply #map38(%49, %arg7)
        scf.for %arg20 = %c0 to %c2 step %c1 {
          %320 = affine.apply #map41(%49, %arg20)
          %321 = affine.apply #map41(%271, %arg20)
          %322 = arith.cmpi slt, %321, %c45 : index
          %323 = arith.andi %322, %23 : i1
          %324 = scf.if %323 -> (f32) {
            %332 = memref.load %reinterpret_cast[%321, %22] : memref<45x39xf32>
            scf.yield %332 : f32
          } else {
            scf.yield %cst : f32
          }
          %325 = arith.andi %322, %25 : i1
          %326 = scf.if %325 -> (f32) {
            %332 = memref.load %reinterpret_cast[%321, %24] : memref<45x39xf32>
            scf.yield %332 : f32
          } else {
            scf.yield %cst : f32
          }
          %327 = arith.andi %322, %27 : i1
          %328 = scf.if %327 -> (f32) {
            %332 = memref.load %reinterpret_cast[%321, %26] : memref<45x39xf32>
            scf.yield %332 : f32
          } else {
            scf.yield %cst : f32
          }
          %329 = arith.andi %322, %29 : i1
          %330 = scf.if %329 -> (f32) {
            %332 = memref.load %reinterpret_cast[%321, %28] : memref<45x39xf32>
            scf.yield %332 : f32
          } else {
            scf.yield %cst : f32
          }
          %331 = vector.from_elements %324, %326, %328, %330 : vector<4xf32>
          vector.store %331, %arg6[%320, %22] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg20 = %c0 to %c16 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg21 = %c0 to %c2 step %c1 {
            %320 = affine.apply #map42(%arg21)
            %321 = affine.apply #map43(%50, %arg21)
            %322 = vector.load %arg5[%arg20, %321] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %322, %alloca_4[%320] : memref<8xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg21 = %c0 to %c2 step %c1 {
            %320 = affine.apply #map42(%arg21)
            %321 = affine.apply #map43(%51, %arg21)
            %322 = vector.load %arg6[%arg20, %321] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %322, %alloca_5[%320] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg21 = %c0 to %c8 step %c1 {
            scf.for %arg22 = %c0 to %c8 step %c1 {
              %320 = memref.load %alloca_4[%arg21] : memref<8xf32>
              %321 = memref.load %alloca_5[%arg22] : memref<8xf32>
              %322 = memref.load %alloca[%arg21, %arg22] : memref<8x8xf32>
              %323 = arith.mulf %320, %321 : f32
              %324 = arith.addf %322, %323 : f32
              memref.store %324, %alloca[%arg21, %arg22] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %272 = affine.apply #map6(%arg10)
        %273 = arith.cmpi sge, %272, %c5 : index
        %274 = affine.apply #map44(%arg10)
        %275 = arith.select %273, %274, %272 : index
        %276 = affine.apply #map6(%arg9)
        %277 = arith.select %273, %276, %arg9 : index
        %278 = arith.cmpi sge, %277, %c3 : index
        %279 = affine.apply #map45(%277)
        %280 = arith.select %278, %279, %277 : index
        %281 = affine.apply #map6(%arg8)
        %282 = affine.apply #map7(%arg8)
        %283 = arith.select %278, %282, %281 : index
        %284 = affine.apply #map6(%arg13)
        %285 = arith.cmpi sge, %284, %c5 : index
        %286 = affine.apply #map44(%arg13)
        %287 = arith.select %285, %286, %284 : index
        %288 = affine.apply #map6(%arg12)
        %289 = arith.select %285, %288, %arg12 : index
        %290 = arith.cmpi sge, %289, %c3 : index
        %291 = affine.apply #map45(%289)
        %292 = arith.select %290, %291, %289 : index
        %293 = affine.apply #map6(%arg11)
        %294 = affine.apply #map7(%arg11)
        %295 = arith.select %290, %294, %293 : index
        %296 = affine.apply #map6(%arg16)
        %297 = arith.cmpi sge, %296, %c5 : index
        %298 = affine.apply #map44(%arg16)
        %299 = arith.select %297, %298, %296 : index
        %300 = affine.apply #map6(%arg15)
        %301 = arith.select %297, %300, %arg15 : index
        %302 = arith.cmpi sge, %301, %c3 : index
        %303 = affine.apply #map45(%301)
        %304 = arith.select %302, %303, %301 : index
        %305 = affine.apply #map6(%arg14)
        %306 = affine.apply #map7(%arg14)
        %307 = arith.select %302, %306, %305 : index
        %308 = affine.apply #map6(%arg19)
        %309 = arith.cmpi sge, %308, %c5 : index
        %310 = affine.apply #map44(%arg19)
        %311 = arith.select %309, %310, %308 : index
        %312 = affine.apply #map6(%arg18)
        %313 = arith.select %309, %312, %arg18 : index
        %314 = arith.cmpi sge, %313, %c3 : index
        %315 = affine.apply #map45(%313)
        %316 = arith.select %314, %315, %313 : index
        %317 = affine.apply #map6(%arg17)
        %318 = affine.apply #map7(%arg17)
        %319 = arith.select %314, %318, %317 : index
        scf.yield %283, %280, %275, %295, %292, %287, %307, %304, %299, %319, %316, %311 : index, index, index, index, index, index, index, index, index, index, index, index
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
