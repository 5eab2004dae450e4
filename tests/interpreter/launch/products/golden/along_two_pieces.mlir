#map = affine_map<(d0) -> (d0 floordiv 32)>
#map1 = affine_map<(d0) -> (d0 mod 32)>
#map2 = affine_map<(d0) -> (d0 * 128)>
#map3 = affine_map<(d0) -> ((d0 floordiv 64) mod 2)>
#map4 = affine_map<(d0, d1) -> (d0 * 128 + (d1 mod 4) * 2)>
#map5 = affine_map<(d0, d1, d2) -> (d0 * 128 + d1 floordiv 4 + d2 * 16)>
#map6 = affine_map<(d0, d1) -> (d0 + d1 * 64)>
#map7 = affine_map<(d0, d1) -> (d0 + d1 * 8)>
module attributes {gpu.container_module} {
  func.func @matmul(%arg0: memref<256x128xbf16> {weft.name = "A"}, %arg1: memref<256x128xbf16> {weft.name = "B"}, %arg2: memref<256x256xf32> {bufferize.result, weft.name = "result0"}) {
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %cast = memref.cast %arg0 : memref<256x128xbf16> to memref<*xbf16>
    %c64 = arith.constant 64 : index
    %0 = nvgpu.tma.create.descriptor %cast box[%c128, %c64] : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    %cast_0 = memref.cast %arg1 : memref<256x128xbf16> to memref<*xbf16>
    %1 = nvgpu.tma.create.descriptor %cast_0 box[%c128, %c64] : memref<*xbf16> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
    gpu.launch_func  @matmul_kernel::@matmul blocks in (%c2, %c2, %c1) threads in (%c128, %c1, %c1)  args(%0 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %1 : !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg2 : memref<256x256xf32>)
    return
  }
  gpu.module @matmul_kernel {
    gpu.func @matmul(%arg0: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "A_map"}, %arg1: !nvgpu.tensormap.descriptor<tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> {weft.name = "B_map"}, %arg2: memref<256x256xf32> {weft.name = "result0"}) workgroup(%arg3 : memref<128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "A_shared"}, %arg4 : memref<128x64xbf16, #gpu.address_space<workgroup>> {weft.name = "B_shared"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 2, 1>} {
      %c16 = arith.constant 16 : index
      %c2 = arith.constant 2 : index
      %c10000000 = arith.constant 10000000 : index
      %c32768 = arith.constant 32768 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %thread_id_x = gpu.thread_id x
      %0 = affine.apply #map(%thread_id_x) {weft.name = "warp"}
      %1 = affine.apply #map1(%thread_id_x) {weft.name = "lane"}
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %2 = nvgpu.mbarrier.create {weft.name = "full"} -> <memorySpace = #gpu.address_space<workgroup>>
      %3 = arith.cmpi eq, %thread_id_x, %c0 : index
      scf.if %3 {
        nvgpu.mbarrier.init %2[%c0], %c1 : <memorySpace = #gpu.address_space<workgroup>>
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %4 = affine.apply #map2(%block_id_y)
      %5 = affine.apply #map2(%block_id_x)
      %6 = nvgpu.warpgroup.mma.init.accumulator -> <fragmented = vector<128x128xf32>>
      %7 = arith.cmpi slt, %thread_id_x, %c1 : index
      %8 = scf.for %arg5 = %c0 to %c128 step %c64 iter_args(%arg6 = %6) -> (!nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>) {
        scf.if %7 {
          nvgpu.mbarrier.arrive.expect_tx %2[%c0], %c32768 : <memorySpace = #gpu.address_space<workgroup>>
          nvgpu.tma.async.load %arg0[%arg5, %4], %2[%c0] to %arg3 : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>> -> memref<128x64xbf16, #gpu.address_space<workgroup>>
          nvgpu.tma.async.load %arg1[%arg5, %5], %2[%c0] to %arg4 : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, <memorySpace = #gpu.address_space<workgroup>> -> memref<128x64xbf16, #gpu.address_space<workgroup>>
        }
        %12 = affine.apply #map3(%arg5)
        %13 = arith.cmpi ne, %12, %c0 : index
        nvgpu.mbarrier.try_wait.parity %2[%c0], %13, %c10000000 : <memorySpace = #gpu.address_space<workgroup>>
        %14 = nvgpu.warpgroup.generate.descriptor %arg3, %arg0 : memref<128x64xbf16, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>>
        %15 = nvgpu.warpgroup.generate.descriptor %arg4, %arg1 : memref<128x64xbf16, #gpu.address_space<workgroup>>, <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none> -> <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>
        %16 = nvgpu.warpgroup.mma %14, %15, %arg6 {waitGroup = 0 : i64} : <tensor = memref<128x64xbf16, #gpu.address_space<workgroup>>>, <tensor = memref<64x128xbf16, #gpu.address_space<workgroup>>>, <fragmented = vector<128x128xf32>> -> <fragmented = vector<128x128xf32>>
        scf.yield %16 : !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>
      }
      %9 = builtin.unrealized_conversion_cast %8 : !nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>> to vector<2x16x2x2xf32>
      %10 = affine.apply #map4(%block_id_x, %thread_id_x)
      %11 = affine.apply #map5(%block_id_y, %1, %0)
      scf.for %arg5 = %c0 to %c2 step %c1 {
        %12 = affine.apply #map6(%11, %arg5)
        scf.for %arg6 = %c0 to %c16 step %c1 {
          %13 = affine.apply #map7(%10, %arg6)
          scf.for %arg7 = %c0 to %c2 step %c1 {
            %14 = vector.extract %9[%arg5, %arg6, %arg7] : vector<2xf32> from vector<2x16x2x2xf32>
            %15 = affine.apply #map7(%12, %arg7)
            vector.store %14, %arg2[%15, %13] : memref<256x256xf32>, vector<2xf32>
          }
        }
      }
      gpu.return
    }
  }
}
