// weft golden igemm_bias_relu.weft
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 floordiv 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0) -> (d0 + 1)>
#map5 = affine_map<(d0) -> (d0 + 2)>
#map6 = affine_map<(d0) -> (d0 + 3)>
#map7 = affine_map<(d0) -> (d0 + 32)>
#map8 = affine_map<(d0) -> (d0 + 64)>
#map9 = affine_map<(d0) -> (d0 + 96)>
#map10 = affine_map<(d0) -> ((d0 mod 16) * 4)>
#map11 = affine_map<(d0, d1) -> (d0 * 8 + (d1 floordiv 4) floordiv 16)>
#map12 = affine_map<(d0) -> ((d0 floordiv 4) mod 16)>
#map13 = affine_map<(d0) -> (d0 floordiv 16)>
#map14 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 64 + (d1 floordiv 4) * 8)>
#map15 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 2) * 32)>
#map16 = affine_map<(d0, d1) -> (d0 + d1)>
#map17 = affine_map<(d0) -> (d0 - 1)>
#map18 = affine_map<(d0) -> (d0 + 5)>
#map19 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map20 = affine_map<(d0) -> (d0 * 4)>
#map21 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map22 = affine_map<(d0) -> (d0 - 2)>
#map23 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 2) * 64 + (d2 floordiv 4) * 8)>
module attributes {gpu.container_module} {
  func.func @conv2d_bias_relu(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<32xf32> {weft.name = "bias"}, %arg3: memref<1x16x16x32xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @conv2d_bias_relu_kernel::@conv2d_bias_relu blocks in (%c1, %c2, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1x16x16x16xf32>, %arg1 : memref<3x3x16x32xf32>, %arg2 : memref<32xf32>, %arg3 : memref<1x16x16x32xf32>)
    return
  }
  gpu.module @conv2d_bias_relu_kernel {
    gpu.func @conv2d_bias_relu(%arg0: memref<1x16x16x16xf32> {weft.name = "X"}, %arg1: memref<3x3x16x32xf32> {weft.name = "W"}, %arg2: memref<32xf32> {weft.name = "bias"}, %arg3: memref<1x16x16x32xf32> {weft.name = "Y"}) workgroup(%arg4 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg5 : memref<16x64xf32, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 2, 1>} {
      %c3 = arith.constant 3 : index
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c8 = arith.constant 8 : index
      %c32 = arith.constant 32 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
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
      %3 = affine.apply #map3(%thread_id_x)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%2)
      %7 = affine.apply #map7(%3)
      %8 = affine.apply #map8(%3)
      %9 = affine.apply #map9(%3)
      %10 = affine.apply #map10(%thread_id_x)
      %11 = arith.cmpi slt, %10, %c32 : index
      %12 = affine.apply #map11(%block_id_y, %thread_id_x)
      %13 = affine.apply #map12(%thread_id_x)
      %14 = affine.apply #map13(%thread_id_x)
      %15 = affine.apply #map14(%1, %0)
      %16 = affine.apply #map15(%thread_id_x, %1)
      %17:2 = scf.for %arg6 = %c0 to %c144 step %c16 iter_args(%arg7 = %c0, %arg8 = %c0) -> (index, index) {
        %19 = affine.apply #map16(%12, %arg7)
        %20 = affine.apply #map17(%19)
        %21 = affine.apply #map16(%13, %arg8)
        %22 = affine.apply #map17(%21)
        %23 = arith.cmpi ult, %20, %c16 : index
        %24 = arith.cmpi ult, %22, %c16 : index
        %25 = arith.andi %23, %24 : i1
        %26 = scf.if %25 -> (vector<4xf32>) {
          %62 = vector.load %arg0[%c0, %20, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %62 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %27 = vector.extract %26[0] : f32 from vector<4xf32>
        memref.store %27, %arg4[%2, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %28 = vector.extract %26[1] : f32 from vector<4xf32>
        memref.store %28, %arg4[%4, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %29 = vector.extract %26[2] : f32 from vector<4xf32>
        memref.store %29, %arg4[%5, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %30 = vector.extract %26[3] : f32 from vector<4xf32>
        memref.store %30, %arg4[%6, %3] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %31 = affine.apply #map4(%19)
        %32 = arith.cmpi ult, %31, %c16 : index
        %33 = arith.andi %32, %24 : i1
        %34 = scf.if %33 -> (vector<4xf32>) {
          %62 = vector.load %arg0[%c0, %31, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %62 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %35 = vector.extract %34[0] : f32 from vector<4xf32>
        memref.store %35, %arg4[%2, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %36 = vector.extract %34[1] : f32 from vector<4xf32>
        memref.store %36, %arg4[%4, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %37 = vector.extract %34[2] : f32 from vector<4xf32>
        memref.store %37, %arg4[%5, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %38 = vector.extract %34[3] : f32 from vector<4xf32>
        memref.store %38, %arg4[%6, %7] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %39 = affine.apply #map6(%19)
        %40 = arith.cmpi ult, %39, %c16 : index
        %41 = arith.andi %40, %24 : i1
        %42 = scf.if %41 -> (vector<4xf32>) {
          %62 = vector.load %arg0[%c0, %39, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %62 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %43 = vector.extract %42[0] : f32 from vector<4xf32>
        memref.store %43, %arg4[%2, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %44 = vector.extract %42[1] : f32 from vector<4xf32>
        memref.store %44, %arg4[%4, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %45 = vector.extract %42[2] : f32 from vector<4xf32>
        memref.store %45, %arg4[%5, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %46 = vector.extract %42[3] : f32 from vector<4xf32>
        memref.store %46, %arg4[%6, %8] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %47 = affine.apply #map18(%19)
        %48 = arith.cmpi ult, %47, %c16 : index
        %49 = arith.andi %48, %24 : i1
        %50 = scf.if %49 -> (vector<4xf32>) {
          %62 = vector.load %arg0[%c0, %47, %22, %2] : memref<1x16x16x16xf32>, vector<4xf32>
          scf.yield %62 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %51 = vector.extract %50[0] : f32 from vector<4xf32>
        memref.store %51, %arg4[%2, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %52 = vector.extract %50[1] : f32 from vector<4xf32>
        memref.store %52, %arg4[%4, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %53 = vector.extract %50[2] : f32 from vector<4xf32>
        memref.store %53, %arg4[%5, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %54 = vector.extract %50[3] : f32 from vector<4xf32>
        memref.store %54, %arg4[%6, %9] : memref<16x132xf32, #gpu.address_space<workgroup>>
        %55 = affine.apply #map16(%14, %arg6)
        scf.for %arg9 = %c0 to %c2 step %c1 {
          %62 = affine.apply #map19(%14, %arg9)
          %63 = affine.apply #map19(%55, %arg9)
          %64 = scf.if %11 -> (vector<4xf32>) {
            %65 = vector.load %reinterpret_cast[%63, %10] : memref<144x32xf32>, vector<4xf32>
            scf.yield %65 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          vector.store %64, %arg5[%62, %10] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg9 = %c0 to %c16 step %c1 {
          %alloca_4 = memref.alloca() {weft.name = "X_frag"} : memref<8xf32>
          scf.for %arg10 = %c0 to %c2 step %c1 {
            %62 = affine.apply #map20(%arg10)
            %63 = affine.apply #map21(%15, %arg10)
            %64 = vector.load %arg4[%arg9, %63] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %64, %alloca_4[%62] : memref<8xf32>, vector<4xf32>
          }
          %alloca_5 = memref.alloca() {weft.name = "W_frag"} : memref<8xf32>
          scf.for %arg10 = %c0 to %c2 step %c1 {
            %62 = affine.apply #map20(%arg10)
            %63 = affine.apply #map21(%16, %arg10)
            %64 = vector.load %arg5[%arg9, %63] : memref<16x64xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %64, %alloca_5[%62] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg10 = %c0 to %c8 step %c1 {
            scf.for %arg11 = %c0 to %c8 step %c1 {
              %62 = memref.load %alloca_4[%arg10] : memref<8xf32>
              %63 = memref.load %alloca_5[%arg11] : memref<8xf32>
              %64 = memref.load %alloca[%arg10, %arg11] : memref<8x8xf32>
              %65 = arith.mulf %62, %63 : f32
              %66 = arith.addf %64, %65 : f32
              memref.store %66, %alloca[%arg10, %arg11] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %56 = affine.apply #map4(%arg8)
        %57 = arith.cmpi sge, %56, %c3 : index
        %58 = affine.apply #map22(%arg8)
        %59 = arith.select %57, %58, %56 : index
        %60 = affine.apply #map4(%arg7)
        %61 = arith.select %57, %60, %arg7 : index
        scf.yield %61, %59 : index, index
      } {weft.counters = [{below = 4 : i64, name = "kh"}, {below = 3 : i64, name = "kw"}]}
      %alloca_2 = memref.alloca() : memref<8x8xf32>
      %alloca_3 = memref.alloca() : memref<8x8xf32>
      scf.for %arg6 = %c0 to %c8 step %c1 {
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %19 = affine.apply #map20(%arg7)
          %20 = affine.apply #map4(%19)
          %21 = affine.apply #map5(%19)
          %22 = affine.apply #map6(%19)
          %23 = affine.apply #map21(%16, %arg7)
          %24 = arith.cmpi slt, %23, %c32 : index
          %25 = scf.if %24 -> (vector<4xf32>) {
            %38 = vector.load %arg2[%23] : memref<32xf32>, vector<4xf32>
            scf.yield %38 : vector<4xf32>
          } else {
            scf.yield %cst : vector<4xf32>
          }
          %26 = memref.load %alloca[%arg6, %19] : memref<8x8xf32>
          %27 = vector.extract %25[0] : f32 from vector<4xf32>
          %28 = arith.addf %26, %27 : f32
          memref.store %28, %alloca_3[%arg6, %19] : memref<8x8xf32>
          %29 = memref.load %alloca[%arg6, %20] : memref<8x8xf32>
          %30 = vector.extract %25[1] : f32 from vector<4xf32>
          %31 = arith.addf %29, %30 : f32
          memref.store %31, %alloca_3[%arg6, %20] : memref<8x8xf32>
          %32 = memref.load %alloca[%arg6, %21] : memref<8x8xf32>
          %33 = vector.extract %25[2] : f32 from vector<4xf32>
          %34 = arith.addf %32, %33 : f32
          memref.store %34, %alloca_3[%arg6, %21] : memref<8x8xf32>
          %35 = memref.load %alloca[%arg6, %22] : memref<8x8xf32>
          %36 = vector.extract %25[3] : f32 from vector<4xf32>
          %37 = arith.addf %35, %36 : f32
          memref.store %37, %alloca_3[%arg6, %22] : memref<8x8xf32>
        }
      }
      scf.for %arg6 = %c0 to %c8 step %c1 {
        scf.for %arg7 = %c0 to %c8 step %c1 {
          %19 = memref.load %alloca_3[%arg6, %arg7] : memref<8x8xf32>
          %20 = arith.maximumf %19, %cst_0 : f32
          memref.store %20, %alloca_2[%arg6, %arg7] : memref<8x8xf32>
        }
      }
      %18 = affine.apply #map23(%block_id_y, %1, %0)
      scf.for %arg6 = %c0 to %c8 step %c1 {
        %19 = affine.apply #map16(%18, %arg6)
        scf.for %arg7 = %c0 to %c2 step %c1 {
          %20 = affine.apply #map21(%16, %arg7)
          %21 = arith.cmpi slt, %20, %c32 : index
          %22 = affine.apply #map20(%arg7)
          scf.if %21 {
            %23 = vector.load %alloca_2[%arg6, %22] : memref<8x8xf32>, vector<4xf32>
            vector.store %23, %reinterpret_cast_1[%19, %20] : memref<256x32xf32>, vector<4xf32>
          }
        }
      }
      gpu.return
    }
  }
}
