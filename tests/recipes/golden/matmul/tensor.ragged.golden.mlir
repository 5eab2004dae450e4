// weft golden tensor --set m=1000 --set n=777 --set k=333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 16) * 8)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> (d0 + 4)>
#map7 = affine_map<(d0) -> (d0 + 5)>
#map8 = affine_map<(d0) -> (d0 + 6)>
#map9 = affine_map<(d0) -> (d0 + 7)>
#map10 = affine_map<(d0) -> ((d0 mod 4) * 8)>
#map11 = affine_map<(d0) -> (d0 floordiv 4)>
#map12 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4)>
#map13 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 2) mod 4) * 8)>
#map14 = affine_map<(d0) -> (d0 * 8)>
#map15 = affine_map<(d0) -> ((d0 floordiv 4) * -32)>
#map16 = affine_map<(d0) -> (d0 floordiv 16)>
#map17 = affine_map<(d0) -> (((d0 floordiv 16) mod 8) * 8)>
#map18 = affine_map<(d0) -> ((d0 floordiv 16) * -128)>
#map19 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map20 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map21 = affine_map<(d0) -> ((((d0 mod 16) floordiv 2) mod 4) * 8)>
#map22 = affine_map<(d0) -> (d0 mod 16)>
#map23 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map24 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map25 = affine_map<(d0, d1) -> (d0 + d1)>
#map26 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map27 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map28 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map29 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4 + (d3 floordiv 2) * 64)>
#map30 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 4) * 2 + (d3 mod 2) * 64)>
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
      %2 = affine.apply #map2(%block_id_y, %block_id_x, %thread_id_x)
      %3 = arith.cmpi slt, %2, %c777 : index
      %4 = affine.apply #map3(%2)
      %5 = arith.cmpi slt, %4, %c777 : index
      %6 = affine.apply #map4(%2)
      %7 = arith.cmpi slt, %6, %c777 : index
      %8 = affine.apply #map5(%2)
      %9 = arith.cmpi slt, %8, %c777 : index
      %10 = affine.apply #map6(%2)
      %11 = arith.cmpi slt, %10, %c777 : index
      %12 = affine.apply #map7(%2)
      %13 = arith.cmpi slt, %12, %c777 : index
      %14 = affine.apply #map8(%2)
      %15 = arith.cmpi slt, %14, %c777 : index
      %16 = affine.apply #map9(%2)
      %17 = arith.cmpi slt, %16, %c777 : index
      %18 = affine.apply #map10(%thread_id_x)
      %19 = affine.apply #map11(%thread_id_x)
      %20 = affine.apply #map12(%block_id_y, %block_id_x, %thread_id_x)
      %21 = affine.apply #map13(%thread_id_x)
      %22 = affine.apply #map14(%thread_id_x)
      %23 = affine.apply #map15(%thread_id_x)
      %24 = affine.apply #map16(%thread_id_x)
      %25 = affine.apply #map17(%thread_id_x)
      %26 = affine.apply #map18(%thread_id_x)
      %27 = affine.apply #map19(%1)
      %28 = affine.apply #map20(%thread_id_x, %0)
      %29 = affine.apply #map21(%thread_id_x)
      %30 = affine.apply #map22(%thread_id_x)
      %31 = affine.apply #map23(%thread_id_x)
      %32 = affine.apply #map24(%0)
      scf.for %arg5 = %c0 to %c352 step %c32 {
        %35 = affine.apply #map25(%18, %arg5)
        %36 = arith.cmpi slt, %35, %c333 : index
        %37 = affine.apply #map3(%35)
        %38 = arith.cmpi slt, %37, %c333 : index
        %39 = affine.apply #map4(%35)
        %40 = arith.cmpi slt, %39, %c333 : index
        %41 = affine.apply #map5(%35)
        %42 = arith.cmpi slt, %41, %c333 : index
        %43 = affine.apply #map6(%35)
        %44 = arith.cmpi slt, %43, %c333 : index
        %45 = affine.apply #map7(%35)
        %46 = arith.cmpi slt, %45, %c333 : index
        %47 = affine.apply #map8(%35)
        %48 = arith.cmpi slt, %47, %c333 : index
        %49 = affine.apply #map9(%35)
        %50 = arith.cmpi slt, %49, %c333 : index
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %52 = affine.apply #map26(%19, %arg6)
          %53 = affine.apply #map26(%20, %arg6)
          %54 = arith.cmpi slt, %53, %c1000 : index
          %55 = arith.andi %36, %54 : i1
          %56 = scf.if %55 -> (bf16) {
            %74 = memref.load %arg0[%53, %35] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %38, %54 : i1
          %58 = scf.if %57 -> (bf16) {
            %74 = memref.load %arg0[%53, %37] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %40, %54 : i1
          %60 = scf.if %59 -> (bf16) {
            %74 = memref.load %arg0[%53, %39] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %42, %54 : i1
          %62 = scf.if %61 -> (bf16) {
            %74 = memref.load %arg0[%53, %41] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %44, %54 : i1
          %64 = scf.if %63 -> (bf16) {
            %74 = memref.load %arg0[%53, %43] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = arith.andi %46, %54 : i1
          %66 = scf.if %65 -> (bf16) {
            %74 = memref.load %arg0[%53, %45] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %67 = arith.andi %48, %54 : i1
          %68 = scf.if %67 -> (bf16) {
            %74 = memref.load %arg0[%53, %47] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %69 = arith.andi %50, %54 : i1
          %70 = scf.if %69 -> (bf16) {
            %74 = memref.load %arg0[%53, %49] : memref<1000x333xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %71 = vector.from_elements %56, %58, %60, %62, %64, %66, %68, %70 : vector<8xbf16>
          %72 = arith.xori %22, %21 : index
          %73 = affine.apply #map25(%23, %72)
          vector.store %71, %arg3[%52, %73] : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %51 = affine.apply #map25(%24, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %52 = affine.apply #map27(%24, %arg6)
          %53 = affine.apply #map27(%51, %arg6)
          %54 = arith.cmpi slt, %53, %c333 : index
          %55 = arith.andi %54, %3 : i1
          %56 = scf.if %55 -> (bf16) {
            %74 = memref.load %arg1[%53, %2] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %54, %5 : i1
          %58 = scf.if %57 -> (bf16) {
            %74 = memref.load %arg1[%53, %4] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %54, %7 : i1
          %60 = scf.if %59 -> (bf16) {
            %74 = memref.load %arg1[%53, %6] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %54, %9 : i1
          %62 = scf.if %61 -> (bf16) {
            %74 = memref.load %arg1[%53, %8] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %54, %11 : i1
          %64 = scf.if %63 -> (bf16) {
            %74 = memref.load %arg1[%53, %10] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = arith.andi %54, %13 : i1
          %66 = scf.if %65 -> (bf16) {
            %74 = memref.load %arg1[%53, %12] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %67 = arith.andi %54, %15 : i1
          %68 = scf.if %67 -> (bf16) {
            %74 = memref.load %arg1[%53, %14] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %69 = arith.andi %54, %17 : i1
          %70 = scf.if %69 -> (bf16) {
            %74 = memref.load %arg1[%53, %16] : memref<333x777xbf16>
            scf.yield %74 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %71 = vector.from_elements %56, %58, %60, %62, %64, %66, %68, %70 : vector<8xbf16>
          %72 = arith.xori %22, %25 : index
          %73 = affine.apply #map25(%26, %72)
          vector.store %71, %arg4[%52, %73] : memref<32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %52 = affine.apply #map25(%27, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %54 = affine.apply #map28(%28, %arg7)
            %55 = arith.xori %52, %29 : index
            %56 = nvgpu.ldmatrix %arg3[%54, %55] {numTiles = 4 : i32, transpose = false} : memref<128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %56, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %53 = affine.apply #map25(%30, %arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %54 = affine.apply #map14(%arg7)
            %55 = arith.xori %54, %31 : index
            %56 = affine.apply #map25(%32, %55)
            %57 = nvgpu.ldmatrix %arg4[%53, %56] {numTiles = 2 : i32, transpose = true} : memref<32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %57, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %54 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %55 = vector.shape_cast %54 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %56 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %57 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %58 = nvgpu.mma.sync(%56, %57, %55) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %59 = vector.shape_cast %58 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %59, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %33 = affine.apply #map29(%block_id_y, %block_id_x, %1, %0)
      %34 = affine.apply #map30(%block_id_y, %block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %35 = affine.apply #map28(%33, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %36 = affine.apply #map27(%34, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %37 = affine.apply #map27(%35, %arg7)
            %38 = arith.cmpi slt, %37, %c1000 : index
            scf.if %38 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %39 = affine.apply #map25(%36, %arg8)
                %40 = arith.cmpi slt, %39, %c777 : index
                scf.if %40 {
                  %41 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
                  memref.store %41, %arg2[%37, %39] : memref<1000x777xf32>
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
