#map = affine_map<(d0) -> (d0 * 16)>
#map1 = affine_map<(d0) -> (d0 * 4)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @mm(%arg0: memref<64x32xf32> {weft.name = "A"}, %arg1: memref<32x64xf32> {weft.name = "B"}, %arg2: memref<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    linalg.fill ins(%cst : f32) outs(%arg2 : memref<64x64xf32>)
    scf.forall (%arg3, %arg4) in (4, 4) {
      %alloc = memref.alloc() {weft.name = "B_shared"} : memref<8x16xf32, #gpu.address_space<workgroup>>
      %0 = affine.apply #map(%arg3)
      %1 = affine.apply #map(%arg4)
      %subview = memref.subview %arg0[%0, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
      %subview_0 = memref.subview %arg1[0, %1] [32, 16] [1, 1] : memref<32x64xf32> to memref<32x16xf32, strided<[64, 1], offset: ?>>
      %subview_1 = memref.subview %arg2[%0, %1] [16, 16] [1, 1] : memref<64x64xf32> to memref<16x16xf32, strided<[64, 1], offset: ?>>
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c8 = arith.constant 8 : index
      scf.for %arg5 = %c0 to %c32 step %c8 {
        %subview_2 = memref.subview %subview[0, %arg5] [16, 8] [1, 1] : memref<16x32xf32, strided<[32, 1], offset: ?>> to memref<16x8xf32, strided<[32, 1], offset: ?>>
        %subview_3 = memref.subview %subview_0[%arg5, 0] [8, 16] [1, 1] : memref<32x16xf32, strided<[64, 1], offset: ?>> to memref<8x16xf32, strided<[64, 1], offset: ?>>
        linalg.copy {cast = #linalg.type_fn<cast_signed>} ins(%subview_3 : memref<8x16xf32, strided<[64, 1], offset: ?>>) outs(%alloc : memref<8x16xf32, #gpu.address_space<workgroup>>)
        scf.forall (%arg6, %arg7) in (4, 4) {
          %2 = affine.apply #map1(%arg6)
          %3 = affine.apply #map1(%arg7)
          %subview_4 = memref.subview %subview_2[%2, 0] [4, 8] [1, 1] : memref<16x8xf32, strided<[32, 1], offset: ?>> to memref<4x8xf32, strided<[32, 1], offset: ?>>
          %subview_5 = memref.subview %alloc[0, %3] [8, 4] [1, 1] : memref<8x16xf32, #gpu.address_space<workgroup>> to memref<8x4xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
          %subview_6 = memref.subview %subview_1[%2, %3] [4, 4] [1, 1] : memref<16x16xf32, strided<[64, 1], offset: ?>> to memref<4x4xf32, strided<[64, 1], offset: ?>>
          %c1 = arith.constant 1 : index
          scf.for %arg8 = %c0 to %c8 step %c1 {
            %subview_7 = memref.subview %subview_4[0, %arg8] [4, 1] [1, 1] : memref<4x8xf32, strided<[32, 1], offset: ?>> to memref<4x1xf32, strided<[32, 1], offset: ?>>
            %subview_8 = memref.subview %subview_5[%arg8, 0] [1, 4] [1, 1] : memref<8x4xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<1x4xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
            %transpose = memref.transpose %subview_7 (d0, d1) -> (d1, d0) : memref<4x1xf32, strided<[32, 1], offset: ?>> to memref<1x4xf32, strided<[1, 32], offset: ?>>
            %alloc_9 = memref.alloc() {weft.name = "A_frag"} : memref<4xf32>
            linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%transpose : memref<1x4xf32, strided<[1, 32], offset: ?>>) outs(%alloc_9 : memref<4xf32>) attrs =  {weft.vector = 4 : i64} {
            ^bb0(%in: f32, %out: f32):
              linalg.yield %in : f32
            }
            %expand_shape = memref.expand_shape %alloc_9 [[0, 1]] output_shape [1, 4] : memref<4xf32> into memref<1x4xf32>
            %transpose_10 = memref.transpose %expand_shape (d0, d1) -> (d1, d0) : memref<1x4xf32> to memref<4x1xf32, strided<[1, 4]>>
            %alloc_11 = memref.alloc() {weft.name = "B_frag"} : memref<4xf32>
            linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "parallel"]} ins(%subview_8 : memref<1x4xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>) outs(%alloc_11 : memref<4xf32>) attrs =  {weft.vector = 4 : i64} {
            ^bb0(%in: f32, %out: f32):
              linalg.yield %in : f32
            }
            %expand_shape_12 = memref.expand_shape %alloc_11 [[0, 1]] output_shape [1, 4] : memref<4xf32> into memref<1x4xf32>
            %alloc_13 = memref.alloc() {weft.name = "result0_frag"} : memref<4x4xf32>
            linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%subview_6 : memref<4x4xf32, strided<[64, 1], offset: ?>>) outs(%alloc_13 : memref<4x4xf32>) attrs =  {weft.vector = 4 : i64} {
            ^bb0(%in: f32, %out: f32):
              linalg.yield %in : f32
            }
            linalg.matmul ins(%transpose_10, %expand_shape_12 : memref<4x1xf32, strided<[1, 4]>>, memref<1x4xf32>) outs(%alloc_13 : memref<4x4xf32>)
            linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%alloc_13 : memref<4x4xf32>) outs(%subview_6 : memref<4x4xf32, strided<[64, 1], offset: ?>>) attrs =  {weft.vector = 4 : i64} {
            ^bb0(%in: f32, %out: f32):
              linalg.yield %in : f32
            }
          }
        } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "threads"}}
      }
    } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "blocks"}}
    return
  }
}
