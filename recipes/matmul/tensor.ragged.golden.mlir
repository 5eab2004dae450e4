// weft golden tensor.weft --set m=1000 --set n=777 --set k=333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map3 = affine_map<(d0) -> ((d0 mod 16) * 8)>
#map4 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 16) * 8)>
#map5 = affine_map<(d0) -> (d0 + 1)>
#map6 = affine_map<(d0) -> (d0 + 2)>
#map7 = affine_map<(d0) -> (d0 + 3)>
#map8 = affine_map<(d0) -> (d0 + 4)>
#map9 = affine_map<(d0) -> (d0 + 5)>
#map10 = affine_map<(d0) -> (d0 + 6)>
#map11 = affine_map<(d0) -> (d0 + 7)>
#map12 = affine_map<(d0) -> (d0 floordiv 4)>
#map13 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4)>
#map14 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map15 = affine_map<(d0) -> (d0 floordiv 16)>
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
#map27 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4 + (d3 floordiv 2) * 64)>
#map28 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 4) * 2 + (d3 mod 2) * 64)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<1000x333xbf16> {weft.name = "A"}, %arg1: memref<333x777xbf16> {weft.name = "B"}, %arg2: memref<1000x777xf32> {bufferize.result, weft.name = "C"}) {
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c7, %c8, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1000x333xbf16>, %arg1 : memref<333x777xbf16>, %arg2 : memref<1000x777xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<1000x333xbf16> {weft.name = "A"}, %arg1: memref<333x777xbf16> {weft.name = "B"}, %arg2: memref<1000x777xf32> {weft.name = "C"}) workgroup(%arg3 : memref<128x32xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<32x128xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 7, 8, 1>} {
      %c16 = arith.constant 16 : index
      %c777 = arith.constant 777 : index
      %cst = arith.constant 0.000000e+00 : bf16
      %c1000 = arith.constant 1000 : index
      %c333 = arith.constant 333 : index
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
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() {weft.name = "acc"} : memref<4x8x2x1x1x2xf32>
      scf.for %arg5 = %c0 to %c4 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          scf.for %arg7 = %c0 to %c2 step %c1 {
            scf.for %arg8 = %c0 to %c2 step %c1 {
              memref.store %cst_0, %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
            }
          }
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%thread_id_x)
      %4 = affine.apply #map4(%block_id_y, %block_id_x, %thread_id_x)
      %5 = arith.cmpi slt, %4, %c777 : index
      %6 = affine.apply #map5(%4)
      %7 = arith.cmpi slt, %6, %c777 : index
      %8 = affine.apply #map6(%4)
      %9 = arith.cmpi slt, %8, %c777 : index
      %10 = affine.apply #map7(%4)
      %11 = arith.cmpi slt, %10, %c777 : index
      %12 = affine.apply #map8(%4)
      %13 = arith.cmpi slt, %12, %c777 : index
      %14 = affine.apply #map9(%4)
      %15 = arith.cmpi slt, %14, %c777 : index
      %16 = affine.apply #map10(%4)
      %17 = arith.cmpi slt, %16, %c777 : index
      %18 = affine.apply #map11(%4)
      %19 = arith.cmpi slt, %18, %c777 : index
      %20 = affine.apply #map12(%thread_id_x)
      %21 = affine.apply #map13(%block_id_y, %block_id_x, %thread_id_x)
      %22 = affine.apply #map14(%thread_id_x)
      %23 = affine.apply #map15(%thread_id_x)
      %24 = affine.apply #map16(%thread_id_x)
      %25 = affine.apply #map17(%1)
      %26 = affine.apply #map18(%thread_id_x, %0)
      %27 = affine.apply #map19(%thread_id_x)
      %28 = affine.apply #map20(%thread_id_x)
      %29 = affine.apply #map21(%0)
      %30 = affine.apply #map22(%thread_id_x)
      scf.for %arg5 = %c0 to %c352 step %c32 {
        %33 = affine.apply #map23(%2, %arg5)
        %34 = arith.cmpi slt, %33, %c333 : index
        %35 = affine.apply #map5(%33)
        %36 = arith.cmpi slt, %35, %c333 : index
        %37 = affine.apply #map6(%33)
        %38 = arith.cmpi slt, %37, %c333 : index
        %39 = affine.apply #map7(%33)
        %40 = arith.cmpi slt, %39, %c333 : index
        %41 = affine.apply #map8(%33)
        %42 = arith.cmpi slt, %41, %c333 : index
        %43 = affine.apply #map9(%33)
        %44 = arith.cmpi slt, %43, %c333 : index
        %45 = affine.apply #map10(%33)
        %46 = arith.cmpi slt, %45, %c333 : index
        %47 = affine.apply #map11(%33)
        %48 = arith.cmpi slt, %47, %c333 : index
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %50 = affine.apply #map24(%20, %arg6)
          %51 = affine.apply #map24(%21, %arg6)
          %52 = arith.cmpi slt, %51, %c1000 : index
          %53 = arith.andi %34, %52 : i1
          %54 = scf.if %53 -> (bf16) {
            %71 = memref.load %arg0[%51, %33] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %55 = arith.andi %36, %52 : i1
          %56 = scf.if %55 -> (bf16) {
            %71 = memref.load %arg0[%51, %35] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %38, %52 : i1
          %58 = scf.if %57 -> (bf16) {
            %71 = memref.load %arg0[%51, %37] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %40, %52 : i1
          %60 = scf.if %59 -> (bf16) {
            %71 = memref.load %arg0[%51, %39] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %42, %52 : i1
          %62 = scf.if %61 -> (bf16) {
            %71 = memref.load %arg0[%51, %41] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %44, %52 : i1
          %64 = scf.if %63 -> (bf16) {
            %71 = memref.load %arg0[%51, %43] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = arith.andi %46, %52 : i1
          %66 = scf.if %65 -> (bf16) {
            %71 = memref.load %arg0[%51, %45] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %67 = arith.andi %48, %52 : i1
          %68 = scf.if %67 -> (bf16) {
            %71 = memref.load %arg0[%51, %47] : memref<1000x333xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %69 = vector.from_elements %54, %56, %58, %60, %62, %64, %66, %68 : vector<8xbf16>
          %70 = arith.xori %2, %22 : index
          vector.store %69, %arg3[%50, %70] : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %49 = affine.apply #map23(%23, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %50 = affine.apply #map25(%23, %arg6)
          %51 = affine.apply #map25(%49, %arg6)
          %52 = arith.cmpi slt, %51, %c333 : index
          %53 = arith.andi %52, %5 : i1
          %54 = scf.if %53 -> (bf16) {
            %71 = memref.load %arg1[%51, %4] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %55 = arith.andi %52, %7 : i1
          %56 = scf.if %55 -> (bf16) {
            %71 = memref.load %arg1[%51, %6] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %52, %9 : i1
          %58 = scf.if %57 -> (bf16) {
            %71 = memref.load %arg1[%51, %8] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %52, %11 : i1
          %60 = scf.if %59 -> (bf16) {
            %71 = memref.load %arg1[%51, %10] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %52, %13 : i1
          %62 = scf.if %61 -> (bf16) {
            %71 = memref.load %arg1[%51, %12] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %52, %15 : i1
          %64 = scf.if %63 -> (bf16) {
            %71 = memref.load %arg1[%51, %14] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = arith.andi %52, %17 : i1
          %66 = scf.if %65 -> (bf16) {
            %71 = memref.load %arg1[%51, %16] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %67 = arith.andi %52, %19 : i1
          %68 = scf.if %67 -> (bf16) {
            %71 = memref.load %arg1[%51, %18] : memref<333x777xbf16>
            scf.yield %71 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %69 = vector.from_elements %54, %56, %58, %60, %62, %64, %66, %68 : vector<8xbf16>
          %70 = arith.xori %3, %24 : index
          vector.store %69, %arg4[%50, %70] : memref<32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %50 = affine.apply #map23(%25, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %52 = affine.apply #map26(%26, %arg7)
            %53 = arith.xori %50, %27 : index
            %54 = nvgpu.ldmatrix %arg3[%52, %53] {numTiles = 4 : i32, transpose = false} : memref<128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %54, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %51 = affine.apply #map23(%28, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %52 = affine.apply #map25(%29, %arg7)
            %53 = arith.xori %52, %30 : index
            %54 = nvgpu.ldmatrix %arg4[%51, %53] {numTiles = 2 : i32, transpose = true} : memref<32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %54, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %52 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %53 = vector.shape_cast %52 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %54 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %55 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %56 = nvgpu.mma.sync(%54, %55, %53) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %57 = vector.shape_cast %56 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %57, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %31 = affine.apply #map27(%block_id_y, %block_id_x, %1, %0)
      %32 = affine.apply #map28(%block_id_y, %block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %33 = affine.apply #map26(%31, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %34 = affine.apply #map25(%32, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %35 = affine.apply #map25(%33, %arg7)
            %36 = arith.cmpi slt, %35, %c1000 : index
            scf.if %36 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %37 = affine.apply #map23(%34, %arg8)
                %38 = arith.cmpi slt, %37, %c777 : index
                scf.if %38 {
                  %39 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
                  memref.store %39, %arg2[%35, %37] : memref<1000x777xf32>
                }
              }
            }
          }
        }
      }
      gpu.return
    }
  }
}
