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
#map13 = affine_map<(d0) -> (d0 floordiv 16)>
#map14 = affine_map<(d0, d1) -> (d0 * 352 + d1 floordiv 16)>
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
#map25 = affine_map<(d0, d1) -> (d0 floordiv 4 + (d1 floordiv 2) * 64)>
#map26 = affine_map<(d0, d1) -> ((d0 mod 4) * 2 + (d1 mod 2) * 64)>
#map27 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map28 = affine_map<(d0, d1) -> ((d0 * 256 + d1) floordiv 77)>
#map29 = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 77)>
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
      %22 = affine.apply #map14(%block_id_z, %thread_id_x)
      %23 = affine.apply #map15(%1)
      %24 = affine.apply #map16(%thread_id_x, %0)
      %25 = affine.apply #map17(%thread_id_x)
      %26 = affine.apply #map18(%0)
      scf.for %arg5 = %c0 to %c352 step %c32 {
        %29 = affine.apply #map19(%19, %arg5)
        %30 = arith.cmpi slt, %29, %c1333 : index
        %31 = affine.apply #map4(%29)
        %32 = arith.cmpi slt, %31, %c1333 : index
        %33 = affine.apply #map5(%29)
        %34 = arith.cmpi slt, %33, %c1333 : index
        %35 = affine.apply #map6(%29)
        %36 = arith.cmpi slt, %35, %c1333 : index
        %37 = affine.apply #map7(%29)
        %38 = arith.cmpi slt, %37, %c1333 : index
        %39 = affine.apply #map8(%29)
        %40 = arith.cmpi slt, %39, %c1333 : index
        %41 = affine.apply #map9(%29)
        %42 = arith.cmpi slt, %41, %c1333 : index
        %43 = affine.apply #map10(%29)
        %44 = arith.cmpi slt, %43, %c1333 : index
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %46 = affine.apply #map20(%20, %arg6)
          %47 = arith.cmpi slt, %46, %c100 : index
          %48 = arith.andi %47, %30 : i1
          %49 = scf.if %48 -> (bf16) {
            %67 = memref.load %arg0[%46, %29] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %50 = arith.andi %47, %32 : i1
          %51 = scf.if %50 -> (bf16) {
            %67 = memref.load %arg0[%46, %31] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %52 = arith.andi %47, %34 : i1
          %53 = scf.if %52 -> (bf16) {
            %67 = memref.load %arg0[%46, %33] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %54 = arith.andi %47, %36 : i1
          %55 = scf.if %54 -> (bf16) {
            %67 = memref.load %arg0[%46, %35] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %56 = arith.andi %47, %38 : i1
          %57 = scf.if %56 -> (bf16) {
            %67 = memref.load %arg0[%46, %37] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %58 = arith.andi %47, %40 : i1
          %59 = scf.if %58 -> (bf16) {
            %67 = memref.load %arg0[%46, %39] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %60 = arith.andi %47, %42 : i1
          %61 = scf.if %60 -> (bf16) {
            %67 = memref.load %arg0[%46, %41] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %62 = arith.andi %47, %44 : i1
          %63 = scf.if %62 -> (bf16) {
            %67 = memref.load %arg0[%46, %43] : memref<100x1333xbf16>
            scf.yield %67 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %64 = vector.from_elements %49, %51, %53, %55, %57, %59, %61, %63 : vector<8xbf16>
          %65 = affine.apply #map21(%46)
          %66 = arith.xori %2, %65 : index
          vector.store %64, %arg3[%c0, %46, %66] : memref<1x128x32xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        %45 = affine.apply #map19(%22, %arg5)
        scf.for %arg6 = %c0 to %c4 step %c1 {
          %46 = affine.apply #map22(%21, %arg6)
          %47 = affine.apply #map22(%45, %arg6)
          %48 = arith.cmpi slt, %47, %c1333 : index
          %49 = arith.andi %4, %48 : i1
          %50 = scf.if %49 -> (bf16) {
            %68 = memref.load %arg1[%47, %3] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %51 = arith.andi %6, %48 : i1
          %52 = scf.if %51 -> (bf16) {
            %68 = memref.load %arg1[%47, %5] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %53 = arith.andi %8, %48 : i1
          %54 = scf.if %53 -> (bf16) {
            %68 = memref.load %arg1[%47, %7] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %55 = arith.andi %10, %48 : i1
          %56 = scf.if %55 -> (bf16) {
            %68 = memref.load %arg1[%47, %9] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %57 = arith.andi %12, %48 : i1
          %58 = scf.if %57 -> (bf16) {
            %68 = memref.load %arg1[%47, %11] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %59 = arith.andi %14, %48 : i1
          %60 = scf.if %59 -> (bf16) {
            %68 = memref.load %arg1[%47, %13] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %61 = arith.andi %16, %48 : i1
          %62 = scf.if %61 -> (bf16) {
            %68 = memref.load %arg1[%47, %15] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %63 = arith.andi %18, %48 : i1
          %64 = scf.if %63 -> (bf16) {
            %68 = memref.load %arg1[%47, %17] : memref<1333x77xbf16>
            scf.yield %68 : bf16
          } else {
            scf.yield %cst : bf16
          }
          %65 = vector.from_elements %50, %52, %54, %56, %58, %60, %62, %64 : vector<8xbf16>
          %66 = affine.apply #map23(%46)
          %67 = arith.xori %3, %66 : index
          vector.store %65, %arg4[%c0, %46, %67] : memref<1x32x128xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c32 step %c16 {
          %alloca_1 = memref.alloca() {weft.name = "A_frag"} : memref<4x4x2xbf16>
          %46 = affine.apply #map19(%23, %arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %49 = affine.apply #map24(%24, %arg7)
            %50 = affine.apply #map21(%49)
            %51 = arith.xori %46, %50 : index
            %52 = nvgpu.ldmatrix %arg3[%c0, %49, %51] {numTiles = 4 : i32, transpose = false} : memref<1x128x32xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
            vector.store %52, %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
          }
          %alloca_2 = memref.alloca() {weft.name = "B_frag"} : memref<8x2x2xbf16>
          %47 = affine.apply #map19(%25, %arg6)
          %48 = affine.apply #map23(%47)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %49 = affine.apply #map22(%26, %arg7)
            %50 = arith.xori %49, %48 : index
            %51 = nvgpu.ldmatrix %arg4[%c0, %47, %50] {numTiles = 2 : i32, transpose = true} : memref<1x32x128xbf16, #gpu.address_space<workgroup>> -> vector<2x2xbf16>
            vector.store %51, %alloca_2[%arg7, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
          }
          scf.for %arg7 = %c0 to %c4 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %49 = vector.load %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
              %50 = vector.shape_cast %49 : vector<2x1x1x1x2xf32> to vector<2x2xf32>
              %51 = vector.load %alloca_1[%arg7, %c0, %c0] : memref<4x4x2xbf16>, vector<4x2xbf16>
              %52 = vector.load %alloca_2[%arg8, %c0, %c0] : memref<8x2x2xbf16>, vector<2x2xbf16>
              %53 = nvgpu.mma.sync(%51, %52, %50) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
              %54 = vector.shape_cast %53 : vector<2x2xf32> to vector<2x1x1x1x2xf32>
              vector.store %54, %alloca[%arg7, %arg8, %c0, %c0, %c0, %c0, %c0] : memref<4x8x2x1x1x1x2xf32>, vector<2x1x1x1x2xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %27 = affine.apply #map25(%1, %0)
      %28 = affine.apply #map26(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %29 = affine.apply #map24(%27, %arg5)
        scf.for %arg6 = %c0 to %c8 step %c1 {
          %30 = affine.apply #map22(%28, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %31 = affine.apply #map22(%29, %arg7)
            %32 = arith.cmpi slt, %31, %c100 : index
            scf.if %32 {
              scf.for %arg8 = %c0 to %c2 step %c1 {
                %33 = affine.apply #map19(%30, %arg8)
                %34 = arith.cmpi slt, %33, %c77 : index
                scf.if %34 {
                  %35 = memref.load %alloca[%arg5, %arg6, %arg7, %c0, %c0, %c0, %arg8] : memref<4x8x2x1x1x1x2xf32>
                  memref.store %35, %arg2[%block_id_z, %31, %33] : memref<4x100x77xf32>
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
      %0 = affine.apply #map27(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c7700 : index
      %2 = affine.apply #map28(%block_id_x, %thread_id_x)
      %3 = affine.apply #map29(%block_id_x, %thread_id_x)
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
