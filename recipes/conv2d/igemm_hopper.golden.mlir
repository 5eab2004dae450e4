// weft golden igemm_hopper.weft
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 - 256)>
#map2 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map3 = affine_map<(d0) -> (d0 mod 128)>
#map4 = affine_map<(d0) -> ((d0 mod 4) * 2)>
#map5 = affine_map<(d0, d1, d2) -> (d0 * 128 + ((d1 mod 128) floordiv 32) * 16 + (d1 floordiv 128) * 64 + d2 floordiv 4)>
#map6 = affine_map<(d0) -> (d0 floordiv 2)>
#map7 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map8 = affine_map<(d0) -> (d0 - 1)>
#map9 = affine_map<(d0) -> ((d0 floordiv 64) mod 4)>
#map10 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4) mod 2)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map12 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4 + 1) mod 2)>
#map13 = affine_map<(d0) -> (d0 floordiv 192)>
#map14 = affine_map<(d0) -> ((d0 mod 192) floordiv 64)>
#map15 = affine_map<(d0) -> (d0 mod 64)>
module attributes {gpu.container_module} {
  func.func @conv2d(%arg0: memref<2x16x16x64xbf16> {weft.name = "X"}, %arg1: memref<3x3x64x128xbf16> {weft.name = "W"}, %arg2: memref<2x16x16x128xf32> {bufferize.result, weft.name = "Y"}) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c384 = arith.constant 384 : index
    %cast = memref.cast %arg0 : memref<2x16x16x64xbf16> to memref<*xbf16>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] {weft.im2col = {lower = array<i64: -1, -1>, steps = array<i64: 1, 1>, upper = array<i64: -1, -1>}} : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %collapse_shape = memref.collapse_shape %arg1 [[0, 1, 2], [3]] : memref<3x3x64x128xbf16> into memref<576x128xbf16>
    %cast_0 = memref.cast %collapse_shape : memref<576x128xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c4, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<2x16x16x128xf32>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.im2col = {lower = array<i64: -1, -1>, steps = array<i64: 1, 1>, upper = array<i64: -1, -1>}, weft.name = "X_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "W_map"}, %arg2: memref<2x16x16x128xf32> {weft.name = "Y"}) workgroup(%arg3 : memref<4x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg4 : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 1, 4, 1>} {
      %c-1_i32 = arith.constant -1 : i32
      %c32768 = arith.constant 32768 : index
      %c16 = arith.constant 16 : index
      %c10000000 = arith.constant 10000000 : index
      %c256 = arith.constant 256 : index
      %c64 = arith.constant 64 : index
      %c576 = arith.constant 576 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %block_id_y = gpu.block_id y
      %1 = nvgpu.mbarrier.create {weft.name = "full"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
      %2 = nvgpu.mbarrier.create {weft.name = "empty"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
      %3 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %3 {
        scf.for %arg5 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %1[%arg5], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        }
        scf.for %arg5 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %2[%arg5], %c2 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        }
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %4 = affine.apply #map1(%thread_id_x)
      %5 = arith.cmpi eq, %4, %c0 : index
      %6 = arith.cmpi slt, %thread_id_x, %c256 : index
      %7 = affine.apply #map2(%thread_id_x)
      %8 = affine.apply #map3(%thread_id_x)
      %9 = affine.apply #map4(%thread_id_x)
      %10 = affine.apply #map5(%block_id_y, %thread_id_x, %0)
      %11 = affine.apply #map6(%block_id_y)
      %12 = affine.apply #map7(%block_id_y)
      %13 = affine.apply #map8(%12)
      scf.if %6 {
        nvvm.setmaxregister increase 240
        %reinterpret_cast = memref.reinterpret_cast %arg2 to offset: [0], sizes: [512, 128], strides: [128, 1] : memref<2x16x16x128xf32> to memref<512x128xf32>
        %14 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
        %15 = arith.cmpi eq, %8, %c0 : index
        %16 = scf.for %arg5 = %c0 to %c576 step %c64 iter_args(%arg6 = %14) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
          %18 = affine.apply #map9(%arg5)
          %19 = affine.apply #map10(%arg5)
          %20 = arith.cmpi ne, %19, %c0 : index
          nvgpu.mbarrier.try_wait.parity %1[%18], %20, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
          %subview = memref.subview %arg3[%18, %7, 0] [1, 64, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %21 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
          %subview_0 = memref.subview %arg4[%18, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %22 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
          %23 = nvgpu.warpgroup.mma %21, %22, %arg6 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
          scf.if %15 {
            %24 = nvgpu.mbarrier.arrive %2[%18] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> !nvgpu.mbarrier.token
          }
          scf.yield %23 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
        }
        %17 = builtin.unrealized_conversion_cast %16 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
        scf.for %arg5 = %c0 to %c16 step %c1 {
          %18 = affine.apply #map11(%9, %arg5)
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %19 = vector.extract %17[%c0, %arg5, %arg6] : vector<2xf32> from vector<1x16x2x2xf32>
            %20 = affine.apply #map11(%10, %arg6)
            vector.store %19, %reinterpret_cast[%20, %18] : memref<512x128xf32>, vector<2xf32>
          }
        }
      } else {
        nvvm.setmaxregister decrease 24
        scf.if %5 {
          %14 = builtin.unrealized_conversion_cast %arg0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> to !llvm.ptr
          %15 = arith.index_cast %13 : index to i32
          %16 = arith.index_cast %11 : index to i32
          scf.for %arg5 = %c0 to %c576 step %c64 {
            %17 = affine.apply #map9(%arg5)
            %18 = affine.apply #map12(%arg5)
            %19 = arith.cmpi ne, %18, %c0 : index
            nvgpu.mbarrier.try_wait.parity %2[%17], %19, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            nvgpu.mbarrier.arrive.expect_tx %1[%17], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            %20 = affine.apply #map13(%arg5)
            %21 = affine.apply #map14(%arg5)
            %subview = memref.subview %arg3[%17, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %22 = affine.apply #map15(%arg5)
            %23 = nvgpu.mbarrier.get %1[%17] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> i64
            %24 = llvm.inttoptr %23 : i64 to !llvm.ptr<3>
            %25 = builtin.unrealized_conversion_cast %subview : memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to !llvm.ptr<7>
            %26 = arith.index_cast %22 : index to i32
            %27 = arith.index_cast %21 : index to i16
            %28 = arith.index_cast %20 : index to i16
            nvvm.cp.async.bulk.tensor.shared.cluster.global %25, %14, %24, box[%26, %c-1_i32, %15, %16] im2col[%27, %28] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr
            %subview_0 = memref.subview %arg4[%17, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%c0, %arg5], %1[%17] to %subview_0 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_1 = memref.subview %arg4[%17, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%c64, %arg5], %1[%17] to %subview_1 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          }
        }
      }
      gpu.return
    }
  }
}
