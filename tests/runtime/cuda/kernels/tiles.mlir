// Register tiles, subviews, dynamic shapes, a stencil, constants, more shared memory than is static.
#wg = #gpu.address_space<workgroup>
#private = #gpu.address_space<private>
gpu.module @tiles {
  memref.global "private" constant @weights : memref<3x3xf32> = dense<[[0.0625, 0.125, 0.0625], [0.125, 0.25, 0.125], [0.0625, 0.125, 0.0625]]>

  gpu.func @blur(%image: memref<40x50xf32> {weft.name = "image"}, %out: memref<40x50xf32> {weft.name = "out"})
      kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 4, 3, 1>} {
    %x = gpu.global_id x
    %y = gpu.global_id y
    affine.if affine_set<(d0, d1) : (d0 - 1 >= 0, -d0 + 38 >= 0, d1 - 1 >= 0, -d1 + 48 >= 0)>(%y, %x) {
      %w = memref.get_global @weights : memref<3x3xf32>
      %zero = arith.constant 0.0 : f32
      %sum = affine.for %i = 0 to 3 iter_args(%acc = %zero) -> (f32) {
        %inner = affine.for %j = 0 to 3 iter_args(%acc2 = %acc) -> (f32) {
          %v = affine.load %image[symbol(%y) + %i - 1, symbol(%x) + %j - 1] : memref<40x50xf32>
          %k = affine.load %w[%i, %j] : memref<3x3xf32>
          %p = arith.mulf %v, %k : f32
          %s = arith.addf %acc2, %p : f32
          affine.yield %s : f32
        }
        affine.yield %inner : f32
      }
      memref.store %sum, %out[%y, %x] : memref<40x50xf32>
    }
    gpu.return
  }

  // Each thread computes a 4x4 tile: accumulators in registers, views of the operands.
  gpu.func @register_tile(%A: memref<32x16xf32> {weft.name = "A"}, %B: memref<16x32xf32> {weft.name = "B"},
                          %C: memref<32x32xf32> {weft.name = "C"})
      kernel attributes {known_block_size = array<i32: 8, 8, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %row = arith.muli %ty, %c4 : index
    %col = arith.muli %tx, %c4 : index
    %a = memref.subview %A[%row, 0] [4, 16] [1, 1] : memref<32x16xf32> to memref<4x16xf32, strided<[16, 1], offset: ?>>
    %b = memref.subview %B[0, %col] [16, 4] [1, 1] : memref<16x32xf32> to memref<16x4xf32, strided<[32, 1], offset: ?>>
    %c = memref.subview %C[%row, %col] [4, 4] [1, 1] : memref<32x32xf32> to memref<4x4xf32, strided<[32, 1], offset: ?>>
    %acc = memref.alloca() {weft.name = "acc"} : memref<4x4xf32, #private>
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        memref.store %zero, %acc[%i, %j] : memref<4x4xf32, #private>
      }
    }
    scf.for %k = %c0 to %c16 step %c1 {
      scf.for %i = %c0 to %c4 step %c1 {
        %x = memref.load %a[%i, %k] : memref<4x16xf32, strided<[16, 1], offset: ?>>
        scf.for %j = %c0 to %c4 step %c1 {
          %y = memref.load %b[%k, %j] : memref<16x4xf32, strided<[32, 1], offset: ?>>
          %old = memref.load %acc[%i, %j] : memref<4x4xf32, #private>
          %new = math.fma %x, %y, %old : f32
          memref.store %new, %acc[%i, %j] : memref<4x4xf32, #private>
        }
      }
    }
    scf.for %i = %c0 to %c4 step %c1 {
      %r = memref.subview %acc[%i, 0] [1, 4] [1, 1] : memref<4x4xf32, #private> to memref<4xf32, strided<[1], offset: ?>, #private>
      %o = memref.subview %c[%i, 0] [1, 4] [1, 1] : memref<4x4xf32, strided<[32, 1], offset: ?>> to memref<4xf32, strided<[1], offset: ?>>
      %v = vector.load %r[%c0] : memref<4xf32, strided<[1], offset: ?>, #private>, vector<4xf32>
      vector.store %v, %o[%c0] : memref<4xf32, strided<[1], offset: ?>>, vector<4xf32>
    }
    gpu.return
  }

  // y = x^T for any size and any strides; any launch.
  gpu.func @transpose(%x: memref<?x?xf32, strided<[?, ?], offset: ?>> {weft.name = "x"}, %y: memref<?x?xf32> {weft.name = "y"}) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %cols = memref.dim %x, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %i0 = gpu.global_id y
    %j0 = gpu.global_id x
    %gy = gpu.grid_dim y
    %by = gpu.block_dim y
    %sy = arith.muli %gy, %by : index
    %gx = gpu.grid_dim x
    %bx = gpu.block_dim x
    %sx = arith.muli %gx, %bx : index
    scf.for %i = %i0 to %rows step %sy {
      scf.for %j = %j0 to %cols step %sx {
        %v = memref.load %x[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
        memref.store %v, %y[%j, %i] : memref<?x?xf32>
      }
    }
    gpu.return
  }

  // 64 KiB of shared memory: reverse a row of 16384 floats.
  gpu.func @reverse(%x: memref<16384xf32> {weft.name = "x"})
      workgroup(%row: memref<128x128xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    scf.for %i = %c0 to %c128 step %c1 {
      %n = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%i, %t)
      %v = memref.load %x[%n] : memref<16384xf32>
      memref.store %v, %row[%i, %t] : memref<128x128xf32, #wg>
    }
    gpu.barrier
    scf.for %i = %c0 to %c128 step %c1 {
      %n = affine.apply affine_map<(d0, d1) -> (d0 * 128 + d1)>(%i, %t)
      %ri = affine.apply affine_map<(d0) -> (127 - d0)>(%i)
      %rt = affine.apply affine_map<(d0) -> (127 - d0)>(%t)
      %v = memref.load %row[%ri, %rt] : memref<128x128xf32, #wg>
      memref.store %v, %x[%n] : memref<16384xf32>
    }
    gpu.return
  }

  // Collapsed, expanded and reinterpreted views of one buffer.
  gpu.func @views(%x: memref<4x6x8xf32> {weft.name = "x"}, %y: memref<192xf32> {weft.name = "y"})
      kernel attributes {known_block_size = array<i32: 24, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %flat = memref.collapse_shape %x [[0, 1], [2]] : memref<4x6x8xf32> into memref<24x8xf32>
    %grid = memref.expand_shape %y [[0, 1]] output_shape [24, 8] : memref<192xf32> into memref<24x8xf32>
    %swap = memref.reinterpret_cast %y to offset: [0], sizes: [8, 24], strides: [1, 8] : memref<192xf32> to memref<8x24xf32, strided<[1, 8]>>
    scf.for %j = %c0 to %c8 step %c1 {
      %v = memref.load %flat[%t, %j] : memref<24x8xf32>
      memref.store %v, %grid[%t, %j] : memref<24x8xf32>
      %w = memref.load %swap[%j, %t] : memref<8x24xf32, strided<[1, 8]>>
      %s = arith.addf %w, %v : f32
      memref.store %s, %grid[%t, %j] : memref<24x8xf32>
    }
    gpu.return
  }
}
