#map = affine_map<(d0) -> (d0 * 16)>
module {
  func.func @mm(%arg0: memref<64x32xf32> {weft.name = "A"}, %arg1: memref<32x64xf32> {weft.name = "B"}, %arg2: memref<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    linalg.fill ins(%cst : f32) outs(%arg2 : memref<64x64xf32>)
    scf.forall (%arg3, %arg4) in (4, 4) {
      %0 = affine.apply #map(%arg3)
      %1 = affine.apply #map(%arg4)
      %subview = memref.subview %arg0[%0, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
      %subview_0 = memref.subview %arg1[0, %1] [32, 16] [1, 1] : memref<32x64xf32> to memref<32x16xf32, strided<[64, 1], offset: ?>>
      %subview_1 = memref.subview %arg2[%0, %1] [16, 16] [1, 1] : memref<64x64xf32> to memref<16x16xf32, strided<[64, 1], offset: ?>>
      scf.forall (%arg5, %arg6) in (16, 16) {
        %subview_2 = memref.subview %subview[%arg5, 0] [1, 32] [1, 1] : memref<16x32xf32, strided<[32, 1], offset: ?>> to memref<1x32xf32, strided<[32, 1], offset: ?>>
        %subview_3 = memref.subview %subview_0[0, %arg6] [32, 1] [1, 1] : memref<32x16xf32, strided<[64, 1], offset: ?>> to memref<32x1xf32, strided<[64, 1], offset: ?>>
        %subview_4 = memref.subview %subview_1[%arg5, %arg6] [1, 1] [1, 1] : memref<16x16xf32, strided<[64, 1], offset: ?>> to memref<1x1xf32, strided<[64, 1], offset: ?>>
        linalg.matmul ins(%subview_2, %subview_3 : memref<1x32xf32, strided<[32, 1], offset: ?>>, memref<32x1xf32, strided<[64, 1], offset: ?>>) outs(%subview_4 : memref<1x1xf32, strided<[64, 1], offset: ?>>)
      } {weft.map = {axes = ["y", "x"], counts = array<i64: 16, 16>, space = "threads"}}
    } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "blocks"}}
    return
  }
}
