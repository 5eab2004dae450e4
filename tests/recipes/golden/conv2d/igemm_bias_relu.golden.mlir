// weft golden igemm_bias_relu
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map7 = affine_map<(d0) -> ((d0 floordiv 4) mod 16)>
#map8 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16)>
#map9 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map10 = affine_map<(d0) -> (d0 floordiv 4)>
#map11 = affine_map<(d0) -> (d0 floordiv 16)>
#map12 = affine_map<(d0) -> ((d0 floordiv 4) * 8)>
#map13 = affine_map<(d0) -> ((d0 floordiv 2) * 64)>
#map14 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map15 = affine_map<(d0, d1) -> ((d0 + d1 * 4) mod 16)>
#map16 = affine_map<(d0, d1, d2) -> (d0 + ((d1 + (d2 mod 4) * 4) mod 48) floordiv 16)>
#map17 = affine_map<(d0) -> (d0 - 1)>
#map18 = affine_map<(d0, d1, d2) -> (d0 + (d1 + (d2 mod 4) * 4) floordiv 48)>
#map19 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map20 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map21 = affine_map<(d0, d1) -> (d0 + d1)>
#map22 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map23 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map24 = affine_map<(d0) -> (d0 * 4)>
#map25 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map26 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
module attributes {gpu.container_module} {
  func.func @conv2d_bias_relu(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<32xf32> {weft.name = "bias"}, %arg3: memref<1x16x16x32xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_bias_relu_kernel::@conv2d_bias_relu blocks in (%c1, %c2, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x16x16x16xf32>, %arg1 : memref<3x3x16x32xf32>, %arg2 : memref<32xf32>, %arg3 : memref<1x16x16x32xf32>)
    return
  }
  gpu.module @conv2d_bias_relu_kernel {
    gpu.func @conv2d_bias_relu(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<32xf32> {weft.name = "bias"}, %arg3: memref<1x16x16x32xf32> {weft.name = "Y"}) workgroup(%arg4 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg5 : memref<16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 2, 1>, weft.max_registers = 255 : i64} {
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c144 = arith.constant 144 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "warp"}
      %block_id_y = gpu.block_id y
      %reinterpret_cast = memref.reinterpret_cast %arg1 to offset: [0], sizes: [144, 32], strides: [32, 1] : memref<3x3x16x32xf32> to memref<144x32xf32>
      %reinterpret_cast_1 = memref.reinterpret_cast %arg3 to offset: [0], sizes: [256, 32], strides: [32, 1] : memref<1x16x16x32xf32> to memref<256x32xf32>
      %alloca = memref.alloca() {weft.name = "acc"} : memref<8x8xf32>
      scf.for %arg6 = %c0 to %c8 step %c1 {
        scf.for %arg7 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca[%arg6, %arg7] : memref<8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%thread_id_x)
      %7 = arith.cmpi slt, %6, %c32 : index
      %8 = affine.apply #map7(%thread_id_x)
      %9 = affine.apply #map8(%block_id_y, %thread_id_x)
      %10 = affine.apply #map9(%thread_id_x)
      %11 = affine.apply #map10(%thread_id_x)
      %12 = affine.apply #map11(%thread_id_x)
      %13 = affine.apply #map12(%0)
      %14 = affine.apply #map13(%1)
      %15 = affine.apply #map14(%thread_id_x, %1)
      scf.for %arg6 = %c0 to %c144 step %c16 {
        %17 = affine.apply #map15(%arg6, %thread_id_x)
        %18 = affine.apply #map16(%8, %arg6, %thread_id_x)
        %19 = affine.apply #map17(%18)
        %20 = arith.cmpi ult, %19, %c16 : index
        %21 = affine.apply #map18(%9, %arg6, %thread_id_x)
        scf.for %arg7 = %c0 to %c4 step %c1 {
          %23 = affine.apply #map19(%21, %arg7)
          %24 = affine.apply #map17(%23)
          %25 = arith.cmpi ult, %24, %c16 : index
          %26 = arith.andi %25, %20 : i1
          %27 = scf.if %26 -> (vector<4xf32>) {
            %34 = vector.load %arg0[%c0, %24, %19, %17] : memref<1x16x16x16xf32>, vector<4xf32>
            scf.yield %34 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %28 = vector.extract %27[0] : f32 from vector<4xf32>
          %29 = arith.xori %11, %10 : index
          %30 = affine.apply #map20(%arg7, %29)
          memref.store %28, %arg4[%2, %30] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %31 = vector.extract %27[1] : f32 from vector<4xf32>
          memref.store %31, %arg4[%3, %30] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %32 = vector.extract %27[2] : f32 from vector<4xf32>
          memref.store %32, %arg4[%4, %30] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %33 = vector.extract %27[3] : f32 from vector<4xf32>
          memref.store %33, %arg4[%5, %30] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %22 = affine.apply #map21(%12, %arg6)
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %23 = affine.apply #map22(%12, %arg7)
          %24 = affine.apply #map22(%22, %arg7)
          %25 = scf.if %7 -> (vector<4xf32>) {
            %26 = vector.load %reinterpret_cast[%24, %6] : memref<144x32xf32>, vector<4xf32>
            scf.yield %26 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          vector.store %25, %arg5[%23, %6] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg7 = %c0 to %c16 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          %23 = affine.apply #map23(%arg7)
          scf.for %arg8 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map24(%arg8)
            %25 = affine.apply #map25(%13, %arg8)
            %26 = arith.xori %25, %23 : index
            %27 = affine.apply #map21(%14, %26)
            %28 = vector.load %arg4[%arg7, %27] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %28, %alloca_4[%24] : memref<8xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg8 = %c0 to %c2 step %c1 {
            %24 = affine.apply #map24(%arg8)
            %25 = affine.apply #map25(%15, %arg8)
            %26 = vector.load %arg5[%arg7, %25] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %26, %alloca_5[%24] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg8 = %c0 to %c8 step %c1 {
            scf.for %arg9 = %c0 to %c8 step %c1 {
              %24 = memref.load %alloca_4[%arg8] : memref<8xf32>
              %25 = memref.load %alloca_5[%arg9] : memref<8xf32>
              %26 = memref.load %alloca[%arg8, %arg9] : memref<8x8xf32>
              %27 = arith.mulf %24, %25 : f32
              %28 = arith.addf %26, %27 : f32
              memref.store %28, %alloca[%arg8, %arg9] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %alloca_2 = memref.alloca() {weft.name = "Y_tile"} : memref<8x8xf32>
      %alloca_3 = memref.alloca() {weft.name = "biased"} : memref<8x8xf32>
      scf.for %arg6 = %c0 to %c8 step %c1 {
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %17 = affine.apply #map24(%arg7)
          %18 = affine.apply #map3(%17)
          %19 = affine.apply #map4(%17)
          %20 = affine.apply #map5(%17)
          %21 = affine.apply #map25(%15, %arg7)
          %22 = arith.cmpi slt, %21, %c32 : index
          %23 = scf.if %22 -> (vector<4xf32>) {
            %36 = vector.load %arg2[%21] : memref<32xf32>, vector<4xf32>
            scf.yield %36 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %24 = memref.load %alloca[%arg6, %17] : memref<8x8xf32>
          %25 = vector.extract %23[0] : f32 from vector<4xf32>
          %26 = arith.addf %24, %25 : f32
          memref.store %26, %alloca_3[%arg6, %17] : memref<8x8xf32>
          %27 = memref.load %alloca[%arg6, %18] : memref<8x8xf32>
          %28 = vector.extract %23[1] : f32 from vector<4xf32>
          %29 = arith.addf %27, %28 : f32
          memref.store %29, %alloca_3[%arg6, %18] : memref<8x8xf32>
          %30 = memref.load %alloca[%arg6, %19] : memref<8x8xf32>
          %31 = vector.extract %23[2] : f32 from vector<4xf32>
          %32 = arith.addf %30, %31 : f32
          memref.store %32, %alloca_3[%arg6, %19] : memref<8x8xf32>
          %33 = memref.load %alloca[%arg6, %20] : memref<8x8xf32>
          %34 = vector.extract %23[3] : f32 from vector<4xf32>
          %35 = arith.addf %33, %34 : f32
          memref.store %35, %alloca_3[%arg6, %20] : memref<8x8xf32>
        }
      }
      scf.for %arg6 = %c0 to %c8 step %c1 {
        scf.for %arg7 = %c0 to %c8 step %c1 {
          %17 = memref.load %alloca_3[%arg6, %arg7] : memref<8x8xf32>
          %18 = arith.maximumf %17, %cst_0 : f32
          memref.store %18, %alloca_2[%arg6, %arg7] : memref<8x8xf32>
        }
      }
      %16 = affine.apply #map26(%block_id_y, %1, %0)
      scf.for %arg6 = %c0 to %c8 step %c1 {
        %17 = affine.apply #map21(%16, %arg6)
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %18 = affine.apply #map25(%15, %arg7)
          %19 = arith.cmpi slt, %18, %c32 : index
          %20 = affine.apply #map24(%arg7)
          scf.if %19 {
            %21 = vector.load %alloca_2[%arg6, %20] : memref<8x8xf32>, vector<4xf32>
            vector.store %21, %reinterpret_cast_1[%17, %18] : memref<256x32xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
