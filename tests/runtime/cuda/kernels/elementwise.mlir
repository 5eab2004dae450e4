// Elementwise chains: in place, vectors with proven alignment, vectors without, half precision.
gpu.module @elementwise {
  gpu.func @gelu(%x: memref<1000xf32> {weft.name = "x"}, %y: memref<1000xf32> {weft.name = "y"})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>} {
    %i = gpu.global_id x
    %n = arith.constant 1000 : index
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %r = arith.constant 0.707106769 : f32
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<1000xf32>
      %s = arith.mulf %v, %r : f32
      %e = math.erf %s : f32
      %p = arith.addf %e, %one : f32
      %h = arith.mulf %v, %half : f32
      %g = arith.mulf %h, %p : f32
      memref.store %g, %y[%i] : memref<1000xf32>
    }
    gpu.return
  }

  gpu.func @axpy4(%x: memref<64x32xf32> {weft.name = "X"}, %y: memref<64x32xf32> {weft.name = "Y"}, %a: f32 {weft.name = "alpha"})
      kernel attributes {known_block_size = array<i32: 8, 16, 1>, known_grid_size = array<i32: 1, 4, 1>} {
    %tx = gpu.thread_id x
    %row = gpu.global_id y
    %col = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %v = vector.load %x[%row, %col] : memref<64x32xf32>, vector<4xf32>
    %w = vector.load %y[%row, %col] : memref<64x32xf32>, vector<4xf32>
    %b = vector.broadcast %a : f32 to vector<4xf32>
    %r = vector.fma %v, %b, %w : vector<4xf32>
    vector.store %r, %y[%row, %col] : memref<64x32xf32>, vector<4xf32>
    gpu.return
  }

  gpu.func @copy_unaligned(%x: memref<16x33xf32> {weft.name = "x"}, %y: memref<16x36xf32> {weft.name = "y"})
      kernel attributes {known_block_size = array<i32: 8, 16, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %col = affine.apply affine_map<(d0) -> (d0 * 4)>(%tx)
    %v = vector.load %x[%ty, %col] : memref<16x33xf32>, vector<4xf32>
    vector.store %v, %y[%ty, %col] : memref<16x36xf32>, vector<4xf32>
    gpu.return
  }

  gpu.func @copy_aligned(%x: memref<256xf16> {weft.name = "x"}, %y: memref<256xf16> {weft.name = "y"})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %tx = gpu.thread_id x
    %i = affine.apply affine_map<(d0) -> (d0 * 8)>(%tx)
    %v = vector.load %x[%i] : memref<256xf16>, vector<8xf16>
    vector.store %v, %y[%i] : memref<256xf16>, vector<8xf16>
    gpu.return
  }

  gpu.func @half_chain(%x: memref<512xf16> {weft.name = "x"}, %y: memref<512xf16> {weft.name = "y"},
                       %z: memref<512xf16> {weft.name = "z"})
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 8, 1, 1>} {
    %i = gpu.global_id x
    %c = arith.constant 1.5 : f16
    %a = memref.load %x[%i] : memref<512xf16>
    %b = memref.load %y[%i] : memref<512xf16>
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %p, %c : f16
    %d = arith.divf %s, %b : f16
    %e = arith.subf %d, %a : f16
    %m = arith.maximumf %e, %a : f16
    memref.store %m, %z[%i] : memref<512xf16>
    gpu.return
  }

  gpu.func @bf16_fma(%x: memref<512xbf16> {weft.name = "x"}, %y: memref<512xbf16> {weft.name = "y"},
                     %z: memref<512xbf16> {weft.name = "z"})
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 8, 1, 1>} {
    %i = gpu.global_id x
    %a = memref.load %x[%i] : memref<512xbf16>
    %b = memref.load %y[%i] : memref<512xbf16>
    %s = arith.addf %a, %b : bf16
    %f = math.fma %a, %s, %b : bf16
    memref.store %f, %z[%i] : memref<512xbf16>
    gpu.return
  }
}
