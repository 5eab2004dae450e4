// Two launches that know nothing of each other, and one that needs both; written one after the other.
module attributes {gpu.container_module} {
  gpu.module @left_kernel {
    gpu.func @left(%x: memref<64xf32>, %y: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<64xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %y[%i] : memref<64xf32>
      gpu.return
    }
  }
  gpu.module @right_kernel {
    gpu.func @right(%x: memref<64xf32>, %y: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<64xf32>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %y[%i] : memref<64xf32>
      gpu.return
    }
  }
  gpu.module @sum_kernel {
    gpu.func @sum(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = gpu.thread_id x
      %v = memref.load %x[%i] : memref<64xf32>
      %w = memref.load %y[%i] : memref<64xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %z[%i] : memref<64xf32>
      gpu.return
    }
  }
  func.func @both(%x: memref<64xf32>, %z: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %l = memref.alloc() : memref<64xf32>
    gpu.launch_func @left_kernel::@left blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %l : memref<64xf32>)
    %r = memref.alloc() : memref<64xf32>
    gpu.launch_func @right_kernel::@right blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<64xf32>, %r : memref<64xf32>)
    gpu.launch_func @sum_kernel::@sum blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%l : memref<64xf32>, %r : memref<64xf32>, %z : memref<64xf32>)
    memref.dealloc %l : memref<64xf32>
    memref.dealloc %r : memref<64xf32>
    return
  }
}
