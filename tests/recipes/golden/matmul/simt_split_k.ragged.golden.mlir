// weft golden simt_split_k --set m=300 --set n=200 --set k=333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 96 + (d1 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map7 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map8 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map9 = affine_map<(d0) -> (d0 floordiv 4)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map11 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map12 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map13 = affine_map<(d0) -> (d0 * 4)>
#map14 = affine_map<(d0, d1) -> (d0 * 96 + d1)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map16 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map17 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map18 = affine_map<(d0) -> (d0 + 16)>
#map19 = affine_map<(d0, d1) -> (d0 + d1)>
#map20 = affine_map<(d0) -> (d0 + 17)>
#map21 = affine_map<(d0) -> (d0 + 18)>
#map22 = affine_map<(d0) -> (d0 + 19)>
#map23 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map24 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map25 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
#map26 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
#map27 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 8 + d2 * 32)>
#map28 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map29 = affine_map<(d0, d1) -> ((d0 * 256 + d1) floordiv 200)>
#map30 = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 200)>
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
      %16 = affine.apply #map9(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %25 = affine.apply #map10(%14, %arg5)
        %26 = arith.cmpi slt, %25, %c300 : index
        %27 = arith.andi %26, %3 : i1
        %28 = scf.if %27 -> (f32) {
          %37 = memref.load %arg0[%25, %2] : memref<300x333xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %29 = arith.andi %26, %5 : i1
        %30 = scf.if %29 -> (f32) {
          %37 = memref.load %arg0[%25, %4] : memref<300x333xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %31 = arith.andi %26, %7 : i1
        %32 = scf.if %31 -> (f32) {
          %37 = memref.load %arg0[%25, %6] : memref<300x333xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %33 = arith.andi %26, %9 : i1
        %34 = scf.if %33 -> (f32) {
          %37 = memref.load %arg0[%25, %8] : memref<300x333xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst_0 : f32
        }
        %35 = arith.xori %16, %15 : index
        %36 = affine.apply #map11(%arg5, %35)
        memref.store %28, %arg3[%c0, %c0, %10, %36] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %30, %arg3[%c0, %c0, %11, %36] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %32, %arg3[%c0, %c0, %12, %36] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %34, %arg3[%c0, %c0, %13, %36] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
      }
      %17 = affine.apply #map12(%block_id_x, %1)
      %18 = arith.cmpi slt, %17, %c200 : index
      %19 = affine.apply #map13(%1)
      %20 = affine.apply #map14(%block_id_z, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %25 = affine.apply #map15(%20, %arg5)
        %26 = arith.cmpi slt, %25, %c333 : index
        %27 = arith.andi %18, %26 : i1
        %28 = scf.if %27 -> (vector<4xf32>) {
          %30 = vector.load %arg1[%25, %17] : memref<333x200xf32>, vector<4xf32>
          scf.yield %30 : vector<4xf32>
        } else {
          scf.yield %cst : vector<4xf32>
        }
        %29 = affine.apply #map15(%0, %arg5)
        vector.store %28, %arg4[%c0, %c0, %29, %19] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %21 = affine.apply #map16(%1)
      %22 = affine.apply #map17(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c96 step %c16 {
        %25 = affine.apply #map18(%arg5)
        %26 = arith.cmpi slt, %25, %c96 : index
        %27 = affine.apply #map19(%2, %arg5)
        %28 = affine.apply #map18(%27)
        %29 = affine.apply #map20(%27)
        %30 = affine.apply #map21(%27)
        %31 = affine.apply #map22(%27)
        %32 = affine.apply #map19(%20, %arg5)
        scf.if %26 {
          %35 = arith.cmpi slt, %28, %c333 : index
          %36 = arith.cmpi slt, %29, %c333 : index
          %37 = arith.cmpi slt, %30, %c333 : index
          %38 = arith.cmpi slt, %31, %c333 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %39 = affine.apply #map13(%arg6)
            %40 = affine.apply #map10(%14, %arg6)
            %41 = arith.cmpi slt, %40, %c300 : index
            %42 = arith.andi %41, %35 : i1
            %43 = scf.if %42 -> (f32) {
              %51 = memref.load %arg0[%40, %28] : memref<300x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %44 = arith.andi %41, %36 : i1
            %45 = scf.if %44 -> (f32) {
              %51 = memref.load %arg0[%40, %29] : memref<300x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %46 = arith.andi %41, %37 : i1
            %47 = scf.if %46 -> (f32) {
              %51 = memref.load %arg0[%40, %30] : memref<300x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %48 = arith.andi %41, %38 : i1
            %49 = scf.if %48 -> (f32) {
              %51 = memref.load %arg0[%40, %31] : memref<300x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst_0 : f32
            }
            %50 = vector.from_elements %43, %45, %47, %49 : vector<4xf32>
            vector.store %50, %alloca[%39] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %39 = affine.apply #map13(%arg6)
            %40 = affine.apply #map15(%32, %arg6)
            %41 = affine.apply #map18(%40)
            %42 = arith.cmpi slt, %41, %c333 : index
            %43 = arith.andi %18, %42 : i1
            %44 = scf.if %43 -> (vector<4xf32>) {
              %45 = vector.load %arg1[%41, %17] : memref<333x200xf32>, vector<4xf32>
              scf.yield %45 : vector<4xf32>
            } else {
              scf.yield %cst : vector<4xf32>
            }
            vector.store %44, %alloca_1[%39] : memref<16xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %33 = affine.apply #map23(%arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_3 = memref.alloca() {weft.name = "A_frag"} : memref<16xf32>
          %35 = affine.apply #map24(%arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %36 = affine.apply #map13(%arg7)
            %37 = arith.xori %36, %35 : index
            %38 = affine.apply #map19(%21, %37)
            %39 = vector.load %arg3[%33, %c0, %arg6, %38] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %39, %alloca_3[%36] : memref<16xf32>, vector<4xf32>
          }
          %alloca_4 = memref.alloca() {weft.name = "B_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %36 = affine.apply #map13(%arg7)
            %37 = affine.apply #map15(%22, %arg7)
            %38 = vector.load %arg4[%33, %c0, %arg6, %37] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %38, %alloca_4[%36] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %36 = memref.load %alloca_3[%arg7] : memref<16xf32>
              %37 = memref.load %alloca_4[%arg8] : memref<8xf32>
              %38 = memref.load %alloca_2[%c0, %arg7, %arg8] : memref<1x16x8xf32>
              %39 = arith.mulf %36, %37 : f32
              %40 = arith.addf %38, %39 : f32
              memref.store %40, %alloca_2[%c0, %arg7, %arg8] : memref<1x16x8xf32>
            }
          }
        } {weft.unroll}
        %34 = affine.apply #map25(%arg5)
        scf.if %26 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %35 = affine.apply #map13(%arg6)
            %36 = vector.load %alloca[%35] : memref<16xf32>, vector<4xf32>
            %37 = vector.extract %36[0] : f32 from vector<4xf32>
            %38 = arith.xori %16, %15 : index
            %39 = affine.apply #map11(%arg6, %38)
            memref.store %37, %arg3[%34, %c0, %10, %39] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %40 = vector.extract %36[1] : f32 from vector<4xf32>
            memref.store %40, %arg3[%34, %c0, %11, %39] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %41 = vector.extract %36[2] : f32 from vector<4xf32>
            memref.store %41, %arg3[%34, %c0, %12, %39] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %42 = vector.extract %36[3] : f32 from vector<4xf32>
            memref.store %42, %arg3[%34, %c0, %13, %39] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %35 = affine.apply #map13(%arg6)
            %36 = vector.load %alloca_1[%35] : memref<16xf32>, vector<4xf32>
            %37 = affine.apply #map15(%0, %arg6)
            vector.store %36, %arg4[%34, %c0, %37, %19] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %23 = affine.apply #map26(%block_id_y, %1)
      %24 = affine.apply #map27(%block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %25 = affine.apply #map19(%23, %arg5)
        %26 = arith.cmpi slt, %25, %c300 : index
        scf.if %26 {
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %27 = affine.apply #map15(%24, %arg6)
            %28 = arith.cmpi slt, %27, %c200 : index
            %29 = affine.apply #map13(%arg6)
            scf.if %28 {
              %30 = vector.load %alloca_2[%c0, %arg5, %29] : memref<1x16x8xf32>, vector<4xf32>
              vector.store %30, %arg2[%block_id_z, %25, %27] : memref<4x300x200xf32>, vector<4xf32>
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
      %0 = affine.apply #map28(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c60000 : index
      %2 = affine.apply #map29(%block_id_x, %thread_id_x)
      %3 = affine.apply #map30(%block_id_x, %thread_id_x)
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
