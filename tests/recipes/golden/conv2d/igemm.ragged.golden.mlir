// weft golden igemm --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map8 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map9 = affine_map<(d0) -> (d0 floordiv 4)>
#map10 = affine_map<(d0) -> (d0 floordiv 16)>
#map11 = affine_map<(d0) -> ((d0 floordiv 4) * 8)>
#map12 = affine_map<(d0) -> ((d0 floordiv 2) * 64)>
#map13 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map14 = affine_map<(d0, d1) -> (d0 + d1)>
#map15 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4) mod 5)>
#map16 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 1) mod 5)>
#map17 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 2) mod 5)>
#map18 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 3) mod 5)>
#map19 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4) floordiv 15)>
#map20 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4) mod 15) floordiv 5)>
#map21 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 1) floordiv 15)>
#map22 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4 + 1) mod 15) floordiv 5)>
#map23 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 2) floordiv 15)>
#map24 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4 + 2) mod 15) floordiv 5)>
#map25 = affine_map<(d0, d1) -> ((d0 + (d1 mod 4) * 4 + 3) floordiv 15)>
#map26 = affine_map<(d0, d1) -> (((d0 + (d1 mod 4) * 4 + 3) mod 15) floordiv 5)>
#map27 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map28 = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1 * 32 + d2 floordiv 4) floordiv 180)>
#map29 = affine_map<(d0, d1, d2, d3) -> (d0 + (((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 180) floordiv 12) * 2)>
#map30 = affine_map<(d0) -> (d0 - 1)>
#map31 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 128 + d2 * 32 + d3 floordiv 4) mod 12) * 2)>
#map32 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map33 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map34 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map35 = affine_map<(d0) -> (d0 * 4)>
#map36 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map37 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
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
      %reinterpret_cast_0 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [540, 39], strides: [39, 1] : memref<3x15x12x39xf32> to memref<540x39xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca[%arg5, %arg6] : memref<8x8xf32>
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
      %17 = affine.apply #map10(%thread_id_x)
      %18 = affine.apply #map11(%0)
      %19 = affine.apply #map12(%1)
      %20 = affine.apply #map13(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c48 step %c16 {
        %22 = affine.apply #map14(%2, %arg5)
        %23 = arith.cmpi slt, %22, %c45 : index
        %24 = affine.apply #map15(%arg5, %thread_id_x)
        %25 = affine.apply #map3(%22)
        %26 = arith.cmpi slt, %25, %c45 : index
        %27 = affine.apply #map16(%arg5, %thread_id_x)
        %28 = affine.apply #map4(%22)
        %29 = arith.cmpi slt, %28, %c45 : index
        %30 = affine.apply #map17(%arg5, %thread_id_x)
        %31 = affine.apply #map5(%22)
        %32 = arith.cmpi slt, %31, %c45 : index
        %33 = affine.apply #map18(%arg5, %thread_id_x)
        %34 = affine.apply #map19(%arg5, %thread_id_x)
        %35 = affine.apply #map20(%arg5, %thread_id_x)
        %36 = affine.apply #map21(%arg5, %thread_id_x)
        %37 = affine.apply #map22(%arg5, %thread_id_x)
        %38 = affine.apply #map23(%arg5, %thread_id_x)
        %39 = affine.apply #map24(%arg5, %thread_id_x)
        %40 = affine.apply #map25(%arg5, %thread_id_x)
        %41 = affine.apply #map26(%arg5, %thread_id_x)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %43 = affine.apply #map27(%14, %arg6)
          %44 = arith.cmpi slt, %43, %c540 : index
          %45 = affine.apply #map28(%block_id_y, %arg6, %thread_id_x)
          %46 = affine.apply #map29(%34, %block_id_y, %arg6, %thread_id_x)
          %47 = affine.apply #map30(%46)
          %48 = affine.apply #map31(%35, %block_id_y, %arg6, %thread_id_x)
          %49 = affine.apply #map30(%48)
          %50 = arith.cmpi ult, %47, %c29 : index
          %51 = arith.cmpi ult, %49, %c23 : index
          %52 = arith.andi %50, %51 : i1
          %53 = arith.andi %44, %52 : i1
          %54 = arith.andi %23, %53 : i1
          %55 = scf.if %54 -> (f32) {
            %88 = memref.load %arg0[%45, %47, %49, %24] : memref<3x29x23x5xf32>
            scf.yield %88 : f32
          } else {
            scf.yield %cst : f32
          }
          %56 = affine.apply #map29(%36, %block_id_y, %arg6, %thread_id_x)
          %57 = affine.apply #map30(%56)
          %58 = affine.apply #map31(%37, %block_id_y, %arg6, %thread_id_x)
          %59 = affine.apply #map30(%58)
          %60 = arith.cmpi ult, %57, %c29 : index
          %61 = arith.cmpi ult, %59, %c23 : index
          %62 = arith.andi %60, %61 : i1
          %63 = arith.andi %44, %62 : i1
          %64 = arith.andi %26, %63 : i1
          %65 = scf.if %64 -> (f32) {
            %88 = memref.load %arg0[%45, %57, %59, %27] : memref<3x29x23x5xf32>
            scf.yield %88 : f32
          } else {
            scf.yield %cst : f32
          }
          %66 = affine.apply #map29(%38, %block_id_y, %arg6, %thread_id_x)
          %67 = affine.apply #map30(%66)
          %68 = affine.apply #map31(%39, %block_id_y, %arg6, %thread_id_x)
          %69 = affine.apply #map30(%68)
          %70 = arith.cmpi ult, %67, %c29 : index
          %71 = arith.cmpi ult, %69, %c23 : index
          %72 = arith.andi %70, %71 : i1
          %73 = arith.andi %44, %72 : i1
          %74 = arith.andi %29, %73 : i1
          %75 = scf.if %74 -> (f32) {
            %88 = memref.load %arg0[%45, %67, %69, %30] : memref<3x29x23x5xf32>
            scf.yield %88 : f32
          } else {
            scf.yield %cst : f32
          }
          %76 = affine.apply #map29(%40, %block_id_y, %arg6, %thread_id_x)
          %77 = affine.apply #map30(%76)
          %78 = affine.apply #map31(%41, %block_id_y, %arg6, %thread_id_x)
          %79 = affine.apply #map30(%78)
          %80 = arith.cmpi ult, %77, %c29 : index
          %81 = arith.cmpi ult, %79, %c23 : index
          %82 = arith.andi %80, %81 : i1
          %83 = arith.andi %44, %82 : i1
          %84 = arith.andi %32, %83 : i1
          %85 = scf.if %84 -> (f32) {
            %88 = memref.load %arg0[%45, %77, %79, %33] : memref<3x29x23x5xf32>
            scf.yield %88 : f32
          } else {
            scf.yield %cst : f32
          }
          %86 = arith.xori %16, %15 : index
          %87 = affine.apply #map32(%arg6, %86)
          memref.store %55, %arg3[%2, %87] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %65, %arg3[%3, %87] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %75, %arg3[%4, %87] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %85, %arg3[%5, %87] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %42 = affine.apply #map14(%17, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %43 = affine.apply #map33(%17, %arg6)
          %44 = affine.apply #map33(%42, %arg6)
          %45 = arith.cmpi slt, %44, %c45 : index
          %46 = arith.andi %45, %7 : i1
          %47 = scf.if %46 -> (f32) {
            %55 = memref.load %reinterpret_cast[%44, %6] : memref<45x39xf32>
            scf.yield %55 : f32
          } else {
            scf.yield %cst : f32
          }
          %48 = arith.andi %45, %9 : i1
          %49 = scf.if %48 -> (f32) {
            %55 = memref.load %reinterpret_cast[%44, %8] : memref<45x39xf32>
            scf.yield %55 : f32
          } else {
            scf.yield %cst : f32
          }
          %50 = arith.andi %45, %11 : i1
          %51 = scf.if %50 -> (f32) {
            %55 = memref.load %reinterpret_cast[%44, %10] : memref<45x39xf32>
            scf.yield %55 : f32
          } else {
            scf.yield %cst : f32
          }
          %52 = arith.andi %45, %13 : i1
          %53 = scf.if %52 -> (f32) {
            %55 = memref.load %reinterpret_cast[%44, %12] : memref<45x39xf32>
            scf.yield %55 : f32
          } else {
            scf.yield %cst : f32
          }
          %54 = vector.from_elements %47, %49, %51, %53 : vector<4xf32>
          vector.store %54, %arg4[%43, %6] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          %43 = affine.apply #map34(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %44 = affine.apply #map35(%arg7)
            %45 = affine.apply #map36(%18, %arg7)
            %46 = arith.xori %45, %43 : index
            %47 = affine.apply #map14(%19, %46)
            %48 = vector.load %arg3[%arg6, %47] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %48, %alloca_1[%44] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %44 = affine.apply #map35(%arg7)
            %45 = affine.apply #map36(%20, %arg7)
            %46 = vector.load %arg4[%arg6, %45] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %46, %alloca_2[%44] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %44 = memref.load %alloca_1[%arg7] : memref<8xf32>
              %45 = memref.load %alloca_2[%arg8] : memref<8xf32>
              %46 = memref.load %alloca[%arg7, %arg8] : memref<8x8xf32>
              %47 = arith.mulf %44, %45 : f32
              %48 = arith.addf %46, %47 : f32
              memref.store %48, %alloca[%arg7, %arg8] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %21 = affine.apply #map37(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %22 = affine.apply #map14(%21, %arg5)
        %23 = arith.cmpi slt, %22, %c540 : index
        scf.if %23 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %24 = affine.apply #map14(%20, %arg6)
            %25 = arith.cmpi slt, %24, %c39 : index
            scf.if %25 {
              %26 = memref.load %alloca[%arg5, %arg6] : memref<8x8xf32>
              memref.store %26, %reinterpret_cast_0[%22, %24] : memref<540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
