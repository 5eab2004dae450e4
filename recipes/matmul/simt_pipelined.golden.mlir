// weft golden simt_pipelined.weft
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map7 = affine_map<(d0) -> (d0 floordiv 4)>
#map8 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map9 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map10 = affine_map<(d0) -> (d0 * 4)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map12 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map13 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map14 = affine_map<(d0) -> (d0 + 16)>
#map15 = affine_map<(d0, d1) -> (d0 + d1)>
#map16 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map17 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
#map18 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
#map19 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 8 + d2 * 32)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {bufferize.result, weft.name = "C"}) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c4, %c4, %c1) threads in (%c128, %c1, %c1)  args(%arg0 : memref<512x512xf32>, %arg1 : memref<512x512xf32>, %arg2 : memref<512x512xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {weft.name = "C"}) workgroup(%arg3 : memref<2x16x132xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<2x16x128xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 4, 1>, weft.max_registers = 255 : i64} {
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c512 = arith.constant 512 : index
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
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%block_id_x, %thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %14 = affine.apply #map8(%6, %arg5)
        %15 = vector.load %arg0[%14, %2] : memref<512x512xf32>, vector<4xf32>
        %16 = vector.extract %15[0] : f32 from vector<4xf32>
        %17 = affine.apply #map8(%7, %arg5)
        memref.store %16, %arg3[%c0, %2, %17] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        %18 = vector.extract %15[1] : f32 from vector<4xf32>
        memref.store %18, %arg3[%c0, %3, %17] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        %19 = vector.extract %15[2] : f32 from vector<4xf32>
        memref.store %19, %arg3[%c0, %4, %17] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        %20 = vector.extract %15[3] : f32 from vector<4xf32>
        memref.store %20, %arg3[%c0, %5, %17] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
      }
      %8 = affine.apply #map9(%block_id_y, %1)
      %9 = affine.apply #map10(%1)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %14 = affine.apply #map11(%0, %arg5)
        %15 = vector.load %arg1[%14, %8] : memref<512x512xf32>, vector<4xf32>
        vector.store %15, %arg4[%c0, %14, %9] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %10 = affine.apply #map12(%1)
      %11 = affine.apply #map13(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c512 step %c16 {
        %14 = affine.apply #map14(%arg5)
        %15 = arith.cmpi slt, %14, %c512 : index
        %16 = affine.apply #map15(%2, %arg5)
        %17 = affine.apply #map14(%16)
        %18 = affine.apply #map15(%0, %arg5)
        scf.if %15 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %21 = affine.apply #map10(%arg6)
            %22 = affine.apply #map8(%6, %arg6)
            %23 = vector.load %arg0[%22, %17] : memref<512x512xf32>, vector<4xf32>
            vector.store %23, %alloca[%21] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %21 = affine.apply #map10(%arg6)
            %22 = affine.apply #map11(%18, %arg6)
            %23 = affine.apply #map14(%22)
            %24 = vector.load %arg1[%23, %8] : memref<512x512xf32>, vector<4xf32>
            vector.store %24, %alloca_0[%21] : memref<16xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %19 = affine.apply #map16(%arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "A_frag"} : memref<16xf32>
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %21 = affine.apply #map10(%arg7)
            %22 = affine.apply #map11(%10, %arg7)
            %23 = vector.load %arg3[%19, %arg6, %22] : memref<2x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %23, %alloca_2[%21] : memref<16xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "B_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %21 = affine.apply #map10(%arg7)
            %22 = affine.apply #map11(%11, %arg7)
            %23 = vector.load %arg4[%19, %arg6, %22] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %23, %alloca_3[%21] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %21 = memref.load %alloca_2[%arg7] : memref<16xf32>
              %22 = memref.load %alloca_3[%arg8] : memref<8xf32>
              %23 = memref.load %alloca_1[%arg7, %arg8] : memref<16x8xf32>
              %24 = arith.mulf %21, %22 : f32
              %25 = arith.addf %23, %24 : f32
              memref.store %25, %alloca_1[%arg7, %arg8] : memref<16x8xf32>
            }
          }
        } {weft.unroll}
        %20 = affine.apply #map17(%arg5)
        scf.if %15 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %21 = affine.apply #map10(%arg6)
            %22 = vector.load %alloca[%21] : memref<16xf32>, vector<4xf32>
            %23 = vector.extract %22[0] : f32 from vector<4xf32>
            %24 = affine.apply #map8(%7, %arg6)
            memref.store %23, %arg3[%20, %2, %24] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %25 = vector.extract %22[1] : f32 from vector<4xf32>
            memref.store %25, %arg3[%20, %3, %24] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %26 = vector.extract %22[2] : f32 from vector<4xf32>
            memref.store %26, %arg3[%20, %4, %24] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %27 = vector.extract %22[3] : f32 from vector<4xf32>
            memref.store %27, %arg3[%20, %5, %24] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %21 = affine.apply #map10(%arg6)
            %22 = vector.load %alloca_0[%21] : memref<16xf32>, vector<4xf32>
            %23 = affine.apply #map11(%0, %arg6)
            vector.store %22, %arg4[%20, %23, %9] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %12 = affine.apply #map18(%block_id_x, %1)
      %13 = affine.apply #map19(%block_id_y, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %14 = affine.apply #map15(%12, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %15 = affine.apply #map10(%arg6)
          %16 = vector.load %alloca_1[%arg5, %15] : memref<16x8xf32>, vector<4xf32>
          %17 = affine.apply #map11(%13, %arg6)
          vector.store %16, %arg2[%14, %17] : memref<512x512xf32>, vector<4xf32>
        }
      }
      gpu.return
    }
  }
}
