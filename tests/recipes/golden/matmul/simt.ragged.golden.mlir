// weft golden simt --set m=1000 --set n=777 --set k=333
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> (d0 * 4)>
#map7 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) floordiv 8) * 128 + d2 * 4)>
#map8 = affine_map<(d0, d1, d2) -> (((d0 * 7 + d1) mod 8) * 128 + d2 floordiv 4)>
#map9 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map10 = affine_map<(d0) -> (d0 floordiv 4)>
#map11 = affine_map<(d0) -> ((d0 floordiv 4) * 8)>
#map12 = affine_map<(d0) -> ((d0 floordiv 4) * 64)>
#map13 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + (d1 mod 4) * 32)>
#map14 = affine_map<(d0, d1) -> (d0 + d1)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map16 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map17 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map18 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map19 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map20 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) mod 8) * 128 + (d2 floordiv 4) * 8 + (d3 floordiv 4) * 64)>
#map21 = affine_map<(d0, d1, d2, d3) -> (((d0 * 7 + d1) floordiv 8) * 128 + (d2 mod 4) * 8 + (d3 mod 4) * 32)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<1000x333xf32> {weft.name = "A"}, %arg1: memref<333x777xf32> {weft.name = "B"}, %arg2: memref<1000x777xf32> {bufferize.result, weft.name = "C"}) {
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c7, %c8, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<1000x333xf32>, %arg1 : memref<333x777xf32>, %arg2 : memref<1000x777xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<1000x333xf32> {weft.name = "A"}, %arg1: memref<333x777xf32> {weft.name = "B"}, %arg2: memref<1000x777xf32> {weft.name = "C"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<16x128xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 7, 8, 1>} {
      %c8 = arith.constant 8 : index
      %c777 = arith.constant 777 : index
      %c1000 = arith.constant 1000 : index
      %c333 = arith.constant 333 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c336 = arith.constant 336 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() {weft.name = "acc"} : memref<8x8xf32>
      scf.for %arg5 = %c0 to %c8 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca[%arg5, %arg6] : memref<8x8xf32>
        }
      }
      %2 = affine.apply #map2(%thread_id_x)
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%1)
      %7 = affine.apply #map7(%block_id_y, %block_id_x, %1)
      %8 = arith.cmpi slt, %7, %c777 : index
      %9 = affine.apply #map3(%7)
      %10 = arith.cmpi slt, %9, %c777 : index
      %11 = affine.apply #map4(%7)
      %12 = arith.cmpi slt, %11, %c777 : index
      %13 = affine.apply #map5(%7)
      %14 = arith.cmpi slt, %13, %c777 : index
      %15 = affine.apply #map8(%block_id_y, %block_id_x, %thread_id_x)
      %16 = affine.apply #map9(%thread_id_x)
      %17 = affine.apply #map10(%thread_id_x)
      %18 = affine.apply #map11(%1)
      %19 = affine.apply #map12(%0)
      %20 = affine.apply #map13(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c336 step %c16 {
        %23 = affine.apply #map14(%2, %arg5)
        %24 = arith.cmpi slt, %23, %c333 : index
        %25 = affine.apply #map3(%23)
        %26 = arith.cmpi slt, %25, %c333 : index
        %27 = affine.apply #map4(%23)
        %28 = arith.cmpi slt, %27, %c333 : index
        %29 = affine.apply #map5(%23)
        %30 = arith.cmpi slt, %29, %c333 : index
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %32 = affine.apply #map15(%15, %arg6)
          %33 = arith.cmpi slt, %32, %c1000 : index
          %34 = arith.andi %24, %33 : i1
          %35 = scf.if %34 -> (f32) {
            %44 = memref.load %arg0[%32, %23] : memref<1000x333xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %36 = arith.andi %26, %33 : i1
          %37 = scf.if %36 -> (f32) {
            %44 = memref.load %arg0[%32, %25] : memref<1000x333xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %38 = arith.andi %28, %33 : i1
          %39 = scf.if %38 -> (f32) {
            %44 = memref.load %arg0[%32, %27] : memref<1000x333xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %40 = arith.andi %30, %33 : i1
          %41 = scf.if %40 -> (f32) {
            %44 = memref.load %arg0[%32, %29] : memref<1000x333xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %42 = arith.xori %17, %16 : index
          %43 = affine.apply #map16(%arg6, %42)
          memref.store %35, %arg3[%2, %43] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %37, %arg3[%3, %43] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %39, %arg3[%4, %43] : memref<16x132xf32, #gpu.address_space<workgroup>>
          memref.store %41, %arg3[%5, %43] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %31 = affine.apply #map14(%0, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %32 = affine.apply #map17(%0, %arg6)
          %33 = affine.apply #map17(%31, %arg6)
          %34 = arith.cmpi slt, %33, %c333 : index
          %35 = arith.andi %34, %8 : i1
          %36 = scf.if %35 -> (f32) {
            %44 = memref.load %arg1[%33, %7] : memref<333x777xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %37 = arith.andi %34, %10 : i1
          %38 = scf.if %37 -> (f32) {
            %44 = memref.load %arg1[%33, %9] : memref<333x777xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %39 = arith.andi %34, %12 : i1
          %40 = scf.if %39 -> (f32) {
            %44 = memref.load %arg1[%33, %11] : memref<333x777xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %41 = arith.andi %34, %14 : i1
          %42 = scf.if %41 -> (f32) {
            %44 = memref.load %arg1[%33, %13] : memref<333x777xf32>
            scf.yield %44 : f32
          } else {
            scf.yield %cst : f32
          }
          %43 = vector.from_elements %36, %38, %40, %42 : vector<4xf32>
          vector.store %43, %arg4[%32, %6] : memref<16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_0 = memref.alloca() {weft.name = "A_frag"} : memref<8xf32>
          %32 = affine.apply #map18(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %33 = affine.apply #map6(%arg7)
            %34 = affine.apply #map19(%18, %arg7)
            %35 = arith.xori %34, %32 : index
            %36 = affine.apply #map14(%19, %35)
            %37 = vector.load %arg3[%arg6, %36] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %37, %alloca_0[%33] : memref<8xf32>, vector<4xf32>
          }
          %alloca_1 = memref.alloca() {weft.name = "B_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %33 = affine.apply #map6(%arg7)
            %34 = affine.apply #map19(%20, %arg7)
            %35 = vector.load %arg4[%arg6, %34] : memref<16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %35, %alloca_1[%33] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %33 = memref.load %alloca_0[%arg7] : memref<8xf32>
              %34 = memref.load %alloca_1[%arg8] : memref<8xf32>
              %35 = memref.load %alloca[%arg7, %arg8] : memref<8x8xf32>
              %36 = arith.mulf %33, %34 : f32
              %37 = arith.addf %35, %36 : f32
              memref.store %37, %alloca[%arg7, %arg8] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %21 = affine.apply #map20(%block_id_y, %block_id_x, %1, %0)
      %22 = affine.apply #map21(%block_id_y, %block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %23 = affine.apply #map14(%21, %arg5)
        %24 = arith.cmpi slt, %23, %c1000 : index
        scf.if %24 {
          scf.for %arg6 = %c0 to %c8 step %c1 {
            %25 = affine.apply #map14(%22, %arg6)
            %26 = arith.cmpi slt, %25, %c777 : index
            scf.if %26 {
              %27 = memref.load %alloca[%arg5, %arg6] : memref<8x8xf32>
              memref.store %27, %arg2[%23, %25] : memref<1000x777xf32>
            }
          }
        }
      }
      gpu.return
    }
  }
}
