// Row sums in several types, a tree in shared memory, and while loops.
#wg = #gpu.address_space<workgroup>
gpu.module @reductions {
  gpu.func @row_sum(%A: memref<50x77xf32> {weft.name = "A"}, %out: memref<50xf32> {weft.name = "out"})
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %row = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c50 = arith.constant 50 : index
    %c77 = arith.constant 77 : index
    %zero = arith.constant 0.0 : f32
    %in = arith.cmpi slt, %row, %c50 : index
    scf.if %in {
      %s = scf.for %j = %c0 to %c77 step %c1 iter_args(%acc = %zero) -> (f32) {
        %v = memref.load %A[%row, %j] : memref<50x77xf32>
        %t = arith.addf %acc, %v : f32
        scf.yield %t : f32
      }
      memref.store %s, %out[%row] : memref<50xf32>
    }
    gpu.return
  }

  gpu.func @dot_i8(%a: memref<8x96xi8> {weft.name = "a"}, %b: memref<96xi8> {weft.name = "b"}, %c: memref<8xi32> {weft.name = "c"})
      kernel attributes {known_block_size = array<i32: 8, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %row = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 96 : index
    %zero = arith.constant 0 : i32
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (i32) {
      %x = memref.load %a[%row, %k] : memref<8x96xi8>
      %y = memref.load %b[%k] : memref<96xi8>
      %xw = arith.extsi %x : i8 to i32
      %yw = arith.extsi %y : i8 to i32
      %p = arith.muli %xw, %yw : i32
      %t = arith.addi %acc, %p : i32
      scf.yield %t : i32
    }
    memref.store %s, %c[%row] : memref<8xi32>
    gpu.return
  }

  gpu.func @dot_i32(%a: memref<8x96xi32> {weft.name = "a"}, %b: memref<96xi32> {weft.name = "b"}, %c: memref<8xi32> {weft.name = "c"})
      kernel attributes {known_block_size = array<i32: 8, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %row = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.constant 96 : index
    %zero = arith.constant 0 : i32
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (i32) {
      %x = memref.load %a[%row, %k] : memref<8x96xi32>
      %y = memref.load %b[%k] : memref<96xi32>
      %p = arith.muli %x, %y : i32
      %t = arith.addi %acc, %p : i32
      scf.yield %t : i32
    }
    memref.store %s, %c[%row] : memref<8xi32>
    gpu.return
  }

  gpu.func @tree(%x: memref<4x256xf64> {weft.name = "x"}, %out: memref<4xf64> {weft.name = "out"})
      workgroup(%part: memref<256xf64, #wg>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %v = memref.load %x[%b, %t] : memref<4x256xf64>
    memref.store %v, %part[%t] : memref<256xf64, #wg>
    gpu.barrier
    %last = scf.while (%width = %c128) : (index) -> index {
      %more = arith.cmpi sgt, %width, %c0 : index
      scf.condition(%more) %width : index
    } do {
    ^bb0(%w: index):
      %active = arith.cmpi slt, %t, %w : index
      scf.if %active {
        %o = arith.addi %t, %w : index
        %lhs = memref.load %part[%t] : memref<256xf64, #wg>
        %rhs = memref.load %part[%o] : memref<256xf64, #wg>
        %s = arith.addf %lhs, %rhs : f64
        memref.store %s, %part[%t] : memref<256xf64, #wg>
      }
      gpu.barrier
      %next = arith.shrui %w, %c1 : index
      scf.yield %next : index
    }
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      %r = memref.load %part[%c0] : memref<256xf64, #wg>
      memref.store %r, %out[%b] : memref<4xf64>
    }
    gpu.return
  }

  // Steps of Collatz's sequence; the condition region computes, and forwards something else than its argument.
  gpu.func @collatz(%x: memref<64xi32> {weft.name = "x"}, %steps: memref<64xi32> {weft.name = "steps"})
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %start = memref.load %x[%t] : memref<64xi32>
    %r:2 = scf.while (%n = %start, %k = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ne, %n, %one : i32
      %k1 = arith.addi %k, %one : i32
      scf.condition(%more) %n, %k1 : i32, i32
    } do {
    ^bb0(%n: i32, %k1: i32):
      %rem = arith.remui %n, %two : i32
      %odd = arith.cmpi eq, %rem, %one : i32
      %next = scf.if %odd -> (i32) {
        %m = arith.muli %n, %three : i32
        %p = arith.addi %m, %one : i32
        scf.yield %p : i32
      } else {
        %h = arith.divui %n, %two : i32
        scf.yield %h : i32
      }
      scf.yield %next, %k1 : i32, i32
    }
    memref.store %r#1, %steps[%t] : memref<64xi32>
    gpu.return
  }

  // Fibonacci: both loop-carried values change at once.
  gpu.func @fibonacci(%out: memref<32xi64> {weft.name = "out"})
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %r:2 = scf.for %i = %c0 to %t step %c1 iter_args(%a = %zero, %b = %one) -> (i64, i64) {
      %s = arith.addi %a, %b : i64
      scf.yield %b, %s : i64, i64
    }
    memref.store %r#0, %out[%t] : memref<32xi64>
    gpu.return
  }
}
