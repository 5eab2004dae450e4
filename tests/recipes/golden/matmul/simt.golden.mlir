// weft golden simt
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map3 = affine_map<(d0) -> (d0 + 1)>
#map4 = affine_map<(d0) -> (d0 + 2)>
#map5 = affine_map<(d0) -> (d0 + 3)>
#map6 = affine_map<(d0) -> (d0 * 4)>
#map7 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map8 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
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
#map20 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 floordiv 4) * 8 + (d2 floordiv 4) * 64)>
#map21 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 8 + (d2 mod 4) * 32)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {bufferize.result, weft.name = "C"}) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c4, %c4, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<512x512xf32>, %arg1 : memref<512x512xf32>, %arg2 : memref<512x512xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<512x512xf32> {weft.name = "A"}, %arg1: memref<512x512xf32> {weft.name = "B"}, %arg2: memref<512x512xf32> {weft.name = "C"}) workgroup(%arg3 : memref<16x132xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<16x128xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 4, 1>} {
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c512 = arith.constant 512 : index
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
      %7 = affine.apply #map7(%block_id_y, %1)
      %8 = affine.apply #map8(%block_id_x, %thread_id_x)
      %9 = affine.apply #map9(%thread_id_x)
      %10 = affine.apply #map10(%thread_id_x)
      %11 = affine.apply #map11(%1)
      %12 = affine.apply #map12(%0)
      %13 = affine.apply #map13(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c512 step %c16 {
        %16 = affine.apply #map14(%2, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %18 = affine.apply #map15(%8, %arg6)
          %19 = vector.load %arg0[%18, %16] : memref<512x512xf32>, vector<4xf32>
          %20 = vector.extract %19[0] : f32 from vector<4xf32>
          %21 = arith.xori %10, %9 : index
          %22 = affine.apply #map16(%arg6, %21)
          memref.store %20, %arg3[%2, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %23 = vector.extract %19[1] : f32 from vector<4xf32>
          memref.store %23, %arg3[%3, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %24 = vector.extract %19[2] : f32 from vector<4xf32>
          memref.store %24, %arg3[%4, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
          %25 = vector.extract %19[3] : f32 from vector<4xf32>
          memref.store %25, %arg3[%5, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>
        }
        %17 = affine.apply #map14(%0, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %18 = affine.apply #map17(%0, %arg6)
          %19 = affine.apply #map17(%17, %arg6)
          %20 = vector.load %arg1[%19, %7] : memref<512x512xf32>, vector<4xf32>
          vector.store %20, %arg4[%18, %6] : memref<16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_0 = memref.alloca() {weft.name = "A_frag"} : memref<8xf32>
          %18 = affine.apply #map18(%arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %19 = affine.apply #map6(%arg7)
            %20 = affine.apply #map19(%11, %arg7)
            %21 = arith.xori %20, %18 : index
            %22 = affine.apply #map14(%12, %21)
            %23 = vector.load %arg3[%arg6, %22] : memref<16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %23, %alloca_0[%19] : memref<8xf32>, vector<4xf32>
          }
          %alloca_1 = memref.alloca() {weft.name = "B_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %19 = affine.apply #map6(%arg7)
            %20 = affine.apply #map19(%13, %arg7)
            %21 = vector.load %arg4[%arg6, %20] : memref<16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %21, %alloca_1[%19] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c8 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %19 = memref.load %alloca_0[%arg7] : memref<8xf32>
              %20 = memref.load %alloca_1[%arg8] : memref<8xf32>
              %21 = memref.load %alloca[%arg7, %arg8] : memref<8x8xf32>
              %22 = arith.mulf %19, %20 : f32
              %23 = arith.addf %21, %22 : f32
              memref.store %23, %alloca[%arg7, %arg8] : memref<8x8xf32>
            }
          }
        } {weft.unroll}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
      %14 = affine.apply #map20(%block_id_x, %1, %0)
      %15 = affine.apply #map21(%block_id_y, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c8 step %c1 {
        %16 = affine.apply #map14(%14, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %17 = affine.apply #map6(%arg6)
          %18 = vector.load %alloca[%arg5, %17] : memref<8x8xf32>, vector<4xf32>
          %19 = affine.apply #map19(%15, %arg6)
          vector.store %18, %arg2[%16, %19] : memref<512x512xf32>, vector<4xf32>
        }
      }
      gpu.return
    }
  }
}
