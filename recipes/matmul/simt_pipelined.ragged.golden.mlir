// weft golden simt_pipelined.weft --set m=1000 --set n=777 --set k=333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4)>
#map7 = affine_map<(d0) -> (d0 floordiv 4)>
#map8 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map9 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) floordiv 8) * 128 + d2 * 4)>
#map10 = affine_map<(d0) -> (d0 * 4)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map12 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map13 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map14 = affine_map<(d0) -> (d0 + 16)>
#map15 = affine_map<(d0, d1) -> (d0 + d1)>
#map16 = affine_map<(d0) -> (d0 + 17)>
#map17 = affine_map<(d0) -> (d0 + 18)>
#map18 = affine_map<(d0) -> (d0 + 19)>
#map19 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map20 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
#map21 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) mod 8) * 128 + (d2 floordiv 4) * 16)>
#map22 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 4) * 8 + d3 * 32)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<1000x333xf32> {weft.name = "A"}, %arg1: memref<333x777xf32> {weft.name = "B"}, %arg2: memref<1000x777xf32> {bufferize.result, weft.name = "C"}) {
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c7, %c8, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<1000x333xf32>, %arg1 : memref<333x777xf32>, %arg2 : memref<1000x777xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<1000x333xf32> {weft.name = "A"}, %arg1: memref<333x777xf32> {weft.name = "B"}, %arg2: memref<1000x777xf32> {weft.name = "C"}) workgroup(%arg3 : memref<2x16x132xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<2x16x128xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 7, 8, 1>, weft.max_registers = 255 : i64} {
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c777 = arith.constant 777 : index
      %c1000 = arith.constant 1000 : index
      %c333 = arith.constant 333 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c336 = arith.constant 336 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() {weft.name = "A_next"} : memref<16xf32>
      %alloca_0 = memref.alloca() {weft.name = "B_next"} : memref<16xf32>
      %alloca_1 = memref.alloca() {weft.name = "acc"} : memref<16x8xf32>
      scf.for %arg5 = %c0 to %c16 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca_1[%arg5, %arg6] : memref<16x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = arith.cmpi slt, %2, %c333 : index
      %4 = affine.apply #map3(%2)
      %5 = arith.cmpi slt, %4, %c333 : index
      %6 = affine.apply #map4(%2)
      %7 = arith.cmpi slt, %6, %c333 : index
      %8 = affine.apply #map5(%2)
      %9 = arith.cmpi slt, %8, %c333 : index
      %10 = affine.apply #map6(%block_id_y, %block_id_x, %thread_id_x)
      %11 = affine.apply #map7(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %25 = affine.apply #map8(%10, %arg5)
        %26 = arith.cmpi slt, %25, %c1000 : index
        %27 = arith.andi %3, %26 : i1
        %28 = scf.if %27 -> (f32) {
          %36 = memref.load %arg0[%25, %2] : memref<1000x333xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %29 = arith.andi %5, %26 : i1
        %30 = scf.if %29 -> (f32) {
          %36 = memref.load %arg0[%25, %4] : memref<1000x333xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %31 = arith.andi %7, %26 : i1
        %32 = scf.if %31 -> (f32) {
          %36 = memref.load %arg0[%25, %6] : memref<1000x333xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %33 = arith.andi %9, %26 : i1
        %34 = scf.if %33 -> (f32) {
          %36 = memref.load %arg0[%25, %8] : memref<1000x333xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %35 = affine.apply #map8(%11, %arg5)
        memref.store %28, %arg3[%c0, %2, %35] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %30, %arg3[%c0, %4, %35] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %32, %arg3[%c0, %6, %35] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %34, %arg3[%c0, %8, %35] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
      }
      %12 = affine.apply #map9(%block_id_y, %block_id_x, %1)
      %13 = arith.cmpi slt, %12, %c777 : index
      %14 = affine.apply #map3(%12)
      %15 = arith.cmpi slt, %14, %c777 : index
      %16 = affine.apply #map4(%12)
      %17 = arith.cmpi slt, %16, %c777 : index
      %18 = affine.apply #map5(%12)
      %19 = arith.cmpi slt, %18, %c777 : index
      %20 = affine.apply #map10(%1)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %25 = affine.apply #map11(%0, %arg5)
        %26 = arith.cmpi slt, %25, %c333 : index
        %27 = arith.andi %26, %13 : i1
        %28 = scf.if %27 -> (f32) {
          %36 = memref.load %arg1[%25, %12] : memref<333x777xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %29 = arith.andi %26, %15 : i1
        %30 = scf.if %29 -> (f32) {
          %36 = memref.load %arg1[%25, %14] : memref<333x777xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %31 = arith.andi %26, %17 : i1
        %32 = scf.if %31 -> (f32) {
          %36 = memref.load %arg1[%25, %16] : memref<333x777xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %33 = arith.andi %26, %19 : i1
        %34 = scf.if %33 -> (f32) {
          %36 = memref.load %arg1[%25, %18] : memref<333x777xf32>
          scf.yield %36 : f32
        } else {
          scf.yield %cst : f32
        }
        %35 = vector.from_elements %28, %30, %32, %34 : vector<4xf32>
        vector.store %35, %arg4[%c0, %25, %20] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %21 = affine.apply #map12(%1)
      %22 = affine.apply #map13(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c336 step %c16 {
        %25 = affine.apply #map14(%arg5)
        %26 = arith.cmpi slt, %25, %c336 : index
        %27 = affine.apply #map15(%2, %arg5)
        %28 = affine.apply #map14(%27)
        %29 = affine.apply #map16(%27)
        %30 = affine.apply #map17(%27)
        %31 = affine.apply #map18(%27)
        %32 = affine.apply #map15(%0, %arg5)
        scf.if %26 {
          %35 = arith.cmpi slt, %28, %c333 : index
          %36 = arith.cmpi slt, %29, %c333 : index
          %37 = arith.cmpi slt, %30, %c333 : index
          %38 = arith.cmpi slt, %31, %c333 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %39 = affine.apply #map10(%arg6)
            %40 = affine.apply #map8(%10, %arg6)
            %41 = arith.cmpi slt, %40, %c1000 : index
            %42 = arith.andi %35, %41 : i1
            %43 = scf.if %42 -> (f32) {
              %51 = memref.load %arg0[%40, %28] : memref<1000x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst : f32
            }
            %44 = arith.andi %36, %41 : i1
            %45 = scf.if %44 -> (f32) {
              %51 = memref.load %arg0[%40, %29] : memref<1000x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst : f32
            }
            %46 = arith.andi %37, %41 : i1
            %47 = scf.if %46 -> (f32) {
              %51 = memref.load %arg0[%40, %30] : memref<1000x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst : f32
            }
            %48 = arith.andi %38, %41 : i1
            %49 = scf.if %48 -> (f32) {
              %51 = memref.load %arg0[%40, %31] : memref<1000x333xf32>
              scf.yield %51 : f32
            } else {
              scf.yield %cst : f32
            }
            %50 = vector.from_elements %43, %45, %47, %49 : vector<4xf32>
            vector.store %50, %alloca[%39] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %39 = affine.apply #map10(%arg6)
            %40 = affine.apply #map11(%32, %arg6)
            %41 = affine.apply #map14(%40)
            %42 = arith.cmpi slt, %41, %c333 : index
            %43 = arith.andi %42, %13 : i1
            %44 = scf.if %43 -> (f32) {
              %52 = memref.load %arg1[%41, %12] : memref<333x777xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %45 = arith.andi %42, %15 : i1
            %46 = scf.if %45 -> (f32) {
              %52 = memref.load %arg1[%41, %14] : memref<333x777xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %47 = arith.andi %42, %17 : i1
            %48 = scf.if %47 -> (f32) {
              %52 = memref.load %arg1[%41, %16] : memref<333x777xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %49 = arith.andi %42, %19 : i1
            %50 = scf.if %49 -> (f32) {
              %52 = memref.load %arg1[%41, %18] : memref<333x777xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %51 = vector.from_elements %44, %46, %48, %50 : vector<4xf32>
            vector.store %51, %alloca_0[%39] : memref<16xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %33 = affine.apply #map19(%arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "A_frag"} : memref<16xf32>
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %35 = affine.apply #map10(%arg7)
            %36 = affine.apply #map11(%21, %arg7)
            %37 = vector.load %arg3[%33, %arg6, %36] : memref<2x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %37, %alloca_2[%35] : memref<16xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "B_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %35 = affine.apply #map10(%arg7)
            %36 = affine.apply #map11(%22, %arg7)
            %37 = vector.load %arg4[%33, %arg6, %36] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %37, %alloca_3[%35] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %35 = memref.load %alloca_2[%arg7] : memref<16xf32>
              %36 = memref.load %alloca_3[%arg8] : memref<8xf32>
              %37 = memref.load %alloca_1[%arg7, %arg8] : memref<16x8xf32>
              %38 = arith.mulf %35, %36 : f32
              %39 = arith.addf %37, %38 : f32
              memref.store %39, %alloca_1[%arg7, %arg8] : memref<16x8xf32>
            }
          }
        } {weft.unroll}
        %34 = affine.apply #map20(%arg5)
        scf.if %26 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %35 = affine.apply #map10(%arg6)
            %36 = vector.load %alloca[%35] : memref<16xf32>, vector<4xf32>
            %37 = vector.extract %36[0] : f32 from vector<4xf32>
            %38 = affine.apply #map8(%11, %arg6)
            memref.store %37, %arg3[%34, %2, %38] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %39 = vector.extract %36[1] : f32 from vector<4xf32>
            memref.store %39, %arg3[%34, %4, %38] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %40 = vector.extract %36[2] : f32 from vector<4xf32>
            memref.store %40, %arg3[%34, %6, %38] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %41 = vector.extract %36[3] : f32 from vector<4xf32>
            memref.store %41, %arg3[%34, %8, %38] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %35 = affine.apply #map10(%arg6)
            %36 = vector.load %alloca_0[%35] : memref<16xf32>, vector<4xf32>
            %37 = affine.apply #map11(%0, %arg6)
            vector.store %36, %arg4[%34, %37, %20] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %23 = affine.apply #map21(%block_id_y, %block_id_x, %1)
      %24 = affine.apply #map22(%block_id_y, %block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %25 = affine.apply #map15(%23, %arg5)
        %26 = arith.cmpi slt, %25, %c1000 : index
        scf.if %26 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %27 = affine.apply #map15(%24, %arg6)
            %28 = arith.cmpi slt, %27, %c777 : index
            scf.if %28 {
              %29 = memref.load %alloca_1[%arg5, %arg6] : memref<16x8xf32>
              memref.store %29, %arg2[%25, %27] : memref<1000x777xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
