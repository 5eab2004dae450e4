// weft golden igemm_split_k.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
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
#map16 = affine_map<(d0, d1) -> (d0 * 16 + (d1 mod 4) * 4)>
#map17 = affine_map<(d0, d1) -> ((d0 * 16 + (d1 mod 4) * 4) mod 5)>
#map18 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4) floordiv 15)>
#map19 = affine_map<(d0) -> (d0 - 1)>
#map20 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4) mod 15) floordiv 5)>
#map21 = affine_map<(d0, d1) -> ((d0 * 16 + (d1 mod 4) * 4 + 1) mod 5)>
#map22 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 1) floordiv 15)>
#map23 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 1) mod 15) floordiv 5)>
#map24 = affine_map<(d0, d1) -> ((d0 * 16 + (d1 mod 4) * 4 + 2) mod 5)>
#map25 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 2) floordiv 15)>
#map26 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 2) mod 15) floordiv 5)>
#map27 = affine_map<(d0, d1) -> ((d0 * 16 + (d1 mod 4) * 4 + 3) mod 5)>
#map28 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 3) floordiv 15)>
#map29 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 3) mod 15) floordiv 5)>
#map30 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 32) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4) floordiv 15)>
#map31 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 32) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4) mod 15) floordiv 5)>
#map32 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 32) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 1) floordiv 15)>
#map33 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 32) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 1) mod 15) floordiv 5)>
#map34 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 32) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 2) floordiv 15)>
#map35 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 32) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 2) mod 15) floordiv 5)>
#map36 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 32) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 3) floordiv 15)>
#map37 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 32) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 3) mod 15) floordiv 5)>
#map38 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 64) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4) floordiv 15)>
#map39 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 64) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4) mod 15) floordiv 5)>
#map40 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 64) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 1) floordiv 15)>
#map41 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 64) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 1) mod 15) floordiv 5)>
#map42 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 64) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 2) floordiv 15)>
#map43 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 64) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 2) mod 15) floordiv 5)>
#map44 = affine_map<(d0, d1, d2) -> ((((d0 * 128 + d2 floordiv 4 + 64) mod 180) floordiv 12) * 2 + (d1 * 16 + (d2 mod 4) * 4 + 3) floordiv 15)>
#map45 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4 + 64) mod 12) * 2 + ((d1 * 16 + (d2 mod 4) * 4 + 3) mod 15) floordiv 5)>
#map46 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) floordiv 12) * 2 - ((d0 * 128 + d2 floordiv 4 + 96) floordiv 180) * 30 + (d1 * 16 + (d2 mod 4) * 4) floordiv 15)>
#map47 = affine_map<(d0) -> (d0 + 15)>
#map48 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) floordiv 12) * 2 - ((d0 * 128 + d2 floordiv 4 + 96) floordiv 180) * 30 + (d1 * 16 + (d2 mod 4) * 4 + 1) floordiv 15)>
#map49 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) floordiv 12) * 2 - ((d0 * 128 + d2 floordiv 4 + 96) floordiv 180) * 30 + (d1 * 16 + (d2 mod 4) * 4 + 2) floordiv 15)>
#map50 = affine_map<(d0, d1, d2) -> (((d0 * 128 + d2 floordiv 4) floordiv 12) * 2 - ((d0 * 128 + d2 floordiv 4 + 96) floordiv 180) * 30 + (d1 * 16 + (d2 mod 4) * 4 + 3) floordiv 15)>
#map51 = affine_map<(d0) -> (d0 floordiv 16)>
#map52 = affine_map<(d0, d1) -> (d0 * 16 + d1 floordiv 16)>
#map53 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map54 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map55 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map56 = affine_map<(d0) -> (d0 * 4)>
#map57 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map58 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
#map59 = affine_map<(d0, d1) -> (d0 + d1)>
#map60 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map61 = affine_map<(d0, d1) -> ((d0 * 256 + d1) floordiv 39)>
#map62 = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 39)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<3x15x12x39xf32> {bufferize.result, weft.name = "Y"}) {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<3x540x39xf32>
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c3 = arith.constant 3 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c5, %c3) threads in (%c128, %c1, %c1)  args(%arg0 : memref<3x29x23x5xf32>, %arg1 : memref<3x3x5x39xf32>, %alloc : memref<3x540x39xf32>)
    %c83 = arith.constant 83 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @conv2d_1_kernel::@conv2d_1 blocks in (%c83, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<3x15x12x39xf32>, %alloc : memref<3x540x39xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: memref<3x29x23x5xf32> {weft.name = "X"}, %arg1: memref<3x3x5x39xf32> {weft.name = "W"}, %arg2: memref<3x540x39xf32>) workgroup(%arg3 : memref<1x16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<1x16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 5, 3>} {
      %c8 = arith.constant 8 : index
      %c39 = arith.constant 39 : index
      %c2 = arith.constant 2 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c45 = arith.constant 45 : index
      %c540 = arith.constant 540 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_y = gpu.block_id y
      %block_id_z = gpu.block_id z
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [45, 39], strides: [39, 1] : memref<3x3x5x39xf32> to memref<45x39xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
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
      %30 = affine.apply #map16(%block_id_z, %thread_id_x)
      %31 = arith.cmpi slt, %30, %c45 : index
      %32 = affine.apply #map17(%block_id_z, %thread_id_x)
      %33 = affine.apply #map18(%block_id_y, %block_id_z, %thread_id_x)
      %34 = affine.apply #map19(%33)
      %35 = affine.apply #map20(%block_id_y, %block_id_z, %thread_id_x)
      %36 = affine.apply #map19(%35)
      %37 = arith.cmpi ult, %34, %c29 : index
      %38 = arith.cmpi ult, %36, %c23 : index
      %39 = arith.andi %3, %31 : i1
      %40 = arith.andi %39, %37 : i1
      %41 = arith.andi %40, %38 : i1
      %42 = scf.if %41 -> (f32) {
        %195 = memref.load %arg0[%4, %34, %36, %32] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %43 = affine.apply #map6(%30)
      %44 = arith.cmpi slt, %43, %c45 : index
      %45 = affine.apply #map21(%block_id_z, %thread_id_x)
      %46 = affine.apply #map22(%block_id_y, %block_id_z, %thread_id_x)
      %47 = affine.apply #map19(%46)
      %48 = affine.apply #map23(%block_id_y, %block_id_z, %thread_id_x)
      %49 = affine.apply #map19(%48)
      %50 = arith.cmpi ult, %47, %c29 : index
      %51 = arith.cmpi ult, %49, %c23 : index
      %52 = arith.andi %3, %44 : i1
      %53 = arith.andi %52, %50 : i1
      %54 = arith.andi %53, %51 : i1
      %55 = scf.if %54 -> (f32) {
        %195 = memref.load %arg0[%4, %47, %49, %45] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %56 = affine.apply #map7(%30)
      %57 = arith.cmpi slt, %56, %c45 : index
      %58 = affine.apply #map24(%block_id_z, %thread_id_x)
      %59 = affine.apply #map25(%block_id_y, %block_id_z, %thread_id_x)
      %60 = affine.apply #map19(%59)
      %61 = affine.apply #map26(%block_id_y, %block_id_z, %thread_id_x)
      %62 = affine.apply #map19(%61)
      %63 = arith.cmpi ult, %60, %c29 : index
      %64 = arith.cmpi ult, %62, %c23 : index
      %65 = arith.andi %3, %57 : i1
      %66 = arith.andi %65, %63 : i1
      %67 = arith.andi %66, %64 : i1
      %68 = scf.if %67 -> (f32) {
        %195 = memref.load %arg0[%4, %60, %62, %58] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %69 = affine.apply #map8(%30)
      %70 = arith.cmpi slt, %69, %c45 : index
      %71 = affine.apply #map27(%block_id_z, %thread_id_x)
      %72 = affine.apply #map28(%block_id_y, %block_id_z, %thread_id_x)
      %73 = affine.apply #map19(%72)
      %74 = affine.apply #map29(%block_id_y, %block_id_z, %thread_id_x)
      %75 = affine.apply #map19(%74)
      %76 = arith.cmpi ult, %73, %c29 : index
      %77 = arith.cmpi ult, %75, %c23 : index
      %78 = arith.andi %3, %70 : i1
      %79 = arith.andi %78, %76 : i1
      %80 = arith.andi %79, %77 : i1
      %81 = scf.if %80 -> (f32) {
        %195 = memref.load %arg0[%4, %73, %75, %71] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %42, %arg3[%c0, %5, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %55, %arg3[%c0, %7, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %68, %arg3[%c0, %8, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %81, %arg3[%c0, %9, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %82 = affine.apply #map30(%block_id_y, %block_id_z, %thread_id_x)
      %83 = affine.apply #map19(%82)
      %84 = affine.apply #map31(%block_id_y, %block_id_z, %thread_id_x)
      %85 = affine.apply #map19(%84)
      %86 = arith.cmpi ult, %83, %c29 : index
      %87 = arith.cmpi ult, %85, %c23 : index
      %88 = arith.andi %11, %31 : i1
      %89 = arith.andi %88, %86 : i1
      %90 = arith.andi %89, %87 : i1
      %91 = scf.if %90 -> (f32) {
        %195 = memref.load %arg0[%12, %83, %85, %32] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %92 = affine.apply #map32(%block_id_y, %block_id_z, %thread_id_x)
      %93 = affine.apply #map19(%92)
      %94 = affine.apply #map33(%block_id_y, %block_id_z, %thread_id_x)
      %95 = affine.apply #map19(%94)
      %96 = arith.cmpi ult, %93, %c29 : index
      %97 = arith.cmpi ult, %95, %c23 : index
      %98 = arith.andi %11, %44 : i1
      %99 = arith.andi %98, %96 : i1
      %100 = arith.andi %99, %97 : i1
      %101 = scf.if %100 -> (f32) {
        %195 = memref.load %arg0[%12, %93, %95, %45] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %102 = affine.apply #map34(%block_id_y, %block_id_z, %thread_id_x)
      %103 = affine.apply #map19(%102)
      %104 = affine.apply #map35(%block_id_y, %block_id_z, %thread_id_x)
      %105 = affine.apply #map19(%104)
      %106 = arith.cmpi ult, %103, %c29 : index
      %107 = arith.cmpi ult, %105, %c23 : index
      %108 = arith.andi %11, %57 : i1
      %109 = arith.andi %108, %106 : i1
      %110 = arith.andi %109, %107 : i1
      %111 = scf.if %110 -> (f32) {
        %195 = memref.load %arg0[%12, %103, %105, %58] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %112 = affine.apply #map36(%block_id_y, %block_id_z, %thread_id_x)
      %113 = affine.apply #map19(%112)
      %114 = affine.apply #map37(%block_id_y, %block_id_z, %thread_id_x)
      %115 = affine.apply #map19(%114)
      %116 = arith.cmpi ult, %113, %c29 : index
      %117 = arith.cmpi ult, %115, %c23 : index
      %118 = arith.andi %11, %70 : i1
      %119 = arith.andi %118, %116 : i1
      %120 = arith.andi %119, %117 : i1
      %121 = scf.if %120 -> (f32) {
        %195 = memref.load %arg0[%12, %113, %115, %71] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %91, %arg3[%c0, %5, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %101, %arg3[%c0, %7, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %111, %arg3[%c0, %8, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %121, %arg3[%c0, %9, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %122 = affine.apply #map38(%block_id_y, %block_id_z, %thread_id_x)
      %123 = affine.apply #map19(%122)
      %124 = affine.apply #map39(%block_id_y, %block_id_z, %thread_id_x)
      %125 = affine.apply #map19(%124)
      %126 = arith.cmpi ult, %123, %c29 : index
      %127 = arith.cmpi ult, %125, %c23 : index
      %128 = arith.andi %15, %31 : i1
      %129 = arith.andi %128, %126 : i1
      %130 = arith.andi %129, %127 : i1
      %131 = scf.if %130 -> (f32) {
        %195 = memref.load %arg0[%16, %123, %125, %32] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %132 = affine.apply #map40(%block_id_y, %block_id_z, %thread_id_x)
      %133 = affine.apply #map19(%132)
      %134 = affine.apply #map41(%block_id_y, %block_id_z, %thread_id_x)
      %135 = affine.apply #map19(%134)
      %136 = arith.cmpi ult, %133, %c29 : index
      %137 = arith.cmpi ult, %135, %c23 : index
      %138 = arith.andi %15, %44 : i1
      %139 = arith.andi %138, %136 : i1
      %140 = arith.andi %139, %137 : i1
      %141 = scf.if %140 -> (f32) {
        %195 = memref.load %arg0[%16, %133, %135, %45] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %142 = affine.apply #map42(%block_id_y, %block_id_z, %thread_id_x)
      %143 = affine.apply #map19(%142)
      %144 = affine.apply #map43(%block_id_y, %block_id_z, %thread_id_x)
      %145 = affine.apply #map19(%144)
      %146 = arith.cmpi ult, %143, %c29 : index
      %147 = arith.cmpi ult, %145, %c23 : index
      %148 = arith.andi %15, %57 : i1
      %149 = arith.andi %148, %146 : i1
      %150 = arith.andi %149, %147 : i1
      %151 = scf.if %150 -> (f32) {
        %195 = memref.load %arg0[%16, %143, %145, %58] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %152 = affine.apply #map44(%block_id_y, %block_id_z, %thread_id_x)
      %153 = affine.apply #map19(%152)
      %154 = affine.apply #map45(%block_id_y, %block_id_z, %thread_id_x)
      %155 = affine.apply #map19(%154)
      %156 = arith.cmpi ult, %153, %c29 : index
      %157 = arith.cmpi ult, %155, %c23 : index
      %158 = arith.andi %15, %70 : i1
      %159 = arith.andi %158, %156 : i1
      %160 = arith.andi %159, %157 : i1
      %161 = scf.if %160 -> (f32) {
        %195 = memref.load %arg0[%16, %153, %155, %71] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %131, %arg3[%c0, %5, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %141, %arg3[%c0, %7, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %151, %arg3[%c0, %8, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %161, %arg3[%c0, %9, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %162 = affine.apply #map46(%block_id_y, %block_id_z, %thread_id_x)
      %163 = affine.apply #map47(%162)
      %164 = arith.cmpi ult, %163, %c29 : index
      %165 = arith.andi %19, %31 : i1
      %166 = arith.andi %165, %164 : i1
      %167 = arith.andi %166, %38 : i1
      %168 = scf.if %167 -> (f32) {
        %195 = memref.load %arg0[%20, %163, %36, %32] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %169 = affine.apply #map48(%block_id_y, %block_id_z, %thread_id_x)
      %170 = affine.apply #map47(%169)
      %171 = arith.cmpi ult, %170, %c29 : index
      %172 = arith.andi %19, %44 : i1
      %173 = arith.andi %172, %171 : i1
      %174 = arith.andi %173, %51 : i1
      %175 = scf.if %174 -> (f32) {
        %195 = memref.load %arg0[%20, %170, %49, %45] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %176 = affine.apply #map49(%block_id_y, %block_id_z, %thread_id_x)
      %177 = affine.apply #map47(%176)
      %178 = arith.cmpi ult, %177, %c29 : index
      %179 = arith.andi %19, %57 : i1
      %180 = arith.andi %179, %178 : i1
      %181 = arith.andi %180, %64 : i1
      %182 = scf.if %181 -> (f32) {
        %195 = memref.load %arg0[%20, %177, %62, %58] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      %183 = affine.apply #map50(%block_id_y, %block_id_z, %thread_id_x)
      %184 = affine.apply #map47(%183)
      %185 = arith.cmpi ult, %184, %c29 : index
      %186 = arith.andi %19, %70 : i1
      %187 = arith.andi %186, %185 : i1
      %188 = arith.andi %187, %77 : i1
      %189 = scf.if %188 -> (f32) {
        %195 = memref.load %arg0[%20, %184, %75, %71] : memref<3x29x23x5xf32>
        scf.yield %195 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %168, %arg3[%c0, %5, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %175, %arg3[%c0, %7, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %182, %arg3[%c0, %8, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %189, %arg3[%c0, %9, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %190 = affine.apply #map51(%thread_id_x)
      %191 = affine.apply #map52(%block_id_z, %thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %195 = affine.apply #map53(%190, %arg5)
        %196 = affine.apply #map53(%191, %arg5)
        %197 = arith.cmpi slt, %196, %c45 : index
        %198 = arith.andi %23, %197 : i1
        %199 = scf.if %198 -> (f32) {
          %207 = memref.load %reinterpret_cast[%196, %22] : memref<45x39xf32>
          scf.yield %207 : f32
        } else {
          scf.yield %cst : f32
        }
        %200 = arith.andi %25, %197 : i1
        %201 = scf.if %200 -> (f32) {
          %207 = memref.load %reinterpret_cast[%196, %24] : memref<45x39xf32>
          scf.yield %207 : f32
        } else {
          scf.yield %cst : f32
        }
        %202 = arith.andi %27, %197 : i1
        %203 = scf.if %202 -> (f32) {
          %207 = memref.load %reinterpret_cast[%196, %26] : memref<45x39xf32>
          scf.yield %207 : f32
        } else {
          scf.yield %cst : f32
        }
        %204 = arith.andi %29, %197 : i1
        %205 = scf.if %204 -> (f32) {
          %207 = memref.load %reinterpret_cast[%196, %28] : memref<45x39xf32>
          scf.yield %207 : f32
        } else {
          scf.yield %cst : f32
        }
        %206 = vector.from_elements %199, %201, %203, %205 : vector<4xf32>
        vector.store %206, %arg4[%c0, %195, %22] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %192 = affine.apply #map54(%1, %0)
      %193 = affine.apply #map55(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %alloca_0 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %195 = affine.apply #map56(%arg6)
          %196 = affine.apply #map57(%192, %arg6)
          %197 = vector.load %arg3[%c0, %arg5, %196] : memref<1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %197, %alloca_0[%195] : memref<8xf32>, vector<4xf32>
        }
        %alloca_1 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %195 = affine.apply #map56(%arg6)
          %196 = affine.apply #map57(%193, %arg6)
          %197 = vector.load %arg4[%c0, %arg5, %196] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %197, %alloca_1[%195] : memref<8xf32>, vector<4xf32>
        }
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %195 = memref.load %alloca_0[%arg6] : memref<8xf32>
            %196 = memref.load %alloca_1[%arg7] : memref<8xf32>
            %197 = memref.load %alloca[%c0, %arg6, %arg7] : memref<1x8x8xf32>
            %198 = arith.mulf %195, %196 : f32
            %199 = arith.addf %197, %198 : f32
            memref.store %199, %alloca[%c0, %arg6, %arg7] : memref<1x8x8xf32>
          }
        }
      } {weft.unroll}
      %194 = affine.apply #map58(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %195 = affine.apply #map59(%194, %arg5)
        %196 = arith.cmpi slt, %195, %c540 : index
        scf.if %196 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %197 = affine.apply #map59(%193, %arg6)
            %198 = arith.cmpi slt, %197, %c39 : index
            scf.if %198 {
              %199 = memref.load %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
              memref.store %199, %arg2[%block_id_z, %195, %197] : memref<3x540x39xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
  gpu.module @conv2d_1_kernel {
    gpu.func @conv2d_1(%arg0: memref<3x15x12x39xf32> {weft.name = "Y"}, %arg1: memref<3x540x39xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 83, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c21060 = arith.constant 21060 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [540, 39], strides: [39, 1] : memref<3x15x12x39xf32> to memref<540x39xf32>
      %0 = affine.apply #map60(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c21060 : index
      %2 = affine.apply #map61(%block_id_x, %thread_id_x)
      %3 = affine.apply #map62(%block_id_x, %thread_id_x)
      scf.if %1 {
        %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
        memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
        scf.for %arg2 = %c0 to %c3 step %c1 {
          %5 = memref.load %arg1[%arg2, %2, %3] : memref<3x540x39xf32>
          %6 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
          %7 = arith.addf %6, %5 : f32
          memref.store %7, %alloca[%c0, %c0] : memref<1x1xf32>
        } {weft.unroll}
        %4 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        memref.store %4, %reinterpret_cast[%2, %3] : memref<540x39xf32>
      }
      gpu.return
    }
  }
}
