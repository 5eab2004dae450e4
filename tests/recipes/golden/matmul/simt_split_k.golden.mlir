// weft golden simt_split_k
#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0, d1) -> (d0 * 256 + (d1 mod 4) * 4)>
#map3 = affine_map<(d0) -> ((d0 mod 4) * 4)>
#map4 = affine_map<(d0) -> (d0 + 1)>
#map5 = affine_map<(d0) -> (d0 + 2)>
#map6 = affine_map<(d0) -> (d0 + 3)>
#map7 = affine_map<(d0, d1) -> (d0 * 128 + d1 floordiv 4)>
#map8 = affine_map<(d0) -> ((((d0 floordiv 4) * -6 + ((d0 * 4) floordiv 8) * 3) mod 4) * 4)>
#map9 = affine_map<(d0) -> (d0 floordiv 4)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 32)>
#map11 = affine_map<(d0, d1) -> (d0 * 32 + d1)>
#map12 = affine_map<(d0, d1) -> (d0 * 128 + d1 * 4)>
#map13 = affine_map<(d0) -> (d0 * 4)>
#map14 = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map15 = affine_map<(d0, d1) -> (d0 + d1 * 4)>
#map16 = affine_map<(d0) -> ((d0 floordiv 4) * 16)>
#map17 = affine_map<(d0, d1) -> ((d0 mod 4) * 8 + d1 * 32)>
#map18 = affine_map<(d0) -> (d0 + 16)>
#map19 = affine_map<(d0, d1) -> (d0 + d1)>
#map20 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map21 = affine_map<(d0) -> ((((d0 floordiv 8) * 3) mod 4) * 4)>
#map22 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
#map23 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 4) * 16)>
#map24 = affine_map<(d0, d1, d2) -> (d0 * 128 + (d1 mod 4) * 8 + d2 * 32)>
#map25 = affine_map<(d0, d1) -> (d0 + d1 floordiv 256)>
#map26 = affine_map<(d0) -> (d0 mod 256)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<256x1024xf32> {weft.name = "A"}, %arg1: memref<1024x256xf32> {weft.name = "B"}, %arg2: memref<256x256xf32> {bufferize.result, weft.name = "C"}) {
    %alloc = memref.alloc() {alignment = 64 : i64, weft.name = "C_2"} : memref<4x256x256xf32>
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %c1 = arith.constant 1 : index
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c2, %c4) threads in (%c128, %c1, %c1)  args(%arg0 : memref<256x1024xf32>, %arg1 : memref<1024x256xf32>, %alloc : memref<4x256x256xf32>)
    %c256 = arith.constant 256 : index
    gpu.launch_func  @matmul_1_kernel::@matmul_1 blocks in (%c256, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg2 : memref<256x256xf32>, %alloc : memref<4x256x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: memref<256x1024xf32> {weft.name = "A"}, %arg1: memref<1024x256xf32> {weft.name = "B"}, %arg2: memref<4x256x256xf32> {weft.name = "C_2"}) workgroup(%arg3 : memref<2x1x16x132xf32, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<2x1x16x128xf32, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 2, 4>, weft.max_registers = 255 : i64} {
      %c8 = arith.constant 8 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c256 = arith.constant 256 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %block_id_z = gpu.block_id z
      %alloca = memref.alloca() {weft.name = "A_next"} : memref<16xf32>
      %alloca_0 = memref.alloca() {weft.name = "B_next"} : memref<16xf32>
      %alloca_1 = memref.alloca() {weft.name = "acc"} : memref<1x16x8xf32>
      scf.for %arg5 = %c0 to %c16 step %c1 {
        scf.for %arg6 = %c0 to %c8 step %c1 {
          memref.store %cst, %alloca_1[%c0, %arg5, %arg6] : memref<1x16x8xf32>
        }
      }
      %2 = affine.apply #map2(%block_id_z, %thread_id_x)
      %3 = affine.apply #map3(%thread_id_x)
      %4 = affine.apply #map4(%3)
      %5 = affine.apply #map5(%3)
      %6 = affine.apply #map6(%3)
      %7 = affine.apply #map7(%block_id_y, %thread_id_x)
      %8 = affine.apply #map8(%thread_id_x)
      %9 = affine.apply #map9(%thread_id_x)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map10(%7, %arg5)
        %18 = vector.load %arg0[%17, %2] : memref<256x1024xf32>, vector<4xf32>
        %19 = vector.extract %18[0] : f32 from vector<4xf32>
        %20 = arith.xori %9, %8 : index
        %21 = affine.apply #map11(%arg5, %20)
        memref.store %19, %arg3[%c0, %c0, %3, %21] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        %22 = vector.extract %18[1] : f32 from vector<4xf32>
        memref.store %22, %arg3[%c0, %c0, %4, %21] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        %23 = vector.extract %18[2] : f32 from vector<4xf32>
        memref.store %23, %arg3[%c0, %c0, %5, %21] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
        %24 = vector.extract %18[3] : f32 from vector<4xf32>
        memref.store %24, %arg3[%c0, %c0, %6, %21] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
      }
      %10 = affine.apply #map12(%block_id_x, %1)
      %11 = affine.apply #map13(%1)
      %12 = affine.apply #map14(%block_id_z, %0)
      scf.for %arg5 = %c0 to %c4 step %c1 {
        %17 = affine.apply #map15(%12, %arg5)
        %18 = vector.load %arg1[%17, %10] : memref<1024x256xf32>, vector<4xf32>
        %19 = affine.apply #map15(%0, %arg5)
        vector.store %18, %arg4[%c0, %c0, %19, %11] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
      }
      %13 = affine.apply #map16(%1)
      %14 = affine.apply #map17(%thread_id_x, %0)
      scf.for %arg5 = %c0 to %c256 step %c16 {
        %17 = affine.apply #map18(%arg5)
        %18 = arith.cmpi slt, %17, %c256 : index
        %19 = affine.apply #map19(%2, %arg5)
        %20 = affine.apply #map18(%19)
        %21 = affine.apply #map19(%12, %arg5)
        scf.if %18 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %24 = affine.apply #map13(%arg6)
            %25 = affine.apply #map10(%7, %arg6)
            %26 = vector.load %arg0[%25, %20] : memref<256x1024xf32>, vector<4xf32>
            vector.store %26, %alloca[%24] : memref<16xf32>, vector<4xf32>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %24 = affine.apply #map13(%arg6)
            %25 = affine.apply #map15(%21, %arg6)
            %26 = affine.apply #map18(%25)
            %27 = vector.load %arg1[%26, %10] : memref<1024x256xf32>, vector<4xf32>
            vector.store %27, %alloca_0[%24] : memref<16xf32>, vector<4xf32>
          }
        }
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        %22 = affine.apply #map20(%arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %alloca_2 = memref.alloca() {weft.name = "A_frag"} : memref<16xf32>
          %24 = affine.apply #map21(%arg6)
          scf.for %arg7 = %c0 to %c4 step %c1 {
            %25 = affine.apply #map13(%arg7)
            %26 = arith.xori %25, %24 : index
            %27 = affine.apply #map19(%13, %26)
            %28 = vector.load %arg3[%22, %c0, %arg6, %27] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %28, %alloca_2[%25] : memref<16xf32>, vector<4xf32>
          }
          %alloca_3 = memref.alloca() {weft.name = "B_frag"} : memref<8xf32>
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %25 = affine.apply #map13(%arg7)
            %26 = affine.apply #map15(%14, %arg7)
            %27 = vector.load %arg4[%22, %c0, %arg6, %26] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
            vector.store %27, %alloca_3[%25] : memref<8xf32>, vector<4xf32>
          }
          scf.for %arg7 = %c0 to %c16 step %c1 {
            scf.for %arg8 = %c0 to %c8 step %c1 {
              %25 = memref.load %alloca_2[%arg7] : memref<16xf32>
              %26 = memref.load %alloca_3[%arg8] : memref<8xf32>
              %27 = memref.load %alloca_1[%c0, %arg7, %arg8] : memref<1x16x8xf32>
              %28 = arith.mulf %25, %26 : f32
              %29 = arith.addf %27, %28 : f32
              memref.store %29, %alloca_1[%c0, %arg7, %arg8] : memref<1x16x8xf32>
            }
          }
        } {weft.unroll}
        %23 = affine.apply #map22(%arg5)
        scf.if %18 {
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %24 = affine.apply #map13(%arg6)
            %25 = vector.load %alloca[%24] : memref<16xf32>, vector<4xf32>
            %26 = vector.extract %25[0] : f32 from vector<4xf32>
            %27 = arith.xori %9, %8 : index
            %28 = affine.apply #map11(%arg6, %27)
            memref.store %26, %arg3[%23, %c0, %3, %28] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %29 = vector.extract %25[1] : f32 from vector<4xf32>
            memref.store %29, %arg3[%23, %c0, %4, %28] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %30 = vector.extract %25[2] : f32 from vector<4xf32>
            memref.store %30, %arg3[%23, %c0, %5, %28] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
            %31 = vector.extract %25[3] : f32 from vector<4xf32>
            memref.store %31, %arg3[%23, %c0, %6, %28] : memref<2x1x16x132xf32, #gpu.address_space<workgroup>>
          }
          scf.for %arg6 = %c0 to %c4 step %c1 {
            %24 = affine.apply #map13(%arg6)
            %25 = vector.load %alloca_0[%24] : memref<16xf32>, vector<4xf32>
            %26 = affine.apply #map15(%0, %arg6)
            vector.store %25, %arg4[%23, %c0, %26, %11] : memref<2x1x16x128xf32, #gpu.address_space<workgroup>>, vector<4xf32>
          }
        }
      }
      %15 = affine.apply #map23(%block_id_y, %1)
      %16 = affine.apply #map24(%block_id_x, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %17 = affine.apply #map19(%15, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %18 = affine.apply #map13(%arg6)
          %19 = vector.load %alloca_1[%c0, %arg5, %18] : memref<1x16x8xf32>, vector<4xf32>
          %20 = affine.apply #map15(%16, %arg6)
          vector.store %19, %arg2[%block_id_z, %17, %20] : memref<4x256x256xf32>, vector<4xf32>
        }
      }
      gpu.return
    }
  }
  gpu.module @matmul_1_kernel {
    gpu.func @matmul_1(%arg0: memref<256x256xf32> {weft.name = "C"}, %arg1: memref<4x256x256xf32> {weft.name = "C_2"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %alloca = memref.alloca() {weft.name = "acc"} : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = affine.apply #map25(%block_id_x, %thread_id_x)
      %1 = affine.apply #map26(%thread_id_x)
      scf.for %arg2 = %c0 to %c4 step %c1 {
        %3 = memref.load %arg1[%arg2, %0, %1] : memref<4x256x256xf32>
        %4 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        %5 = arith.addf %4, %3 : f32
        memref.store %5, %alloca[%c0, %c0] : memref<1x1xf32>
      } {weft.unroll}
      %2 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
      memref.store %2, %arg0[%0, %1] : memref<256x256xf32>
      gpu.return
    }
  }
}
