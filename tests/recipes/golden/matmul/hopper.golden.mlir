// weft golden hopper
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0, d1) -> (((d0 * 2 + d1) mod 4) * 128)>
#map2 = affine_map<(d0, d1) -> (((d0 * 2 + d1) floordiv 4) * 256)>
#map3 = affine_map<(d0) -> (d0 - 256)>
#map4 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map5 = affine_map<(d0) -> (d0 mod 128)>
#map6 = affine_map<(d0) -> (d0 floordiv 128)>
#map7 = affine_map<(d0) -> (d0 + 1)>
#map8 = affine_map<(d0, d1) -> (((d0 mod 128) floordiv 32) * 16 + (d0 floordiv 128) * 64 + d1 floordiv 4)>
#map9 = affine_map<(d0) -> ((d0 mod 4) * 2)>
#map10 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 4) mod 2) * 4)>
#map11 = affine_map<(d0, d1, d2) -> (((d0 * 2 + d1) mod 4) * 128 + (d2 floordiv 128) * 64)>
#map12 = affine_map<(d0) -> (d0 + 64)>
#map13 = affine_map<(d0) -> (d0 + 128)>
#map14 = affine_map<(d0) -> (d0 + 192)>
#map15 = affine_map<(d0) -> ((d0 floordiv 64) mod 4)>
#map16 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4) mod 2)>
#map17 = affine_map<(d0) -> (d0 * 8)>
#map18 = affine_map<(d0, d1) -> (d0 + d1)>
#map19 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map20 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map21 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4 + 1) mod 2)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<512x512xbf16> {weft.name = "A"}, %arg1: memref<512x512xbf16> {weft.name = "B"}, %arg2: memref<512x512xf32> {bufferize.result, weft.name = "C"}) {
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %cast = memref.cast %arg0 : memref<512x512xbf16> to memref<*xbf16>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<512x512xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_1 = memref.cast %arg2 : memref<512x512xf32> to memref<*xf32>
    %c8 = arith.constant 8 : index
    %2 = nvgpu.tma.create.descriptor %cast_1 box[%c64, %c8] : memref<*xf32> -> <tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c4, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %2 : !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none> {weft.name = "C_map"}) workgroup(%arg3 : memref<8x128x8xf32, #gpu.address_space<workgroup>> {weft.name = "C_shared"}, %arg4 : memref<4x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg5 : memref<4x4x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 2, 4, 1>} {
      %c49152 = arith.constant 49152 : index
      %c8 = arith.constant 8 : index
      %c128_i32 = arith.constant 128 : i32
      %c10000000 = arith.constant 10000000 : index
      %c256 = arith.constant 256 : index
      %c64 = arith.constant 64 : index
      %c512 = arith.constant 512 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %1 = nvgpu.mbarrier.create {weft.name = "full"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
      %2 = nvgpu.mbarrier.create {weft.name = "empty"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
      %3 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %3 {
        scf.for %arg6 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %1[%arg6], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        }
        scf.for %arg6 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %2[%arg6], %c2 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        }
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %4 = affine.apply #map1(%block_id_y, %block_id_x)
      %5 = affine.apply #map2(%block_id_y, %block_id_x)
      %6 = affine.apply #map3(%thread_id_x)
      %7 = arith.cmpi eq, %6, %c0 : index
      %8 = arith.cmpi slt, %thread_id_x, %c256 : index
      %9 = affine.apply #map4(%thread_id_x)
      %10 = affine.apply #map5(%thread_id_x)
      %11 = affine.apply #map6(%thread_id_x)
      %12 = affine.apply #map7(%11)
      %13 = affine.apply #map8(%thread_id_x, %0)
      %14 = affine.apply #map9(%thread_id_x)
      %15 = affine.apply #map10(%0)
      %16 = affine.apply #map11(%block_id_y, %block_id_x, %thread_id_x)
      %17 = affine.apply #map12(%5)
      %18 = affine.apply #map13(%5)
      %19 = affine.apply #map14(%5)
      scf.if %8 {
        nvvm.setmaxregister increase 240
        %20 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x256xf32>>
        %21 = arith.cmpi eq, %10, %c0 : index
        %22 = scf.for %arg6 = %c0 to %c512 step %c64 iter_args(%arg7 = %20) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x256xf32>>) {
          %25 = affine.apply #map15(%arg6)
          %26 = affine.apply #map16(%arg6)
          %27 = arith.cmpi ne, %26, %c0 : index
          nvgpu.mbarrier.try_wait.parity %1[%25], %27, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
          %subview = memref.subview %arg4[%25, %9, 0] [1, 64, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %28 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
          %subview_0 = memref.subview %arg5[%25, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x4x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %29 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x256xbf16, #gpu.address_space<workgroup>>>
          %30 = nvgpu.warpgroup.mma %28, %29, %arg7 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x256xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x256xf32>> -> <fragmented = vector<64x256xf32>>
          scf.if %21 {
            %31 = nvgpu.mbarrier.arrive %2[%25] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> !nvgpu.mbarrier.token
          }
          scf.yield %30 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x256xf32>>
        }
        %23 = builtin.unrealized_conversion_cast %22 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x256xf32>> to vector<1x32x2x2xf32>
        %24 = arith.index_cast %12 : index to i32
        scf.for %arg6 = %c0 to %c4 step %c1 {
          scf.if %21 {
            nvvm.cp.async.bulk.wait_group 0 {read}
          }
          nvvm.barrier id = %24 number_of_threads = %c128_i32
          %25 = affine.apply #map17(%arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %27 = affine.apply #map18(%25, %arg7)
            scf.for %arg8 = %c0 to %c2 step %c1 {
              %28 = vector.extract %23[%c0, %27, %arg8] : vector<2xf32> from vector<1x32x2x2xf32>
              %29 = affine.apply #map19(%13, %arg8)
              %30 = arith.xori %14, %15 : index
              vector.store %28, %arg3[%arg7, %29, %30] : memref<8x128x8xf32, #gpu.address_space<workgroup>>, vector<2xf32>
            }
          }
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          nvvm.barrier id = %24 number_of_threads = %c128_i32
          %26 = affine.apply #map20(%5, %arg6)
          scf.if %21 {
            scf.for %arg7 = %c0 to %c8 step %c1 {
              %subview = memref.subview %arg3[%arg7, %9, 0] [1, 64, 8] [1, 1, 1] : memref<8x128x8xf32, #gpu.address_space<workgroup>> to memref<64x8xf32, strided<[8, 1], offset: ?>, #gpu.address_space<workgroup>>
              %27 = affine.apply #map19(%26, %arg7)
              nvgpu.tma.async.store %subview to %arg2[%27, %16] : memref<64x8xf32, strided<[8, 1], offset: ?>, #gpu.address_space<workgroup>> -> <tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>
            }
            nvvm.cp.async.bulk.commit.group
          }
        } {weft.unroll}
        scf.if %21 {
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
      } else {
        nvvm.setmaxregister decrease 24
        scf.if %7 {
          scf.for %arg6 = %c0 to %c512 step %c64 {
            %20 = affine.apply #map15(%arg6)
            %21 = affine.apply #map21(%arg6)
            %22 = arith.cmpi ne, %21, %c0 : index
            nvgpu.mbarrier.try_wait.parity %2[%20], %22, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            nvgpu.mbarrier.arrive.expect_tx %1[%20], %c49152 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            %subview = memref.subview %arg4[%20, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg0[%arg6, %4], %1[%20] to %subview : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_0 = memref.subview %arg5[%20, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x4x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%5, %arg6], %1[%20] to %subview_0 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_1 = memref.subview %arg5[%20, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x4x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%17, %arg6], %1[%20] to %subview_1 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_2 = memref.subview %arg5[%20, 2, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x4x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%18, %arg6], %1[%20] to %subview_2 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_3 = memref.subview %arg5[%20, 3, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x4x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%19, %arg6], %1[%20] to %subview_3 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          }
        }
      }
      gpu.return
    }
  }
}
