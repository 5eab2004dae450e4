// Asynchronous copies into shared memory, 4, 8 and 16 bytes at a time, with and without zeros where there is nothing to read.
#wg = #gpu.address_space<workgroup>
gpu.module @copies {
  // A block reverses 64 elements of each array.
  gpu.func @mirror(%x: memref<4x64xf32> {weft.name = "x"}, %n: memref<4x64xi32> {weft.name = "n"}, %h: memref<4x64xi16> {weft.name = "h"},
                    %d: memref<4x64xf64> {weft.name = "d"}, %out: memref<4x64xf64> {weft.name = "out"})
      workgroup(%xs: memref<64xf32, #wg>, %ns: memref<64xi32, #wg>, %hs: memref<64xi16, #wg>, %ds: memref<64xf64, #wg>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 4, 1, 1>,
                         workgroup_attrib_attrs = [{weft.name = "x_shared"}, {weft.name = "n_shared"}, {}, {}]} {
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    %two = arith.muli %tx, %c2 : index
    %four = arith.muli %tx, %c4 : index
    %half = arith.cmpi slt, %tx, %c16 : index
    scf.if %half {
      %t = nvgpu.device_async_copy %x[%bx, %four], %xs[%four], 4 {bypassL1} : memref<4x64xf32> to memref<64xf32, #wg>
    }
    %first = nvgpu.device_async_create_group {of = "x"}
    %u = nvgpu.device_async_copy %n[%bx, %two], %ns[%two], 2 : memref<4x64xi32> to memref<64xi32, #wg>
    %v = nvgpu.device_async_copy %h[%bx, %two], %hs[%two], 2 : memref<4x64xi16> to memref<64xi16, #wg>
    %w = nvgpu.device_async_copy %d[%bx, %two], %ds[%two], 2 : memref<4x64xf64> to memref<64xf64, #wg>
    %second = nvgpu.device_async_create_group %u, %v, %w
    nvgpu.device_async_wait %first {numGroups = 1 : i32}
    gpu.barrier
    %p = arith.subi %c63, %tx : index
    %q = arith.subi %p, %c32 : index
    %a = memref.load %xs[%p] : memref<64xf32, #wg>
    %b = memref.load %xs[%q] : memref<64xf32, #wg>
    nvgpu.device_async_wait %second
    gpu.barrier
    scf.for %place = %tx to %c64 step %c32 {
      %from = arith.subi %c63, %place : index
      %i = memref.load %ns[%from] : memref<64xi32, #wg>
      %h0 = memref.load %hs[%from] : memref<64xi16, #wg>
      %d0 = memref.load %ds[%from] : memref<64xf64, #wg>
      %fi = arith.sitofp %i : i32 to f64
      %fh = arith.sitofp %h0 : i16 to f64
      %s = arith.addf %fi, %fh : f64
      %r = arith.addf %s, %d0 : f64
      %low = arith.cmpi slt, %place, %c32 : index
      %f = arith.select %low, %a, %b : f32
      %fx = arith.extf %f : f32 to f64
      %z = arith.addf %r, %fx : f64
      memref.store %z, %out[%bx, %place] : memref<4x64xf64>
    }
    gpu.return
  }

  // Rows of any length, zero behind it: y = the row's sum. A loop hands the groups' tokens on, as upstream's pipelining does.
  gpu.func @sums(%x: memref<4x?xf32> {weft.name = "x", weft.multiples = array<i64: 1, 4>}, %k: index {weft.name = "k"},
                 %y: memref<4xf32> {weft.name = "y"})
      workgroup(%ring: memref<2x4x16xf32, #wg>)
      kernel attributes {known_block_size = array<i32: 4, 4, 1>, known_grid_size = array<i32: 1, 1, 1>,
                         workgroup_attrib_attrs = [{weft.name = "ring"}]} {
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %col = arith.muli %tx, %c4 : index
    %rest0 = affine.apply affine_map<(c)[k] -> (k - c)>(%col)[%k]
    %less0 = arith.minsi %rest0, %c4 : index
    %n0 = arith.maxsi %less0, %c0 : index
    %t0 = nvgpu.device_async_copy %x[%ty, %col], %ring[%c0, %ty, %col], 4, %n0 {bypassL1} : memref<4x?xf32> to memref<2x4x16xf32, #wg>
    %g0 = nvgpu.device_async_create_group %t0
    %sum, %g = scf.for %k0 = %c0 to %k step %c16 iter_args(%acc = %zero, %last = %g0) -> (f32, !nvgpu.device.async.token) {
      %number = arith.divui %k0, %c16 : index
      %now = arith.remui %number, %c2 : index
      %then = arith.subi %c1, %now : index
      nvgpu.device_async_wait %last
      gpu.barrier
      %next0 = arith.addi %k0, %c16 : index
      %next = arith.addi %next0, %col : index
      %rest = affine.apply affine_map<(c)[k] -> (k - c)>(%next)[%k]
      %less = arith.minsi %rest, %c4 : index
      %n = arith.maxsi %less, %c0 : index
      %t = nvgpu.device_async_copy %x[%ty, %next], %ring[%then, %ty, %col], 4, %n {bypassL1} : memref<4x?xf32> to memref<2x4x16xf32, #wg>
      %made = nvgpu.device_async_create_group %t
      %part = scf.for %j = %c0 to %c16 step %c1 iter_args(%s = %acc) -> (f32) {
        %v = memref.load %ring[%now, %ty, %j] : memref<2x4x16xf32, #wg>
        %r = arith.addf %s, %v : f32
        scf.yield %r : f32
      }
      scf.yield %part, %made : f32, !nvgpu.device.async.token
    }
    %one = arith.cmpi eq, %tx, %c0 : index
    scf.if %one { memref.store %sum, %y[%ty] : memref<4xf32> }
    gpu.return
  }
}
