// The listing of the discussion, after its distribution to threads: fill and matmul go over the same 4x4 tiles, the operands
// are staged between two barriers. The bindings are arguments, the copies are given to the threads by rows.
#rows = affine_map<()[s0] -> (s0 * 32)>
#columns = affine_map<()[s0] -> (s0 * 128)>
#four = affine_map<()[s0] -> (s0 * 4)>
gpu.module @dot {
  gpu.func @dispatch(%lhs: memref<1024x1024xf32>, %rhs: memref<1024x1024xf32>, %out: memref<1024x1024xf32>)
      workgroup(%b: memref<32x128xf32, 3>, %a: memref<32x32xf32, 3>)
      kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c1024 = arith.constant 1024 : index
    %zero = arith.constant 0.0 : f32
    %bx = gpu.block_id x
    %nx = gpu.grid_dim x
    %by = gpu.block_id y
    %ny = gpu.grid_dim y
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %i0 = affine.apply #rows()[%by]
    %istep = affine.apply #rows()[%ny]
    scf.for %i = %i0 to %c1024 step %istep {
      %j0 = affine.apply #columns()[%bx]
      %jstep = affine.apply #columns()[%nx]
      scf.for %j = %j0 to %c1024 step %jstep {
        %tile = memref.subview %out[%i, %j] [32, 128] [1, 1] : memref<1024x1024xf32> to memref<32x128xf32, strided<[1024, 1], offset: ?>>
        %y0 = affine.apply #four()[%ty]
        scf.for %y = %y0 to %c32 step %c32 {
          %x0 = affine.apply #four()[%tx]
          scf.for %x = %x0 to %c128 step %c128 {
            %own = memref.subview %tile[%y, %x] [4, 4] [1, 1] : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<4x4xf32, strided<[1024, 1], offset: ?>>
            linalg.fill ins(%zero : f32) outs(%own : memref<4x4xf32, strided<[1024, 1], offset: ?>>)
          }
        }
        scf.for %k = %c0 to %c1024 step %c32 {
          gpu.barrier
          scf.for %r = %ty to %c32 step %c8 {
            %row = arith.addi %i, %r : index
            %column = arith.addi %k, %tx : index
            %v = memref.load %lhs[%row, %column] : memref<1024x1024xf32>
            memref.store %v, %a[%r, %tx] : memref<32x32xf32, 3>
          }
          scf.for %r = %ty to %c32 step %c8 {
            scf.for %s = %tx to %c128 step %c32 {
              %row = arith.addi %k, %r : index
              %column = arith.addi %j, %s : index
              %v = memref.load %rhs[%row, %column] : memref<1024x1024xf32>
              memref.store %v, %b[%r, %s] : memref<32x128xf32, 3>
            }
          }
          gpu.barrier
          scf.for %y = %y0 to %c32 step %c32 {
            %x0 = affine.apply #four()[%tx]
            scf.for %x = %x0 to %c128 step %c128 {
              %left = memref.subview %a[%y, 0] [4, 32] [1, 1] : memref<32x32xf32, 3> to memref<4x32xf32, strided<[32, 1], offset: ?>, 3>
              %right = memref.subview %b[0, %x] [32, 4] [1, 1] : memref<32x128xf32, 3> to memref<32x4xf32, strided<[128, 1], offset: ?>, 3>
              %own = memref.subview %tile[%y, %x] [4, 4] [1, 1] : memref<32x128xf32, strided<[1024, 1], offset: ?>> to memref<4x4xf32, strided<[1024, 1], offset: ?>>
              linalg.matmul ins(%left, %right : memref<4x32xf32, strided<[32, 1], offset: ?>, 3>, memref<32x4xf32, strided<[128, 1], offset: ?>, 3>) outs(%own : memref<4x4xf32, strided<[1024, 1], offset: ?>>)
            }
          }
        }
      }
    }
    gpu.return
  }
}
