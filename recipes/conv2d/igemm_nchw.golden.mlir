// weft golden igemm_nchw.weft
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0) -> (d0 floordiv 4)>
#map8 = affine_map<(d0) -> (d0 floordiv 16)>
#map9 = affine_map<(d0, d1) -> (d0 * 4 - (d1 floordiv 16) * 4 + d1 floordiv 4)>
#map10 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map11 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map12 = affine_map<(d0, d1) -> (d0 + d1)>
#map13 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map15 = affine_map<(d0, d1, d2) -> ((d0 + d1 * 8 + d2 floordiv 16) floordiv 9)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0 + ((d1 + d2 * 8 + d3 floordiv 16) mod 9) floordiv 3)>
#map17 = affine_map<(d0) -> (d0 - 1)>
#map18 = affine_map<(d0, d1, d2, d3) -> (d0 + (d1 + d2 * 8 + d3 floordiv 16) mod 3)>
#map19 = affine_map<(d0) -> (d0 * 4)>
#map20 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map21 = affine_map<(d0, d1, d2) -> (d0 * 64 + (d1 mod 4) * 8 + (d2 mod 2) * 32)>
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
      %9 = affine.apply #map9(%block_id_x, %thread_id_x)
      %10 = affine.apply #map10(%1, %0)
      %11 = affine.apply #map11(%thread_id_x, %1)
      scf.for %arg5 = %c0 to %c144 step %c16 {
        %13 = affine.apply #map12(%2, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %14 = affine.apply #map13(%7, %arg6)
          %15 = arith.cmpi slt, %14, %c32 : index
          %16 = scf.if %15 -> (vector<4xf32>) {
            %21 = vector.load %reinterpret_cast[%14, %13] : memref<32x144xf32>, vector<4xf32>
            scf.yield %21 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %17 = vector.extract %16[0] : f32 from vector<4xf32>
          memref.store %17, %arg3[%2, %14] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %18 = vector.extract %16[1] : f32 from vector<4xf32>
          memref.store %18, %arg3[%3, %14] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %19 = vector.extract %16[2] : f32 from vector<4xf32>
          memref.store %19, %arg3[%4, %14] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %20 = vector.extract %16[3] : f32 from vector<4xf32>
          memref.store %20, %arg3[%5, %14] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %14 = affine.apply #map14(%8, %arg6)
          %15 = affine.apply #map15(%arg5, %arg6, %thread_id_x)
          %16 = affine.apply #map16(%9, %arg5, %arg6, %thread_id_x)
          %17 = affine.apply #map17(%16)
          %18 = affine.apply #map18(%2, %arg5, %arg6, %thread_id_x)
          %19 = affine.apply #map17(%18)
          %20 = arith.cmpi ult, %17, %c16 : index
          %21 = arith.cmpi ult, %19, %c16 : index
          %22 = arith.andi %20, %21 : i1
          %23 = scf.if %22 -> (f32) {
            %36 = memref.load %arg0[%c0, %15, %17, %19] : memref<1x16x16x16xf32>
            scf.yield %36 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %24 = arith.cmpi ult, %18, %c16 : index
          %25 = arith.andi %20, %24 : i1
          %26 = scf.if %25 -> (f32) {
            %36 = memref.load %arg0[%c0, %15, %17, %18] : memref<1x16x16x16xf32>
            scf.yield %36 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %27 = affine.apply #map3(%18)
          %28 = arith.cmpi ult, %27, %c16 : index
          %29 = arith.andi %20, %28 : i1
          %30 = scf.if %29 -> (f32) {
            %36 = memref.load %arg0[%c0, %15, %17, %27] : memref<1x16x16x16xf32>
            scf.yield %36 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %31 = affine.apply #map4(%18)
          %32 = arith.cmpi ult, %31, %c16 : index
          %33 = arith.andi %20, %32 : i1
          %34 = scf.if %33 -> (f32) {
            %36 = memref.load %arg0[%c0, %15, %17, %31] : memref<1x16x16x16xf32>
            scf.yield %36 : f32
          } else {
            scf.yield %cst_0 : f32
          }
          %35 = vector.from_elements %23, %26, %30, %34 : vector<4xf32>
          vector.store %35, %arg4[%c0, %14, %6] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %14 = affine.apply #map19(%arg7)
            %15 = affine.apply #map20(%10, %arg7)
            %16 = vector.load %arg3[%arg6, %15] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %16, %alloca_2[%14] : memref<8xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %14 = affine.apply #map19(%arg7)
            %15 = affine.apply #map20(%11, %arg7)
            %16 = vector.load %arg4[%c0, %arg6, %15] : memref<1x16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %16, %alloca_3[%14] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %14 = memref.load %alloca_2[%arg7] : memref<8xf32>
              %15 = memref.load %alloca_3[%arg8] : memref<8xf32>
              %16 = memref.load %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
              %17 = arith.mulf %15, %14 : f32
              %18 = arith.addf %16, %17 : f32
              memref.store %18, %alloca[%c0, %arg7, %arg8] : memref<1x8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %12 = affine.apply #map21(%block_id_x, %thread_id_x, %1)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %13 = affine.apply #map12(%10, %arg5)
        %14 = arith.cmpi slt, %13, %c32 : index
        scf.if %14 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %15 = affine.apply #map19(%arg6)
            %16 = vector.load %alloca[%c0, %arg5, %15] : memref<1x8x8xf32>, vector<4xf32>
            %17 = affine.apply #map20(%12, %arg6)
            vector.store %16, %reinterpret_cast_1[%c0, %13, %17] : memref<1x32x256xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
