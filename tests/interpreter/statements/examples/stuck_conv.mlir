// A buffer whose first element is known at run time only: no tensor has such a layout.
!image = memref<1x16x16x4xf32, strided<[1024, 64, 4, 1], offset: ?>>
func.func @conv(%X: !image, %W: memref<3x3x4x16xf32>, %Y: memref<1x14x14x16xf32>) {
  linalg.conv_2d_nhwc_hwcf ins(%X, %W : !image, memref<3x3x4x16xf32>) outs(%Y : memref<1x14x14x16xf32>)
  return
}
