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
#map14 = affine_map<(d0) -> (d0 floordiv 16)>
#map15 = affine_map<(d0) -> ((d0 floordiv 16) * 8)>
#map16 = affine_map<(d0, d1) -> (d0 mod 16 + (d1 floordiv 2) * 64)>
#map17 = affine_map<(d0) -> (d0 mod 16)>
#map18 = affine_map<(d0) -> ((d0 mod 2) * 64)>
#map19 = affine_map<(d0, d1) -> (d0 + d1)>
#map20 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map21 = affine_map<(d0) -> (((d0 floordiv 2) mod 4) * 8)>
#map22 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map23 = affine_map<(d0) -> ((d0 mod 8) * 8)>
#map24 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map25 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4 + (d3 floordiv 2) * 64)>
#map26 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 4) * 2 + (d3 mod 2) * 64)>
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
      %23 = affine.apply #map15(%1)
      %24 = affine.apply #map16(%thread_id_x, %0)
      %25 = affine.apply #map17(%thread_id_x)
      %26 = affine.apply #map18(%0)
      scf.for %arg5 = %c0 to %c352 step %c32 {
        %29 = affine.apply #map19(%2, %arg5)
        %30 = arith.cmpi slt, %29, %c333 : index
        %31 = affine.apply #map5(%29)
        %32 = arith.cmpi slt, %31, %c333 : index
        %33 = affine.apply #map6(%29)
        %34 = arith.cmpi slt, %33, %c333 : index
        %35 = affine.apply #map7(%29)
        %36 = arith.cmpi slt, %35, %c333 : index
        %37 = affine.apply #map8(%29)
        %38 = arith.cmpi slt, %37, %c333 : index
        %39 = affine.apply #map9(%29)
        %40 = arith.cmpi slt, %39, %c333 : index
        %41 = affine.apply #map10(%29)
        %42 = arith.cmpi slt, %41, %c333 : index
        %43 = affine.apply #map11(%29)
        %44 = arith.cmpi slt, %43, %c333 : index
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %46 = affine.apply #map20(%20, %arg6)
          %47 = affine.apply #map20(%21, %arg6)
          %48 = arith.cmpi slt, %47, %c1000 : index
          %49 = arith.andi %30, %48 : i1
          %50 = scf.if %49 -> (bf16) {
            %68 = memref.load %arg0[%47, %29] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %51 = arith.andi %32, %48 : i1
          %52 = scf.if %51 -> (bf16) {
            %68 = memref.load %arg0[%47, %31] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %53 = arith.andi %34, %48 : i1
          %54 = scf.if %53 -> (bf16) {
            %68 = memref.load %arg0[%47, %33] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %55 = arith.andi %36, %48 : i1
          %56 = scf.if %55 -> (bf16) {
            %68 = memref.load %arg0[%47, %35] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %38, %48 : i1
          %58 = scf.if %57 -> (bf16) {
            %68 = memref.load %arg0[%47, %37] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %40, %48 : i1
          %60 = scf.if %59 -> (bf16) {
            %68 = memref.load %arg0[%47, %39] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %42, %48 : i1
          %62 = scf.if %61 -> (bf16) {
            %68 = memref.load %arg0[%47, %41] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %44, %48 : i1
          %64 = scf.if %63 -> (bf16) {
            %68 = memref.load %arg0[%47, %43] : memref<1000x333xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = vector.from_elements %50, %52, %54, %56, %58, %60, %62, %64 : vector<8xbf16>
          %66 = affine.apply #map21(%46)
          %67 = arith.xori %2, %66 : index
          vector.store %65, %arg3[%46, %67] : memref<128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %45 = affine.apply #map19(%22, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %46 = affine.apply #map22(%22, %arg6)
          %47 = affine.apply #map22(%45, %arg6)
          %48 = arith.cmpi slt, %47, %c333 : index
          %49 = arith.andi %48, %5 : i1
          %50 = scf.if %49 -> (bf16) {
            %68 = memref.load %arg1[%47, %4] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %51 = arith.andi %48, %7 : i1
          %52 = scf.if %51 -> (bf16) {
            %68 = memref.load %arg1[%47, %6] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %53 = arith.andi %48, %9 : i1
          %54 = scf.if %53 -> (bf16) {
            %68 = memref.load %arg1[%47, %8] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %55 = arith.andi %48, %11 : i1
          %56 = scf.if %55 -> (bf16) {
            %68 = memref.load %arg1[%47, %10] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %48, %13 : i1
          %58 = scf.if %57 -> (bf16) {
            %68 = memref.load %arg1[%47, %12] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %48, %15 : i1
          %60 = scf.if %59 -> (bf16) {
            %68 = memref.load %arg1[%47, %14] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %48, %17 : i1
          %62 = scf.if %61 -> (bf16) {
            %68 = memref.load %arg1[%47, %16] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %48, %19 : i1
          %64 = scf.if %63 -> (bf16) {
            %68 = memref.load %arg1[%47, %18] : memref<333x777xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = vector.from_elements %50, %52, %54, %56, %58, %60, %62, %64 : vector<8xbf16>
          %66 = affine.apply #map23(%46)
          %67 = arith.xori %3, %66 : index
          vector.store %65, %arg4[%46, %67] : memref<32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %46 = affine.apply #map19(%23, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %49 = affine.apply #map24(%24, %arg7)
            %50 = affine.apply #map21(%49)
            %51 = arith.xori %46, %50 : index
            %52 = nvgpu.ldmatrix %arg3[%49, %51] {numTiles = 4 : i32, transpose = false} : memref<128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %52, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %47 = affine.apply #map19(%25, %arg6)
          %48 = affine.apply #map23(%47)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %49 = affine.apply #map22(%26, %arg7)
            %50 = arith.xori %49, %48 : index
            %51 = nvgpu.ldmatrix %arg4[%47, %50] {numTiles = 2 : i32, transpose = true} : memref<32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %51, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %49 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
              %50 = vector.shape_cast %49 : vector<2x1x1x2xf32> to vector<2x2xf32>
              %51 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %52 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %53 = nvgpu.mma.sync(%51, %52, %50) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %54 = vector.shape_cast %53 : vector<2x2xf32> to vector<2x1x1x2xf32>
              vector.store %54, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x2xf32>, vector<2x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %27 = affine.apply #map25(%block_id_y, %block_id_x, %1, %0)
      %28 = affine.apply #map26(%block_id_y, %block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %29 = affine.apply #map24(%27, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %30 = affine.apply #map22(%28, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %31 = affine.apply #map22(%29, %arg7)
            %32 = arith.cmpi slt, %31, %c1000 : index
            scf.if %32 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %33 = affine.apply #map19(%30, %arg8)
                %34 = arith.cmpi slt, %33, %c777 : index
                scf.if %34 {
                  %35 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %arg8] : memref<4x8x2x1x1x2xf32>
                  memref.store %35, %arg2[%31, %33] : memref<1000x777xf32>
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
