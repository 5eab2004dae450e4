#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 * 2)>
#map2 = affine_map<(d0) -> (d0 * 128)>
#map3 = affine_map<(d0) -> (d0 - 256)>
#map4 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map5 = affine_map<(d0) -> (d0 mod 128)>
#map6 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 128 + (d1 mod 4) * 2)>
#map7 = affine_map<(d0, d1, d2) -> (d0 * 128 + ((d1 mod 128) floordiv 32) * 16 + (d1 floordiv 128) * 64 + d2 floordiv 4)>
#map8 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 128 + d1 * 64)>
#map9 = affine_map<(d0) -> ((d0 floordiv 64) mod 3)>
#map10 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 3) mod 2)>
#map11 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map12 = affine_map<(d0) -> (((d0 floordiv 64) floordiv 3 + 1) mod 2)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<384x512xbf16> {weft.name = "A"}, %arg1: memref<512x256xbf16> {weft.name = "B"}, %arg2: memref<384x256xf32> {bufferize.result, weft.name = "result0"}) {
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %cast = memref.cast %arg0 : memref<384x512xbf16> to memref<*xbf16>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<512x256xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    gpu.launch_func  @matmul_kernel::@matmul clusters in (%c2, %c1, %c1) blocks in (%c4, %c2, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<384x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<384x256xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<3x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>, known_grid_size = array<i32: 4, 2, 1>} {
      %c3_i16 = arith.constant 3 : i16
      %c32768 = arith.constant 32768 : index
      %c16 = arith.constant 16 : index
      %c2 = arith.constant 2 : index
      %c10000000 = arith.constant 10000000 : index
      %c256 = arith.constant 256 : index
      %c64 = arith.constant 64 : index
      %c512 = arith.constant 512 : index
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c0 = arith.constant 0 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %cluster_block_id_x = gpu.cluster_block_id x
      %block_id_x = gpu.block_id x
      %1 = nvgpu.mbarrier.create {weft.name = "full"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
      %2 = nvgpu.mbarrier.create {weft.name = "empty"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
      %3 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %3 {
        scf.for %arg5 = %c0 to %c3 step %c1 {
          nvgpu.mbarrier.init %1[%arg5], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
        }
        scf.for %arg5 = %c0 to %c3 step %c1 {
          nvgpu.mbarrier.init %2[%arg5], %c4 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
        }
        nvvm.fence.mbarrier.init
      }
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      %block_id_y = gpu.block_id y
      %4 = affine.apply #map1(%block_id_y)
      %5 = arith.addi %4, %cluster_block_id_x : index
      %6 = affine.apply #map2(%5)
      %7 = affine.apply #map3(%thread_id_x)
      %8 = arith.cmpi eq, %7, %c0 : index
      %9 = arith.cmpi slt, %thread_id_x, %c256 : index
      %10 = affine.apply #map4(%thread_id_x)
      %11 = affine.apply #map5(%thread_id_x)
      %12 = affine.apply #map6(%block_id_x, %thread_id_x)
      %13 = affine.apply #map7(%5, %thread_id_x, %0)
      %14 = affine.apply #map8(%block_id_x, %cluster_block_id_x)
      scf.if %9 {
        %15 = arith.cmpi slt, %5, %c3 : index
        %16 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
        %17 = arith.cmpi slt, %11, %c2 : index
        %18 = scf.for %arg5 = %c0 to %c512 step %c64 iter_args(%arg6 = %16) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
          %20 = affine.apply #map9(%arg5)
          %21 = affine.apply #map10(%arg5)
          %22 = arith.cmpi ne, %21, %c0 : index
          nvgpu.mbarrier.try_wait.parity %1[%20], %22, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
          %subview = memref.subview %arg3[%20, %10, 0] [1, 64, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %23 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
          %subview_0 = memref.subview %arg4[%20, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          %24 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
          %25 = nvgpu.warpgroup.mma %23, %24, %arg6 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
          scf.if %17 {
            %26 = nvgpu.mbarrier.get %2[%20] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> i32
            %27 = llvm.inttoptr %26 : i32 to !llvm.ptr<3>
            %28 = arith.index_cast %11 : index to i32
            %29 = nvvm.mapa %27, %28 : !llvm.ptr<3> -> !llvm.ptr<7>
            nvvm.mbarrier.arrive %29 {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
          }
          scf.yield %25 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
        }
        %19 = builtin.unrealized_conversion_cast %18 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
        scf.if %15 {
          scf.for %arg5 = %c0 to %c16 step %c1 {
            %20 = affine.apply #map11(%12, %arg5)
            scf.for %arg6 = %c0 to %c2 step %c1 {
              %21 = vector.extract %19[%c0, %arg5, %arg6] : vector<2xf32> from vector<1x16x2x2xf32>
              %22 = affine.apply #map11(%13, %arg6)
              vector.store %21, %arg2[%22, %20] : memref<384x256xf32>, vector<2xf32>
            }
          }
        }
      } else {
        scf.if %8 {
          scf.for %arg5 = %c0 to %c512 step %c64 {
            %15 = affine.apply #map9(%arg5)
            %16 = affine.apply #map12(%arg5)
            %17 = arith.cmpi ne, %16, %c0 : index
            nvgpu.mbarrier.try_wait.parity %2[%15], %17, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
            nvgpu.mbarrier.arrive.expect_tx %1[%15], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
            %subview = memref.subview %arg3[%15, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg0[%arg5, %6], %1[%15] to %subview : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_0 = memref.subview %arg4[%15, %cluster_block_id_x, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%14, %arg5], %1[%15] to %subview_0 multicast_mask = %c3_i16 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
          }
        }
      }
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      gpu.return
    }
  }
}
