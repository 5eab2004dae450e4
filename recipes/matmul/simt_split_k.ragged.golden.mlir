// weft golden simt_split_k.weft --set m=300 --set n=200 --set k=333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 96 + (d1 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map7 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map8 = affine_map<(d0) -> (d0 floordiv 4)>
#map9 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map10 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map11 = affine_map<(d0) -> (d0 * 4)>
#map12 = affine_map<(d0, d1) -> (d0 * 96 + d1)>
#map13 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map14 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map15 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map16 = affine_map<(d0) -> (d0 + 16)>
#map17 = affine_map<(d0, d1) -> (d0 + d1)>
#map18 = affine_map<(d0) -> (d0 + 17)>
#map19 = affine_map<(d0) -> (d0 + 18)>
#map20 = affine_map<(d0) -> (d0 + 19)>
#map21 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map22 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
#map23 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
#map24 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 8 + d2 * 32)>
#map25 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map26 = affine_map<(d0, d1) -> ((d0 * 256 + d1) floordiv 200)>
#map27 = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 200)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<300x333xf32> {weft.name = "A"}, %arg1: memref<333x200xf32> {weft.name = "B"}, %arg2: memref<300x200xf32> {bufferize.result, weft.name = "C"}) {
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "temp0"} : memref<4x300x200xf32>
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c3, %c4) threads in (%c128, %c1, %c1)  args(%arg0 : memref<300x333xf32>, %arg1 : memref<333x200xf32>, %alloc : memref<4x300x200xf32>)
    %c235 = arith.constant 235 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @matmul_1_kernel::@matmul_1 blocks in (%c235, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<300x200xf32>, %alloc : memref<4x300x200xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<300x333xf32> {weft.name = "A"}, %arg1: memref<333x200xf32> {weft.name = "B"}, %arg2: memref<4x300x200xf32> {weft.name = "temp0"}) workgroup(%arg3 : memref<2x1x16x132xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<2x1x16x128xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 3, 4>, weft.max_registers = 255 : i64} {
      %cst = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c200 = arith.constant 200 : index
      %c333 = arith.constant 333 : index
      %c300 = arith.constant 300 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c96 = arith.constant 96 : index
      %c0 = arith.constant 0 : index
      %cst_0 = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %block_id_z = gpu.block_id z
      %alloca = memref.alloca() {weft.name = "A_next"} : memref<16xf32>
      %alloca_1 = memref.alloca() {weft.name = "B_next"} : memref<16xf32>
      %alloca_2 = memref.alloca() {weft.name = "acc"} : memref<1x16x8xf32>
      scf.for %arg5 = %c0 to %c16 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst_0, %alloca_2[%c0, %arg5, %arg6] : memref<1x16x8xf32>
        }
      }
      %2 = affine.apply #map2(%block_id_z, %thread_id_x)
      %3 = arith.cmpi slt, %2, %c333 : index
      %4 = affine.apply #map3(%2)
      %5 = arith.cmpi slt, %4, %c333 : index
      %6 = affine.apply #map4(%2)
      %7 = arith.cmpi slt, %6, %c333 : index
      %8 = affine.apply #map5(%2)
      %9 = arith.cmpi slt, %8, %c333 : index
      %10 = affine.apply #map6(%thread_id_x)
      %11 = affine.apply #map3(%10)
      %12 = affine.apply #map4(%10)
      %13 = affine.apply #map5(%10)
      %14 = affine.apply #map7(%block_id_y, %thread_id_x)
      %15 = affine.apply #map8(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %24 = affine.apply #map9(%14, %arg5)
        %25 = arith.cmpi slt, %24, %c300 : index
        %26 = arith.andi %25, %3 : i1
        %27 = scf.if %26 -> (f32) {
          %35 = memref.load %arg0[%24, %2] : memref<300x333xf32>
          scf.yield %35 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %28 = arith.andi %25, %5 : i1
        %29 = scf.if %28 -> (f32) {
          %35 = memref.load %arg0[%24, %4] : memref<300x333xf32>
          scf.yield %35 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %30 = arith.andi %25, %7 : i1
        %31 = scf.if %30 -> (f32) {
          %35 = memref.load %arg0[%24, %6] : memref<300x333xf32>
          scf.yield %35 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %32 = arith.andi %25, %9 : i1
        %33 = scf.if %32 -> (f32) {
          %35 = memref.load %arg0[%24, %8] : memref<300x333xf32>
          scf.yield %35 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %34 = affine.apply #map9(%15, %arg5)
        memref.store %27, %arg3[%c0, %c0, %10, %34] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %29, %arg3[%c0, %c0, %11, %34] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %31, %arg3[%c0, %c0, %12, %34] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %33, %arg3[%c0, %c0, %13, %34] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
      }
      %16 = affine.apply #map10(%block_id_x, %1)
      %17 = arith.cmpi slt, %16, %c200 : index
      %18 = affine.apply #map11(%1)
      %19 = affine.apply #map12(%block_id_z, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %24 = affine.apply #map13(%19, %arg5)
        %25 = arith.cmpi slt, %24, %c333 : index
        %26 = arith.andi %17, %25 : i1
        %27 = scf.if %26 -> (vector<4xf32>) {
          %29 = vector.load %arg1[%24, %16] : memref<333x200xf32>, vector<4xf32>
          scf.yield %29 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %28 = affine.apply #map13(%0, %arg5)
        vector.store %27, %arg4[%c0, %c0, %28, %18] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %20 = affine.apply #map14(%1)
      %21 = affine.apply #map15(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c96 step %c16 {
        %24 = affine.apply #map16(%arg5)
        %25 = arith.cmpi slt, %24, %c96 : index
        %26 = affine.apply #map17(%2, %arg5)
        %27 = affine.apply #map16(%26)
        %28 = affine.apply #map18(%26)
        %29 = affine.apply #map19(%26)
        %30 = affine.apply #map20(%26)
        %31 = affine.apply #map17(%19, %arg5)
        scf.if %25 {
          %34 = arith.cmpi slt, %27, %c333 : index
          %35 = arith.cmpi slt, %28, %c333 : index
          %36 = arith.cmpi slt, %29, %c333 : index
          %37 = arith.cmpi slt, %30, %c333 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %38 = affine.apply #map11(%arg6)
            %39 = affine.apply #map9(%14, %arg6)
            %40 = arith.cmpi slt, %39, %c300 : index
            %41 = arith.andi %40, %34 : i1
            %42 = scf.if %41 -> (f32) {
              %50 = memref.load %arg0[%39, %27] : memref<300x333xf32>
              scf.yield %50 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %43 = arith.andi %40, %35 : i1
            %44 = scf.if %43 -> (f32) {
              %50 = memref.load %arg0[%39, %28] : memref<300x333xf32>
              scf.yield %50 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %45 = arith.andi %40, %36 : i1
            %46 = scf.if %45 -> (f32) {
              %50 = memref.load %arg0[%39, %29] : memref<300x333xf32>
              scf.yield %50 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %47 = arith.andi %40, %37 : i1
            %48 = scf.if %47 -> (f32) {
              %50 = memref.load %arg0[%39, %30] : memref<300x333xf32>
              scf.yield %50 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %49 = vector.from_elements %42, %44, %46, %48 : vector<4xf32>
            vector.store %49, %alloca[%38] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %38 = affine.apply #map11(%arg6)
            %39 = affine.apply #map13(%31, %arg6)
            %40 = affine.apply #map16(%39)
            %41 = arith.cmpi slt, %40, %c333 : index
            %42 = arith.andi %17, %41 : i1
            %43 = scf.if %42 -> (vector<4xf32>) {
              %44 = vector.load %arg1[%40, %16] : memref<333x200xf32>, vector<4xf32>
              scf.yield %44 : vector<4xf32>
            } else {
              scf.yield %cst : vector<4xf32>
            }
            vector.store %43, %alloca_1[%38] : memref<16xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %32 = affine.apply #map21(%arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_3 = memref.alloca() {weft.name = "A_frag"} : memref<16xf32>
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %34 = affine.apply #map11(%arg7)
            %35 = affine.apply #map13(%20, %arg7)
            %36 = vector.load %arg3[%32, %c0, %arg6, %35] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %36, %alloca_3[%34] : memref<16xf32>, vector<4xf32>
          }
          %alloca_4 = memref.alloca() {weft.name = "B_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %34 = affine.apply #map11(%arg7)
            %35 = affine.apply #map13(%21, %arg7)
            %36 = vector.load %arg4[%32, %c0, %arg6, %35] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %36, %alloca_4[%34] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %34 = memref.load %alloca_3[%arg7] : memref<16xf32>
              %35 = memref.load %alloca_4[%arg8] : memref<8xf32>
              %36 = memref.load %alloca_2[%c0, %arg7, %arg8] : memref<1x16x8xf32>
              %37 = arith.mulf %34, %35 : f32
              %38 = arith.addf %36, %37 : f32
              memref.store %38, %alloca_2[%c0, %arg7, %arg8] : memref<1x16x8xf32>
            }
          }
        } {weft.unroll}
        %33 = affine.apply #map22(%arg5)
        scf.if %25 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %34 = affine.apply #map11(%arg6)
            %35 = vector.load %alloca[%34] : memref<16xf32>, vector<4xf32>
            %36 = vector.extract %35[0] : f32 from vector<4xf32>
            %37 = affine.apply #map9(%15, %arg6)
            memref.store %36, %arg3[%33, %c0, %10, %37] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %38 = vector.extract %35[1] : f32 from vector<4xf32>
            memref.store %38, %arg3[%33, %c0, %11, %37] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %39 = vector.extract %35[2] : f32 from vector<4xf32>
            memref.store %39, %arg3[%33, %c0, %12, %37] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %40 = vector.extract %35[3] : f32 from vector<4xf32>
            memref.store %40, %arg3[%33, %c0, %13, %37] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %34 = affine.apply #map11(%arg6)
            %35 = vector.load %alloca_1[%34] : memref<16xf32>, vector<4xf32>
            %36 = affine.apply #map13(%0, %arg6)
            vector.store %35, %arg4[%33, %c0, %36, %18] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %22 = affine.apply #map23(%block_id_y, %1)
      %23 = affine.apply #map24(%block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %24 = affine.apply #map17(%22, %arg5)
        %25 = arith.cmpi slt, %24, %c300 : index
        scf.if %25 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %26 = affine.apply #map13(%23, %arg6)
            %27 = arith.cmpi slt, %26, %c200 : index
            %28 = affine.apply #map11(%arg6)
            scf.if %27 {
              %29 = vector.load %alloca_2[%c0, %arg5, %28] : memref<1x16x8xf32>, vector<4xf32>
              vector.store %29, %arg2[%block_id_z, %24, %26] : memref<4x300x200xf32>, vector<4xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
  gpu.module @matmul_1_kernel {
    gpu.func @matmul_1(%arg0: memref<300x200xf32> {weft.name = "C"}, %arg1: memref<4x300x200xf32> {weft.name = "temp0"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 235, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c60000 = arith.constant 60000 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map25(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c60000 : index
      %2 = affine.apply #map26(%block_id_x, %thread_id_x)
      %3 = affine.apply #map27(%block_id_x, %thread_id_x)
      scf.if %1 {
        %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
        memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
        scf.for %arg2 = %c0 to %c4 step %c1 {
          %5 = memref.load %arg1[%arg2, %2, %3] : memref<4x300x200xf32>
          %6 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
          %7 = arith.addf %6, %5 : f32
          memref.store %7, %alloca[%c0, %c0] : memref<1x1xf32>
        } {weft.unroll}
        %4 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        memref.store %4, %arg0[%2, %3] : memref<300x200xf32>
      }
      gpu.return
    }
  }
}
