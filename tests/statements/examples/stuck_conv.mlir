func.func @conv(%X: memref<?x16x16x4xf32>, %W: memref<3x3x4x16xf32>, %Y: memref<1x14x14x16xf32>, %n: index) {
  %x = memref.subview %X[%n, 0, 0, 0] [1, 16, 16, 4] [1, 1, 1, 1]
    : memref<?x16x16x4xf32> to memref<1x16x16x4xf32, strided<[1024, 64, 4, 1], offset: ?>>
  linalg.conv_2d_nhwc_hwcf ins(%x, %W : memref<1x16x16x4xf32, strided<[1024, 64, 4, 1], offset: ?>>, memref<3x3x4x16xf32>)
    outs(%Y : memref<1x14x14x16xf32>)
  return
}
