// Lanes of a warp: a sum that all get, in turns that are unrolled and in a reduction; a scan; values of 16 bits, within groups.
gpu.module @shuffles {
  gpu.func @row_sums(%A: memref<?x128xf32> {weft.name = "A"}, %S: memref<?xf32> {weft.name = "S"}) kernel
      attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %w32 = arith.constant 32 : i32
    %lane = gpu.thread_id x
    %warp = gpu.thread_id y
    %block = gpu.block_id x
    %row = affine.apply affine_map<(b, w) -> (b * 8 + w)>(%block, %warp)
    %n = memref.dim %A, %c0 : memref<?x128xf32>
    %inside = arith.cmpi slt, %row, %n : index
    scf.if %inside {
      %column = arith.muli %lane, %c4 : index
      %v = vector.load %A[%row, %column] : memref<?x128xf32>, vector<4xf32>
      %own = vector.reduction <add>, %v : vector<4xf32> into f32
      %sum = gpu.subgroup_reduce add %own uniform : (f32) -> f32
      %first = arith.cmpi eq, %lane, %c0 : index
      scf.if %first {
        memref.store %sum, %S[%row] : memref<?xf32>
      }
    }
    gpu.return
  }

  gpu.func @scan(%A: memref<?xi32> {weft.name = "A"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %one = arith.constant 1 : i32
    %w32 = arith.constant 32 : i32
    %tx = gpu.thread_id x
    %v = memref.load %A[%tx] : memref<?xi32>
    %all, %d = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %v, %by = %one) -> (i32, i32) {
      %before, %there = gpu.shuffle up %s, %by, %w32 : i32
      %more = arith.addi %s, %before : i32
      %next = arith.select %there, %more, %s : i32
      %twice = arith.shli %by, %one : i32
      scf.yield %next, %twice : i32, i32
    } {weft.unroll}
    memref.store %all, %A[%tx] : memref<?xi32>
    gpu.return
  }

  gpu.func @in_groups(%A: memref<64xf16> {weft.name = "A"}, %B: memref<64xbf16> {weft.name = "B"}, %C: memref<64xi64> {weft.name = "C"},
                      %from: i32 {weft.name = "from"}) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %one = arith.constant 1 : i32
    %w8 = arith.constant 8 : i32
    %tx = gpu.thread_id x
    %a = memref.load %A[%tx] : memref<64xf16>
    %a1, %a2 = gpu.shuffle down %a, %one, %w8 : f16
    %a3 = arith.select %a2, %a1, %a : f16
    memref.store %a3, %A[%tx] : memref<64xf16>
    %b = memref.load %B[%tx] : memref<64xbf16>
    %b1, %b2 = gpu.shuffle idx %b, %from, %w8 : bf16
    %b3 = arith.select %b2, %b1, %b : bf16
    memref.store %b3, %B[%tx] : memref<64xbf16>
    %c = memref.load %C[%tx] : memref<64xi64>
    %c1, %c2 = gpu.shuffle xor %c, %one, %w8 : i64
    memref.store %c1, %C[%tx] : memref<64xi64>
    gpu.return
  }
}
