// weft golden simt_pipelined --set m=1000 --set n=777 --set k=333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4)>
#map7 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map8 = affine_map<(d0) -> (d0 floordiv 4)>
#map9 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map10 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map11 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) floordiv 8) * 128 + d2 * 4)>
#map12 = affine_map<(d0) -> (d0 * 4)>
#map13 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map14 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map15 = affine_map<(d0, d1) -> ((d0 mod 4) * 4 + d1 * 32)>
#map16 = affine_map<(d0) -> (d0 + 16)>
#map17 = affine_map<(d0, d1) -> (d0 + d1)>
#map18 = affine_map<(d0) -> (d0 + 17)>
#map19 = affine_map<(d0) -> (d0 + 18)>
#map20 = affine_map<(d0) -> (d0 + 19)>
#map21 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map22 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map23 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map24 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
#map25 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) mod 8) * 128 + (d2 floordiv 4) * 16)>
#map26 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 4) * 4 + d3 * 32)>
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
      %c777 = arith.constant 777 : index
      %c1000 = arith.constant 1000 : index
      %c333 = arith.constant 333 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c336 = arith.constant 336 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() {weft.name = "A_next"} : memref<16xf32>
      %alloca_0 = memref.alloca() {weft.name = "B_next"} : memref<16xf32>
      %alloca_1 = memref.alloca() {weft.name = "acc"} : memref<2x16x4xf32>
      scf.for %arg5 = %c0 to %c2 step %c1 {
        scf.for %arg6 = %c0 to %c16 step %c1 {
          scf.for %arg7 = %c0 to %c4 step %c1 {
            memref.store %cst, %alloca_1[%arg5, %arg6, %arg7] : memref<2x16x4xf32>
          }
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
      %12 = affine.apply #map8(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %26 = affine.apply #map9(%10, %arg5)
        %27 = arith.cmpi slt, %26, %c1000 : index
        %28 = arith.andi %3, %27 : i1
        %29 = scf.if %28 -> (f32) {
          %38 = memref.load %arg0[%26, %2] : memref<1000x333xf32>
          scf.yield %38 : f32
        } else {
          scf.yield %cst : f32
        }
        %30 = arith.andi %5, %27 : i1
        %31 = scf.if %30 -> (f32) {
          %38 = memref.load %arg0[%26, %4] : memref<1000x333xf32>
          scf.yield %38 : f32
        } else {
          scf.yield %cst : f32
        }
        %32 = arith.andi %7, %27 : i1
        %33 = scf.if %32 -> (f32) {
          %38 = memref.load %arg0[%26, %6] : memref<1000x333xf32>
          scf.yield %38 : f32
        } else {
          scf.yield %cst : f32
        }
        %34 = arith.andi %9, %27 : i1
        %35 = scf.if %34 -> (f32) {
          %38 = memref.load %arg0[%26, %8] : memref<1000x333xf32>
          scf.yield %38 : f32
        } else {
          scf.yield %cst : f32
        }
        %36 = arith.xori %12, %11 : index
        %37 = affine.apply #map10(%arg5, %36)
        memref.store %29, %arg3[%c0, %2, %37] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %31, %arg3[%c0, %4, %37] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %33, %arg3[%c0, %6, %37] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        memref.store %35, %arg3[%c0, %8, %37] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
      }
      %13 = affine.apply #map11(%block_id_y, %block_id_x, %1)
      %14 = arith.cmpi slt, %13, %c777 : index
      %15 = affine.apply #map3(%13)
      %16 = arith.cmpi slt, %15, %c777 : index
      %17 = affine.apply #map4(%13)
      %18 = arith.cmpi slt, %17, %c777 : index
      %19 = affine.apply #map5(%13)
      %20 = arith.cmpi slt, %19, %c777 : index
      %21 = affine.apply #map12(%1)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %26 = affine.apply #map13(%0, %arg5)
        %27 = arith.cmpi slt, %26, %c333 : index
        %28 = arith.andi %27, %14 : i1
        %29 = scf.if %28 -> (f32) {
          %37 = memref.load %arg1[%26, %13] : memref<333x777xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst : f32
        }
        %30 = arith.andi %27, %16 : i1
        %31 = scf.if %30 -> (f32) {
          %37 = memref.load %arg1[%26, %15] : memref<333x777xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst : f32
        }
        %32 = arith.andi %27, %18 : i1
        %33 = scf.if %32 -> (f32) {
          %37 = memref.load %arg1[%26, %17] : memref<333x777xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst : f32
        }
        %34 = arith.andi %27, %20 : i1
        %35 = scf.if %34 -> (f32) {
          %37 = memref.load %arg1[%26, %19] : memref<333x777xf32>
          scf.yield %37 : f32
        } else {
          scf.yield %cst : f32
        }
        %36 = vector.from_elements %29, %31, %33, %35 : vector<4xf32>
        vector.store %36, %arg4[%c0, %26, %21] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %22 = affine.apply #map14(%1)
      %23 = affine.apply #map15(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c336 step %c16 {
        %26 = affine.apply #map16(%arg5)
        %27 = arith.cmpi slt, %26, %c336 : index
        %28 = affine.apply #map17(%2, %arg5)
        %29 = affine.apply #map16(%28)
        %30 = affine.apply #map18(%28)
        %31 = affine.apply #map19(%28)
        %32 = affine.apply #map20(%28)
        %33 = affine.apply #map17(%0, %arg5)
        scf.if %27 {
          %36 = arith.cmpi slt, %29, %c333 : index
          %37 = arith.cmpi slt, %30, %c333 : index
          %38 = arith.cmpi slt, %31, %c333 : index
          %39 = arith.cmpi slt, %32, %c333 : index
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %40 = affine.apply #map12(%arg6)
            %41 = affine.apply #map9(%10, %arg6)
            %42 = arith.cmpi slt, %41, %c1000 : index
            %43 = arith.andi %36, %42 : i1
            %44 = scf.if %43 -> (f32) {
              %52 = memref.load %arg0[%41, %29] : memref<1000x333xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %45 = arith.andi %37, %42 : i1
            %46 = scf.if %45 -> (f32) {
              %52 = memref.load %arg0[%41, %30] : memref<1000x333xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %47 = arith.andi %38, %42 : i1
            %48 = scf.if %47 -> (f32) {
              %52 = memref.load %arg0[%41, %31] : memref<1000x333xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %49 = arith.andi %39, %42 : i1
            %50 = scf.if %49 -> (f32) {
              %52 = memref.load %arg0[%41, %32] : memref<1000x333xf32>
              scf.yield %52 : f32
            } else {
              scf.yield %cst : f32
            }
            %51 = vector.from_elements %44, %46, %48, %50 : vector<4xf32>
            vector.store %51, %alloca[%40] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %40 = affine.apply #map12(%arg6)
            %41 = affine.apply #map13(%33, %arg6)
            %42 = affine.apply #map16(%41)
            %43 = arith.cmpi slt, %42, %c333 : index
            %44 = arith.andi %43, %14 : i1
            %45 = scf.if %44 -> (f32) {
              %53 = memref.load %arg1[%42, %13] : memref<333x777xf32>
              scf.yield %53 : f32
            } else {
              scf.yield %cst : f32
            }
            %46 = arith.andi %43, %16 : i1
            %47 = scf.if %46 -> (f32) {
              %53 = memref.load %arg1[%42, %15] : memref<333x777xf32>
              scf.yield %53 : f32
            } else {
              scf.yield %cst : f32
            }
            %48 = arith.andi %43, %18 : i1
            %49 = scf.if %48 -> (f32) {
              %53 = memref.load %arg1[%42, %17] : memref<333x777xf32>
              scf.yield %53 : f32
            } else {
              scf.yield %cst : f32
            }
            %50 = arith.andi %43, %20 : i1
            %51 = scf.if %50 -> (f32) {
              %53 = memref.load %arg1[%42, %19] : memref<333x777xf32>
              scf.yield %53 : f32
            } else {
              scf.yield %cst : f32
            }
            %52 = vector.from_elements %45, %47, %49, %51 : vector<4xf32>
            vector.store %52, %alloca_0[%40] : memref<16xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %34 = affine.apply #map21(%arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %36 = affine.apply #map22(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %alloca_2 = memref.alloca() {weft.name = "A_frag"} : memref<16xf32>
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %39 = affine.apply #map12(%arg8)
              %40 = arith.xori %39, %36 : index
              %41 = affine.apply #map17(%22, %40)
              %42 = vector.load %arg3[%34, %arg6, %41] : memref<2x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
              vector.store %42, %alloca_2[%39] : memref<16xf32>, vector<4xf32>
            }
            %alloca_3 = memref.alloca() {weft.name = "B_frag"} : memref<4xf32>
            %37 = affine.apply #map23(%23, %arg7)
            %38 = vector.load %arg4[%34, %arg6, %37] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %38, %alloca_3[%c0] : memref<4xf32>, vector<4xf32>
            scf.for %arg8 = %c0 to %c16 step %c1 {
              scf.for %arg9 = %c0 to %c4 step %c1 {
                %39 = memref.load %alloca_2[%arg8] : memref<16xf32>
                %40 = memref.load %alloca_3[%arg9] : memref<4xf32>
                %41 = memref.load %alloca_1[%arg7, %arg8, %arg9] : memref<2x16x4xf32>
                %42 = arith.mulf %39, %40 : f32
                %43 = arith.addf %41, %42 : f32
                memref.store %43, %alloca_1[%arg7, %arg8, %arg9] : memref<2x16x4xf32>
              }
            }
          }
        } {weft.unroll}
        %35 = affine.apply #map24(%arg5)
        scf.if %27 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %36 = affine.apply #map12(%arg6)
            %37 = vector.load %alloca[%36] : memref<16xf32>, vector<4xf32>
            %38 = vector.extract %37[0] : f32 from vector<4xf32>
            %39 = arith.xori %12, %11 : index
            %40 = affine.apply #map10(%arg6, %39)
            memref.store %38, %arg3[%35, %2, %40] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %41 = vector.extract %37[1] : f32 from vector<4xf32>
            memref.store %41, %arg3[%35, %4, %40] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %42 = vector.extract %37[2] : f32 from vector<4xf32>
            memref.store %42, %arg3[%35, %6, %40] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %43 = vector.extract %37[3] : f32 from vector<4xf32>
            memref.store %43, %arg3[%35, %8, %40] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %36 = affine.apply #map12(%arg6)
            %37 = vector.load %alloca_0[%36] : memref<16xf32>, vector<4xf32>
            %38 = affine.apply #map13(%0, %arg6)
            vector.store %37, %arg4[%35, %38, %21] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %24 = affine.apply #map25(%block_id_y, %block_id_x, %1)
      %25 = affine.apply #map26(%block_id_y, %block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %26 = affine.apply #map23(%25, %arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %27 = affine.apply #map17(%24, %arg6)
          %28 = arith.cmpi slt, %27, %c1000 : index
          scf.if %28 {
            scf.for %arg7 = %c0 to %c4 step %c1 {
              %29 = affine.apply #map17(%26, %arg7)
              %30 = arith.cmpi slt, %29, %c777 : index
              scf.if %30 {
                %31 = memref.load %alloca_1[%arg5, %arg6, %arg7] : memref<2x16x4xf32>
                memref.store %31, %arg2[%27, %29] : memref<1000x777xf32>
              }
            }
          }
        }
      }
      gpu.return
    }
  }
}
