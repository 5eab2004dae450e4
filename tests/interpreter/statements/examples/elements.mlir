// What a thread's loop cannot keep in registers, loop by loop: #1 the elements of a diagonal (d), every other one (g), those that data
// names (x), more than registers hold (l), in two places (z), through a view (v); #2 as many as nobody knows; #3 the first half of a
// tile, whose second half is the next one's; #4 and #5 add up s; #7 has more iterations in each one of #6.
func.func @elements(%d: memref<8x8x8xf32>, %g: memref<8x16xf32>, %at: memref<8xindex>, %x: memref<8x64xf32>, %l: memref<8x400xf32>,
                    %z: memref<8x64xf32>, %v: memref<8x8xf32>, %o: memref<40xf32>, %s: memref<8xf32>, %w: memref<8x8xf32>, %n: index) {
  %c4 = arith.constant 4 : index
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      %k = affine.load %at[%j] : memref<8xindex>
      %a = memref.load %x[%i, %k] : memref<8x64xf32>
      %b = affine.load %l[%i, 50 * %j] : memref<8x400xf32>
      %c = affine.load %z[%i, %j] : memref<8x64xf32>
      %e = affine.load %z[%i, %j + symbol(%n)] : memref<8x64xf32>
      %row = memref.subview %v[%i, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
      %f = affine.load %row[%j] : memref<8xf32, strided<[1], offset: ?>>
      %1 = arith.addf %a, %b : f32
      %2 = arith.addf %c, %e : f32
      %3 = arith.addf %1, %2 : f32
      %4 = arith.addf %3, %f : f32
      affine.store %4, %d[%i, %j, %j] : memref<8x8x8xf32>
      affine.store %4, %g[%i, 2 * %j] : memref<8x16xf32>
    }
    affine.for %j = 0 to %n {
      %a = affine.load %x[%i, %j] : memref<8x64xf32>
      affine.store %a, %x[%i, %j] : memref<8x64xf32>
    }
    affine.for %j = 0 to 8 {
      %first = arith.cmpi slt, %j, %c4 : index
      scf.if %first {
        %a = affine.load %o[4 * %i + %j] : memref<40xf32>
        affine.store %a, %o[4 * %i + %j] : memref<40xf32>
      }
    }
    affine.for %j = 0 to 8 {
      affine.for %k = 0 to 8 {
        %a = affine.load %s[%i] : memref<8xf32>
        %b = arith.addf %a, %a : f32
        affine.store %b, %s[%i] : memref<8xf32>
      }
    }
    affine.for %k = 0 to 8 {
      affine.for %t = 0 to affine_map<(d) -> (d + 1)>(%k) {
        %a = affine.load %w[%i, %t] : memref<8x8xf32>
        %b = arith.addf %a, %a : f32
        affine.store %b, %w[%i, %t] : memref<8x8xf32>
      }
    }
  }
  return
}
