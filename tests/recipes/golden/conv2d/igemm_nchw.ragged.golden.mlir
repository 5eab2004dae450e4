// weft golden igemm_nchw --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0, d1) -> (d0 * 64 + (d1 mod 16) * 4)>
#map8 = affine_map<(d0) -> (d0 floordiv 4)>
#map9 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map10 = affine_map<(d0) -> (d0 floordiv 16)>
#map11 = affine_map<(d0, d1) -> (((d0 * 16 + d1 mod 16) floordiv 3) * 2)>
#map12 = affine_map<(d0, d1) -> (((d0 * 16 + d1 mod 16) mod 3) * 8)>
#map13 = affine_map<(d0) -> ((d0 floordiv 4) * 8)>
#map14 = affine_map<(d0) -> ((d0 floordiv 2) * 64)>
#map15 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map16 = affine_map<(d0, d1) -> (d0 + d1)>
#map17 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map18 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map19 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map20 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 8 + d2 floordiv 16) floordiv 9)>
#map21 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 8 + d3 floordiv 16) mod 9) floordiv 3)>
#map22 = affine_map<(d0) -> (d0 - 1)>
#map23 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 8 + d3 floordiv 16) mod 3)>
#map24 = affine_map<(d0) -> (d0 + 5)>
#map25 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map26 = affine_map<(d0) -> (d0 * 4)>
#map27 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map28 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map29 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 4) * 8 + (d2 mod 2) * 32)>
module attributes {gpu.container_module} {
  func.func @conv2d_nchw(%arg0: memref<3x5x29x23xf32> {weft.name = "X"}, %arg1: memref<39x5x3x3xf32> {weft.name = "W"}, %arg2: memref<3x39x15x12xf32> {bufferize.result, weft.name = "Y"}) {
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_nchw_kernel::@conv2d_nchw blocks in (%c3, %c1, %c3) threads in (%c128, %c1, %c1)  args(%arg0 : memref<3x5x29x23xf32>, %arg1 : memref<39x5x3x3xf32>, %arg2 : memref<3x39x15x12xf32>)
    return
  }
  gpu.module @conv2d_nchw_kernel {
    gpu.func @conv2d_nchw(%arg0: memref<3x5x29x23xf32> {weft.name = "X"}, %arg1: memref<39x5x3x3xf32> {weft.name = "W"}, %arg2: memref<3x39x15x12xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}, %arg4 : memref<1x16x64xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 3, 1, 3>} {
      %c8 = arith.constant 8 : index
      %c23 = arith.constant 23 : index
      %c29 = arith.constant 29 : index
      %c180 = arith.constant 180 : index
      %c2 = arith.constant 2 : index
      %c39 = arith.constant 39 : index
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
      %block_id_x = gpu.block_id x
      %block_id_z = gpu.block_id z
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [39, 45], strides: [45, 1] : memref<39x5x3x3xf32> to memref<39x45xf32>
      %reinterpret_cast_0 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [3, 39, 180], strides: [7020, 180, 1] : memref<3x39x15x12xf32> to memref<3x39x180xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%block_id_x, %thread_id_x)
      %8 = arith.cmpi slt, %7, %c180 : index
      %9 = affine.apply #map3(%7)
      %10 = arith.cmpi slt, %9, %c180 : index
      %11 = affine.apply #map4(%7)
      %12 = arith.cmpi slt, %11, %c180 : index
      %13 = affine.apply #map5(%7)
      %14 = arith.cmpi slt, %13, %c180 : index
      %15 = affine.apply #map8(%thread_id_x)
      %16 = affine.apply #map9(%thread_id_x)
      %17 = affine.apply #map10(%thread_id_x)
      %18 = affine.apply #map11(%block_id_x, %thread_id_x)
      %19 = affine.apply #map12(%block_id_x, %thread_id_x)
      %20 = affine.apply #map13(%0)
      %21 = affine.apply #map14(%1)
      %22 = affine.apply #map15(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c48 step %c16 {
        %25 = affine.apply #map16(%2, %arg5)
        %26 = arith.cmpi slt, %25, %c45 : index
        %27 = affine.apply #map3(%25)
        %28 = arith.cmpi slt, %27, %c45 : index
        %29 = affine.apply #map4(%25)
        %30 = arith.cmpi slt, %29, %c45 : index
        %31 = affine.apply #map5(%25)
        %32 = arith.cmpi slt, %31, %c45 : index
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %34 = affine.apply #map17(%15, %arg6)
          %35 = arith.cmpi slt, %34, %c39 : index
          %36 = arith.andi %26, %35 : i1
          %37 = scf.if %36 -> (f32) {
            %46 = memref.load %reinterpret_cast[%34, %25] : memref<39x45xf32>
            scf.yield %46 : f32
          } else {
            scf.yield %cst : f32
          }
          %38 = arith.andi %28, %35 : i1
          %39 = scf.if %38 -> (f32) {
            %46 = memref.load %reinterpret_cast[%34, %27] : memref<39x45xf32>
            scf.yield %46 : f32
          } else {
            scf.yield %cst : f32
          }
          %40 = arith.andi %30, %35 : i1
          %41 = scf.if %40 -> (f32) {
            %46 = memref.load %reinterpret_cast[%34, %29] : memref<39x45xf32>
            scf.yield %46 : f32
          } else {
            scf.yield %cst : f32
          }
          %42 = arith.andi %32, %35 : i1
          %43 = scf.if %42 -> (f32) {
            %46 = memref.load %reinterpret_cast[%34, %31] : memref<39x45xf32>
            scf.yield %46 : f32
          } else {
            scf.yield %cst : f32
          }
          %44 = arith.xori %15, %16 : index
          %45 = affine.apply #map18(%arg6, %44)
          memref.store %37, %arg3[%2, %45] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %39, %arg3[%3, %45] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %41, %arg3[%4, %45] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %43, %arg3[%5, %45] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %33 = affine.apply #map16(%17, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %34 = affine.apply #map19(%17, %arg6)
          %35 = affine.apply #map19(%33, %arg6)
          %36 = arith.cmpi slt, %35, %c45 : index
          %37 = affine.apply #map20(%arg5, %arg6, %thread_id_x)
          %38 = affine.apply #map21(%18, %arg5, %arg6, %thread_id_x)
          %39 = affine.apply #map22(%38)
          %40 = affine.apply #map23(%19, %arg5, %arg6, %thread_id_x)
          %41 = affine.apply #map22(%40)
          %42 = arith.cmpi ult, %39, %c29 : index
          %43 = arith.cmpi ult, %41, %c23 : index
          %44 = arith.andi %42, %43 : i1
          %45 = arith.andi %8, %44 : i1
          %46 = arith.andi %36, %45 : i1
          %47 = scf.if %46 -> (f32) {
            %67 = memref.load %arg0[%block_id_z, %37, %39, %41] : memref<3x5x29x23xf32>
            scf.yield %67 : f32
          } else {
            scf.yield %cst : f32
          }
          %48 = affine.apply #map3(%40)
          %49 = arith.cmpi ult, %48, %c23 : index
          %50 = arith.andi %42, %49 : i1
          %51 = arith.andi %10, %50 : i1
          %52 = arith.andi %36, %51 : i1
          %53 = scf.if %52 -> (f32) {
            %67 = memref.load %arg0[%block_id_z, %37, %39, %48] : memref<3x5x29x23xf32>
            scf.yield %67 : f32
          } else {
            scf.yield %cst : f32
          }
          %54 = affine.apply #map5(%40)
          %55 = arith.cmpi ult, %54, %c23 : index
          %56 = arith.andi %42, %55 : i1
          %57 = arith.andi %12, %56 : i1
          %58 = arith.andi %36, %57 : i1
          %59 = scf.if %58 -> (f32) {
            %67 = memref.load %arg0[%block_id_z, %37, %39, %54] : memref<3x5x29x23xf32>
            scf.yield %67 : f32
          } else {
            scf.yield %cst : f32
          }
          %60 = affine.apply #map24(%40)
          %61 = arith.cmpi ult, %60, %c23 : index
          %62 = arith.andi %42, %61 : i1
          %63 = arith.andi %14, %62 : i1
          %64 = arith.andi %36, %63 : i1
          %65 = scf.if %64 -> (f32) {
            %67 = memref.load %arg0[%block_id_z, %37, %39, %60] : memref<3x5x29x23xf32>
            scf.yield %67 : f32
          } else {
            scf.yield %cst : f32
          }
          %66 = vector.from_elements %47, %53, %59, %65 : vector<4xf32>
          vector.store %66, %arg4[%c0, %34, %6] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          %34 = affine.apply #map25(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %35 = affine.apply #map26(%arg7)
            %36 = affine.apply #map27(%20, %arg7)
            %37 = arith.xori %36, %34 : index
            %38 = affine.apply #map16(%21, %37)
            %39 = vector.load %arg3[%arg6, %38] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %39, %alloca_1[%35] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %35 = affine.apply #map26(%arg7)
            %36 = affine.apply #map27(%22, %arg7)
            %37 = vector.load %arg4[%c0, %arg6, %36] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %37, %alloca_2[%35] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %35 = memref.load %alloca_1[%arg7] : memref<8xf32>
              %36 = memref.load %alloca_2[%arg8] : memref<8xf32>
              %37 = memref.load %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
              %38 = arith.mulf %36, %35 : f32
              %39 = arith.addf %37, %38 : f32
              memref.store %39, %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %23 = affine.apply #map28(%1, %0)
      %24 = affine.apply #map29(%block_id_x, %thread_id_x, %1)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %25 = affine.apply #map16(%23, %arg5)
        %26 = arith.cmpi slt, %25, %c39 : index
        scf.if %26 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %27 = affine.apply #map27(%24, %arg6)
            %28 = arith.cmpi slt, %27, %c180 : index
            %29 = affine.apply #map26(%arg6)
            scf.if %28 {
              %30 = vector.load %alloca[%c0, %arg5, %29] : memref<1x8x8xf32>, vector<4xf32>
              vector.store %30, %reinterpret_cast_0[%block_id_z, %25, %27] : memref<3x39x180xf32>, vector<4xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
