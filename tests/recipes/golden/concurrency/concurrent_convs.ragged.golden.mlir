// weft golden concurrent_convs --set batch=3 --set filters=5 --set size=7
#map = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map1 = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 7)>
#map2 = affine_map<(d0, d1) -> (((d0 * 256 + d1) floordiv 7) mod 7)>
#map3 = affine_map<(d0, d1) -> ((((d0 * 256 + d1) floordiv 7) floordiv 7) floordiv 5)>
#map4 = affine_map<(d0, d1) -> ((((d0 * 256 + d1) floordiv 7) floordiv 7) mod 5)>
#map5 = affine_map<()[s0, s1] -> (-((s0 * 256 + s1) floordiv 7) + (((s0 * 256 + s1) floordiv 7) floordiv 7) * 7 + 1, 0)>
#map6 = affine_map<()[s0, s1] -> (-((s0 * 256 + s1) floordiv 7) + (((s0 * 256 + s1) floordiv 7) floordiv 7) * 7 + 8, 3)>
#map7 = affine_map<()[s0, s1] -> (s0 * -256 - s1 + ((s0 * 256 + s1) floordiv 7) * 7 + 1, 0)>
#map8 = affine_map<()[s0, s1] -> (s0 * -256 - s1 + ((s0 * 256 + s1) floordiv 7) * 7 + 8, 3)>
#map9 = affine_map<(d0, d1) -> (d0 + d1)>
#map10 = affine_map<(d0) -> (d0 - 1)>
module attributes {gpu.container_module} {
  memref.global "private" constant @constant_0 : memref<5x1x3x3xf32> = dense<1.000000e+00>
  memref.global "private" constant @constant_1 : memref<5xf32> = dense<1.000000e-01>
  memref.global "private" constant @constant_2 : memref<5x1x3x3xf32> = dense<5.000000e-01>
  memref.global "private" constant @constant_3 : memref<5xf32> = dense<2.000000e-01>
  func.func @test_parallel(%arg0: memref<3x1x7x7xf32> {weft.name = "arg0"}) -> (memref<3x5x7x7xf32> {bufferize.result, weft.name = "result0"}) attributes {llvm.emit_c_interface} {
    %0 = memref.get_global @constant_0 : memref<5x1x3x3xf32>
    %1 = memref.get_global @constant_1 : memref<5xf32>
    %2 = memref.get_global @constant_2 : memref<5x1x3x3xf32>
    %3 = memref.get_global @constant_3 : memref<5xf32>
    %alloc = memref.alloc() {alignment = 16 : i64, weft.name = "alloc"} : memref<3x5x7x7xf32>
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %4 = gpu.wait async
    %5 = gpu.launch_func async [%4] @test_parallel_kernel::@test_parallel blocks in (%c3, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<3x1x7x7xf32>, %0 : memref<5x1x3x3xf32>, %1 : memref<5xf32>, %alloc : memref<3x5x7x7xf32>)
    %alloc_0 = memref.alloc() {alignment = 16 : i64, weft.name = "alloc_0"} : memref<3x5x7x7xf32>
    %6 = gpu.wait async
    %7 = gpu.launch_func async [%6] @test_parallel_1_kernel::@test_parallel_1 blocks in (%c3, %c1, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : memref<3x1x7x7xf32>, %2 : memref<5x1x3x3xf32>, %3 : memref<5xf32>, %alloc_0 : memref<3x5x7x7xf32>)
    %alloc_1 = memref.alloc() {alignment = 16 : i64, weft.name = "alloc_1"} : memref<3x5x7x7xf32>
    %8 = gpu.wait async [%5, %7]
    %9 = gpu.launch_func async [%8] @test_parallel_2_kernel::@test_parallel_2 blocks in (%c3, %c1, %c1) threads in (%c256, %c1, %c1)  args(%alloc : memref<3x5x7x7xf32>, %alloc_0 : memref<3x5x7x7xf32>, %alloc_1 : memref<3x5x7x7xf32>)
    gpu.wait [%9]
    return %alloc_1 : memref<3x5x7x7xf32>
  }
  gpu.module @test_parallel_kernel {
    gpu.func @test_parallel(%arg0: memref<3x1x7x7xf32> {weft.name = "arg0"}, %arg1: memref<5x1x3x3xf32> {weft.name = "constant_0"}, %arg2: memref<5xf32> {weft.name = "constant_1"}, %arg3: memref<3x5x7x7xf32> {weft.name = "alloc"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>, weft.max_registers = 40 : i64} {
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %c735 = arith.constant 735 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c735 : index
      %2 = affine.apply #map1(%block_id_x, %thread_id_x)
      %3 = affine.apply #map2(%block_id_x, %thread_id_x)
      %4 = affine.apply #map3(%block_id_x, %thread_id_x)
      %5 = affine.apply #map4(%block_id_x, %thread_id_x)
      scf.if %1 {
        %6 = affine.max #map5()[%block_id_x, %thread_id_x]
        %7 = affine.min #map6()[%block_id_x, %thread_id_x]
        %8 = affine.max #map7()[%block_id_x, %thread_id_x]
        %9 = affine.min #map8()[%block_id_x, %thread_id_x]
        %10 = scf.for %arg4 = %6 to %7 step %c1 iter_args(%arg5 = %cst) -> (f32) {
          %13 = affine.apply #map9(%3, %arg4)
          %14 = affine.apply #map10(%13)
          %15 = scf.for %arg6 = %8 to %9 step %c1 iter_args(%arg7 = %arg5) -> (f32) {
            %16 = affine.apply #map9(%2, %arg6)
            %17 = affine.apply #map10(%16)
            %18 = memref.load %arg0[%4, %c0, %14, %17] : memref<3x1x7x7xf32>
            %19 = memref.load %arg1[%5, %c0, %arg4, %arg6] : memref<5x1x3x3xf32>
            %20 = arith.mulf %18, %19 : f32
            %21 = arith.addf %arg7, %20 : f32
            scf.yield %21 : f32
          }
          scf.yield %15 : f32
        }
        %11 = memref.load %arg2[%5] : memref<5xf32>
        %12 = arith.addf %10, %11 : f32
        memref.store %12, %arg3[%4, %5, %3, %2] : memref<3x5x7x7xf32>
      }
      gpu.return
    }
  }
  gpu.module @test_parallel_1_kernel {
    gpu.func @test_parallel_1(%arg0: memref<3x1x7x7xf32> {weft.name = "arg0"}, %arg1: memref<5x1x3x3xf32> {weft.name = "constant_2"}, %arg2: memref<5xf32> {weft.name = "constant_3"}, %arg3: memref<3x5x7x7xf32> {weft.name = "alloc_0"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>, weft.max_registers = 40 : i64} {
      %c0 = arith.constant 0 : index
      %c735 = arith.constant 735 : index
      %cst = arith.constant 0.000000e+00 : f32
      %c1 = arith.constant 1 : index
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c735 : index
      %2 = affine.apply #map1(%block_id_x, %thread_id_x)
      %3 = affine.apply #map2(%block_id_x, %thread_id_x)
      %4 = affine.apply #map3(%block_id_x, %thread_id_x)
      %5 = affine.apply #map4(%block_id_x, %thread_id_x)
      scf.if %1 {
        %6 = affine.max #map5()[%block_id_x, %thread_id_x]
        %7 = affine.min #map6()[%block_id_x, %thread_id_x]
        %8 = affine.max #map7()[%block_id_x, %thread_id_x]
        %9 = affine.min #map8()[%block_id_x, %thread_id_x]
        %10 = scf.for %arg4 = %6 to %7 step %c1 iter_args(%arg5 = %cst) -> (f32) {
          %13 = affine.apply #map9(%3, %arg4)
          %14 = affine.apply #map10(%13)
          %15 = scf.for %arg6 = %8 to %9 step %c1 iter_args(%arg7 = %arg5) -> (f32) {
            %16 = affine.apply #map9(%2, %arg6)
            %17 = affine.apply #map10(%16)
            %18 = memref.load %arg0[%4, %c0, %14, %17] : memref<3x1x7x7xf32>
            %19 = memref.load %arg1[%5, %c0, %arg4, %arg6] : memref<5x1x3x3xf32>
            %20 = arith.mulf %18, %19 : f32
            %21 = arith.addf %arg7, %20 : f32
            scf.yield %21 : f32
          }
          scf.yield %15 : f32
        }
        %11 = memref.load %arg2[%5] : memref<5xf32>
        %12 = arith.addf %10, %11 : f32
        memref.store %12, %arg3[%4, %5, %3, %2] : memref<3x5x7x7xf32>
      }
      gpu.return
    }
  }
  gpu.module @test_parallel_2_kernel {
    gpu.func @test_parallel_2(%arg0: memref<3x5x7x7xf32> {weft.name = "alloc"}, %arg1: memref<3x5x7x7xf32> {weft.name = "alloc_0"}, %arg2: memref<3x5x7x7xf32> {weft.name = "alloc_1"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>, weft.max_registers = 40 : i64} {
      %c735 = arith.constant 735 : index
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map(%block_id_x, %thread_id_x)
      %1 = arith.cmpi slt, %0, %c735 : index
      %2 = affine.apply #map1(%block_id_x, %thread_id_x)
      %3 = affine.apply #map2(%block_id_x, %thread_id_x)
      %4 = affine.apply #map3(%block_id_x, %thread_id_x)
      %5 = affine.apply #map4(%block_id_x, %thread_id_x)
      scf.if %1 {
        %6 = memref.load %arg0[%4, %5, %3, %2] : memref<3x5x7x7xf32>
        %7 = memref.load %arg1[%4, %5, %3, %2] : memref<3x5x7x7xf32>
        %8 = arith.addf %6, %7 : f32
        memref.store %8, %arg2[%4, %5, %3, %2] : memref<3x5x7x7xf32>
      }
      gpu.return
    }
  }
}
