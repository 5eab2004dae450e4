#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 * 128)>
#map2 = affine_map<(d0) -> (d0 + 64)>
#map3 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map4 = affine_map<(d0) -> ((d0 floordiv 64) mod 3)>
#map5 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 3) mod 2)>
#map6 = affine_map<(d0) -> (d0 + 128)>
#map7 = affine_map<(d0) -> ((d0 floordiv 64 + 2) mod 3)>
#map8 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 4) * 2)>
#map9 = affine_map<(d0, d1, d2) -> (d0 * 128 + ((d1 mod 128) floordiv 32) * 16 + (d1 floordiv 128) * 64 + d2 floordiv 4)>
#map10 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<256x512xbf16> {weft.name = "A"}, %arg1: memref<512x256xbf16> {weft.name = "B"}, %arg2: memref<256x256xf32> {bufferize.result, weft.name = "result0"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %cast = memref.cast %arg0 : memref<256x512xbf16> to memref<*xbf16>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<512x256xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c2, %c1) threads in (%c256, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<256x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<256x256xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<3x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 2, 1>, weft.unproven = "a load in flight conflicts with another access of `A_shared`: WAR"} {
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c10000000 = arith.constant 10000000 : index
      %c32768 = arith.constant 32768 : index
      %c64 = arith.constant 64 : index
      %c512 = arith.constant 512 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c0 = arith.constant 0 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %1 = nvgpu.mbarrier.create {weft.name = "full"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
      %2 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %2 {
        scf.for %arg5 = %c0 to %c3 step %c1 {
          nvgpu.mbarrier.init %1[%arg5], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
        }
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %3 = affine.apply #map1(%block_id_y)
      %4 = affine.apply #map1(%block_id_x)
      %5 = arith.cmpi slt, %thread_id_x, %c1 : index
      %6 = affine.apply #map2(%4)
      scf.if %5 {
        nvgpu.mbarrier.arrive.expect_tx %1[%c0], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
        %subview = memref.subview %arg3[0, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        nvgpu.tma.async.load %arg0[%c0, %3], %1[%c0] to %subview : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<128x64xbf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %subview_0 = memref.subview %arg4[0, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        nvgpu.tma.async.load %arg1[%4, %c0], %1[%c0] to %subview_0 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
        %subview_1 = memref.subview %arg4[0, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        nvgpu.tma.async.load %arg1[%6, %c0], %1[%c0] to %subview_1 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        nvgpu.mbarrier.arrive.expect_tx %1[%c1], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
        %subview_2 = memref.subview %arg3[1, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        nvgpu.tma.async.load %arg0[%c64, %3], %1[%c1] to %subview_2 : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<128x64xbf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        %subview_3 = memref.subview %arg4[1, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        nvgpu.tma.async.load %arg1[%4, %c64], %1[%c1] to %subview_3 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: 8192>, #gpu.address_space<workgroup>>
        %subview_4 = memref.subview %arg4[1, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: 12288>, #gpu.address_space<workgroup>>
        nvgpu.tma.async.load %arg1[%6, %c64], %1[%c1] to %subview_4 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: 12288>, #gpu.address_space<workgroup>>
      }
      %7 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
      %8 = affine.apply #map3(%thread_id_x)
      %9 = scf.for %arg5 = %c0 to %c512 step %c64 iter_args(%arg6 = %7) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
        %13 = affine.apply #map4(%arg5)
        %14 = affine.apply #map5(%arg5)
        %15 = arith.cmpi ne, %14, %c0 : index
        nvgpu.mbarrier.try_wait.parity %1[%13], %15, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
        %16 = affine.apply #map6(%arg5)
        %17 = arith.cmpi slt, %16, %c512 : index
        %18 = affine.apply #map7(%arg5)
        scf.if %17 {
          scf.if %5 {
            nvgpu.mbarrier.arrive.expect_tx %1[%18], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
            %subview_1 = memref.subview %arg3[%18, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg0[%16, %3], %1[%18] to %subview_1 : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_2 = memref.subview %arg4[%18, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%4, %16], %1[%18] to %subview_2 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_3 = memref.subview %arg4[%18, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%6, %16], %1[%18] to %subview_3 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          }
        }
        %subview = memref.subview %arg3[%13, %8, 0] [1, 64, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %19 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
        %subview_0 = memref.subview %arg4[%13, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
        %20 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
        %21 = nvgpu.warpgroup.mma %19, %20, %arg6 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
        scf.yield %21 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
      }
      %10 = builtin.unrealized_conversion_cast %9 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
      %11 = affine.apply #map8(%block_id_x, %thread_id_x)
      %12 = affine.apply #map9(%block_id_y, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %13 = affine.apply #map10(%11, %arg5)
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %14 = vector.extract %10[%c0, %arg5, %arg6] : vector<2xf32> from vector<1x16x2x2xf32>
          %15 = affine.apply #map10(%12, %arg6)
          vector.store %14, %arg2[%15, %13] : memref<256x256xf32>, vector<2xf32>
        }
      }
      gpu.return
    }
  }
}
