// Products by tensor cores: fragments in arrays of a thread, loaded as matrices, and sums in place.
#wg = #gpu.address_space<workgroup>
gpu.module @tensor_cores {
  // Four warps, each of 64 x 32 of C; two matrices of B are the operands of two products.
  gpu.func @warps(%A: memref<128x?xbf16> {weft.name = "A"}, %B: memref<?x64xbf16> {weft.name = "B"},
                  %C: memref<128x64xf32> {weft.name = "C"}, %k: index {weft.name = "k"})
      workgroup(%As: memref<128x24xbf16, #wg>, %Bs: memref<16x72xbf16, #wg>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>,
                         workgroup_attrib_attrs = [{weft.name = "A_shared"}, {weft.name = "B_shared"}]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant dense<0.0> : vector<2x1x2xf32>
    %tx = gpu.thread_id x
    %lane = affine.apply affine_map<(t) -> (t mod 32)>(%tx)
    %wm = affine.apply affine_map<(t) -> (t floordiv 64 * 64)>(%tx)
    %wn = affine.apply affine_map<(t) -> (t floordiv 32 mod 2 * 32)>(%tx)
    %acc = memref.alloca() {weft.name = "C_frag"} : memref<4x4x2x1x2xf32>
    %b = memref.alloca() {weft.name = "B_frag"} : memref<4x2x2xbf16>
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        vector.store %zero, %acc[%i, %j, %c0, %c0, %c0] : memref<4x4x2x1x2xf32>, vector<2x1x2xf32>
      } {weft.unroll}
    } {weft.unroll}
    scf.for %k0 = %c0 to %k step %c16 {
      scf.for %q = %c0 to %c16 step %c1 {
        %from = arith.addi %k0, %q : index
        %v = memref.load %A[%tx, %from] : memref<128x?xbf16>
        memref.store %v, %As[%tx, %q] : memref<128x24xbf16, #wg>
      }
      %r = affine.apply affine_map<(t) -> (t floordiv 8)>(%tx)
      %c = affine.apply affine_map<(t) -> (t mod 8 * 8)>(%tx)
      scf.for %q = %c0 to %c8 step %c1 {
        %from = arith.addi %k0, %r : index
        %to = arith.addi %c, %q : index
        %v = memref.load %B[%from, %to] : memref<?x64xbf16>
        memref.store %v, %Bs[%r, %to] : memref<16x72xbf16, #wg>
      }
      gpu.barrier
      scf.for %j = %c0 to %c4 step %c2 {
        %row = affine.apply affine_map<(l) -> (l mod 16)>(%lane)
        %col = affine.apply affine_map<(w, j, l) -> (w + j * 8 + l floordiv 16 * 8)>(%wn, %j, %lane)
        %two = nvgpu.ldmatrix %Bs[%row, %col] {numTiles = 4 : i32, transpose = true} : memref<16x72xbf16, #wg> -> vector<4x2xbf16>
        %low = vector.extract_strided_slice %two {offsets = [0], sizes = [2], strides = [1]} : vector<4x2xbf16> to vector<2x2xbf16>
        %high = vector.extract_strided_slice %two {offsets = [2], sizes = [2], strides = [1]} : vector<4x2xbf16> to vector<2x2xbf16>
        %j1 = arith.addi %j, %c1 : index
        vector.store %low, %b[%j, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
        vector.store %high, %b[%j1, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
      } {weft.unroll}
      scf.for %i = %c0 to %c4 step %c1 {
        %row = affine.apply affine_map<(w, i, l) -> (w + i * 16 + l mod 16)>(%wm, %i, %lane)
        %col = affine.apply affine_map<(l) -> (l floordiv 16 * 8)>(%lane)
        %x = nvgpu.ldmatrix %As[%row, %col] {numTiles = 4 : i32, transpose = false} : memref<128x24xbf16, #wg> -> vector<4x2xbf16>
        scf.for %j = %c0 to %c4 step %c1 {
          %y = vector.load %b[%j, %c0, %c0] : memref<4x2x2xbf16>, vector<2x2xbf16>
          %z = vector.load %acc[%i, %j, %c0, %c0, %c0] : memref<4x4x2x1x2xf32>, vector<2x1x2xf32>
          %before = vector.shape_cast %z : vector<2x1x2xf32> to vector<2x2xf32>
          %d = nvgpu.mma.sync(%x, %y, %before) {mmaShape = [16, 8, 16]}
            : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
          %after = vector.shape_cast %d : vector<2x2xf32> to vector<2x1x2xf32>
          vector.store %after, %acc[%i, %j, %c0, %c0, %c0] : memref<4x4x2x1x2xf32>, vector<2x1x2xf32>
        } {weft.unroll}
      } {weft.unroll}
      gpu.barrier
    }
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        scf.for %h = %c0 to %c2 step %c1 {
          %v = vector.load %acc[%i, %j, %h, %c0, %c0] : memref<4x4x2x1x2xf32>, vector<2xf32>
          %r = affine.apply affine_map<(w, i, h, l) -> (w + i * 16 + h * 8 + l floordiv 4)>(%wm, %i, %h, %lane)
          %c = affine.apply affine_map<(w, j, l) -> (w + j * 8 + l mod 4 * 2)>(%wn, %j, %lane)
          vector.store %v, %C[%r, %c] : memref<128x64xf32>, vector<2xf32>
        } {weft.unroll}
      } {weft.unroll}
    } {weft.unroll}
    gpu.return
  }

  // One warp, one product: a sum that a loop carries, and 4 bytes of each operand at a time.
  gpu.func @bytes(%a: memref<16x?xi8> {weft.name = "a", weft.multiples = array<i64: 1, 4>}, %b: memref<8x?xi8> {weft.name = "b", weft.multiples = array<i64: 1, 4>},
                  %c: memref<16x8xi32> {weft.name = "c"}, %k: index {weft.name = "k"})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %tx = gpu.thread_id x
    %zero = arith.constant dense<0> : vector<2x2xi32>
    %nought = arith.constant dense<0> : vector<4x4xi8>
    %none = arith.constant dense<0> : vector<2x4xi8>
    %row = affine.apply affine_map<(t) -> (t floordiv 4)>(%tx)
    %low = affine.apply affine_map<(t) -> (t floordiv 4 + 8)>(%tx)
    %sum = scf.for %k0 = %c0 to %k step %c32 iter_args(%acc = %zero) -> vector<2x2xi32> {
      %q = affine.apply affine_map<(k, t) -> (k + t mod 4 * 4)>(%k0, %tx)
      %r = affine.apply affine_map<(k, t) -> (k + t mod 4 * 4 + 16)>(%k0, %tx)
      %a0 = vector.load %a[%row, %q] : memref<16x?xi8>, vector<4xi8>
      %a1 = vector.load %a[%low, %q] : memref<16x?xi8>, vector<4xi8>
      %a2 = vector.load %a[%row, %r] : memref<16x?xi8>, vector<4xi8>
      %a3 = vector.load %a[%low, %r] : memref<16x?xi8>, vector<4xi8>
      %b0 = vector.load %b[%row, %q] : memref<8x?xi8>, vector<4xi8>
      %b1 = vector.load %b[%row, %r] : memref<8x?xi8>, vector<4xi8>
      %x0 = vector.insert %a0, %nought[0] : vector<4xi8> into vector<4x4xi8>
      %x1 = vector.insert %a1, %x0[1] : vector<4xi8> into vector<4x4xi8>
      %x2 = vector.insert %a2, %x1[2] : vector<4xi8> into vector<4x4xi8>
      %x = vector.insert %a3, %x2[3] : vector<4xi8> into vector<4x4xi8>
      %y0 = vector.insert %b0, %none[0] : vector<4xi8> into vector<2x4xi8>
      %y = vector.insert %b1, %y0[1] : vector<4xi8> into vector<2x4xi8>
      %d = nvgpu.mma.sync(%x, %y, %acc) {mmaShape = [16, 8, 32]} : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
      scf.yield %d : vector<2x2xi32>
    }
    %col = affine.apply affine_map<(t) -> (t mod 4 * 2)>(%tx)
    %upper = vector.extract %sum[0] : vector<2xi32> from vector<2x2xi32>
    %lower = vector.extract %sum[1] : vector<2xi32> from vector<2x2xi32>
    vector.store %upper, %c[%row, %col] : memref<16x8xi32>, vector<2xi32>
    vector.store %lower, %c[%low, %col] : memref<16x8xi32>, vector<2xi32>
    gpu.return
  }
}
