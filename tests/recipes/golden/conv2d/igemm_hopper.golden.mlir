// weft golden igemm_hopper
#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 - 256)>
#map2 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map3 = affine_map<(d0) -> (d0 mod 128)>
#map4 = affine_map<(d0) -> (d0 floordiv 128)>
#map5 = affine_map<(d0) -> (d0 + 1)>
#map6 = affine_map<(d0, d1) -> (((d0 mod 128) floordiv 32) * 16 + (d0 floordiv 128) * 64 + d1 floordiv 4)>
#map7 = affine_map<(d0) -> ((d0 mod 4) * 2)>
#map8 = affine_map<(d0) -> ((((d0 floordiv 4) floordiv 4) mod 2) * 4)>
#map9 = affine_map<(d0, d1) -> (d0 * 128 + (d1 floordiv 128) * 64)>
#map10 = affine_map<(d0) -> (d0 floordiv 2)>
#map11 = affine_map<(d0) -> ((d0 mod 2) * 8)>
#map12 = affine_map<(d0) -> (d0 - 1)>
#map13 = affine_map<(d0) -> ((d0 floordiv 64) mod 4)>
#map14 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4) mod 2)>
#map15 = affine_map<(d0) -> (d0 * 8)>
#map16 = affine_map<(d0, d1) -> (d0 + d1)>
#map17 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map18 = affine_map<(d0) -> (d0 * 64)>
#map19 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4 + 1) mod 2)>
#map20 = affine_map<(d0) -> (d0 floordiv 192)>
#map21 = affine_map<(d0) -> ((d0 mod 192) floordiv 64)>
#map22 = affine_map<(d0) -> (d0 mod 64)>
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
    %collapse_shape_1 = memref.collapse_shape %arg2 [[0, 1, 2], [3]] : memref<2x16x16x128xf32> into memref<512x128xf32>
    %cast_2 = memref.cast %collapse_shape_1 : memref<512x128xf32> to memref<*xf32>
    %c8 = arith.constant 8 : index
    %2 = nvgpu.tma.create.descriptor %cast_2 box[%c64, %c8] : memref<*xf32> -> <tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>
    gpu.launch_func  @conv2d_kernel::@conv2d blocks in (%c1, %c4, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %2 : !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>)
    return
  }
  gpu.module @conv2d_kernel {
    gpu.func @conv2d(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.im2col = {lower = array<i64: -1, -1>, steps = array<i64: 1, 1>, upper = array<i64: -1, -1>}, weft.name = "X_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "W_map"}, %arg2: !nvgpu.tensormap.descriptor<tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none> {weft.name = "Y_map"}) workgroup(%arg3 : memref<8x128x8xf32, #gpu.address_space<workgroup>> {weft.name = "Y_shared"}, %arg4 : memref<4x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "X_shared"}, %arg5 : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "W_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 1, 4, 1>} {
      %c-1_i32 = arith.constant -1 : i32
      %c32768 = arith.constant 32768 : index
      %c8 = arith.constant 8 : index
      %c128_i32 = arith.constant 128 : i32
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
        scf.for %arg6 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %1[%arg6], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        }
        scf.for %arg6 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %2[%arg6], %c2 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
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
      %10 = affine.apply #map5(%9)
      %11 = affine.apply #map6(%thread_id_x, %0)
      %12 = affine.apply #map7(%thread_id_x)
      %13 = affine.apply #map8(%0)
      %14 = affine.apply #map9(%block_id_y, %thread_id_x)
      %15 = affine.apply #map10(%block_id_y)
      %16 = affine.apply #map11(%block_id_y)
      %17 = affine.apply #map12(%16)
      scf.if %6 {
        nvvm.setmaxregister increase 240
        %18 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
        %19 = arith.cmpi eq, %8, %c0 : index
        %20 = scf.for %arg6 = %c0 to %c576 step %c64 iter_args(%arg7 = %18) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
          %23 = affine.apply #map13(%arg6)
          %24 = affine.apply #map14(%arg6)
          %25 = arith.cmpi ne, %24, %c0 : index
          nvgpu.mbarrier.try_wait.parity %1[%23], %25, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
          %subview = memref.subview %arg4[%23, %7, 0] [1, 64, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %26 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
          %subview_0 = memref.subview %arg5[%23, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %27 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
          %28 = nvgpu.warpgroup.mma %26, %27, %arg7 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
          scf.if %19 {
            %29 = nvgpu.mbarrier.arrive %2[%23] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> !nvgpu.mbarrier.token
          }
          scf.yield %28 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
        }
        %21 = builtin.unrealized_conversion_cast %20 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
        %22 = arith.index_cast %10 : index to i32
        scf.for %arg6 = %c0 to %c2 step %c1 {
          scf.if %19 {
            nvvm.cp.async.bulk.wait_group 0 {read}
          }
          nvvm.barrier id = %22 number_of_threads = %c128_i32
          %23 = affine.apply #map15(%arg6)
          scf.for %arg7 = %c0 to %c8 step %c1 {
            %25 = affine.apply #map16(%23, %arg7)
            scf.for %arg8 = %c0 to %c2 step %c1 {
              %26 = vector.extract %21[%c0, %25, %arg8] : vector<2xf32> from vector<1x16x2x2xf32>
              %27 = affine.apply #map17(%11, %arg8)
              %28 = arith.xori %12, %13 : index
              vector.store %26, %arg3[%arg7, %27, %28] : memref<8x128x8xf32, #gpu.address_space<workgroup>>, vector<2xf32>
            }
          }
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          nvvm.barrier id = %22 number_of_threads = %c128_i32
          %24 = affine.apply #map18(%arg6)
          scf.if %19 {
            scf.for %arg7 = %c0 to %c8 step %c1 {
              %subview = memref.subview %arg3[%arg7, %7, 0] [1, 64, 8] [1, 1, 1] : memref<8x128x8xf32, #gpu.address_space<workgroup>> to memref<64x8xf32, strided<[8, 1], offset: ?>, #gpu.address_space<workgroup>>
              %25 = affine.apply #map17(%24, %arg7)
              nvgpu.tma.async.store %subview to %arg2[%25, %14] : memref<64x8xf32, strided<[8, 1], offset: ?>, #gpu.address_space<workgroup>> -> <tensor = memref<64x8xf32, #gpu.address_space<workgroup>>, swizzle = swizzle_32b, l2promo = none, oob = zero, interleave = none>
            }
            nvvm.cp.async.bulk.commit.group
          }
        } {weft.unroll}
        scf.if %19 {
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
      } else {
        nvvm.setmaxregister decrease 24
        scf.if %5 {
          %18 = builtin.unrealized_conversion_cast %arg0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> to !llvm.ptr
          %19 = arith.index_cast %17 : index to i32
          %20 = arith.index_cast %15 : index to i32
          scf.for %arg6 = %c0 to %c576 step %c64 {
            %21 = affine.apply #map13(%arg6)
            %22 = affine.apply #map19(%arg6)
            %23 = arith.cmpi ne, %22, %c0 : index
            nvgpu.mbarrier.try_wait.parity %2[%21], %23, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            nvgpu.mbarrier.arrive.expect_tx %1[%21], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            %24 = affine.apply #map20(%arg6)
            %25 = affine.apply #map21(%arg6)
            %subview = memref.subview %arg4[%21, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %26 = affine.apply #map22(%arg6)
            %27 = nvgpu.mbarrier.get %1[%21] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> i64
            %28 = llvm.inttoptr %27 : i64 to !llvm.ptr<3>
            %29 = builtin.unrealized_conversion_cast %subview : memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>> to !llvm.ptr<7>
            %30 = arith.index_cast %26 : index to i32
            %31 = arith.index_cast %25 : index to i16
            %32 = arith.index_cast %24 : index to i16
            nvvm.cp.async.bulk.tensor.shared.cluster.global %29, %18, %28, box[%30, %c-1_i32, %19, %20] im2col[%31, %32] {mode = #nvvm.tma_load_mode<im2col>} : !llvm.ptr<7>, !llvm.ptr
            %subview_0 = memref.subview %arg5[%21, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%c0, %arg6], %1[%21] to %subview_0 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_1 = memref.subview %arg5[%21, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%c64, %arg6], %1[%21] to %subview_1 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          }
        }
      }
      gpu.return
    }
  }
}
