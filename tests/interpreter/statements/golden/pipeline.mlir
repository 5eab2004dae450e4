#map = affine_map<(d0) -> (d0 * 16)>
#map1 = affine_map<(d0) -> ((d0 floordiv 16) mod 2)>
#map2 = affine_map<(d0) -> (d0 + 16)>
#map3 = affine_map<(d0) -> ((d0 floordiv 16 + 1) mod 2)>
module {
  func.func @mm(%arg0: memref<64x32xf32> {weft.name = "A"}, %arg1: memref<32x64xf32> {weft.name = "B"}, %arg2: memref<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    linalg.fill ins(%cst : f32) outs(%arg2 : memref<64x64xf32>)
    scf.forall (%arg3, %arg4) in (4, 4) {
      %alloc = memref.alloc() {weft.name = "A_shared"} : memref<2x16x16xf32, #gpu.address_space<workgroup>>
      %alloc_0 = memref.alloc() {weft.name = "A_next", weft.register_stage} : memref<16x16xf32>
      %0 = affine.apply #map(%arg3)
      %1 = affine.apply #map(%arg4)
      %subview = memref.subview %arg0[%0, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
      %subview_1 = memref.subview %arg1[0, %1] [32, 16] [1, 1] : memref<32x64xf32> to memref<32x16xf32, strided<[64, 1], offset: ?>>
      %subview_2 = memref.subview %arg2[%0, %1] [16, 16] [1, 1] : memref<64x64xf32> to memref<16x16xf32, strided<[64, 1], offset: ?>>
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c16 = arith.constant 16 : index
      %subview_3 = memref.subview %subview[0, %c0] [16, 16] [1, 1] : memref<16x32xf32, strided<[32, 1], offset: ?>> to memref<16x16xf32, strided<[32, 1], offset: ?>>
      %subview_4 = memref.subview %alloc[0, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf32, #gpu.address_space<workgroup>> to memref<16x16xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>
      linalg.copy {cast = #linalg.type_fn<cast_signed>, weft.map = {all, dist = "cyclic", space = "threads"}} ins(%subview_3 : memref<16x16xf32, strided<[32, 1], offset: ?>>) outs(%subview_4 : memref<16x16xf32, strided<[16, 1]>, #gpu.address_space<workgroup>>)
      scf.for %arg5 = %c0 to %c32 step %c16 {
        %2 = affine.apply #map1(%arg5)
        %subview_5 = memref.subview %alloc[%2, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf32, #gpu.address_space<workgroup>> to memref<16x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
        %subview_6 = memref.subview %subview_1[%arg5, 0] [16, 16] [1, 1] : memref<32x16xf32, strided<[64, 1], offset: ?>> to memref<16x16xf32, strided<[64, 1], offset: ?>>
        %3 = affine.apply #map2(%arg5)
        %4 = arith.cmpi slt, %3, %c32 : index
        scf.if %4 {
          %subview_7 = memref.subview %subview[0, %3] [16, 16] [1, 1] : memref<16x32xf32, strided<[32, 1], offset: ?>> to memref<16x16xf32, strided<[32, 1], offset: ?>>
          linalg.copy {cast = #linalg.type_fn<cast_signed>, weft.map = {all, dist = "cyclic", space = "threads"}} ins(%subview_7 : memref<16x16xf32, strided<[32, 1], offset: ?>>) outs(%alloc_0 : memref<16x16xf32>)
        }
        scf.forall (%arg6, %arg7) in (16, 16) {
          %subview_7 = memref.subview %subview_5[%arg6, 0] [1, 16] [1, 1] : memref<16x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>> to memref<1x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
          %subview_8 = memref.subview %subview_6[0, %arg7] [16, 1] [1, 1] : memref<16x16xf32, strided<[64, 1], offset: ?>> to memref<16x1xf32, strided<[64, 1], offset: ?>>
          %subview_9 = memref.subview %subview_2[%arg6, %arg7] [1, 1] [1, 1] : memref<16x16xf32, strided<[64, 1], offset: ?>> to memref<1x1xf32, strided<[64, 1], offset: ?>>
          linalg.matmul ins(%subview_7, %subview_8 : memref<1x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>, memref<16x1xf32, strided<[64, 1], offset: ?>>) outs(%subview_9 : memref<1x1xf32, strided<[64, 1], offset: ?>>)
        } {weft.map = {axes = ["y", "x"], counts = array<i64: 16, 16>, space = "threads"}}
        scf.if %4 {
          %5 = affine.apply #map3(%arg5)
          %subview_7 = memref.subview %alloc[%5, 0, 0] [1, 16, 16] [1, 1, 1] : memref<2x16x16xf32, #gpu.address_space<workgroup>> to memref<16x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
          linalg.copy {cast = #linalg.type_fn<cast_signed>, weft.map = {all, dist = "cyclic", space = "threads"}} ins(%alloc_0 : memref<16x16xf32>) outs(%subview_7 : memref<16x16xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>)
        }
      }
    } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "blocks"}}
    return
  }
}
