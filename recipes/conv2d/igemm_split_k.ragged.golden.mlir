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
      %37 = arith.cmpi sge, %34, %c0 : index
      %38 = arith.cmpi slt, %34, %c29 : index
      %39 = arith.andi %37, %38 : i1
      %40 = arith.cmpi sge, %36, %c0 : index
      %41 = arith.andi %39, %40 : i1
      %42 = arith.cmpi slt, %36, %c23 : index
      %43 = arith.andi %41, %42 : i1
      %44 = arith.andi %31, %43 : i1
      %45 = arith.andi %3, %44 : i1
      %46 = scf.if %45 -> (f32) {
        %255 = memref.load %arg0[%4, %34, %36, %32] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %47 = affine.apply #map6(%30)
      %48 = arith.cmpi slt, %47, %c45 : index
      %49 = affine.apply #map21(%block_id_z, %thread_id_x)
      %50 = affine.apply #map22(%block_id_y, %block_id_z, %thread_id_x)
      %51 = affine.apply #map19(%50)
      %52 = affine.apply #map23(%block_id_y, %block_id_z, %thread_id_x)
      %53 = affine.apply #map19(%52)
      %54 = arith.cmpi sge, %51, %c0 : index
      %55 = arith.cmpi slt, %51, %c29 : index
      %56 = arith.andi %54, %55 : i1
      %57 = arith.cmpi sge, %53, %c0 : index
      %58 = arith.andi %56, %57 : i1
      %59 = arith.cmpi slt, %53, %c23 : index
      %60 = arith.andi %58, %59 : i1
      %61 = arith.andi %48, %60 : i1
      %62 = arith.andi %3, %61 : i1
      %63 = scf.if %62 -> (f32) {
        %255 = memref.load %arg0[%4, %51, %53, %49] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %64 = affine.apply #map7(%30)
      %65 = arith.cmpi slt, %64, %c45 : index
      %66 = affine.apply #map24(%block_id_z, %thread_id_x)
      %67 = affine.apply #map25(%block_id_y, %block_id_z, %thread_id_x)
      %68 = affine.apply #map19(%67)
      %69 = affine.apply #map26(%block_id_y, %block_id_z, %thread_id_x)
      %70 = affine.apply #map19(%69)
      %71 = arith.cmpi sge, %68, %c0 : index
      %72 = arith.cmpi slt, %68, %c29 : index
      %73 = arith.andi %71, %72 : i1
      %74 = arith.cmpi sge, %70, %c0 : index
      %75 = arith.andi %73, %74 : i1
      %76 = arith.cmpi slt, %70, %c23 : index
      %77 = arith.andi %75, %76 : i1
      %78 = arith.andi %65, %77 : i1
      %79 = arith.andi %3, %78 : i1
      %80 = scf.if %79 -> (f32) {
        %255 = memref.load %arg0[%4, %68, %70, %66] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %81 = affine.apply #map8(%30)
      %82 = arith.cmpi slt, %81, %c45 : index
      %83 = affine.apply #map27(%block_id_z, %thread_id_x)
      %84 = affine.apply #map28(%block_id_y, %block_id_z, %thread_id_x)
      %85 = affine.apply #map19(%84)
      %86 = affine.apply #map29(%block_id_y, %block_id_z, %thread_id_x)
      %87 = affine.apply #map19(%86)
      %88 = arith.cmpi sge, %85, %c0 : index
      %89 = arith.cmpi slt, %85, %c29 : index
      %90 = arith.andi %88, %89 : i1
      %91 = arith.cmpi sge, %87, %c0 : index
      %92 = arith.andi %90, %91 : i1
      %93 = arith.cmpi slt, %87, %c23 : index
      %94 = arith.andi %92, %93 : i1
      %95 = arith.andi %82, %94 : i1
      %96 = arith.andi %3, %95 : i1
      %97 = scf.if %96 -> (f32) {
        %255 = memref.load %arg0[%4, %85, %87, %83] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %46, %arg3[%c0, %5, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %63, %arg3[%c0, %7, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %80, %arg3[%c0, %8, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %97, %arg3[%c0, %9, %6] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %98 = affine.apply #map30(%block_id_y, %block_id_z, %thread_id_x)
      %99 = affine.apply #map19(%98)
      %100 = affine.apply #map31(%block_id_y, %block_id_z, %thread_id_x)
      %101 = affine.apply #map19(%100)
      %102 = arith.cmpi sge, %99, %c0 : index
      %103 = arith.cmpi slt, %99, %c29 : index
      %104 = arith.andi %102, %103 : i1
      %105 = arith.cmpi sge, %101, %c0 : index
      %106 = arith.andi %104, %105 : i1
      %107 = arith.cmpi slt, %101, %c23 : index
      %108 = arith.andi %106, %107 : i1
      %109 = arith.andi %31, %108 : i1
      %110 = arith.andi %11, %109 : i1
      %111 = scf.if %110 -> (f32) {
        %255 = memref.load %arg0[%12, %99, %101, %32] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %112 = affine.apply #map32(%block_id_y, %block_id_z, %thread_id_x)
      %113 = affine.apply #map19(%112)
      %114 = affine.apply #map33(%block_id_y, %block_id_z, %thread_id_x)
      %115 = affine.apply #map19(%114)
      %116 = arith.cmpi sge, %113, %c0 : index
      %117 = arith.cmpi slt, %113, %c29 : index
      %118 = arith.andi %116, %117 : i1
      %119 = arith.cmpi sge, %115, %c0 : index
      %120 = arith.andi %118, %119 : i1
      %121 = arith.cmpi slt, %115, %c23 : index
      %122 = arith.andi %120, %121 : i1
      %123 = arith.andi %48, %122 : i1
      %124 = arith.andi %11, %123 : i1
      %125 = scf.if %124 -> (f32) {
        %255 = memref.load %arg0[%12, %113, %115, %49] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %126 = affine.apply #map34(%block_id_y, %block_id_z, %thread_id_x)
      %127 = affine.apply #map19(%126)
      %128 = affine.apply #map35(%block_id_y, %block_id_z, %thread_id_x)
      %129 = affine.apply #map19(%128)
      %130 = arith.cmpi sge, %127, %c0 : index
      %131 = arith.cmpi slt, %127, %c29 : index
      %132 = arith.andi %130, %131 : i1
      %133 = arith.cmpi sge, %129, %c0 : index
      %134 = arith.andi %132, %133 : i1
      %135 = arith.cmpi slt, %129, %c23 : index
      %136 = arith.andi %134, %135 : i1
      %137 = arith.andi %65, %136 : i1
      %138 = arith.andi %11, %137 : i1
      %139 = scf.if %138 -> (f32) {
        %255 = memref.load %arg0[%12, %127, %129, %66] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %140 = affine.apply #map36(%block_id_y, %block_id_z, %thread_id_x)
      %141 = affine.apply #map19(%140)
      %142 = affine.apply #map37(%block_id_y, %block_id_z, %thread_id_x)
      %143 = affine.apply #map19(%142)
      %144 = arith.cmpi sge, %141, %c0 : index
      %145 = arith.cmpi slt, %141, %c29 : index
      %146 = arith.andi %144, %145 : i1
      %147 = arith.cmpi sge, %143, %c0 : index
      %148 = arith.andi %146, %147 : i1
      %149 = arith.cmpi slt, %143, %c23 : index
      %150 = arith.andi %148, %149 : i1
      %151 = arith.andi %82, %150 : i1
      %152 = arith.andi %11, %151 : i1
      %153 = scf.if %152 -> (f32) {
        %255 = memref.load %arg0[%12, %141, %143, %83] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %111, %arg3[%c0, %5, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %125, %arg3[%c0, %7, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %139, %arg3[%c0, %8, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %153, %arg3[%c0, %9, %13] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %154 = affine.apply #map38(%block_id_y, %block_id_z, %thread_id_x)
      %155 = affine.apply #map19(%154)
      %156 = affine.apply #map39(%block_id_y, %block_id_z, %thread_id_x)
      %157 = affine.apply #map19(%156)
      %158 = arith.cmpi sge, %155, %c0 : index
      %159 = arith.cmpi slt, %155, %c29 : index
      %160 = arith.andi %158, %159 : i1
      %161 = arith.cmpi sge, %157, %c0 : index
      %162 = arith.andi %160, %161 : i1
      %163 = arith.cmpi slt, %157, %c23 : index
      %164 = arith.andi %162, %163 : i1
      %165 = arith.andi %31, %164 : i1
      %166 = arith.andi %15, %165 : i1
      %167 = scf.if %166 -> (f32) {
        %255 = memref.load %arg0[%16, %155, %157, %32] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %168 = affine.apply #map40(%block_id_y, %block_id_z, %thread_id_x)
      %169 = affine.apply #map19(%168)
      %170 = affine.apply #map41(%block_id_y, %block_id_z, %thread_id_x)
      %171 = affine.apply #map19(%170)
      %172 = arith.cmpi sge, %169, %c0 : index
      %173 = arith.cmpi slt, %169, %c29 : index
      %174 = arith.andi %172, %173 : i1
      %175 = arith.cmpi sge, %171, %c0 : index
      %176 = arith.andi %174, %175 : i1
      %177 = arith.cmpi slt, %171, %c23 : index
      %178 = arith.andi %176, %177 : i1
      %179 = arith.andi %48, %178 : i1
      %180 = arith.andi %15, %179 : i1
      %181 = scf.if %180 -> (f32) {
        %255 = memref.load %arg0[%16, %169, %171, %49] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %182 = affine.apply #map42(%block_id_y, %block_id_z, %thread_id_x)
      %183 = affine.apply #map19(%182)
      %184 = affine.apply #map43(%block_id_y, %block_id_z, %thread_id_x)
      %185 = affine.apply #map19(%184)
      %186 = arith.cmpi sge, %183, %c0 : index
      %187 = arith.cmpi slt, %183, %c29 : index
      %188 = arith.andi %186, %187 : i1
      %189 = arith.cmpi sge, %185, %c0 : index
      %190 = arith.andi %188, %189 : i1
      %191 = arith.cmpi slt, %185, %c23 : index
      %192 = arith.andi %190, %191 : i1
      %193 = arith.andi %65, %192 : i1
      %194 = arith.andi %15, %193 : i1
      %195 = scf.if %194 -> (f32) {
        %255 = memref.load %arg0[%16, %183, %185, %66] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %196 = affine.apply #map44(%block_id_y, %block_id_z, %thread_id_x)
      %197 = affine.apply #map19(%196)
      %198 = affine.apply #map45(%block_id_y, %block_id_z, %thread_id_x)
      %199 = affine.apply #map19(%198)
      %200 = arith.cmpi sge, %197, %c0 : index
      %201 = arith.cmpi slt, %197, %c29 : index
      %202 = arith.andi %200, %201 : i1
      %203 = arith.cmpi sge, %199, %c0 : index
      %204 = arith.andi %202, %203 : i1
      %205 = arith.cmpi slt, %199, %c23 : index
      %206 = arith.andi %204, %205 : i1
      %207 = arith.andi %82, %206 : i1
      %208 = arith.andi %15, %207 : i1
      %209 = scf.if %208 -> (f32) {
        %255 = memref.load %arg0[%16, %197, %199, %83] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %167, %arg3[%c0, %5, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %181, %arg3[%c0, %7, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %195, %arg3[%c0, %8, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %209, %arg3[%c0, %9, %17] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %210 = affine.apply #map46(%block_id_y, %block_id_z, %thread_id_x)
      %211 = affine.apply #map47(%210)
      %212 = arith.cmpi sge, %211, %c0 : index
      %213 = arith.cmpi slt, %211, %c29 : index
      %214 = arith.andi %212, %213 : i1
      %215 = arith.andi %214, %40 : i1
      %216 = arith.andi %215, %42 : i1
      %217 = arith.andi %31, %216 : i1
      %218 = arith.andi %19, %217 : i1
      %219 = scf.if %218 -> (f32) {
        %255 = memref.load %arg0[%20, %211, %36, %32] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %220 = affine.apply #map48(%block_id_y, %block_id_z, %thread_id_x)
      %221 = affine.apply #map47(%220)
      %222 = arith.cmpi sge, %221, %c0 : index
      %223 = arith.cmpi slt, %221, %c29 : index
      %224 = arith.andi %222, %223 : i1
      %225 = arith.andi %224, %57 : i1
      %226 = arith.andi %225, %59 : i1
      %227 = arith.andi %48, %226 : i1
      %228 = arith.andi %19, %227 : i1
      %229 = scf.if %228 -> (f32) {
        %255 = memref.load %arg0[%20, %221, %53, %49] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %230 = affine.apply #map49(%block_id_y, %block_id_z, %thread_id_x)
      %231 = affine.apply #map47(%230)
      %232 = arith.cmpi sge, %231, %c0 : index
      %233 = arith.cmpi slt, %231, %c29 : index
      %234 = arith.andi %232, %233 : i1
      %235 = arith.andi %234, %74 : i1
      %236 = arith.andi %235, %76 : i1
      %237 = arith.andi %65, %236 : i1
      %238 = arith.andi %19, %237 : i1
      %239 = scf.if %238 -> (f32) {
        %255 = memref.load %arg0[%20, %231, %70, %66] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      %240 = affine.apply #map50(%block_id_y, %block_id_z, %thread_id_x)
      %241 = affine.apply #map47(%240)
      %242 = arith.cmpi sge, %241, %c0 : index
      %243 = arith.cmpi slt, %241, %c29 : index
      %244 = arith.andi %242, %243 : i1
      %245 = arith.andi %244, %91 : i1
      %246 = arith.andi %245, %93 : i1
      %247 = arith.andi %82, %246 : i1
      %248 = arith.andi %19, %247 : i1
      %249 = scf.if %248 -> (f32) {
        %255 = memref.load %arg0[%20, %241, %87, %83] : memref<3x29x23x5xf32>
        scf.yield %255 : f32
      } else {
        scf.yield %cst : f32
      }
      memref.store %219, %arg3[%c0, %5, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %229, %arg3[%c0, %7, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %239, %arg3[%c0, %8, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      memref.store %249, %arg3[%c0, %9, %21] : memref<1x16x132xf32, #gpu.address_space<workgroup>>
      %250 = affine.apply #map51(%thread_id_x)
      %251 = affine.apply #map52(%block_id_z, %thread_id_x)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %255 = affine.apply #map53(%250, %arg5)
        %256 = affine.apply #map53(%251, %arg5)
        %257 = arith.cmpi slt, %256, %c45 : index
        %258 = arith.andi %23, %257 : i1
        %259 = scf.if %258 -> (f32) {
          %267 = memref.load %reinterpret_cast[%256, %22] : memref<45x39xf32>
          scf.yield %267 : f32
        } else {
          scf.yield %cst : f32
        }
        %260 = arith.andi %25, %257 : i1
        %261 = scf.if %260 -> (f32) {
          %267 = memref.load %reinterpret_cast[%256, %24] : memref<45x39xf32>
          scf.yield %267 : f32
        } else {
          scf.yield %cst : f32
        }
        %262 = arith.andi %27, %257 : i1
        %263 = scf.if %262 -> (f32) {
          %267 = memref.load %reinterpret_cast[%256, %26] : memref<45x39xf32>
          scf.yield %267 : f32
        } else {
          scf.yield %cst : f32
        }
        %264 = arith.andi %29, %257 : i1
        %265 = scf.if %264 -> (f32) {
          %267 = memref.load %reinterpret_cast[%256, %28] : memref<45x39xf32>
          scf.yield %267 : f32
        } else {
          scf.yield %cst : f32
        }
        %266 = vector.from_elements %259, %261, %263, %265 : vector<4xf32>
        vector.store %266, %arg4[%c0, %255, %22] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      gpu.barrier memfence [#gpu.address_space<workgroup>]
      %252 = affine.apply #map54(%1, %0)
      %253 = affine.apply #map55(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %alloca_0 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %255 = affine.apply #map56(%arg6)
          %256 = affine.apply #map57(%252, %arg6)
          %257 = vector.load %arg3[%c0, %arg5, %256] : memref<1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %257, %alloca_0[%255] : memref<8xf32>, vector<4xf32>
        }
        %alloca_1 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %255 = affine.apply #map56(%arg6)
          %256 = affine.apply #map57(%253, %arg6)
          %257 = vector.load %arg4[%c0, %arg5, %256] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          vector.store %257, %alloca_1[%255] : memref<8xf32>, vector<4xf32>
        }
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %255 = memref.load %alloca_0[%arg6] : memref<8xf32>
            %256 = memref.load %alloca_1[%arg7] : memref<8xf32>
            %257 = memref.load %alloca[%c0, %arg6, %arg7] : memref<1x8x8xf32>
            %258 = arith.mulf %255, %256 : f32
            %259 = arith.addf %257, %258 : f32
            memref.store %259, %alloca[%c0, %arg6, %arg7] : memref<1x8x8xf32>
          }
        }
      } {weft.unroll}
      %254 = affine.apply #map58(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %255 = affine.apply #map59(%254, %arg5)
        %256 = arith.cmpi slt, %255, %c540 : index
        scf.if %256 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %257 = affine.apply #map59(%253, %arg6)
            %258 = arith.cmpi slt, %257, %c39 : index
            scf.if %258 {
              %259 = memref.load %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
              memref.store %259, %arg2[%block_id_z, %255, %257] : memref<3x540x39xf32>
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
