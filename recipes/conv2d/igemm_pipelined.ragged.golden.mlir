// weft golden igemm_pipelined.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 2) * 4)>
#map3 = affine_map<(d0) -> (((d0 mod 2) * 4) mod 5)>
#map4 = affine_map<(d0) -> (d0 + 1)>
#map5 = affine_map<(d0) -> (((d0 mod 2) * 4 + 1) mod 5)>
#map6 = affine_map<(d0) -> (d0 + 2)>
#map7 = affine_map<(d0) -> (((d0 mod 2) * 4 + 2) mod 5)>
#map8 = affine_map<(d0) -> (d0 + 3)>
#map9 = affine_map<(d0) -> (((d0 mod 2) * 4 + 3) mod 5)>
#map10 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 2)>
#map11 = affine_map<(d0) -> (((d0 mod 2) * 4) floordiv 15)>
#map12 = affine_map<(d0) -> ((((d0 mod 2) * 4) mod 15) floordiv 5)>
#map13 = affine_map<(d0) -> (((d0 mod 2) * 4 + 1) floordiv 15)>
#map14 = affine_map<(d0) -> ((((d0 mod 2) * 4 + 1) mod 15) floordiv 5)>
#map15 = affine_map<(d0) -> (((d0 mod 2) * 4 + 2) floordiv 15)>
#map16 = affine_map<(d0) -> ((((d0 mod 2) * 4 + 2) mod 15) floordiv 5)>
#map17 = affine_map<(d0) -> (((d0 mod 2) * 4 + 3) floordiv 15)>
#map18 = affine_map<(d0) -> ((((d0 mod 2) * 4 + 3) mod 15) floordiv 5)>
#map19 = affine_map<(d0) -> (d0 floordiv 2)>
#map20 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map21 = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1 * 32 + d2 floordiv 2) floordiv 180)>
#map22 = affine_map<(d0, d1, d2, d3) -> (d0 + (((d1 * 128 + d2 * 32 + d3 floordiv 2) mod 180) floordiv 12) * 2)>
#map23 = affine_map<(d0) -> (d0 - 1)>
#map24 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 128 + d2 * 32 + d3 floordiv 2) mod 12) * 2)>
#map25 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map26 = affine_map<(d0) -> (d0 floordiv 16)>
#map27 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map28 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map29 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map30 = affine_map<(d0) -> (d0 + 8)>
#map31 = affine_map<(d0, d1) -> (d0 + d1)>
#map32 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 8) mod 5)>
#map33 = affine_map<(d0) -> (d0 + 9)>
#map34 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 9) mod 5)>
#map35 = affine_map<(d0) -> (d0 + 10)>
#map36 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4) mod 5)>
#map37 = affine_map<(d0) -> (d0 + 11)>
#map38 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 11) mod 5)>
#map39 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 8) floordiv 15)>
#map40 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 8) mod 15) floordiv 5)>
#map41 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 9) floordiv 15)>
#map42 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 9) mod 15) floordiv 5)>
#map43 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 10) floordiv 15)>
#map44 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 10) mod 15) floordiv 5 - 2)>
#map45 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 11) floordiv 15)>
#map46 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 11) mod 15) floordiv 5)>
#map47 = affine_map<(d0) -> (d0 * 4)>
#map48 = affine_map<(d0) -> ((d0 floordiv 8) mod 2)>
#map49 = affine_map<(d0) -> ((d0 floordiv 8 + 1) mod 2)>
#map50 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<3x15x12x39xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c5, %c1) threads in (%c64, %c1, %c1)  args(%arg0 : memref<3x29x23x5xf32>, %arg1 : memref<3x3x5x39xf32>, %arg2 : memref<3x15x12x39xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<3x15x12x39xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<2x8x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<2x8x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 5, 1>} {
      %c16 = arith.constant 16 : index
      %c39 = arith.constant 39 : index
      %c2 = arith.constant 2 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c540 = arith.constant 540 : index
      %c45 = arith.constant 45 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c48 = arith.constant 48 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_y = gpu.block_id y
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [45, 39], strides: [39, 1] : memref<3x3x5x39xf32> to memref<45x39xf32>
      %reinterpret_cast_0 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [540, 39], strides: [39, 1] : memref<3x15x12x39xf32> to memref<540x39xf32>
      %alloca = memref.alloca() {weft.name = "X_next"} : memref<16xf32>
      %alloca_1 = memref.alloca() {weft.name = "W_next"} : memref<8xf32>
      %alloca_2 = memref.alloca() {weft.name = "acc"} : memref<16x8xf32>
      scf.for %arg5 = %c0 to %c16 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca_2[%arg5, %arg6] : memref<16x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = arith.cmpi slt, %2, %c45 : index
      %4 = affine.apply #map3(%thread_id_x)
      %5 = affine.apply #map4(%2)
      %6 = arith.cmpi slt, %5, %c45 : index
      %7 = affine.apply #map5(%thread_id_x)
      %8 = affine.apply #map6(%2)
      %9 = arith.cmpi slt, %8, %c45 : index
      %10 = affine.apply #map7(%thread_id_x)
      %11 = affine.apply #map8(%2)
      %12 = arith.cmpi slt, %11, %c45 : index
      %13 = affine.apply #map9(%thread_id_x)
      %14 = affine.apply #map10(%block_id_y, %thread_id_x)
      %15 = affine.apply #map11(%thread_id_x)
      %16 = affine.apply #map12(%thread_id_x)
      %17 = affine.apply #map13(%thread_id_x)
      %18 = affine.apply #map14(%thread_id_x)
      %19 = affine.apply #map15(%thread_id_x)
      %20 = affine.apply #map16(%thread_id_x)
      %21 = affine.apply #map17(%thread_id_x)
      %22 = affine.apply #map18(%thread_id_x)
      %23 = affine.apply #map19(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %36 = affine.apply #map20(%14, %arg5)
        %37 = arith.cmpi slt, %36, %c540 : index
        %38 = affine.apply #map21(%block_id_y, %arg5, %thread_id_x)
        %39 = affine.apply #map22(%15, %block_id_y, %arg5, %thread_id_x)
        %40 = affine.apply #map23(%39)
        %41 = affine.apply #map24(%16, %block_id_y, %arg5, %thread_id_x)
        %42 = affine.apply #map23(%41)
        %43 = arith.cmpi ult, %40, %c29 : index
        %44 = arith.cmpi ult, %42, %c23 : index
        %45 = arith.andi %43, %44 : i1
        %46 = arith.andi %37, %45 : i1
        %47 = arith.andi %3, %46 : i1
        %48 = scf.if %47 -> (f32) {
          %80 = memref.load %arg0[%38, %40, %42, %4] : memref<3x29x23x5xf32>
          scf.yield %80 : f32
        } else {
          scf.yield %cst : f32
        }
        %49 = affine.apply #map22(%17, %block_id_y, %arg5, %thread_id_x)
        %50 = affine.apply #map23(%49)
        %51 = affine.apply #map24(%18, %block_id_y, %arg5, %thread_id_x)
        %52 = affine.apply #map23(%51)
        %53 = arith.cmpi ult, %50, %c29 : index
        %54 = arith.cmpi ult, %52, %c23 : index
        %55 = arith.andi %53, %54 : i1
        %56 = arith.andi %37, %55 : i1
        %57 = arith.andi %6, %56 : i1
        %58 = scf.if %57 -> (f32) {
          %80 = memref.load %arg0[%38, %50, %52, %7] : memref<3x29x23x5xf32>
          scf.yield %80 : f32
        } else {
          scf.yield %cst : f32
        }
        %59 = affine.apply #map22(%19, %block_id_y, %arg5, %thread_id_x)
        %60 = affine.apply #map23(%59)
        %61 = affine.apply #map24(%20, %block_id_y, %arg5, %thread_id_x)
        %62 = affine.apply #map23(%61)
        %63 = arith.cmpi ult, %60, %c29 : index
        %64 = arith.cmpi ult, %62, %c23 : index
        %65 = arith.andi %63, %64 : i1
        %66 = arith.andi %37, %65 : i1
        %67 = arith.andi %9, %66 : i1
        %68 = scf.if %67 -> (f32) {
          %80 = memref.load %arg0[%38, %60, %62, %10] : memref<3x29x23x5xf32>
          scf.yield %80 : f32
        } else {
          scf.yield %cst : f32
        }
        %69 = affine.apply #map22(%21, %block_id_y, %arg5, %thread_id_x)
        %70 = affine.apply #map23(%69)
        %71 = affine.apply #map24(%22, %block_id_y, %arg5, %thread_id_x)
        %72 = affine.apply #map23(%71)
        %73 = arith.cmpi ult, %70, %c29 : index
        %74 = arith.cmpi ult, %72, %c23 : index
        %75 = arith.andi %73, %74 : i1
        %76 = arith.andi %37, %75 : i1
        %77 = arith.andi %12, %76 : i1
        %78 = scf.if %77 -> (f32) {
          %80 = memref.load %arg0[%38, %70, %72, %13] : memref<3x29x23x5xf32>
          scf.yield %80 : f32
        } else {
          scf.yield %cst : f32
        }
        %79 = affine.apply #map20(%23, %arg5)
        memref.store %48, %arg3[%c0, %2, %79] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        memref.store %58, %arg3[%c0, %5, %79] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        memref.store %68, %arg3[%c0, %8, %79] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        memref.store %78, %arg3[%c0, %11, %79] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
      }
      %24 = affine.apply #map25(%thread_id_x)
      %25 = arith.cmpi slt, %24, %c39 : index
      %26 = affine.apply #map4(%24)
      %27 = arith.cmpi slt, %26, %c39 : index
      %28 = affine.apply #map6(%24)
      %29 = arith.cmpi slt, %28, %c39 : index
      %30 = affine.apply #map8(%24)
      %31 = arith.cmpi slt, %30, %c39 : index
      %32 = affine.apply #map26(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %36 = affine.apply #map27(%32, %arg5)
        %37 = arith.cmpi slt, %36, %c45 : index
        %38 = arith.andi %37, %25 : i1
        %39 = scf.if %38 -> (f32) {
          %47 = memref.load %reinterpret_cast[%36, %24] : memref<45x39xf32>
          scf.yield %47 : f32
        } else {
          scf.yield %cst : f32
        }
        %40 = arith.andi %37, %27 : i1
        %41 = scf.if %40 -> (f32) {
          %47 = memref.load %reinterpret_cast[%36, %26] : memref<45x39xf32>
          scf.yield %47 : f32
        } else {
          scf.yield %cst : f32
        }
        %42 = arith.andi %37, %29 : i1
        %43 = scf.if %42 -> (f32) {
          %47 = memref.load %reinterpret_cast[%36, %28] : memref<45x39xf32>
          scf.yield %47 : f32
        } else {
          scf.yield %cst : f32
        }
        %44 = arith.andi %37, %31 : i1
        %45 = scf.if %44 -> (f32) {
          %47 = memref.load %reinterpret_cast[%36, %30] : memref<45x39xf32>
          scf.yield %47 : f32
        } else {
          scf.yield %cst : f32
        }
        %46 = vector.from_elements %39, %41, %43, %45 : vector<4xf32>
        vector.store %46, %arg4[%c0, %36, %24] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %33 = affine.apply #map28(%1)
      %34 = affine.apply #map29(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c48 step %c8 {
        %36 = affine.apply #map30(%arg5)
        %37 = arith.cmpi slt, %36, %c48 : index
        %38 = affine.apply #map31(%2, %arg5)
        %39 = affine.apply #map30(%38)
        %40 = affine.apply #map32(%arg5, %thread_id_x)
        %41 = affine.apply #map33(%38)
        %42 = affine.apply #map34(%arg5, %thread_id_x)
        %43 = affine.apply #map35(%38)
        %44 = affine.apply #map36(%arg5, %thread_id_x)
        %45 = affine.apply #map37(%38)
        %46 = affine.apply #map38(%arg5, %thread_id_x)
        %47 = affine.apply #map39(%arg5, %thread_id_x)
        %48 = affine.apply #map40(%arg5, %thread_id_x)
        %49 = affine.apply #map41(%arg5, %thread_id_x)
        %50 = affine.apply #map42(%arg5, %thread_id_x)
        %51 = affine.apply #map43(%arg5, %thread_id_x)
        %52 = affine.apply #map44(%arg5, %thread_id_x)
        %53 = affine.apply #map45(%arg5, %thread_id_x)
        %54 = affine.apply #map46(%arg5, %thread_id_x)
        %55 = affine.apply #map31(%32, %arg5)
        scf.if %37 {
          %58 = arith.cmpi slt, %39, %c45 : index
          %59 = arith.cmpi slt, %41, %c45 : index
          %60 = arith.cmpi slt, %43, %c45 : index
          %61 = arith.cmpi slt, %45, %c45 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %62 = affine.apply #map47(%arg6)
            %63 = affine.apply #map20(%14, %arg6)
            %64 = arith.cmpi slt, %63, %c540 : index
            %65 = affine.apply #map21(%block_id_y, %arg6, %thread_id_x)
            %66 = affine.apply #map22(%47, %block_id_y, %arg6, %thread_id_x)
            %67 = affine.apply #map23(%66)
            %68 = affine.apply #map24(%48, %block_id_y, %arg6, %thread_id_x)
            %69 = affine.apply #map23(%68)
            %70 = arith.cmpi ult, %67, %c29 : index
            %71 = arith.cmpi ult, %69, %c23 : index
            %72 = arith.andi %70, %71 : i1
            %73 = arith.andi %64, %72 : i1
            %74 = arith.andi %58, %73 : i1
            %75 = scf.if %74 -> (f32) {
              %107 = memref.load %arg0[%65, %67, %69, %40] : memref<3x29x23x5xf32>
              scf.yield %107 : f32
            } else {
              scf.yield %cst : f32
            }
            %76 = affine.apply #map22(%49, %block_id_y, %arg6, %thread_id_x)
            %77 = affine.apply #map23(%76)
            %78 = affine.apply #map24(%50, %block_id_y, %arg6, %thread_id_x)
            %79 = affine.apply #map23(%78)
            %80 = arith.cmpi ult, %77, %c29 : index
            %81 = arith.cmpi ult, %79, %c23 : index
            %82 = arith.andi %80, %81 : i1
            %83 = arith.andi %64, %82 : i1
            %84 = arith.andi %59, %83 : i1
            %85 = scf.if %84 -> (f32) {
              %107 = memref.load %arg0[%65, %77, %79, %42] : memref<3x29x23x5xf32>
              scf.yield %107 : f32
            } else {
              scf.yield %cst : f32
            }
            %86 = affine.apply #map22(%51, %block_id_y, %arg6, %thread_id_x)
            %87 = affine.apply #map23(%86)
            %88 = affine.apply #map24(%52, %block_id_y, %arg6, %thread_id_x)
            %89 = affine.apply #map4(%88)
            %90 = arith.cmpi ult, %87, %c29 : index
            %91 = arith.cmpi ult, %89, %c23 : index
            %92 = arith.andi %90, %91 : i1
            %93 = arith.andi %64, %92 : i1
            %94 = arith.andi %60, %93 : i1
            %95 = scf.if %94 -> (f32) {
              %107 = memref.load %arg0[%65, %87, %89, %44] : memref<3x29x23x5xf32>
              scf.yield %107 : f32
            } else {
              scf.yield %cst : f32
            }
            %96 = affine.apply #map22(%53, %block_id_y, %arg6, %thread_id_x)
            %97 = affine.apply #map23(%96)
            %98 = affine.apply #map24(%54, %block_id_y, %arg6, %thread_id_x)
            %99 = affine.apply #map23(%98)
            %100 = arith.cmpi ult, %97, %c29 : index
            %101 = arith.cmpi ult, %99, %c23 : index
            %102 = arith.andi %100, %101 : i1
            %103 = arith.andi %64, %102 : i1
            %104 = arith.andi %61, %103 : i1
            %105 = scf.if %104 -> (f32) {
              %107 = memref.load %arg0[%65, %97, %99, %46] : memref<3x29x23x5xf32>
              scf.yield %107 : f32
            } else {
              scf.yield %cst : f32
            }
            %106 = vector.from_elements %75, %85, %95, %105 : vector<4xf32>
            vector.store %106, %alloca[%62] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %62 = affine.apply #map47(%arg6)
            %63 = affine.apply #map27(%55, %arg6)
            %64 = affine.apply #map30(%63)
            %65 = arith.cmpi slt, %64, %c45 : index
            %66 = arith.andi %65, %25 : i1
            %67 = scf.if %66 -> (f32) {
              %75 = memref.load %reinterpret_cast[%64, %24] : memref<45x39xf32>
              scf.yield %75 : f32
            } else {
              scf.yield %cst : f32
            }
            %68 = arith.andi %65, %27 : i1
            %69 = scf.if %68 -> (f32) {
              %75 = memref.load %reinterpret_cast[%64, %26] : memref<45x39xf32>
              scf.yield %75 : f32
            } else {
              scf.yield %cst : f32
            }
            %70 = arith.andi %65, %29 : i1
            %71 = scf.if %70 -> (f32) {
              %75 = memref.load %reinterpret_cast[%64, %28] : memref<45x39xf32>
              scf.yield %75 : f32
            } else {
              scf.yield %cst : f32
            }
            %72 = arith.andi %65, %31 : i1
            %73 = scf.if %72 -> (f32) {
              %75 = memref.load %reinterpret_cast[%64, %30] : memref<45x39xf32>
              scf.yield %75 : f32
            } else {
              scf.yield %cst : f32
            }
            %74 = vector.from_elements %67, %69, %71, %73 : vector<4xf32>
            vector.store %74, %alloca_1[%62] : memref<8xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %56 = affine.apply #map48(%arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %alloca_3 = memref.alloca() {weft.name = "X_frag"} : memref<16xf32>
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %58 = affine.apply #map47(%arg7)
            %59 = affine.apply #map27(%33, %arg7)
            %60 = vector.load %arg3[%56, %arg6, %59] : memref<2x8x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %60, %alloca_3[%58] : memref<16xf32>, vector<4xf32>
          }
          %alloca_4 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %58 = affine.apply #map47(%arg7)
            %59 = affine.apply #map27(%34, %arg7)
            %60 = vector.load %arg4[%56, %arg6, %59] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %60, %alloca_4[%58] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %58 = memref.load %alloca_3[%arg7] : memref<16xf32>
              %59 = memref.load %alloca_4[%arg8] : memref<8xf32>
              %60 = memref.load %alloca_2[%arg7, %arg8] : memref<16x8xf32>
              %61 = arith.mulf %58, %59 : f32
              %62 = arith.addf %60, %61 : f32
              memref.store %62, %alloca_2[%arg7, %arg8] : memref<16x8xf32>
            }
          }
        } {weft.unroll}
        %57 = affine.apply #map49(%arg5)
        scf.if %37 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %58 = affine.apply #map47(%arg6)
            %59 = vector.load %alloca[%58] : memref<16xf32>, vector<4xf32>
            %60 = vector.extract %59[0] : f32 from vector<4xf32>
            %61 = affine.apply #map20(%23, %arg6)
            memref.store %60, %arg3[%57, %2, %61] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %62 = vector.extract %59[1] : f32 from vector<4xf32>
            memref.store %62, %arg3[%57, %5, %61] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %63 = vector.extract %59[2] : f32 from vector<4xf32>
            memref.store %63, %arg3[%57, %8, %61] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %64 = vector.extract %59[3] : f32 from vector<4xf32>
            memref.store %64, %arg3[%57, %11, %61] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %58 = affine.apply #map47(%arg6)
            %59 = vector.load %alloca_1[%58] : memref<8xf32>, vector<4xf32>
            %60 = affine.apply #map27(%32, %arg6)
            vector.store %59, %arg4[%57, %60, %24] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %35 = affine.apply #map50(%block_id_y, %1)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %36 = affine.apply #map31(%35, %arg5)
        %37 = arith.cmpi slt, %36, %c540 : index
        scf.if %37 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %38 = affine.apply #map31(%34, %arg6)
            %39 = arith.cmpi slt, %38, %c39 : index
            scf.if %39 {
              %40 = memref.load %alloca_2[%arg5, %arg6] : memref<16x8xf32>
              memref.store %40, %reinterpret_cast_0[%36, %38] : memref<540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
