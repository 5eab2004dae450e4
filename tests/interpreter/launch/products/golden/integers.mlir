#map = affine_map<(d0) -> (d0 mod 32)>
#map1 = affine_map<(d0) -> (d0 * 128)>
#map2 = affine_map<(d0) -> (d0 - 256)>
#map3 = affine_map<(d0) -> ((d0 floordiv 128) * 64)>
#map4 = affine_map<(d0) -> (d0 mod 128)>
#map5 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 4) * 2)>
#map6 = affine_map<(d0, d1, d2) -> (d0 * 128 + ((d1 mod 128) floordiv 32) * 16 + (d1 floordiv 128) * 64 + d2 floordiv 4)>
#map7 = affine_map<(d0) -> ((d0 floordiv 128) mod 2)>
#map8 = affine_map<(d0) -> (((d0 floordiv 128) floordiv 2) mod 2)>
#map9 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
#map10 = affine_map<(d0) -> (((d0 floordiv 128) floordiv 2 + 1) mod 2)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<256x256xi8> {weft.name = "A"}, %arg1: memref<256x256xi8> {weft.name = "B"}, %arg2: memref<256x256xi32> {bufferize.result, weft.name = "result0"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c384 = arith.constant 384 : index
    %cast = memref.cast %arg0 : memref<256x256xi8> to memref<*xi8>
    %c128 = arith.constant 128 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c128] : memref<*xi8> -> <tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<256x256xi8> to memref<*xi8>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c128, %c128] : memref<*xi8> -> <tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c2, %c1) threads in (%c384, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<256x256xi32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<256x256xi32> {weft.name = "result0"}) workgroup(%arg3 : memref<2x128x128xi8, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<2x128x128xi8, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 2, 2, 1>} {
      %c32768 = arith.constant 32768 : index
      %c16 = arith.constant 16 : index
      %c6_i64 = arith.constant 6 : i64
      %c4_i64 = arith.constant 4 : i64
      %c2_i64 = arith.constant 2 : i64
      %c10000000 = arith.constant 10000000 : index
      %cst = arith.constant dense<0> : vector<1x16x2x2xi32>
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c0 = arith.constant 0 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %1 = nvgpu.mbarrier.create {weft.name = "full"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
      %2 = nvgpu.mbarrier.create {weft.name = "empty"} -> <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
      %3 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %3 {
        scf.for %arg5 = %c0 to %c2 step %c1 {
          nvgpu.mbarrier.init %1[%arg5], %c1 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
        }
        scf.for %arg5 = %c0 to %c2 step %c1 {
          nvgpu.mbarrier.init %2[%arg5], %c2 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
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
      scf.if %8 {
        %13 = builtin.unrealized_conversion_cast %cst : vector<1x16x2x2xi32> to !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)>
        %14 = arith.cmpi eq, %10, %c0 : index
        %15 = scf.for %arg5 = %c0 to %c256 step %c128 iter_args(%arg6 = %13) -> (!llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)>) {
          %17 = affine.apply #map7(%arg5)
          %18 = affine.apply #map8(%arg5)
          %19 = arith.cmpi ne, %18, %c0 : index
          nvgpu.mbarrier.try_wait.parity %1[%17], %19, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
          %subview = memref.subview %arg3[%17, %9, 0] [1, 64, 128] [1, 1, 1] : memref<2x128x128xi8, #gpu.address_space<workgroup>> to memref<64x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          %20 = nvgpu.warpgroup.generate.descriptor %subview, %arg0 : memref<64x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xi8, #gpu.address_space<workgroup>>>
          %subview_0 = memref.subview %arg4[%17, 0, 0] [1, 128, 128] [1, 1, 1] : memref<2x128x128xi8, #gpu.address_space<workgroup>> to memref<128x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          %21 = nvgpu.warpgroup.generate.descriptor %subview_0, %arg1 : memref<128x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>, <tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<128x128xi8, #gpu.address_space<workgroup>>>
          %22 = builtin.unrealized_conversion_cast %20 : !nvgpu.warpgroup.descriptor<tensor = memref<64x128xi8, #gpu.address_space<workgroup>>> to i64
          %23 = builtin.unrealized_conversion_cast %21 : !nvgpu.warpgroup.descriptor<tensor = memref<128x128xi8, #gpu.address_space<workgroup>>> to i64
          nvvm.wgmma.fence.aligned
          %24 = nvvm.wgmma.mma_async %22, %23, %arg6, <m = 64, n = 128, k = 32>, D[<s32>, <one>, <wrapped>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)> -> !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)>
          %25 = arith.addi %22, %c2_i64 : i64
          %26 = arith.addi %23, %c2_i64 : i64
          %27 = nvvm.wgmma.mma_async %25, %26, %24, <m = 64, n = 128, k = 32>, D[<s32>, <one>, <wrapped>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)> -> !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)>
          %28 = arith.addi %22, %c4_i64 : i64
          %29 = arith.addi %23, %c4_i64 : i64
          %30 = nvvm.wgmma.mma_async %28, %29, %27, <m = 64, n = 128, k = 32>, D[<s32>, <one>, <wrapped>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)> -> !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)>
          %31 = arith.addi %22, %c6_i64 : i64
          %32 = arith.addi %23, %c6_i64 : i64
          %33 = nvvm.wgmma.mma_async %31, %32, %30, <m = 64, n = 128, k = 32>, D[<s32>, <one>, <wrapped>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)> -> !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)>
          nvvm.wgmma.commit.group.sync.aligned
          nvvm.wgmma.wait.group.sync.aligned 0
          scf.if %14 {
            %34 = nvgpu.mbarrier.arrive %2[%17] : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2> -> !nvgpu.mbarrier.token
          }
          scf.yield %33 : !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)>
        }
        %16 = builtin.unrealized_conversion_cast %15 : !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)> to vector<1x16x2x2xi32>
        scf.for %arg5 = %c0 to %c16 step %c1 {
          %17 = affine.apply #map9(%11, %arg5)
          scf.for %arg6 = %c0 to %c2 step %c1 {
            %18 = vector.extract %16[%c0, %arg5, %arg6] : vector<2xi32> from vector<1x16x2x2xi32>
            %19 = affine.apply #map9(%12, %arg6)
            vector.store %18, %arg2[%19, %17] : memref<256x256xi32>, vector<2xi32>
          }
        }
      } else {
        scf.if %7 {
          scf.for %arg5 = %c0 to %c256 step %c128 {
            %13 = affine.apply #map7(%arg5)
            %14 = affine.apply #map10(%arg5)
            %15 = arith.cmpi ne, %14, %c0 : index
            nvgpu.mbarrier.try_wait.parity %2[%13], %15, %c10000000 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
            nvgpu.mbarrier.arrive.expect_tx %1[%13], %c32768 : <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
            %subview = memref.subview %arg3[%13, 0, 0] [1, 128, 128] [1, 1, 1] : memref<2x128x128xi8, #gpu.address_space<workgroup>> to memref<128x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg0[%arg5, %4], %1[%13] to %subview : <tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2> -> memref<128x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
            %subview_0 = memref.subview %arg4[%13, 0, 0] [1, 128, 128] [1, 1, 1] : memref<2x128x128xi8, #gpu.address_space<workgroup>> to memref<128x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
            nvgpu.tma.async.load %arg1[%arg5, %5], %1[%13] to %subview_0 : <tensor = memref<128x128xi8, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>, num_barriers = 2> -> memref<128x128xi8, strided<[128, 1], offset: ?>, #gpu.address_space<workgroup>>
          }
        }
      }
      gpu.return
    }
  }
}
