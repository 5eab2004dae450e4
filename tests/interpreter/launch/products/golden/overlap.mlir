#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 * 128)>
#map2 = affine_map<(d0) -> (d0 - 256)>
#map3 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map4 = affine_map<(d0) -> (d0 mod 128)>
#map5 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 4) * 2)>
#map6 = affine_map<(d0, d1, d2) -> (d0 * 128 + ((d1 mod 128) floordiv 32) * 16 + (d1 floordiv 128) * 64 + d2 floordiv 4)>
#map7 = affine_map<(d0) -> (d0 + 64)>
#map8 = affine_map<(d0) -> (d0 floordiv 64)>
#map9 = affine_map<(d0) -> ((d0 floordiv 64) mod 4)>
#map10 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4) mod 2)>
#map11 = affine_map<(d0) -> ((d0 floordiv 64 + 3) mod 4)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map13 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 4 + 1) mod 2)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<256x512xbf16> {weft.name = "A"}, %arg1: memref<512x256xbf16> {weft.name = "B"}, %arg2: memref<256x256xf32> {bufferize.result, weft.name = "result0"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %cast = memref.cast %arg0 : memref<256x512xbf16> to memref<*xbf16>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<512x256xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c2, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<256x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<256x256xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<4x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 2, 2, 1>} {
      %c32768 = arith.constant 32768 : index
      %c16 = arith.constant 16 : index
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
        scf.for %arg5 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %1[%arg5], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        }
        scf.for %arg5 = %c0 to %c4 step %c1 {
          nvgpu.mbarrier.init %2[%arg5], %c2 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
        }
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %4 = affine.apply #map1(%block_id_y)
      %5 = affine.apply #map1(%block_id_x)
      %6 = affine.apply #map2(%thread_id_x)
      %7 = arith.cmpi eq, %6, %c0 : index
      %8 = arith.cmpi slt, %thread_id_x, %c256 : index
      %9 = affine.apply #map3(%thread_id_x)
      %10 = affine.apply #map4(%thread_id_x)
      %11 = affine.apply #map5(%block_id_x, %thread_id_x)
      %12 = affine.apply #map6(%block_id_y, %thread_id_x, %0)
      %13 = affine.apply #map7(%5)
      scf.if %8 {
        nvvm.setmaxregister increase 240
        %14 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
        %15 = scf.for %arg5 = %c0 to %c512 step %c64 iter_args(%arg6 = %14) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
          %17 = affine.apply #map8(%arg5)
          %18 = affine.apply #map9(%arg5)
          %19 = affine.apply #map10(%arg5)
          %20 = arith.cmpi ne, %19, %c0 : index
          nvgpu.mbarrier.try_wait.parity %1[%18], %20, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
          %subview = memref.subview %arg3[%18, %9, 0] [1, 64, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %21 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
          %subview_0 = memref.subview %arg4[%18, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %22 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
          %23 = nvgpu.warpgroup.mma %21, %22, %arg6 {transposeB} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
          %24 = arith.cmpi sgt, %17, %c0 : index
          %25 = affine.apply #map11(%arg5)
          scf.if %24 {
            %26 = arith.cmpi eq, %10, %c0 : index
            scf.if %26 {
              %27 = nvgpu.mbarrier.arrive %2[%25] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> !nvgpu.mbarrier.token
            }
          }
          scf.yield %23 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
        }
        nvvm.wgmma.wait.group.sync.aligned 0
        %16 = builtin.unrealized_conversion_cast %15 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
        scf.for %arg5 = %c0 to %c16 step %c1 {
          %17 = affine.apply #map12(%11, %arg5)
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %18 = vector.extract %16[%c0, %arg5, %arg6] : vector<2xf32> from vector<1x16x2x2xf32>
            %19 = affine.apply #map12(%12, %arg6)
            vector.store %18, %arg2[%19, %17] : memref<256x256xf32>, vector<2xf32>
          }
        }
      } else {
        nvvm.setmaxregister decrease 24
        scf.if %7 {
          scf.for %arg5 = %c0 to %c512 step %c64 {
            %14 = affine.apply #map9(%arg5)
            %15 = affine.apply #map13(%arg5)
            %16 = arith.cmpi ne, %15, %c0 : index
            nvgpu.mbarrier.try_wait.parity %2[%14], %16, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            nvgpu.mbarrier.arrive.expect_tx %1[%14], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
            %subview = memref.subview %arg3[%14, 0, 0] [1, 128, 64] [1, 1, 1] : memref<4x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg0[%arg5, %4], %1[%14] to %subview : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_0 = memref.subview %arg4[%14, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%5, %arg5], %1[%14] to %subview_0 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_1 = memref.subview %arg4[%14, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<4x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%13, %arg5], %1[%14] to %subview_1 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 4> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          }
        }
      }
      gpu.return
    }
  }
}
