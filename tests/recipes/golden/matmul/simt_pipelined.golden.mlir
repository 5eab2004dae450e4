// weft golden simt_pipelined
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map7 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map8 = affine_map<(d0) -> (d0 floordiv 4)>
#map9 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map10 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map11 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map12 = affine_map<(d0) -> (d0 * 4)>
#map13 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map14 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map15 = affine_map<(d0, d1) -> ((d0 mod 4) * 4 + d1 * 32)>
#map16 = affine_map<(d0) -> (d0 + 16)>
#map17 = affine_map<(d0, d1) -> (d0 + d1)>
#map18 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map19 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map20 = affine_map<(d0, d1) -> (d0 + d1 * 16)>
#map21 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
#map22 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 4 + d2 * 32)>
#map23 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
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
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c512 = arith.constant 512 : index
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
      %3 = affine.apply #map3(%2)
      %4 = affine.apply #map4(%2)
      %5 = affine.apply #map5(%2)
      %6 = affine.apply #map6(%block_id_x, %thread_id_x)
      %7 = affine.apply #map7(%thread_id_x)
      %8 = affine.apply #map8(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %15 = affine.apply #map9(%6, %arg5)
        %16 = vector.load %arg0[%15, %2] : memref<512x512xf32>, vector<4xf32>
        %17 = vector.extract %16[0] : f32 from vector<4xf32>
        %18 = arith.xori %8, %7 : index
        %19 = affine.apply #map10(%arg5, %18)
        memref.store %17, %arg3[%c0, %2, %19] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        %20 = vector.extract %16[1] : f32 from vector<4xf32>
        memref.store %20, %arg3[%c0, %3, %19] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        %21 = vector.extract %16[2] : f32 from vector<4xf32>
        memref.store %21, %arg3[%c0, %4, %19] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
        %22 = vector.extract %16[3] : f32 from vector<4xf32>
        memref.store %22, %arg3[%c0, %5, %19] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
      }
      %9 = affine.apply #map11(%block_id_y, %1)
      %10 = affine.apply #map12(%1)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %15 = affine.apply #map13(%0, %arg5)
        %16 = vector.load %arg1[%15, %9] : memref<512x512xf32>, vector<4xf32>
        vector.store %16, %arg4[%c0, %15, %10] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %11 = affine.apply #map14(%1)
      %12 = affine.apply #map15(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c512 step %c16 {
        %15 = affine.apply #map16(%arg5)
        %16 = arith.cmpi slt, %15, %c512 : index
        %17 = affine.apply #map17(%2, %arg5)
        %18 = affine.apply #map16(%17)
        %19 = affine.apply #map17(%0, %arg5)
        scf.if %16 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %22 = affine.apply #map12(%arg6)
            %23 = affine.apply #map9(%6, %arg6)
            %24 = vector.load %arg0[%23, %18] : memref<512x512xf32>, vector<4xf32>
            vector.store %24, %alloca[%22] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %22 = affine.apply #map12(%arg6)
            %23 = affine.apply #map13(%19, %arg6)
            %24 = affine.apply #map16(%23)
            %25 = vector.load %arg1[%24, %9] : memref<512x512xf32>, vector<4xf32>
            vector.store %25, %alloca_0[%22] : memref<16xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %20 = affine.apply #map18(%arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %22 = affine.apply #map19(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %alloca_2 = memref.alloca() {weft.name = "A_frag"} : memref<16xf32>
            scf.for %arg8 = %c0 to %c4 step %c1 {
              %25 = affine.apply #map12(%arg8)
              %26 = arith.xori %25, %22 : index
              %27 = affine.apply #map17(%11, %26)
              %28 = vector.load %arg3[%20, %arg6, %27] : memref<2x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
              vector.store %28, %alloca_2[%25] : memref<16xf32>, vector<4xf32>
            }
            %alloca_3 = memref.alloca() {weft.name = "B_frag"} : memref<4xf32>
            %23 = affine.apply #map20(%12, %arg7)
            %24 = vector.load %arg4[%20, %arg6, %23] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %24, %alloca_3[%c0] : memref<4xf32>, vector<4xf32>
            scf.for %arg8 = %c0 to %c4 step %c1 {
              scf.for %arg9 = %c0 to %c16 step %c1 {
                %25 = memref.load %alloca_2[%arg9] : memref<16xf32>
                %26 = memref.load %alloca_3[%arg8] : memref<4xf32>
                %27 = memref.load %alloca_1[%arg7, %arg9, %arg8] : memref<2x16x4xf32>
                %28 = arith.mulf %25, %26 : f32
                %29 = arith.addf %27, %28 : f32
                memref.store %29, %alloca_1[%arg7, %arg9, %arg8] : memref<2x16x4xf32>
              }
            }
          }
        } {weft.unroll}
        %21 = affine.apply #map21(%arg5)
        scf.if %16 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %22 = affine.apply #map12(%arg6)
            %23 = vector.load %alloca[%22] : memref<16xf32>, vector<4xf32>
            %24 = vector.extract %23[0] : f32 from vector<4xf32>
            %25 = arith.xori %8, %7 : index
            %26 = affine.apply #map10(%arg6, %25)
            memref.store %24, %arg3[%21, %2, %26] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %27 = vector.extract %23[1] : f32 from vector<4xf32>
            memref.store %27, %arg3[%21, %3, %26] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %28 = vector.extract %23[2] : f32 from vector<4xf32>
            memref.store %28, %arg3[%21, %4, %26] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
            %29 = vector.extract %23[3] : f32 from vector<4xf32>
            memref.store %29, %arg3[%21, %5, %26] : memref<2x16x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %22 = affine.apply #map12(%arg6)
            %23 = vector.load %alloca_0[%22] : memref<16xf32>, vector<4xf32>
            %24 = affine.apply #map13(%0, %arg6)
            vector.store %23, %arg4[%21, %24, %10] : memref<2x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %13 = affine.apply #map22(%block_id_y, %thread_id_x, %0)
      %14 = affine.apply #map23(%block_id_x, %1)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %15 = affine.apply #map20(%13, %arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %16 = vector.load %alloca_1[%arg5, %arg6, %c0] : memref<2x16x4xf32>, vector<4xf32>
          %17 = affine.apply #map17(%14, %arg6)
          vector.store %16, %arg2[%17, %15] : memref<512x512xf32>, vector<4xf32>
        }
      }
      gpu.return
    }
  }
}
