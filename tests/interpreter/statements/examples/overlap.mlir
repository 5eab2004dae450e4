func.func @sh(%a: memref<32x68xf32>) {
  %in = memref.subview %a[0, 0] [32, 64] [1, 1] : memref<32x68xf32> to memref<32x64xf32, strided<[68, 1]>>
  %out = memref.subview %a[0, 1] [32, 64] [1, 1] : memref<32x68xf32> to memref<32x64xf32, strided<[68, 1], offset: 1>>
  linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]}
   ins(%in: memref<32x64xf32, strided<[68, 1]>>) outs(%out: memref<32x64xf32, strided<[68, 1], offset: 1>>) {
   ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}
