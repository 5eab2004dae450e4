// weft golden igemm_bias_relu.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2 --set residual=1
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map8 = affine_map<(d0) -> (d0 floordiv 4)>
#map9 = affine_map<(d0) -> (d0 floordiv 16)>
#map10 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map11 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map12 = affine_map<(d0, d1) -> (d0 + d1)>
#map13 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4) mod 5)>
#map14 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 1) mod 5)>
#map15 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 2) mod 5)>
#map16 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 3) mod 5)>
#map17 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4) floordiv 15)>
#map18 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4) mod 15) floordiv 5)>
#map19 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 1) floordiv 15)>
#map20 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4 + 1) mod 15) floordiv 5)>
#map21 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 2) floordiv 15)>
#map22 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4 + 2) mod 15) floordiv 5)>
#map23 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 3) floordiv 15)>
#map24 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4 + 3) mod 15) floordiv 5)>
#map25 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map26 = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1 * 32 + d2 floordiv 4) floordiv 180)>
#map27 = affine_map<(d0, d1, d2, d3) -> (d0 + (((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 180) floordiv 12) * 2)>
#map28 = affine_map<(d0) -> (d0 - 1)>
#map29 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 12) * 2)>
#map30 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map31 = affine_map<(d0) -> (d0 * 4)>
#map32 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map33 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
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
      %c8 = arith.constant 8 : index
      %c39 = arith.constant 39 : index
      %c2 = arith.constant 2 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c540 = arith.constant 540 : index
      %c45 = arith.constant 45 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
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
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = arith.cmpi slt, %6, %c39 : index
      %8 = affine.apply #map3(%6)
      %9 = arith.cmpi slt, %8, %c39 : index
      %10 = affine.apply #map4(%6)
      %11 = arith.cmpi slt, %10, %c39 : index
      %12 = affine.apply #map5(%6)
      %13 = arith.cmpi slt, %12, %c39 : index
      %14 = affine.apply #map7(%block_id_y, %thread_id_x)
      %15 = affine.apply #map8(%thread_id_x)
      %16 = affine.apply #map9(%thread_id_x)
      %17 = affine.apply #map10(%1, %0)
      %18 = affine.apply #map11(%thread_id_x, %1)
      scf.for %arg7 = %c0 to %c48 step %c16 {
        %20 = affine.apply #map12(%2, %arg7)
        %21 = arith.cmpi slt, %20, %c45 : index
        %22 = affine.apply #map13(%arg7, %thread_id_x)
        %23 = affine.apply #map3(%20)
        %24 = arith.cmpi slt, %23, %c45 : index
        %25 = affine.apply #map14(%arg7, %thread_id_x)
        %26 = affine.apply #map4(%20)
        %27 = arith.cmpi slt, %26, %c45 : index
        %28 = affine.apply #map15(%arg7, %thread_id_x)
        %29 = affine.apply #map5(%20)
        %30 = arith.cmpi slt, %29, %c45 : index
        %31 = affine.apply #map16(%arg7, %thread_id_x)
        %32 = affine.apply #map17(%arg7, %thread_id_x)
        %33 = affine.apply #map18(%arg7, %thread_id_x)
        %34 = affine.apply #map19(%arg7, %thread_id_x)
        %35 = affine.apply #map20(%arg7, %thread_id_x)
        %36 = affine.apply #map21(%arg7, %thread_id_x)
        %37 = affine.apply #map22(%arg7, %thread_id_x)
        %38 = affine.apply #map23(%arg7, %thread_id_x)
        %39 = affine.apply #map24(%arg7, %thread_id_x)
        scf.for %arg8 = %c0 to %c4 step %c1 {
          %41 = affine.apply #map25(%14, %arg8)
          %42 = arith.cmpi slt, %41, %c540 : index
          %43 = affine.apply #map26(%block_id_y, %arg8, %thread_id_x)
          %44 = affine.apply #map27(%32, %block_id_y, %arg8, %thread_id_x)
          %45 = affine.apply #map28(%44)
          %46 = affine.apply #map29(%33, %block_id_y, %arg8, %thread_id_x)
          %47 = affine.apply #map28(%46)
          %48 = arith.cmpi ult, %45, %c29 : index
          %49 = arith.cmpi ult, %47, %c23 : index
          %50 = arith.andi %48, %49 : i1
          %51 = arith.andi %42, %50 : i1
          %52 = arith.andi %21, %51 : i1
          %53 = scf.if %52 -> (f32) {
            %85 = memref.load %arg0[%43, %45, %47, %22] : memref<3x29x23x5xf32>
            scf.yield %85 : f32
          } else {
            scf.yield %cst : f32
          }
          %54 = affine.apply #map27(%34, %block_id_y, %arg8, %thread_id_x)
          %55 = affine.apply #map28(%54)
          %56 = affine.apply #map29(%35, %block_id_y, %arg8, %thread_id_x)
          %57 = affine.apply #map28(%56)
          %58 = arith.cmpi ult, %55, %c29 : index
          %59 = arith.cmpi ult, %57, %c23 : index
          %60 = arith.andi %58, %59 : i1
          %61 = arith.andi %42, %60 : i1
          %62 = arith.andi %24, %61 : i1
          %63 = scf.if %62 -> (f32) {
            %85 = memref.load %arg0[%43, %55, %57, %25] : memref<3x29x23x5xf32>
            scf.yield %85 : f32
          } else {
            scf.yield %cst : f32
          }
          %64 = affine.apply #map27(%36, %block_id_y, %arg8, %thread_id_x)
          %65 = affine.apply #map28(%64)
          %66 = affine.apply #map29(%37, %block_id_y, %arg8, %thread_id_x)
          %67 = affine.apply #map28(%66)
          %68 = arith.cmpi ult, %65, %c29 : index
          %69 = arith.cmpi ult, %67, %c23 : index
          %70 = arith.andi %68, %69 : i1
          %71 = arith.andi %42, %70 : i1
          %72 = arith.andi %27, %71 : i1
          %73 = scf.if %72 -> (f32) {
            %85 = memref.load %arg0[%43, %65, %67, %28] : memref<3x29x23x5xf32>
            scf.yield %85 : f32
          } else {
            scf.yield %cst : f32
          }
          %74 = affine.apply #map27(%38, %block_id_y, %arg8, %thread_id_x)
          %75 = affine.apply #map28(%74)
          %76 = affine.apply #map29(%39, %block_id_y, %arg8, %thread_id_x)
          %77 = affine.apply #map28(%76)
          %78 = arith.cmpi ult, %75, %c29 : index
          %79 = arith.cmpi ult, %77, %c23 : index
          %80 = arith.andi %78, %79 : i1
          %81 = arith.andi %42, %80 : i1
          %82 = arith.andi %30, %81 : i1
          %83 = scf.if %82 -> (f32) {
            %85 = memref.load %arg0[%43, %75, %77, %31] : memref<3x29x23x5xf32>
            scf.yield %85 : f32
          } else {
            scf.yield %cst : f32
          }
          %84 = affine.apply #map25(%15, %arg8)
          memref.store %53, %arg5[%2, %84] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %63, %arg5[%3, %84] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %73, %arg5[%4, %84] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %83, %arg5[%5, %84] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %40 = affine.apply #map12(%16, %arg7)
        scf.for %arg8 = %c0 to %c2 step %c1 {
          %41 = affine.apply #map30(%16, %arg8)
          %42 = affine.apply #map30(%40, %arg8)
          %43 = arith.cmpi slt, %42, %c45 : index
          %44 = arith.andi %43, %7 : i1
          %45 = scf.if %44 -> (f32) {
            %53 = memref.load %reinterpret_cast[%42, %6] : memref<45x39xf32>
            scf.yield %53 : f32
          } else {
            scf.yield %cst : f32
          }
          %46 = arith.andi %43, %9 : i1
          %47 = scf.if %46 -> (f32) {
            %53 = memref.load %reinterpret_cast[%42, %8] : memref<45x39xf32>
            scf.yield %53 : f32
          } else {
            scf.yield %cst : f32
          }
          %48 = arith.andi %43, %11 : i1
          %49 = scf.if %48 -> (f32) {
            %53 = memref.load %reinterpret_cast[%42, %10] : memref<45x39xf32>
            scf.yield %53 : f32
          } else {
            scf.yield %cst : f32
          }
          %50 = arith.andi %43, %13 : i1
          %51 = scf.if %50 -> (f32) {
            %53 = memref.load %reinterpret_cast[%42, %12] : memref<45x39xf32>
            scf.yield %53 : f32
          } else {
            scf.yield %cst : f32
          }
          %52 = vector.from_elements %45, %47, %49, %51 : vector<4xf32>
          vector.store %52, %arg6[%41, %6] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg8 = %c0 to %c16 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %41 = affine.apply #map31(%arg9)
            %42 = affine.apply #map32(%17, %arg9)
            %43 = vector.load %arg5[%arg8, %42] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %43, %alloca_4[%41] : memref<8xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg9 = %c0 to %c2 step %c1 {
            %41 = affine.apply #map31(%arg9)
            %42 = affine.apply #map32(%18, %arg9)
            %43 = vector.load %arg6[%arg8, %42] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %43, %alloca_5[%41] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg9 = %c0 to %c8 step %c1 {
            scf.for %arg10 = %c0 to %c8 step %c1 {
              %41 = memref.load %alloca_4[%arg9] : memref<8xf32>
              %42 = memref.load %alloca_5[%arg10] : memref<8xf32>
              %43 = memref.load %alloca[%arg9, %arg10] : memref<8x8xf32>
              %44 = arith.mulf %41, %42 : f32
              %45 = arith.addf %43, %44 : f32
              memref.store %45, %alloca[%arg9, %arg10] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %alloca_2 = memref.alloca() {weft.name = "Y_tile"} : memref<8x8xf32>
      %alloca_3 = memref.alloca() {weft.name = "summed"} : memref<8x8xf32>
      scf.for %arg7 = %c0 to %c8 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %20 = memref.load %alloca[%arg7, %arg8] : memref<8x8xf32>
          %21 = affine.apply #map12(%18, %arg8)
          %22 = arith.cmpi slt, %21, %c39 : index
          %23 = scf.if %22 -> (f32) {
            %25 = memref.load %arg2[%21] : memref<39xf32>
            scf.yield %25 : f32
          } else {
            scf.yield %cst : f32
          }
          %24 = arith.addf %20, %23 : f32
          memref.store %24, %alloca_3[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      %19 = affine.apply #map33(%block_id_y, %1, %0)
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %20 = affine.apply #map12(%19, %arg7)
        %21 = arith.cmpi slt, %20, %c540 : index
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %22 = memref.load %alloca_3[%arg7, %arg8] : memref<8x8xf32>
          %23 = affine.apply #map12(%18, %arg8)
          %24 = arith.cmpi slt, %23, %c39 : index
          %25 = arith.andi %21, %24 : i1
          %26 = scf.if %25 -> (f32) {
            %28 = memref.load %reinterpret_cast_0[%20, %23] : memref<540x39xf32>
            scf.yield %28 : f32
          } else {
            scf.yield %cst : f32
          }
          %27 = arith.addf %22, %26 : f32
          memref.store %27, %alloca_3[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        scf.for %arg8 = %c0 to %c8 step %c1 {
          %20 = memref.load %alloca_3[%arg7, %arg8] : memref<8x8xf32>
          %21 = arith.maximumf %20, %cst : f32
          memref.store %21, %alloca_2[%arg7, %arg8] : memref<8x8xf32>
        }
      }
      scf.for %arg7 = %c0 to %c8 step %c1 {
        %20 = affine.apply #map12(%19, %arg7)
        %21 = arith.cmpi slt, %20, %c540 : index
        scf.if %21 {
          scf.for %arg8 = %c0 to %c8 step %c1 {
            %22 = affine.apply #map12(%18, %arg8)
            %23 = arith.cmpi slt, %22, %c39 : index
            scf.if %23 {
              %24 = memref.load %alloca_2[%arg7, %arg8] : memref<8x8xf32>
              memref.store %24, %reinterpret_cast_1[%20, %22] : memref<540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
