// weft golden igemm_nchw.weft --set n=3 --set c=5 --set h=29 --set w=23 --set k=39 --set stride=2
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0, d1) -> (d0 * 64 + (d1 mod 16) * 4)>
#map8 = affine_map<(d0) -> (d0 floordiv 4)>
#map9 = affine_map<(d0) -> (d0 floordiv 16)>
#map10 = affine_map<(d0, d1) -> (((d0 * 16 + d1 mod 16) floordiv 3) * 2)>
#map11 = affine_map<(d0, d1) -> (((d0 * 16 + d1 mod 16) mod 3) * 8)>
#map12 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map13 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map14 = affine_map<(d0, d1) -> (d0 + d1)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map16 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map17 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 8 + d2 floordiv 16) floordiv 9)>
#map18 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 8 + d3 floordiv 16) mod 9) floordiv 3)>
#map19 = affine_map<(d0) -> (d0 - 1)>
#map20 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 8 + d3 floordiv 16) mod 3)>
#map21 = affine_map<(d0) -> (d0 + 5)>
#map22 = affine_map<(d0) -> (d0 * 4)>
#map23 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map24 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 4) * 8 + (d2 mod 2) * 32)>
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
      %17 = affine.apply #map10(%block_id_x, %thread_id_x)
      %18 = affine.apply #map11(%block_id_x, %thread_id_x)
      %19 = affine.apply #map12(%1, %0)
      %20 = affine.apply #map13(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c48 step %c16 {
        %22 = affine.apply #map14(%2, %arg5)
        %23 = arith.cmpi slt, %22, %c45 : index
        %24 = affine.apply #map3(%22)
        %25 = arith.cmpi slt, %24, %c45 : index
        %26 = affine.apply #map4(%22)
        %27 = arith.cmpi slt, %26, %c45 : index
        %28 = affine.apply #map5(%22)
        %29 = arith.cmpi slt, %28, %c45 : index
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %31 = affine.apply #map15(%15, %arg6)
          %32 = arith.cmpi slt, %31, %c39 : index
          %33 = arith.andi %23, %32 : i1
          %34 = scf.if %33 -> (f32) {
            %41 = memref.load %reinterpret_cast[%31, %22] : memref<39x45xf32>
            scf.yield %41 : f32
          } else {
            scf.yield %cst : f32
          }
          %35 = arith.andi %25, %32 : i1
          %36 = scf.if %35 -> (f32) {
            %41 = memref.load %reinterpret_cast[%31, %24] : memref<39x45xf32>
            scf.yield %41 : f32
          } else {
            scf.yield %cst : f32
          }
          %37 = arith.andi %27, %32 : i1
          %38 = scf.if %37 -> (f32) {
            %41 = memref.load %reinterpret_cast[%31, %26] : memref<39x45xf32>
            scf.yield %41 : f32
          } else {
            scf.yield %cst : f32
          }
          %39 = arith.andi %29, %32 : i1
          %40 = scf.if %39 -> (f32) {
            %41 = memref.load %reinterpret_cast[%31, %28] : memref<39x45xf32>
            scf.yield %41 : f32
          } else {
            scf.yield %cst : f32
          }
          memref.store %34, %arg3[%2, %31] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %36, %arg3[%3, %31] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %38, %arg3[%4, %31] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %40, %arg3[%5, %31] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %30 = affine.apply #map14(%16, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %31 = affine.apply #map16(%16, %arg6)
          %32 = affine.apply #map16(%30, %arg6)
          %33 = arith.cmpi slt, %32, %c45 : index
          %34 = affine.apply #map17(%arg5, %arg6, %thread_id_x)
          %35 = affine.apply #map18(%17, %arg5, %arg6, %thread_id_x)
          %36 = affine.apply #map19(%35)
          %37 = affine.apply #map20(%18, %arg5, %arg6, %thread_id_x)
          %38 = affine.apply #map19(%37)
          %39 = arith.cmpi ult, %36, %c29 : index
          %40 = arith.cmpi ult, %38, %c23 : index
          %41 = arith.andi %39, %40 : i1
          %42 = arith.andi %8, %41 : i1
          %43 = arith.andi %33, %42 : i1
          %44 = scf.if %43 -> (f32) {
            %64 = memref.load %arg0[%block_id_z, %34, %36, %38] : memref<3x5x29x23xf32>
            scf.yield %64 : f32
          } else {
            scf.yield %cst : f32
          }
          %45 = affine.apply #map3(%37)
          %46 = arith.cmpi ult, %45, %c23 : index
          %47 = arith.andi %39, %46 : i1
          %48 = arith.andi %10, %47 : i1
          %49 = arith.andi %33, %48 : i1
          %50 = scf.if %49 -> (f32) {
            %64 = memref.load %arg0[%block_id_z, %34, %36, %45] : memref<3x5x29x23xf32>
            scf.yield %64 : f32
          } else {
            scf.yield %cst : f32
          }
          %51 = affine.apply #map5(%37)
          %52 = arith.cmpi ult, %51, %c23 : index
          %53 = arith.andi %39, %52 : i1
          %54 = arith.andi %12, %53 : i1
          %55 = arith.andi %33, %54 : i1
          %56 = scf.if %55 -> (f32) {
            %64 = memref.load %arg0[%block_id_z, %34, %36, %51] : memref<3x5x29x23xf32>
            scf.yield %64 : f32
          } else {
            scf.yield %cst : f32
          }
          %57 = affine.apply #map21(%37)
          %58 = arith.cmpi ult, %57, %c23 : index
          %59 = arith.andi %39, %58 : i1
          %60 = arith.andi %14, %59 : i1
          %61 = arith.andi %33, %60 : i1
          %62 = scf.if %61 -> (f32) {
            %64 = memref.load %arg0[%block_id_z, %34, %36, %57] : memref<3x5x29x23xf32>
            scf.yield %64 : f32
          } else {
            scf.yield %cst : f32
          }
          %63 = vector.from_elements %44, %50, %56, %62 : vector<4xf32>
          vector.store %63, %arg4[%c0, %31, %6] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_1 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %31 = affine.apply #map22(%arg7)
            %32 = affine.apply #map23(%19, %arg7)
            %33 = vector.load %arg3[%arg6, %32] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %33, %alloca_1[%31] : memref<8xf32>, vector<4xf32>
          }
          %alloca_2 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %31 = affine.apply #map22(%arg7)
            %32 = affine.apply #map23(%20, %arg7)
            %33 = vector.load %arg4[%c0, %arg6, %32] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %33, %alloca_2[%31] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %31 = memref.load %alloca_1[%arg7] : memref<8xf32>
              %32 = memref.load %alloca_2[%arg8] : memref<8xf32>
              %33 = memref.load %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
              %34 = arith.mulf %32, %31 : f32
              %35 = arith.addf %33, %34 : f32
              memref.store %35, %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %21 = affine.apply #map24(%block_id_x, %thread_id_x, %1)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %22 = affine.apply #map14(%19, %arg5)
        %23 = arith.cmpi slt, %22, %c39 : index
        scf.if %23 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map23(%21, %arg6)
            %25 = arith.cmpi slt, %24, %c180 : index
            %26 = affine.apply #map22(%arg6)
            scf.if %25 {
              %27 = vector.load %alloca[%c0, %arg5, %26] : memref<1x8x8xf32>, vector<4xf32>
              vector.store %27, %reinterpret_cast_0[%block_id_z, %22, %24] : memref<3x39x180xf32>, vector<4xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
