// Loops: #0 and #1 are parallel, #2 and #3 as well, but not perfectly nested; #3 sums up; #4 and #5 carry something.
func.func @loops(%A: memref<40x70xf32> {weft.name = "A"}, %B: memref<40x70xf32> {weft.name = "B"},
                 %s: memref<40xf32> {weft.name = "s"}, %p: memref<70xindex> {weft.name = "p"}) {
  affine.for %i = 0 to 40 {
    affine.for %j = 0 to 70 {
      %a = affine.load %A[%i, %j] : memref<40x70xf32>
      %m = arith.mulf %a, %a : f32
      affine.store %m, %B[%i, %j] : memref<40x70xf32>
    }
  }
  affine.for %i = 0 to 40 {
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %s[%i] : memref<40xf32>
    affine.for %j = 0 to 70 {
      %a = affine.load %A[%i, %j] : memref<40x70xf32>
      %x = affine.load %s[%i] : memref<40xf32>
      %y = arith.addf %x, %a : f32
      affine.store %y, %s[%i] : memref<40xf32>
    }
  }
  affine.for %j = 3 to 70 step 2 {
    %b = affine.load %B[5, %j - 3] : memref<40x70xf32>
    affine.store %b, %B[5, %j + 1] : memref<40x70xf32>
  }
  affine.for %j = 0 to 70 {
    %at = affine.load %p[%j] : memref<70xindex>
    %v = affine.load %A[0, %j] : memref<40x70xf32>
    memref.store %v, %s[%at] : memref<40xf32>
  }
  return
}
