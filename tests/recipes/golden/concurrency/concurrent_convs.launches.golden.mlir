// weft golden concurrent_convs --after 'launch tiles #3'
#map = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 28)>
#map1 = affine_map<(d0, d1) -> (((d0 * 256 + d1) floordiv 28) mod 28)>
#map2 = affine_map<(d0, d1) -> ((((d0 * 256 + d1) floordiv 28) floordiv 28) floordiv 64)>
#map3 = affine_map<(d0, d1) -> ((((d0 * 256 + d1) floordiv 28) floordiv 28) mod 64)>
#map4 = affine_map<()[s0, s1] -> (-((s0 * 256 + s1) floordiv 28) + (((s0 * 256 + s1) floordiv 28) floordiv 28) * 28 + 1, 0)>
#map5 = affine_map<()[s0, s1] -> (-((s0 * 256 + s1) floordiv 28) + (((s0 * 256 + s1) floordiv 28) floordiv 28) * 28 + 29, 3)>
#map6 = affine_map<()[s0, s1] -> (s0 * -256 - s1 + ((s0 * 256 + s1) floordiv 28) * 28 + 1, 0)>
#map7 = affine_map<()[s0, s1] -> (s0 * -256 - s1 + ((s0 * 256 + s1) floordiv 28) * 28 + 29, 3)>
#map8 = affine_map<(d0, d1) -> (d0 + d1)>
#map9 = affine_map<(d0) -> (d0 - 1)>
module attributes {gpu.container_module} {
  memref.global "private" constant @constant_0 : memref<64x1x3x3xf32> = dense<1.000000e+00>
  memref.global "private" constant @constant_1 : memref<64xf32> = dense<1.000000e-01>
  memref.global "private" constant @constant_2 : memref<64x1x3x3xf32> = dense<5.000000e-01>
  memref.global "private" constant @constant_3 : memref<64xf32> = dense<2.000000e-01>
  func.func @test_parallel(%arg0: memref<4x1x28x28xf32> {weft.name = "arg0"}) -> (memref<4x64x28x28xf32> {bufferize.result, weft.name = "result0"}) attributes {llvm.emit_c_interface} {
    %0 = memref.get_global @constant_0 : memref<64x1x3x3xf32>
    %1 = memref.get_global @constant_1 : memref<64xf32>
    %2 = memref.get_global @constant_2 : memref<64x1x3x3xf32>
    %3 = memref.get_global @constant_3 : memref<64xf32>
    %alloc = memref.alloc() {alignment = 16 : i64, weft.name = "alloc"} : memref<4x64x28x28xf32>
    %c784 = arith.constant 784 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func  @test_parallel_kernel::@test_parallel blocks in (%c784, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<4x1x28x28xf32>, %0 : memref<64x1x3x3xf32>, %1 : memref<64xf32>, %alloc : memref<4x64x28x28xf32>)
    %alloc_0 = memref.alloc() {alignment = 16 : i64, weft.name = "alloc_0"} : memref<4x64x28x28xf32>
    gpu.launch_func  @test_parallel_1_kernel::@test_parallel_1 blocks in (%c784, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<4x1x28x28xf32>, %2 : memref<64x1x3x3xf32>, %3 : memref<64xf32>, %alloc_0 : memref<4x64x28x28xf32>)
    %alloc_1 = memref.alloc() {alignment = 16 : i64, weft.name = "alloc_1"} : memref<4x64x28x28xf32>
    gpu.launch_func  @test_parallel_2_kernel::@test_parallel_2 blocks in (%c784, %c1, %c1) threads in (%c256, %c1, %c1)  args(%alloc : memref<4x64x28x28xf32>, %alloc_0 : memref<4x64x28x28xf32>, %alloc_1 : memref<4x64x28x28xf32>)
    return %alloc_1 : memref<4x64x28x28xf32>
  }
  gpu.module @test_parallel_kernel {
    gpu.func @test_parallel(%arg0: memref<4x1x28x28xf32> {weft.name = "arg0"}, %arg1: memref<64x1x3x3xf32> {weft.name = "constant_0"}, %arg2: memref<64xf32> {weft.name = "constant_1"}, %arg3: memref<4x64x28x28xf32> {weft.name = "alloc"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 784, 1, 1>, weft.max_registers = 40 : i64} {
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = affine.apply #map1(%block_id_x, %thread_id_x)
      %2 = affine.apply #map2(%block_id_x, %thread_id_x)
      %3 = affine.apply #map3(%block_id_x, %thread_id_x)
      %4 = affine.max #map4()[%block_id_x, %thread_id_x]
      %5 = affine.min #map5()[%block_id_x, %thread_id_x]
      %6 = affine.max #map6()[%block_id_x, %thread_id_x]
      %7 = affine.min #map7()[%block_id_x, %thread_id_x]
      %8 = scf.for %arg4 = %4 to %5 step %c1 iter_args(%arg5 = %cst) -> (f32) {
        %11 = affine.apply #map8(%1, %arg4)
        %12 = affine.apply #map9(%11)
        %13 = scf.for %arg6 = %6 to %7 step %c1 iter_args(%arg7 = %arg5) -> (f32) {
          %14 = affine.apply #map8(%0, %arg6)
          %15 = affine.apply #map9(%14)
          %16 = memref.load %arg0[%2, %c0, %12, %15] : memref<4x1x28x28xf32>
          %17 = memref.load %arg1[%3, %c0, %arg4, %arg6] : memref<64x1x3x3xf32>
          %18 = arith.mulf %16, %17 : f32
          %19 = arith.addf %arg7, %18 : f32
          scf.yield %19 : f32
        }
        scf.yield %13 : f32
      }
      %9 = memref.load %arg2[%3] : memref<64xf32>
      %10 = arith.addf %8, %9 : f32
      memref.store %10, %arg3[%2, %3, %1, %0] : memref<4x64x28x28xf32>
      gpu.return
    }
  }
  gpu.module @test_parallel_1_kernel {
    gpu.func @test_parallel_1(%arg0: memref<4x1x28x28xf32> {weft.name = "arg0"}, %arg1: memref<64x1x3x3xf32> {weft.name = "constant_2"}, %arg2: memref<64xf32> {weft.name = "constant_3"}, %arg3: memref<4x64x28x28xf32> {weft.name = "alloc_0"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 784, 1, 1>, weft.max_registers = 40 : i64} {
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c1 = arith.constant 1 : index
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = affine.apply #map1(%block_id_x, %thread_id_x)
      %2 = affine.apply #map2(%block_id_x, %thread_id_x)
      %3 = affine.apply #map3(%block_id_x, %thread_id_x)
      %4 = affine.max #map4()[%block_id_x, %thread_id_x]
      %5 = affine.min #map5()[%block_id_x, %thread_id_x]
      %6 = affine.max #map6()[%block_id_x, %thread_id_x]
      %7 = affine.min #map7()[%block_id_x, %thread_id_x]
      %8 = scf.for %arg4 = %4 to %5 step %c1 iter_args(%arg5 = %cst) -> (f32) {
        %11 = affine.apply #map8(%1, %arg4)
        %12 = affine.apply #map9(%11)
        %13 = scf.for %arg6 = %6 to %7 step %c1 iter_args(%arg7 = %arg5) -> (f32) {
          %14 = affine.apply #map8(%0, %arg6)
          %15 = affine.apply #map9(%14)
          %16 = memref.load %arg0[%2, %c0, %12, %15] : memref<4x1x28x28xf32>
          %17 = memref.load %arg1[%3, %c0, %arg4, %arg6] : memref<64x1x3x3xf32>
          %18 = arith.mulf %16, %17 : f32
          %19 = arith.addf %arg7, %18 : f32
          scf.yield %19 : f32
        }
        scf.yield %13 : f32
      }
      %9 = memref.load %arg2[%3] : memref<64xf32>
      %10 = arith.addf %8, %9 : f32
      memref.store %10, %arg3[%2, %3, %1, %0] : memref<4x64x28x28xf32>
      gpu.return
    }
  }
  gpu.module @test_parallel_2_kernel {
    gpu.func @test_parallel_2(%arg0: memref<4x64x28x28xf32> {weft.name = "alloc"}, %arg1: memref<4x64x28x28xf32> {weft.name = "alloc_0"}, %arg2: memref<4x64x28x28xf32> {weft.name = "alloc_1"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 784, 1, 1>, weft.max_registers = 40 : i64} {
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = affine.apply #map1(%block_id_x, %thread_id_x)
      %2 = affine.apply #map2(%block_id_x, %thread_id_x)
      %3 = affine.apply #map3(%block_id_x, %thread_id_x)
      %4 = memref.load %arg0[%2, %3, %1, %0] : memref<4x64x28x28xf32>
      %5 = memref.load %arg1[%2, %3, %1, %0] : memref<4x64x28x28xf32>
      %6 = arith.addf %4, %5 : f32
      memref.store %6, %arg2[%2, %3, %1, %0] : memref<4x64x28x28xf32>
      gpu.return
    }
  }
}
