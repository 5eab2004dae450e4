#map = affine_map<(d0, d1) -> (d0 * 16 + d1)>
module attributes {gpu.container_module} {
  func.func @f(%arg0: memref<20x37xf32> {weft.name = "C"}) {
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    gpu.launch_func  @f_kernel::@f blocks in (%c3, %c2, %c1) threads in (%c16, %c16, %c1)  args(%arg0 : memref<20x37xf32>)
    return
  }
  gpu.module @f_kernel {
    gpu.func @f(%arg0: memref<20x37xf32> {weft.name = "C"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 3, 2, 1>} {
      %c0 = arith.constant 0 : index
      %c37 = arith.constant 37 : index
      %c20 = arith.constant 20 : index
      %cst = arith.constant 1.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      %alloca = memref.alloca() : memref<1x1xf32>
      memref.store %cst, %alloca[%c0, %c0] : memref<1x1xf32>
      %0 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
      %1 = arith.addf %0, %cst : f32
      memref.store %1, %alloca[%c0, %c0] : memref<1x1xf32>
      %2 = affine.apply #map(%block_id_y, %thread_id_y)
      %3 = arith.cmpi slt, %2, %c20 : index
      %4 = affine.apply #map(%block_id_x, %thread_id_x)
      %5 = arith.cmpi slt, %4, %c37 : index
      %6 = arith.andi %3, %5 : i1
      scf.if %6 {
        %7 = memref.load %alloca[%c0, %c0] : memref<1x1xf32>
        memref.store %7, %arg0[%2, %4] : memref<20x37xf32>
      }
      gpu.return
    }
  }
}

// kernel @f: grid 3x2x1, block 16x16x1
// linalg.copy at 25:5 is done by the threads that own its temporary: threads(y: 16, x: 16)
// temporary 16x16: each thread keeps its 1x1 part, f32, to itself
