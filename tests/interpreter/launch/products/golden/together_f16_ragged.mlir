#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map2 = affine_map<(d0) -> (d0 * 128)>
#map3 = affine_map<(d0) -> (d0 + 64)>
#map4 = affine_map<(d0) -> ((d0 floordiv 64) mod 2)>
#map5 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 4) * 2)>
#map6 = affine_map<(d0, d1, d2) -> (d0 * 128 + ((d1 mod 128) floordiv 32) * 16 + (d1 floordiv 128) * 64 + d2 floordiv 4)>
#map7 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<250x200xf16> {weft.name = "A"}, %arg1: memref<200x264xf16> {weft.name = "B"}, %arg2: memref<250x264xf32> {bufferize.result, weft.name = "result0"}) {
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %cast = memref.cast %arg0 : memref<250x200xf16> to memref<*xf16>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] : memref<*xf16> -> <tensor = memref<128x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<200x264xf16> to memref<*xf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xf16> -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c3, %c2, %c1) threads in (%c256, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<250x264xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<250x264xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<128x64xf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<2x64x64xf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 2, 1>, weft.unproven = "a load in flight conflicts with another access of `A_shared`: WAR"} {
      %c264 = arith.constant 264 : index
      %c250 = arith.constant 250 : index
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c10000000 = arith.constant 10000000 : index
      %c32768 = arith.constant 32768 : index
      %c64 = arith.constant 64 : index
      %c256 = arith.constant 256 : index
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %1 = nvgpu.mbarrier.create {weft.name = "full"} -> <memorySpace = #gpu.address_space<workgroup>>
      %2 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %2 {
        nvgpu.mbarrier.init %1[%c0], %c1 : <memorySpace = #gpu.address_space<workgroup>>
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %3 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
      %4 = arith.cmpi slt, %thread_id_x, %c1 : index
      %5 = affine.apply #map1(%thread_id_x)
      %subview = memref.subview %arg3[%5, 0] [64, 64] [1, 1] : memref<128x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
      %subview_0 = memref.subview %arg4[0, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
      %6 = affine.apply #map2(%block_id_y)
      %7 = affine.apply #map2(%block_id_x)
      %8 = affine.apply #map3(%7)
      %9 = scf.for %arg5 = %c0 to %c256 step %c64 iter_args(%arg6 = %3) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
        scf.if %4 {
          nvgpu.mbarrier.arrive.expect_tx %1[%c0], %c32768 : <memorySpace = #gpu.address_space<workgroup>>
          nvgpu.tma.async.load %arg0[%arg5, %6], %1[%c0] to %arg3 : <tensor = memref<128x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>> -> memref<128x64xf16, #gpu.address_space<workgroup>>
          nvgpu.tma.async.load %arg1[%7, %arg5], %1[%c0] to %subview_0 : <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>> -> memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>
          %subview_1 = memref.subview %arg4[1, 0, 0] [1, 64, 64] [1, 1, 1] : memref<2x64x64xf16, #gpu.address_space<workgroup>> to memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
          nvgpu.tma.async.load %arg1[%8, %arg5], %1[%c0] to %subview_1 : <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>> -> memref<64x64xf16, strided<[64, 1], offset: 4096>, #gpu.address_space<workgroup>>
        }
        %13 = affine.apply #map4(%arg5)
        %14 = arith.cmpi ne, %13, %c0 : index
        nvgpu.mbarrier.try_wait.parity %1[%c0], %14, %c10000000 : <memorySpace = #gpu.address_space<workgroup>>
        %15 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>
        %16 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xf16, strided<[64, 1]>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xf16, #gpu.address_space<workgroup>>>
        %17 = nvgpu.warpgroup.mma %15, %16, %arg6 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
        scf.yield %17 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
      }
      %10 = builtin.unrealized_conversion_cast %9 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
      %11 = affine.apply #map5(%block_id_x, %thread_id_x)
      %12 = affine.apply #map6(%block_id_y, %thread_id_x, %0)
      scf.for %arg5 = %c0 to %c16 step %c1 {
        %13 = affine.apply #map7(%11, %arg5)
        %14 = arith.cmpi slt, %13, %c264 : index
        scf.for %arg6 = %c0 to %c2 step %c1 {
          %15 = affine.apply #map7(%12, %arg6)
          %16 = arith.cmpi slt, %15, %c250 : index
          %17 = arith.andi %16, %14 : i1
          scf.if %17 {
            %18 = vector.extract %10[%c0, %arg5, %arg6] : vector<2xf32> from vector<1x16x2x2xf32>
            vector.store %18, %arg2[%15, %13] : memref<250x264xf32>, vector<2xf32>
          }
        }
      }
      gpu.return
    }
  }
}
