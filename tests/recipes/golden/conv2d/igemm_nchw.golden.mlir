// weft golden igemm_nchw
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0) -> (d0 floordiv 4)>
#map8 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map9 = affine_map<(d0) -> (d0 floordiv 16)>
#map10 = affine_map<(d0, d1) -> (d0 * 4 - (d1 floordiv 16) * 4 + d1 floordiv 4)>
#map11 = affine_map<(d0) -> ((d0 floordiv 4) * 8)>
#map12 = affine_map<(d0) -> ((d0 floordiv 2) * 64)>
#map13 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map14 = affine_map<(d0, d1) -> (d0 + d1)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map16 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map17 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map18 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 8 + d2 floordiv 16) floordiv 9)>
#map19 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 8 + d3 floordiv 16) mod 9) floordiv 3)>
#map20 = affine_map<(d0) -> (d0 - 1)>
#map21 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 8 + d3 floordiv 16) mod 3)>
#map22 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map23 = affine_map<(d0) -> (d0 * 4)>
#map24 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map25 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map26 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 4) * 8 + (d2 mod 2) * 32)>
module attributes {gpu.container_module} {
  func.func @conv2d_nchw(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<32x16x3x3xf32> {weft.name = "W"}, %arg2: memref<1x32x16x16xf32> {bufferize.result, weft.name = "Y"}) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_nchw_kernel::@conv2d_nchw blocks in (%c4, %c1, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x16x16x16xf32>, %arg1 : memref<32x16x3x3xf32>, %arg2 : memref<1x32x16x16xf32>)
    return
  }
  gpu.module @conv2d_nchw_kernel {
    gpu.func @conv2d_nchw(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<32x16x3x3xf32> {weft.name = "W"}, %arg2: memref<1x32x16x16xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}, %arg4 : memref<1x16x64xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c32 = arith.constant 32 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_x = gpu.block_id x
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [32, 144], strides: [144, 1] : memref<32x16x3x3xf32> to memref<32x144xf32>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg2 to offset: [0], sizes: [1, 32, 256], strides: [8192, 256, 1] : memref<1x32x16x16xf32> to memref<1x32x256xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca[%c0, %arg5, %arg6] : memref<1x8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      %8 = affine.apply #map8(%thread_id_x)
      %9 = affine.apply #map9(%thread_id_x)
      %10 = affine.apply #map10(%block_id_x, %thread_id_x)
      %11 = affine.apply #map11(%0)
      %12 = affine.apply #map12(%1)
      %13 = affine.apply #map13(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c144 step %c16 {
        %16 = affine.apply #map14(%2, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %17 = affine.apply #map15(%7, %arg6)
          %18 = arith.cmpi slt, %17, %c32 : index
          %19 = scf.if %18 -> (vector<4xf32>) {
            %26 = vector.load %reinterpret_cast[%17, %16] : memref<32x144xf32>, vector<4xf32>
            scf.yield %26 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %20 = vector.extract %19[0] : f32 from vector<4xf32>
          %21 = arith.xori %7, %8 : index
          %22 = affine.apply #map16(%arg6, %21)
          memref.store %20, %arg3[%2, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %23 = vector.extract %19[1] : f32 from vector<4xf32>
          memref.store %23, %arg3[%3, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %24 = vector.extract %19[2] : f32 from vector<4xf32>
          memref.store %24, %arg3[%4, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %25 = vector.extract %19[3] : f32 from vector<4xf32>
          memref.store %25, %arg3[%5, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %17 = affine.apply #map17(%9, %arg6)
          %18 = affine.apply #map18(%arg5, %arg6, %thread_id_x)
          %19 = affine.apply #map19(%10, %arg5, %arg6, %thread_id_x)
          %20 = affine.apply #map20(%19)
          %21 = affine.apply #map21(%2, %arg5, %arg6, %thread_id_x)
          %22 = affine.apply #map20(%21)
          %23 = arith.cmpi ult, %20, %c16 : index
          %24 = arith.cmpi ult, %22, %c16 : index
          %25 = arith.andi %23, %24 : i1
          %26 = scf.if %25 -> (f32) {
            %39 = memref.load %arg0[%c0, %18, %20, %22] : memref<1x16x16x16xf32>
            scf.yield %39 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %27 = arith.cmpi ult, %21, %c16 : index
          %28 = arith.andi %23, %27 : i1
          %29 = scf.if %28 -> (f32) {
            %39 = memref.load %arg0[%c0, %18, %20, %21] : memref<1x16x16x16xf32>
            scf.yield %39 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %30 = affine.apply #map3(%21)
          %31 = arith.cmpi ult, %30, %c16 : index
          %32 = arith.andi %23, %31 : i1
          %33 = scf.if %32 -> (f32) {
            %39 = memref.load %arg0[%c0, %18, %20, %30] : memref<1x16x16x16xf32>
            scf.yield %39 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %34 = affine.apply #map4(%21)
          %35 = arith.cmpi ult, %34, %c16 : index
          %36 = arith.andi %23, %35 : i1
          %37 = scf.if %36 -> (f32) {
            %39 = memref.load %arg0[%c0, %18, %20, %34] : memref<1x16x16x16xf32>
            scf.yield %39 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %38 = vector.from_elements %26, %29, %33, %37 : vector<4xf32>
          vector.store %38, %arg4[%c0, %17, %6] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          %17 = affine.apply #map22(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %18 = affine.apply #map23(%arg7)
            %19 = affine.apply #map24(%11, %arg7)
            %20 = arith.xori %19, %17 : index
            %21 = affine.apply #map14(%12, %20)
            %22 = vector.load %arg3[%arg6, %21] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %22, %alloca_2[%18] : memref<8xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %18 = affine.apply #map23(%arg7)
            %19 = affine.apply #map24(%13, %arg7)
            %20 = vector.load %arg4[%c0, %arg6, %19] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %20, %alloca_3[%18] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %18 = memref.load %alloca_2[%arg7] : memref<8xf32>
              %19 = memref.load %alloca_3[%arg8] : memref<8xf32>
              %20 = memref.load %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
              %21 = arith.mulf %19, %18 : f32
              %22 = arith.addf %20, %21 : f32
              memref.store %22, %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %14 = affine.apply #map25(%1, %0)
      %15 = affine.apply #map26(%block_id_x, %thread_id_x, %1)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %16 = affine.apply #map14(%14, %arg5)
        %17 = arith.cmpi slt, %16, %c32 : index
        scf.if %17 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %18 = affine.apply #map23(%arg6)
            %19 = vector.load %alloca[%c0, %arg5, %18] : memref<1x8x8xf32>, vector<4xf32>
            %20 = affine.apply #map24(%15, %arg6)
            vector.store %19, %reinterpret_cast_1[%c0, %16, %20] : memref<1x32x256xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
