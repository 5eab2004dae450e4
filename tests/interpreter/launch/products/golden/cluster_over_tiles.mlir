#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map2 = affine_map<(d0) -> (d0 mod 128)>
#map3 = affine_map<(d0, d1, d2) -> ((d0 floordiv 2) * 128 + ((d1 mod 128) floordiv 32) * 16 + (d1 floordiv 128) * 64 + d2 floordiv 4)>
#map4 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 4) * 2)>
#map5 = affine_map<(d0) -> (d0 * 128)>
#map6 = affine_map<(d0) -> (d0 - 256)>
#map7 = affine_map<(d0) -> (d0 * 64)>
#map8 = affine_map<(d0, d1) -> ((d0 floordiv 2) * 128 + d1 * 64)>
#map9 = affine_map<(d0) -> (d0 + 64)>
#map10 = affine_map<(d0, d1) -> ((d0 * 5 + d1 floordiv 64) mod 3)>
#map11 = affine_map<(d0, d1) -> (((d0 * 5 + d1 floordiv 64) floordiv 3) mod 2)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 * 256)>
#map13 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map14 = affine_map<(d0, d1) -> (((d0 * 5 + d1 floordiv 64) floordiv 3 + 1) mod 2)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<500x320xbf16> {weft.name = "A"}, %arg1: memref<320x256xbf16> {weft.name = "B"}, %arg2: memref<500x256xf32> {bufferize.result, weft.name = "result0"}) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %cast = memref.cast %arg0 : memref<500x320xbf16> to memref<*xbf16>
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<320x256xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %c2 = arith.constant 2 : index
    gpu.launch_func  @matmul_kernel::@matmul clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<500x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<500x256xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<3x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %c3_i16 = arith.constant 3 : i16
      %c32768 = arith.constant 32768 : index
      %c500 = arith.constant 500 : index
      %c16 = arith.constant 16 : index
      %c10000000 = arith.constant 10000000 : index
      %c64 = arith.constant 64 : index
      %c320 = arith.constant 320 : index
      %c256 = arith.constant 256 : index
      %c2 = arith.constant 2 : index
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
      %4 = arith.cmpi slt, %thread_id_x, %c256 : index
      %5 = affine.apply #map1(%thread_id_x)
      %6 = affine.apply #map2(%thread_id_x)
      %7 = affine.apply #map3(%block_id_x, %thread_id_x, %0)
      %8 = affine.apply #map4(%cluster_block_id_x, %thread_id_x)
      %9 = affine.apply #map5(%cluster_block_id_x)
      %10 = affine.apply #map6(%thread_id_x)
      %11 = affine.apply #map7(%cluster_block_id_x)
      %12 = affine.apply #map8(%block_id_x, %cluster_block_id_x)
      %13 = affine.apply #map9(%9)
      scf.if %4 {
        %14 = arith.cmpi slt, %6, %c2 : index
        scf.for %arg5 = %c0 to %c2 step %c1 {
          %15 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
          %16 = scf.for %arg6 = %c0 to %c320 step %c64 iter_args(%arg7 = %15) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
            %19 = affine.apply #map10(%arg5, %arg6)
            %20 = affine.apply #map11(%arg5, %arg6)
            %21 = arith.cmpi ne, %20, %c0 : index
            nvgpu.mbarrier.try_wait.parity %1[%19], %21, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
            %subview = memref.subview %arg3[%19, %5, 0] [1, 64, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %22 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
            %subview_0 = memref.subview %arg4[%19, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %23 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
            %24 = nvgpu.warpgroup.mma %22, %23, %arg7 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
            scf.if %14 {
              %25 = nvgpu.mbarrier.get %2[%19] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> i32
              %26 = llvm.inttoptr %25 : i32 to !llvm.ptr<3>
              %27 = arith.index_cast %6 : index to i32
              %28 = nvvm.mapa %26, %27 : !llvm.ptr<3> -> !llvm.ptr<7>
              nvvm.mbarrier.arrive %28 {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
            }
            scf.yield %24 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
          }
          %17 = builtin.unrealized_conversion_cast %16 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
          %18 = affine.apply #map12(%7, %arg5)
          scf.for %arg6 = %c0 to %c16 step %c1 {
            %19 = affine.apply #map13(%8, %arg6)
            scf.for %arg7 = %c0 to %c2 step %c1 {
              %20 = affine.apply #map13(%18, %arg7)
              %21 = arith.cmpi slt, %20, %c500 : index
              scf.if %21 {
                %22 = vector.extract %17[%c0, %arg6, %arg7] : vector<2xf32> from vector<1x16x2x2xf32>
                vector.store %22, %arg2[%20, %19] : memref<500x256xf32>, vector<2xf32>
              }
            }
          }
        }
      } else {
        %14 = arith.cmpi eq, %10, %c0 : index
        scf.for %arg5 = %c0 to %c2 step %c1 {
          %15 = affine.apply #map12(%12, %arg5)
          scf.if %14 {
            scf.for %arg6 = %c0 to %c320 step %c64 {
              %16 = affine.apply #map10(%arg5, %arg6)
              %17 = affine.apply #map14(%arg5, %arg6)
              %18 = arith.cmpi ne, %17, %c0 : index
              nvgpu.mbarrier.try_wait.parity %2[%16], %18, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
              nvgpu.mbarrier.arrive.expect_tx %1[%16], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
              %subview = memref.subview %arg3[%16, %11, 0] [1, 64, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              nvgpu.tma.async.load %arg0[%arg6, %15], %1[%16] to %subview multicast_mask = %c3_i16 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              %subview_0 = memref.subview %arg4[%16, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              nvgpu.tma.async.load %arg1[%9, %arg6], %1[%16] to %subview_0 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              %subview_1 = memref.subview %arg4[%16, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              nvgpu.tma.async.load %arg1[%13, %arg6], %1[%16] to %subview_1 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            }
          }
        }
      }
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      gpu.return
    }
  }
}
