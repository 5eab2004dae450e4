#map = affine_map<(d0) -> (d0 * 16)>
module {
  func.func @mm(%arg0: memref<64x32xf32> {weft.name = "A"}, %arg1: memref<32x64xf32> {weft.name = "B"}, %arg2: memref<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    linalg.fill ins(%cst : f32) outs(%arg2 : memref<64x64xf32>)
    scf.forall (%arg3, %arg4) in (4, 4) {
      %alloc = memref.alloc() {weft.name = "B_shared"} : memref<16x16xf32, #gpu.address_space<workgroup>>
      %0 = affine.apply #map(%arg3)
      %1 = affine.apply #map(%arg4)
      %subview = memref.subview %arg0[%0, 0] [16, 32] [1, 1] : memref<64x32xf32> to memref<16x32xf32, strided<[32, 1], offset: ?>>
      %subview_0 = memref.subview %arg1[0, %1] [32, 16] [1, 1] : memref<32x64xf32> to memref<32x16xf32, strided<[64, 1], offset: ?>>
      %subview_1 = memref.subview %arg2[%0, %1] [16, 16] [1, 1] : memref<64x64xf32> to memref<16x16xf32, strided<[64, 1], offset: ?>>
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c16 = arith.constant 16 : index
      scf.for %arg5 = %c0 to %c32 step %c16 {
        %subview_2 = memref.subview %subview[0, %arg5] [16, 16] [1, 1] : memref<16x32xf32, strided<[32, 1], offset: ?>> to memref<16x16xf32, strided<[32, 1], offset: ?>>
        %subview_3 = memref.subview %subview_0[%arg5, 0] [16, 16] [1, 1] : memref<32x16xf32, strided<[64, 1], offset: ?>> to memref<16x16xf32, strided<[64, 1], offset: ?>>
        linalg.copy {cast = #linalg.type_fn<cast_signed>, weft.map = {all, dist = "cyclic", space = "threads"}} ins(%subview_3 : memref<16x16xf32, strided<[64, 1], offset: ?>>) outs(%alloc : memref<16x16xf32, #gpu.address_space<workgroup>>)
        gpu.barrier memfence [#gpu.address_space<workgroup>]
        scf.forall (%arg6, %arg7) in (16, 16) {
          %subview_4 = memref.subview %subview_2[%arg6, 0] [1, 16] [1, 1] : memref<16x16xf32, strided<[32, 1], offset: ?>> to memref<1x16xf32, strided<[32, 1], offset: ?>>
          %subview_5 = memref.subview %alloc[0, %arg7] [16, 1] [1, 1] : memref<16x16xf32, #gpu.address_space<workgroup>> to memref<16x1xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>
          %subview_6 = memref.subview %subview_1[%arg6, %arg7] [1, 1] [1, 1] : memref<16x16xf32, strided<[64, 1], offset: ?>> to memref<1x1xf32, strided<[64, 1], offset: ?>>
          linalg.matmul ins(%subview_4, %subview_5 : memref<1x16xf32, strided<[32, 1], offset: ?>>, memref<16x1xf32, strided<[16, 1], offset: ?>, #gpu.address_space<workgroup>>) outs(%subview_6 : memref<1x1xf32, strided<[64, 1], offset: ?>>)
        } {weft.map = {axes = ["y", "x"], counts = array<i64: 16, 16>, space = "threads"}}
        gpu.barrier memfence [#gpu.address_space<workgroup>]
      }
    } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "blocks"}}
    return
  }
}
