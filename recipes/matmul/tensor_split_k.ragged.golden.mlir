// weft golden tensor_split_k.weft --set m=100 --set n=77 --set k=1333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map4 = affine_map<(d0) -> (d0 + 1)>
#map5 = affine_map<(d0) -> (d0 + 2)>
#map6 = affine_map<(d0) -> (d0 + 3)>
#map7 = affine_map<(d0) -> (d0 + 4)>
#map8 = affine_map<(d0) -> (d0 + 5)>
#map9 = affine_map<(d0) -> (d0 + 6)>
#map10 = affine_map<(d0) -> (d0 + 7)>
#map11 = affine_map<(d0, d1) -> (d0 * 352 + (d1 mod 4) * 8)>
#map12 = affine_map<(d0) -> (d0 floordiv 4)>
#map13 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map14 = affine_map<(d0) -> (d0 floordiv 16)>
#map15 = affine_map<(d0, d1) -> (d0 * 352 + d1 floordiv 16)>
#map16 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map17 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map18 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map19 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map20 = affine_map<(d0) -> (d0 mod 16)>
#map21 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map22 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map23 = affine_map<(d0, d1) -> (d0 + d1)>
#map24 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map25 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map26 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map27 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 2) * 64)>
#map28 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
#map29 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map30 = affine_map<(d0, d1) -> ((d0 * 256 + d1) floordiv 77)>
#map31 = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 77)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<100x1333xbf16> {weft.name = "A"}, %arg1: memref<1333x77xbf16> {weft.name = "B"}, %arg2: memref<100x77xf32> {bufferize.result, weft.name = "C"}) {
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "temp0"} : memref<4x100x77xf32>
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c1, %c1, %c4) threads in (%c128, %c1, %c1)  args(%arg0 : memref<100x1333xbf16>, %arg1 : memref<1333x77xbf16>, %alloc : memref<4x100x77xf32>)
    %c31 = arith.constant 31 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @matmul_1_kernel::@matmul_1 blocks in (%c31, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<100x77xf32>, %alloc : memref<4x100x77xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<100x1333xbf16> {weft.name = "A"}, %arg1: memref<1333x77xbf16> {weft.name = "B"}, %arg2: memref<4x100x77xf32> {weft.name = "temp0"}) workgroup(%arg3 : memref<1x128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<1x32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 4>} {
      %c16 = arith.constant 16 : index
      %c77 = arith.constant 77 : index
      %cst = arith.constant 0.000000e+00 : bf16
      %c1333 = arith.constant 1333 : index
      %c100 = arith.constant 100 : index
      %c32 = arith.constant 32 : index
      %c352 = arith.constant 352 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_z = gpu.block_id z
      %alloca = memref.alloca() {weft.name = "acc"} : memref<4x8x2x1x1x1x2xf32>
      scf.for %arg5 = %c0 to %c4 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c2 step %c1 {
            scf.for %arg8 = %c0 to %c2 step %c1 {
              memref.store %cst_0, %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0, %arg8] : memref<4x8x2x1x1x1x2xf32>
            }
          }
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%thread_id_x)
      %4 = arith.cmpi slt, %3, %c77 : index
      %5 = affine.apply #map4(%3)
      %6 = arith.cmpi slt, %5, %c77 : index
      %7 = affine.apply #map5(%3)
      %8 = arith.cmpi slt, %7, %c77 : index
      %9 = affine.apply #map6(%3)
      %10 = arith.cmpi slt, %9, %c77 : index
      %11 = affine.apply #map7(%3)
      %12 = arith.cmpi slt, %11, %c77 : index
      %13 = affine.apply #map8(%3)
      %14 = arith.cmpi slt, %13, %c77 : index
      %15 = affine.apply #map9(%3)
      %16 = arith.cmpi slt, %15, %c77 : index
      %17 = affine.apply #map10(%3)
      %18 = arith.cmpi slt, %17, %c77 : index
      %19 = affine.apply #map11(%block_id_z, %thread_id_x)
      %20 = affine.apply #map12(%thread_id_x)
      %21 = affine.apply #map13(%thread_id_x)
      %22 = affine.apply #map14(%thread_id_x)
      %23 = affine.apply #map15(%block_id_z, %thread_id_x)
      %24 = affine.apply #map16(%thread_id_x)
      %25 = affine.apply #map17(%1)
      %26 = affine.apply #map18(%thread_id_x, %0)
      %27 = affine.apply #map19(%thread_id_x)
      %28 = affine.apply #map20(%thread_id_x)
      %29 = affine.apply #map21(%0)
      %30 = affine.apply #map22(%thread_id_x)
      scf.for %arg5 = %c0 to %c352 step %c32 {
        %33 = affine.apply #map23(%19, %arg5)
        %34 = arith.cmpi slt, %33, %c1333 : index
        %35 = affine.apply #map4(%33)
        %36 = arith.cmpi slt, %35, %c1333 : index
        %37 = affine.apply #map5(%33)
        %38 = arith.cmpi slt, %37, %c1333 : index
        %39 = affine.apply #map6(%33)
        %40 = arith.cmpi slt, %39, %c1333 : index
        %41 = affine.apply #map7(%33)
        %42 = arith.cmpi slt, %41, %c1333 : index
        %43 = affine.apply #map8(%33)
        %44 = arith.cmpi slt, %43, %c1333 : index
        %45 = affine.apply #map9(%33)
        %46 = arith.cmpi slt, %45, %c1333 : index
        %47 = affine.apply #map10(%33)
        %48 = arith.cmpi slt, %47, %c1333 : index
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %50 = affine.apply #map24(%20, %arg6)
          %51 = arith.cmpi slt, %50, %c100 : index
          %52 = arith.andi %51, %34 : i1
          %53 = scf.if %52 -> (bf16) {
            %70 = memref.load %arg0[%50, %33] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %54 = arith.andi %51, %36 : i1
          %55 = scf.if %54 -> (bf16) {
            %70 = memref.load %arg0[%50, %35] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %56 = arith.andi %51, %38 : i1
          %57 = scf.if %56 -> (bf16) {
            %70 = memref.load %arg0[%50, %37] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %58 = arith.andi %51, %40 : i1
          %59 = scf.if %58 -> (bf16) {
            %70 = memref.load %arg0[%50, %39] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %60 = arith.andi %51, %42 : i1
          %61 = scf.if %60 -> (bf16) {
            %70 = memref.load %arg0[%50, %41] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %62 = arith.andi %51, %44 : i1
          %63 = scf.if %62 -> (bf16) {
            %70 = memref.load %arg0[%50, %43] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %64 = arith.andi %51, %46 : i1
          %65 = scf.if %64 -> (bf16) {
            %70 = memref.load %arg0[%50, %45] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %66 = arith.andi %51, %48 : i1
          %67 = scf.if %66 -> (bf16) {
            %70 = memref.load %arg0[%50, %47] : memref<100x1333xbf16>
            scf.yield %70 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %68 = vector.from_elements %53, %55, %57, %59, %61, %63, %65, %67 : vector<8xbf16>
          %69 = arith.xori %2, %21 : index
          vector.store %68, %arg3[%c0, %50, %69] : memref<1x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %49 = affine.apply #map23(%23, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %50 = affine.apply #map25(%22, %arg6)
          %51 = affine.apply #map25(%49, %arg6)
          %52 = arith.cmpi slt, %51, %c1333 : index
          %53 = arith.andi %4, %52 : i1
          %54 = scf.if %53 -> (bf16) {
            %71 = memref.load %arg1[%51, %3] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %55 = arith.andi %6, %52 : i1
          %56 = scf.if %55 -> (bf16) {
            %71 = memref.load %arg1[%51, %5] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %8, %52 : i1
          %58 = scf.if %57 -> (bf16) {
            %71 = memref.load %arg1[%51, %7] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %10, %52 : i1
          %60 = scf.if %59 -> (bf16) {
            %71 = memref.load %arg1[%51, %9] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %12, %52 : i1
          %62 = scf.if %61 -> (bf16) {
            %71 = memref.load %arg1[%51, %11] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %14, %52 : i1
          %64 = scf.if %63 -> (bf16) {
            %71 = memref.load %arg1[%51, %13] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = arith.andi %16, %52 : i1
          %66 = scf.if %65 -> (bf16) {
            %71 = memref.load %arg1[%51, %15] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %67 = arith.andi %18, %52 : i1
          %68 = scf.if %67 -> (bf16) {
            %71 = memref.load %arg1[%51, %17] : memref<1333x77xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %69 = vector.from_elements %54, %56, %58, %60, %62, %64, %66, %68 : vector<8xbf16>
          %70 = arith.xori %3, %24 : index
          vector.store %69, %arg4[%c0, %50, %70] : memref<1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %50 = affine.apply #map23(%25, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %52 = affine.apply #map26(%26, %arg7)
            %53 = arith.xori %50, %27 : index
            %54 = nvgpu.ldmatrix %arg3[%c0, %52, %53] {numTiles = 4 : i32, transpose = false} : memref<1x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %54, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %51 = affine.apply #map23(%28, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %52 = affine.apply #map25(%29, %arg7)
            %53 = arith.xori %52, %30 : index
            %54 = nvgpu.ldmatrix %arg4[%c0, %51, %53] {numTiles = 2 : i32, transpose = true} : memref<1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %54, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %52 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %53 = vector.shape_cast %52 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %54 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %55 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %56 = nvgpu.mma.sync(%54, %55, %53) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %57 = vector.shape_cast %56 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %57, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %31 = affine.apply #map27(%1, %0)
      %32 = affine.apply #map28(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %33 = affine.apply #map26(%31, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %34 = affine.apply #map25(%32, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %35 = affine.apply #map25(%33, %arg7)
            %36 = arith.cmpi slt, %35, %c100 : index
            scf.if %36 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %37 = affine.apply #map23(%34, %arg8)
                %38 = arith.cmpi slt, %37, %c77 : index
                scf.if %38 {
                  %39 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0, %arg8] : memref<4x8x2x1x1x1x2xf32>
                  memref.store %39, %arg2[%block_id_z, %35, %37] : memref<4x100x77xf32>
                }
              }
            }
          }
        }
      }
      gpu.return
    }
  }
  gpu.module @matmul_1_kernel {
    gpu.func @matmul_1(%arg0: memref<100x77xf32> {weft.name = "C"}, %arg1: memref<4x100x77xf32> {weft.name = "temp0"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 31, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c7700 = arith.constant 7700 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map29(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c7700 : index
      %2 = affine.apply #map30(%block_id_x, %thread_id_x)
      %3 = affine.apply #map31(%block_id_x, %thread_id_x)
      scf.if %1 {
        %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
        memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
        scf.for %arg2 = %c0 to %c4 step %c1 {
          %5 = memref.load %arg1[%arg2, %2, %3] : memref<4x100x77xf32>
          %6 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
          %7 = arith.addf %6, %5 : f32
          memref.store %7, %alloca[%c0, %c0] : memref<1x1xf32>
        } {weft.unroll}
        %4 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        memref.store %4, %arg0[%2, %3] : memref<100x77xf32>
      }
      gpu.return
    }
  }
}
