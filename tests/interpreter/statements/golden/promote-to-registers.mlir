#map = affine_map<(d0) -> (d0 * 16)>
#map1 = affine_map<(d0) -> (d0 * 4)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @mm(%arg0: memref<64x32xf32> {weft.name = "A"}, %arg1: memref<32x64xf32> {weft.name = "B"}, %arg2: memref<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    scf.forall (%arg3, %arg4) in (4, 4) {
      %0 = affine.apply #map(%arg3)
      %1 = affine.apply #map(%arg4)
      %subview = memref.subview %arg0[%0, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
      %subview_0 = memref.subview %arg1[0, %1] [32, 16] [1, 1] : memref<32x64xf32> to memref<32x16xf32, strided<[64, 1], offset: ?>>
      %subview_1 = memref.subview %arg2[%0, %1] [16, 16] [1, 1] : memref<64x64xf32> to memref<16x16xf32, strided<[64, 1], offset: ?>>
      %alloc = memref.alloc() {weft.name = "acc", weft.registers} : memref<16x16xf32>
      scf.forall (%arg5, %arg6) in (4, 4) {
        %2 = affine.apply #map1(%arg5)
        %3 = affine.apply #map1(%arg6)
        %subview_2 = memref.subview %alloc[%2, %3] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
        linalg.fill ins(%cst : f32) outs(%subview_2 : memref<4x4xf32, strided<[16, 1], offset: ?>>)
      } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "threads"}}
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c8 = arith.constant 8 : index
      scf.for %arg5 = %c0 to %c32 step %c8 {
        %subview_2 = memref.subview %subview[0, %arg5] [16, 8] [1, 1] : memref<16x32xf32, strided<[32, 1], offset: ?>> to memref<16x8xf32, strided<[32, 1], offset: ?>>
        %subview_3 = memref.subview %subview_0[%arg5, 0] [8, 16] [1, 1] : memref<32x16xf32, strided<[64, 1], offset: ?>> to memref<8x16xf32, strided<[64, 1], offset: ?>>
        scf.forall (%arg6, %arg7) in (4, 4) {
          %2 = affine.apply #map1(%arg6)
          %3 = affine.apply #map1(%arg7)
          %subview_4 = memref.subview %subview_2[%2, 0] [4, 8] [1, 1] : memref<16x8xf32, strided<[32, 1], offset: ?>> to memref<4x8xf32, strided<[32, 1], offset: ?>>
          %subview_5 = memref.subview %subview_3[0, %3] [8, 4] [1, 1] : memref<8x16xf32, strided<[64, 1], offset: ?>> to memref<8x4xf32, strided<[64, 1], offset: ?>>
          %subview_6 = memref.subview %alloc[%2, %3] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
          linalg.matmul ins(%subview_4, %subview_5 : memref<4x8xf32, strided<[32, 1], offset: ?>>, memref<8x4xf32, strided<[64, 1], offset: ?>>) outs(%subview_6 : memref<4x4xf32, strided<[16, 1], offset: ?>>)
        } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "threads"}}
      }
      scf.forall (%arg5, %arg6) in (4, 4) {
        %2 = affine.apply #map1(%arg5)
        %3 = affine.apply #map1(%arg6)
        %subview_2 = memref.subview %alloc[%2, %3] [4, 4] [1, 1] : memref<16x16xf32> to memref<4x4xf32, strided<[16, 1], offset: ?>>
        %subview_3 = memref.subview %subview_1[%2, %3] [4, 4] [1, 1] : memref<16x16xf32, strided<[64, 1], offset: ?>> to memref<4x4xf32, strided<[64, 1], offset: ?>>
        linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%subview_2 : memref<4x4xf32, strided<[16, 1], offset: ?>>) outs(%subview_3 : memref<4x4xf32, strided<[64, 1], offset: ?>>) attrs =  {weft.vector = 4 : i64} {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32
        }
      } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "threads"}}
    } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "blocks"}}
    return
  }
}
