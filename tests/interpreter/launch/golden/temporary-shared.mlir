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
    gpu.func @f(%arg0: memref<20x37xf32> {weft.name = "C"}) workgroup(%arg1 : memref<16x16xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 16, 16, 1>, known_grid_size = array<i32: 3, 2, 1>} {
      %c37 = arith.constant 37 : index
      %c20 = arith.constant 20 : index
      %c15 = arith.constant 15 : index
      %cst = arith.constant 1.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %thread_id_y = gpu.thread_id y
      %block_id_x = gpu.block_id x
      %block_id_y = gpu.block_id y
      memref.store %cst, %arg1[%thread_id_y, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
      %0 = arith.subi %c15, %thread_id_y : index
      %1 = memref.load %arg1[%0, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
      %2 = arith.addf %1, %cst : f32
      memref.store %2, %arg1[%0, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
      %3 = affine.apply #map(%block_id_y, %0)
      %4 = arith.cmpi slt, %3, %c20 : index
      %5 = affine.apply #map(%block_id_x, %thread_id_x)
      %6 = arith.cmpi slt, %5, %c37 : index
      %7 = arith.andi %4, %6 : i1
      scf.if %7 {
        %8 = memref.load %arg1[%0, %thread_id_x] : memref<16x16xf32, #gpu.address_space<workgroup>>
        memref.store %8, %arg0[%3, %5] : memref<20x37xf32>
      }
      gpu.return
    }
  }
}

// kernel @f: grid 3x2x1, block 16x16x1, 1024 bytes of shared memory
// linalg.copy at 26:5 is done by the threads that own its temporary: threads(y: 16, x: 16)
// temporary 16x16: in shared memory, 1024 bytes (threads access each other's parts)
