#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map2 = affine_map<(d0) -> (d0 mod 128)>
#map3 = affine_map<(d0) -> (d0 floordiv 2)>
#map4 = affine_map<(d0, d1) -> (((d0 mod 128) floordiv 32) * 16 + (d0 floordiv 128) * 64 + d1 floordiv 4)>
#map5 = affine_map<(d0) -> ((d0 mod 4) * 2)>
#map6 = affine_map<(d0) -> (d0 - 256)>
#map7 = affine_map<(d0) -> (d0 * 64)>
#map8 = affine_map<(d0, d1) -> (d0 + d1 * 2)>
#map9 = affine_map<(d0) -> ((d0 floordiv 2) * 2)>
#map10 = affine_map<(d0, d1) -> ((d0 * 5 + d1 floordiv 64) mod 3)>
#map11 = affine_map<(d0, d1) -> (((d0 * 5 + d1 floordiv 64) floordiv 3) mod 2)>
#map12 = affine_map<(d0, d1) -> (d0 + d1 * 128)>
#map13 = affine_map<(d0, d1) -> (d0 + (d1 mod 2) * 128)>
#map14 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map15 = affine_map<(d0) -> (d0 * 128)>
#map16 = affine_map<(d0, d1) -> (((d0 * 5 + d1 floordiv 64) floordiv 3 + 1) mod 2)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<500x320xbf16> {weft.name = "A"}, %arg1: memref<320x256xbf16> {weft.name = "B"}, %arg2: memref<500x256xf32> {bufferize.result, weft.name = "result0"}) {
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %cast = memref.cast %arg0 : memref<500x320xbf16> to memref<*xbf16>
    %c128 = arith.constant 128 : index
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<320x256xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c64, %c64] : memref<*xbf16> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %c2 = arith.constant 2 : index
    gpu.launch_func  @matmul_kernel::@matmul clusters in (%c2, %c1, %c1) blocks in (%c4, %c1, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<500x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<500x256xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<3x128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
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
      %7 = affine.apply #map3(%block_id_x)
      %8 = affine.apply #map4(%thread_id_x, %0)
      %9 = affine.apply #map5(%thread_id_x)
      %10 = affine.apply #map6(%thread_id_x)
      %11 = affine.apply #map7(%cluster_block_id_x)
      scf.if %4 {
        %12 = memref.get_global @hilbert_2x2 : memref<4xi32>
        %13 = arith.cmpi slt, %6, %c2 : index
        scf.for %arg5 = %c0 to %c2 step %c1 {
          %14 = affine.apply #map8(%7, %arg5)
          %15 = memref.load %12[%14] : memref<4xi32>
          %16 = arith.index_cast %15 : i32 to index
          %17 = affine.apply #map9(%16)
          %18 = arith.addi %17, %cluster_block_id_x : index
          %19 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<64x128xf32>>
          %20 = scf.for %arg6 = %c0 to %c320 step %c64 iter_args(%arg7 = %19) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>) {
            %24 = affine.apply #map10(%arg5, %arg6)
            %25 = affine.apply #map11(%arg5, %arg6)
            %26 = arith.cmpi ne, %25, %c0 : index
            nvgpu.mbarrier.try_wait.parity %1[%24], %26, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
            %subview = memref.subview %arg3[%24, %5, 0] [1, 64, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %27 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>
            %subview_0 = memref.subview %arg4[%24, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            %28 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
            %29 = nvgpu.warpgroup.mma %27, %28, %arg7 {transposeB, waitGroup = 0 : i64} : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<64x128xf32>> -> <fragmented = vector<64x128xf32>>
            scf.if %13 {
              %30 = nvgpu.mbarrier.get %2[%24] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> i32
              %31 = llvm.inttoptr %30 : i32 to !llvm.ptr<3>
              %32 = arith.index_cast %6 : index to i32
              %33 = nvvm.mapa %31, %32 : !llvm.ptr<3> -> !llvm.ptr<7>
              nvvm.mbarrier.arrive %33 {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
            }
            scf.yield %29 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>>
          }
          %21 = builtin.unrealized_conversion_cast %20 : !nvgpu.warpgroup.accumulator<fragmented = vector<64x128xf32>> to vector<1x16x2x2xf32>
          %22 = affine.apply #map12(%8, %18)
          %23 = affine.apply #map13(%9, %16)
          scf.for %arg6 = %c0 to %c16 step %c1 {
            %24 = affine.apply #map14(%23, %arg6)
            scf.for %arg7 = %c0 to %c2 step %c1 {
              %25 = affine.apply #map14(%22, %arg7)
              %26 = arith.cmpi slt, %25, %c500 : index
              scf.if %26 {
                %27 = vector.extract %21[%c0, %arg6, %arg7] : vector<2xf32> from vector<1x16x2x2xf32>
                vector.store %27, %arg2[%25, %24] : memref<500x256xf32>, vector<2xf32>
              }
            }
          }
        }
      } else {
        %12 = memref.get_global @hilbert_2x2 : memref<4xi32>
        %13 = arith.cmpi eq, %10, %c0 : index
        scf.for %arg5 = %c0 to %c2 step %c1 {
          %14 = affine.apply #map8(%7, %arg5)
          %15 = memref.load %12[%14] : memref<4xi32>
          %16 = arith.index_cast %15 : i32 to index
          %17 = affine.apply #map9(%16)
          %18 = arith.addi %17, %cluster_block_id_x : index
          %19 = affine.apply #map15(%18)
          %20 = affine.apply #map13(%11, %16)
          scf.if %13 {
            scf.for %arg6 = %c0 to %c320 step %c64 {
              %21 = affine.apply #map10(%arg5, %arg6)
              %22 = affine.apply #map16(%arg5, %arg6)
              %23 = arith.cmpi ne, %22, %c0 : index
              nvgpu.mbarrier.try_wait.parity %2[%21], %23, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
              nvgpu.mbarrier.arrive.expect_tx %1[%21], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>
              %subview = memref.subview %arg3[%21, 0, 0] [1, 128, 64] [1, 1, 1] : memref<3x128x64xbf16, #gpu.address_space<workgroup>> to memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              nvgpu.tma.async.load %arg0[%arg6, %19], %1[%21] to %subview : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<128x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              %subview_0 = memref.subview %arg4[%21, %cluster_block_id_x, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<3x2x64x64xbf16, #gpu.address_space<workgroup>> to memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
              nvgpu.tma.async.load %arg1[%20, %arg6], %1[%21] to %subview_0 multicast_mask = %c3_i16 : <tensor = memref<64x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 3> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
            }
          }
        }
      }
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      gpu.return
    }
    memref.global "private" constant @hilbert_2x2 : memref<4xi32> = dense<[0, 2, 3, 1]>
  }
}
