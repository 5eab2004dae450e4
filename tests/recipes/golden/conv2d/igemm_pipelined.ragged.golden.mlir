// weft golden igemm_pipelined --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
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
#map19 = affine_map<(d0) -> ((((d0 floordiv 2) * -3 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map20 = affine_map<(d0) -> (d0 floordiv 2)>
#map21 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map22 = affine_map<(d0, d1, d2) -> ((d0 * 128 + d1 * 32 + d2 floordiv 2) floordiv 180)>
#map23 = affine_map<(d0, d1, d2, d3) -> (d0 + (((d1 * 128 + d2 * 32 + d3 floordiv 2) mod 180) floordiv 12) * 2)>
#map24 = affine_map<(d0) -> (d0 - 1)>
#map25 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 * 128 + d2 * 32 + d3 floordiv 2) mod 12) * 2)>
#map26 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map27 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map28 = affine_map<(d0) -> (d0 floordiv 16)>
#map29 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map30 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map31 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map32 = affine_map<(d0) -> (d0 + 8)>
#map33 = affine_map<(d0, d1) -> (d0 + d1)>
#map34 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 8) mod 5)>
#map35 = affine_map<(d0) -> (d0 + 9)>
#map36 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 9) mod 5)>
#map37 = affine_map<(d0) -> (d0 + 10)>
#map38 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4) mod 5)>
#map39 = affine_map<(d0) -> (d0 + 11)>
#map40 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 11) mod 5)>
#map41 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 8) floordiv 15)>
#map42 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 8) mod 15) floordiv 5)>
#map43 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 9) floordiv 15)>
#map44 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 9) mod 15) floordiv 5)>
#map45 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 10) floordiv 15)>
#map46 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 10) mod 15) floordiv 5 - 2)>
#map47 = affine_map<(d0, d1) -> ((d0 + (d1 mod 2) * 4 + 11) floordiv 15)>
#map48 = affine_map<(d0, d1) -> (((d0 + (d1 mod 2) * 4 + 11) mod 15) floordiv 5)>
#map49 = affine_map<(d0) -> (d0 * 4)>
#map50 = affine_map<(d0) -> ((d0 floordiv 8) mod 2)>
#map51 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map52 = affine_map<(d0) -> ((d0 floordiv 8 + 1) mod 2)>
#map53 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
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
      %24 = affine.apply #map20(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %37 = affine.apply #map21(%14, %arg5)
        %38 = arith.cmpi slt, %37, %c540 : index
        %39 = affine.apply #map22(%block_id_y, %arg5, %thread_id_x)
        %40 = affine.apply #map23(%15, %block_id_y, %arg5, %thread_id_x)
        %41 = affine.apply #map24(%40)
        %42 = affine.apply #map25(%16, %block_id_y, %arg5, %thread_id_x)
        %43 = affine.apply #map24(%42)
        %44 = arith.cmpi ult, %41, %c29 : index
        %45 = arith.cmpi ult, %43, %c23 : index
        %46 = arith.andi %44, %45 : i1
        %47 = arith.andi %38, %46 : i1
        %48 = arith.andi %3, %47 : i1
        %49 = scf.if %48 -> (f32) {
          %82 = memref.load %arg0[%39, %41, %43, %4] : memref<3x29x23x5xf32>
          scf.yield %82 : f32
        } else {
          scf.yield %cst : f32
        }
        %50 = affine.apply #map23(%17, %block_id_y, %arg5, %thread_id_x)
        %51 = affine.apply #map24(%50)
        %52 = affine.apply #map25(%18, %block_id_y, %arg5, %thread_id_x)
        %53 = affine.apply #map24(%52)
        %54 = arith.cmpi ult, %51, %c29 : index
        %55 = arith.cmpi ult, %53, %c23 : index
        %56 = arith.andi %54, %55 : i1
        %57 = arith.andi %38, %56 : i1
        %58 = arith.andi %6, %57 : i1
        %59 = scf.if %58 -> (f32) {
          %82 = memref.load %arg0[%39, %51, %53, %7] : memref<3x29x23x5xf32>
          scf.yield %82 : f32
        } else {
          scf.yield %cst : f32
        }
        %60 = affine.apply #map23(%19, %block_id_y, %arg5, %thread_id_x)
        %61 = affine.apply #map24(%60)
        %62 = affine.apply #map25(%20, %block_id_y, %arg5, %thread_id_x)
        %63 = affine.apply #map24(%62)
        %64 = arith.cmpi ult, %61, %c29 : index
        %65 = arith.cmpi ult, %63, %c23 : index
        %66 = arith.andi %64, %65 : i1
        %67 = arith.andi %38, %66 : i1
        %68 = arith.andi %9, %67 : i1
        %69 = scf.if %68 -> (f32) {
          %82 = memref.load %arg0[%39, %61, %63, %10] : memref<3x29x23x5xf32>
          scf.yield %82 : f32
        } else {
          scf.yield %cst : f32
        }
        %70 = affine.apply #map23(%21, %block_id_y, %arg5, %thread_id_x)
        %71 = affine.apply #map24(%70)
        %72 = affine.apply #map25(%22, %block_id_y, %arg5, %thread_id_x)
        %73 = affine.apply #map24(%72)
        %74 = arith.cmpi ult, %71, %c29 : index
        %75 = arith.cmpi ult, %73, %c23 : index
        %76 = arith.andi %74, %75 : i1
        %77 = arith.andi %38, %76 : i1
        %78 = arith.andi %12, %77 : i1
        %79 = scf.if %78 -> (f32) {
          %82 = memref.load %arg0[%39, %71, %73, %13] : memref<3x29x23x5xf32>
          scf.yield %82 : f32
        } else {
          scf.yield %cst : f32
        }
        %80 = arith.xori %24, %23 : index
        %81 = affine.apply #map26(%arg5, %80)
        memref.store %49, %arg3[%c0, %2, %81] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        memref.store %59, %arg3[%c0, %5, %81] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        memref.store %69, %arg3[%c0, %8, %81] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
        memref.store %79, %arg3[%c0, %11, %81] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
      }
      %25 = affine.apply #map27(%thread_id_x)
      %26 = arith.cmpi slt, %25, %c39 : index
      %27 = affine.apply #map4(%25)
      %28 = arith.cmpi slt, %27, %c39 : index
      %29 = affine.apply #map6(%25)
      %30 = arith.cmpi slt, %29, %c39 : index
      %31 = affine.apply #map8(%25)
      %32 = arith.cmpi slt, %31, %c39 : index
      %33 = affine.apply #map28(%thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %37 = affine.apply #map29(%33, %arg5)
        %38 = arith.cmpi slt, %37, %c45 : index
        %39 = arith.andi %38, %26 : i1
        %40 = scf.if %39 -> (f32) {
          %48 = memref.load %reinterpret_cast[%37, %25] : memref<45x39xf32>
          scf.yield %48 : f32
        } else {
          scf.yield %cst : f32
        }
        %41 = arith.andi %38, %28 : i1
        %42 = scf.if %41 -> (f32) {
          %48 = memref.load %reinterpret_cast[%37, %27] : memref<45x39xf32>
          scf.yield %48 : f32
        } else {
          scf.yield %cst : f32
        }
        %43 = arith.andi %38, %30 : i1
        %44 = scf.if %43 -> (f32) {
          %48 = memref.load %reinterpret_cast[%37, %29] : memref<45x39xf32>
          scf.yield %48 : f32
        } else {
          scf.yield %cst : f32
        }
        %45 = arith.andi %38, %32 : i1
        %46 = scf.if %45 -> (f32) {
          %48 = memref.load %reinterpret_cast[%37, %31] : memref<45x39xf32>
          scf.yield %48 : f32
        } else {
          scf.yield %cst : f32
        }
        %47 = vector.from_elements %40, %42, %44, %46 : vector<4xf32>
        vector.store %47, %arg4[%c0, %37, %25] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %34 = affine.apply #map30(%1)
      %35 = affine.apply #map31(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c48 step %c8 {
        %37 = affine.apply #map32(%arg5)
        %38 = arith.cmpi slt, %37, %c48 : index
        %39 = affine.apply #map33(%2, %arg5)
        %40 = affine.apply #map32(%39)
        %41 = affine.apply #map34(%arg5, %thread_id_x)
        %42 = affine.apply #map35(%39)
        %43 = affine.apply #map36(%arg5, %thread_id_x)
        %44 = affine.apply #map37(%39)
        %45 = affine.apply #map38(%arg5, %thread_id_x)
        %46 = affine.apply #map39(%39)
        %47 = affine.apply #map40(%arg5, %thread_id_x)
        %48 = affine.apply #map41(%arg5, %thread_id_x)
        %49 = affine.apply #map42(%arg5, %thread_id_x)
        %50 = affine.apply #map43(%arg5, %thread_id_x)
        %51 = affine.apply #map44(%arg5, %thread_id_x)
        %52 = affine.apply #map45(%arg5, %thread_id_x)
        %53 = affine.apply #map46(%arg5, %thread_id_x)
        %54 = affine.apply #map47(%arg5, %thread_id_x)
        %55 = affine.apply #map48(%arg5, %thread_id_x)
        %56 = affine.apply #map33(%33, %arg5)
        scf.if %38 {
          %59 = arith.cmpi slt, %40, %c45 : index
          %60 = arith.cmpi slt, %42, %c45 : index
          %61 = arith.cmpi slt, %44, %c45 : index
          %62 = arith.cmpi slt, %46, %c45 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %63 = affine.apply #map49(%arg6)
            %64 = affine.apply #map21(%14, %arg6)
            %65 = arith.cmpi slt, %64, %c540 : index
            %66 = affine.apply #map22(%block_id_y, %arg6, %thread_id_x)
            %67 = affine.apply #map23(%48, %block_id_y, %arg6, %thread_id_x)
            %68 = affine.apply #map24(%67)
            %69 = affine.apply #map25(%49, %block_id_y, %arg6, %thread_id_x)
            %70 = affine.apply #map24(%69)
            %71 = arith.cmpi ult, %68, %c29 : index
            %72 = arith.cmpi ult, %70, %c23 : index
            %73 = arith.andi %71, %72 : i1
            %74 = arith.andi %65, %73 : i1
            %75 = arith.andi %59, %74 : i1
            %76 = scf.if %75 -> (f32) {
              %108 = memref.load %arg0[%66, %68, %70, %41] : memref<3x29x23x5xf32>
              scf.yield %108 : f32
            } else {
              scf.yield %cst : f32
            }
            %77 = affine.apply #map23(%50, %block_id_y, %arg6, %thread_id_x)
            %78 = affine.apply #map24(%77)
            %79 = affine.apply #map25(%51, %block_id_y, %arg6, %thread_id_x)
            %80 = affine.apply #map24(%79)
            %81 = arith.cmpi ult, %78, %c29 : index
            %82 = arith.cmpi ult, %80, %c23 : index
            %83 = arith.andi %81, %82 : i1
            %84 = arith.andi %65, %83 : i1
            %85 = arith.andi %60, %84 : i1
            %86 = scf.if %85 -> (f32) {
              %108 = memref.load %arg0[%66, %78, %80, %43] : memref<3x29x23x5xf32>
              scf.yield %108 : f32
            } else {
              scf.yield %cst : f32
            }
            %87 = affine.apply #map23(%52, %block_id_y, %arg6, %thread_id_x)
            %88 = affine.apply #map24(%87)
            %89 = affine.apply #map25(%53, %block_id_y, %arg6, %thread_id_x)
            %90 = affine.apply #map4(%89)
            %91 = arith.cmpi ult, %88, %c29 : index
            %92 = arith.cmpi ult, %90, %c23 : index
            %93 = arith.andi %91, %92 : i1
            %94 = arith.andi %65, %93 : i1
            %95 = arith.andi %61, %94 : i1
            %96 = scf.if %95 -> (f32) {
              %108 = memref.load %arg0[%66, %88, %90, %45] : memref<3x29x23x5xf32>
              scf.yield %108 : f32
            } else {
              scf.yield %cst : f32
            }
            %97 = affine.apply #map23(%54, %block_id_y, %arg6, %thread_id_x)
            %98 = affine.apply #map24(%97)
            %99 = affine.apply #map25(%55, %block_id_y, %arg6, %thread_id_x)
            %100 = affine.apply #map24(%99)
            %101 = arith.cmpi ult, %98, %c29 : index
            %102 = arith.cmpi ult, %100, %c23 : index
            %103 = arith.andi %101, %102 : i1
            %104 = arith.andi %65, %103 : i1
            %105 = arith.andi %62, %104 : i1
            %106 = scf.if %105 -> (f32) {
              %108 = memref.load %arg0[%66, %98, %100, %47] : memref<3x29x23x5xf32>
              scf.yield %108 : f32
            } else {
              scf.yield %cst : f32
            }
            %107 = vector.from_elements %76, %86, %96, %106 : vector<4xf32>
            vector.store %107, %alloca[%63] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %63 = affine.apply #map49(%arg6)
            %64 = affine.apply #map29(%56, %arg6)
            %65 = affine.apply #map32(%64)
            %66 = arith.cmpi slt, %65, %c45 : index
            %67 = arith.andi %66, %26 : i1
            %68 = scf.if %67 -> (f32) {
              %76 = memref.load %reinterpret_cast[%65, %25] : memref<45x39xf32>
              scf.yield %76 : f32
            } else {
              scf.yield %cst : f32
            }
            %69 = arith.andi %66, %28 : i1
            %70 = scf.if %69 -> (f32) {
              %76 = memref.load %reinterpret_cast[%65, %27] : memref<45x39xf32>
              scf.yield %76 : f32
            } else {
              scf.yield %cst : f32
            }
            %71 = arith.andi %66, %30 : i1
            %72 = scf.if %71 -> (f32) {
              %76 = memref.load %reinterpret_cast[%65, %29] : memref<45x39xf32>
              scf.yield %76 : f32
            } else {
              scf.yield %cst : f32
            }
            %73 = arith.andi %66, %32 : i1
            %74 = scf.if %73 -> (f32) {
              %76 = memref.load %reinterpret_cast[%65, %31] : memref<45x39xf32>
              scf.yield %76 : f32
            } else {
              scf.yield %cst : f32
            }
            %75 = vector.from_elements %68, %70, %72, %74 : vector<4xf32>
            vector.store %75, %alloca_1[%63] : memref<8xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %57 = affine.apply #map50(%arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %alloca_3 = memref.alloca() {weft.name = "X_frag"} : memref<16xf32>
          %59 = affine.apply #map51(%arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %60 = affine.apply #map49(%arg7)
            %61 = arith.xori %60, %59 : index
            %62 = affine.apply #map33(%34, %61)
            %63 = vector.load %arg3[%57, %arg6, %62] : memref<2x8x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %63, %alloca_3[%60] : memref<16xf32>, vector<4xf32>
          }
          %alloca_4 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %60 = affine.apply #map49(%arg7)
            %61 = affine.apply #map29(%35, %arg7)
            %62 = vector.load %arg4[%57, %arg6, %61] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %62, %alloca_4[%60] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %60 = memref.load %alloca_3[%arg7] : memref<16xf32>
              %61 = memref.load %alloca_4[%arg8] : memref<8xf32>
              %62 = memref.load %alloca_2[%arg7, %arg8] : memref<16x8xf32>
              %63 = arith.mulf %60, %61 : f32
              %64 = arith.addf %62, %63 : f32
              memref.store %64, %alloca_2[%arg7, %arg8] : memref<16x8xf32>
            }
          }
        } {weft.unroll}
        %58 = affine.apply #map52(%arg5)
        scf.if %38 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %59 = affine.apply #map49(%arg6)
            %60 = vector.load %alloca[%59] : memref<16xf32>, vector<4xf32>
            %61 = vector.extract %60[0] : f32 from vector<4xf32>
            %62 = arith.xori %24, %23 : index
            %63 = affine.apply #map26(%arg6, %62)
            memref.store %61, %arg3[%58, %2, %63] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %64 = vector.extract %60[1] : f32 from vector<4xf32>
            memref.store %64, %arg3[%58, %5, %63] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %65 = vector.extract %60[2] : f32 from vector<4xf32>
            memref.store %65, %arg3[%58, %8, %63] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
            %66 = vector.extract %60[3] : f32 from vector<4xf32>
            memref.store %66, %arg3[%58, %11, %63] : memref<2x8x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %59 = affine.apply #map49(%arg6)
            %60 = vector.load %alloca_1[%59] : memref<8xf32>, vector<4xf32>
            %61 = affine.apply #map29(%33, %arg6)
            vector.store %60, %arg4[%58, %61, %25] : memref<2x8x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %36 = affine.apply #map53(%block_id_y, %1)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %37 = affine.apply #map33(%36, %arg5)
        %38 = arith.cmpi slt, %37, %c540 : index
        scf.if %38 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %39 = affine.apply #map33(%35, %arg6)
            %40 = arith.cmpi slt, %39, %c39 : index
            scf.if %40 {
              %41 = memref.load %alloca_2[%arg5, %arg6] : memref<16x8xf32>
              memref.store %41, %reinterpret_cast_0[%37, %39] : memref<540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
