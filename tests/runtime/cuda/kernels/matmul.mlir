// 16x16 tiles of both operands in shared memory; and the naive one, an element a thread.
#wg = #gpu.address_space<workgroup>
gpu.module @matmul {
  gpu.func @shared(%A: memref<64x48xf32> {weft.name = "A"}, %B: memref<48x32xf32> {weft.name = "B"},
                   %C: memref<64x32xf32> {weft.name = "C"})
      workgroup(%s0: memref<16x16xf32, #wg>, %s1: memref<16x17xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 2, 4, 1>} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f32
    %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%by, %ty)
    %col = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%bx, %tx)
    %sum = scf.for %k = %c0 to %c48 step %c16 iter_args(%acc = %zero) -> (f32) {
      %ka = arith.addi %k, %tx : index
      %kb = arith.addi %k, %ty : index
      %a = memref.load %A[%row, %ka] : memref<64x48xf32>
      memref.store %a, %s0[%ty, %tx] : memref<16x16xf32, #wg>
      %b = memref.load %B[%kb, %col] : memref<48x32xf32>
      memref.store %b, %s1[%ty, %tx] : memref<16x17xf32, #wg>
      gpu.barrier
      %inner = scf.for %kk = %c0 to %c16 step %c1 iter_args(%acc2 = %acc) -> (f32) {
        %x = memref.load %s0[%ty, %kk] : memref<16x16xf32, #wg>
        %y = memref.load %s1[%kk, %tx] : memref<16x17xf32, #wg>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %acc2, %p : f32
        scf.yield %s : f32
      }
      gpu.barrier
      scf.yield %inner : f32
    }
    memref.store %sum, %C[%row, %col] : memref<64x32xf32>
    gpu.return
  }

  gpu.func @ragged(%A: memref<37x29xf32> {weft.name = "A"}, %B: memref<29x23xf32> {weft.name = "B"},
                   %C: memref<37x23xf32> {weft.name = "C"})
      workgroup(%s0: memref<16x16xf32, #wg>, %s1: memref<16x16xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 2, 3, 1>} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %m = arith.constant 37 : index
    %n = arith.constant 23 : index
    %kend = arith.constant 29 : index
    %zero = arith.constant 0.0 : f32
    %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%by, %ty)
    %col = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%bx, %tx)
    %in_row = arith.cmpi slt, %row, %m : index
    %in_col = arith.cmpi slt, %col, %n : index
    %sum = scf.for %k = %c0 to %kend step %c16 iter_args(%acc = %zero) -> (f32) {
      %ka = arith.addi %k, %tx : index
      %ka_in = arith.cmpi slt, %ka, %kend : index
      %a_in = arith.andi %in_row, %ka_in : i1
      %a = scf.if %a_in -> (f32) {
        %v = memref.load %A[%row, %ka] : memref<37x29xf32>
        scf.yield %v : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %a, %s0[%ty, %tx] : memref<16x16xf32, #wg>
      %kb = arith.addi %k, %ty : index
      %kb_in = arith.cmpi slt, %kb, %kend : index
      %b_in = arith.andi %kb_in, %in_col : i1
      %b = scf.if %b_in -> (f32) {
        %v = memref.load %B[%kb, %col] : memref<29x23xf32>
        scf.yield %v : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %b, %s1[%ty, %tx] : memref<16x16xf32, #wg>
      gpu.barrier
      %inner = scf.for %kk = %c0 to %c16 step %c1 iter_args(%acc2 = %acc) -> (f32) {
        %x = memref.load %s0[%ty, %kk] : memref<16x16xf32, #wg>
        %y = memref.load %s1[%kk, %tx] : memref<16x16xf32, #wg>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %p, %acc2 : f32
        scf.yield %s : f32
      }
      gpu.barrier
      scf.yield %inner : f32
    }
    %both = arith.andi %in_row, %in_col : i1
    scf.if %both {
      memref.store %sum, %C[%row, %col] : memref<37x23xf32>
    }
    gpu.return
  }
}
