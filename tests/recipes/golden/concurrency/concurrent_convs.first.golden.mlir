// weft golden concurrent_convs --after 'launch tiles #1'
#map = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map1 = affine_map<(d0) -> (-d0 + 1)>
#map2 = affine_map<(d0, d1) -> (-d1 + 1)>
#map3 = affine_map<(d0) -> (-d0 + 1, 0)>
#map4 = affine_map<(d0) -> (-d0 + 29, 3)>
#map5 = affine_map<(d0, d1) -> (d0 + d1)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d1 - d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2 - d5)>
#map8 = affine_map<(d0, d1) -> ((d0 * 256 + d1) mod 28)>
#map9 = affine_map<(d0, d1) -> (((d0 * 256 + d1) floordiv 28) mod 28)>
#map10 = affine_map<(d0, d1) -> ((((d0 * 256 + d1) floordiv 28) floordiv 28) floordiv 64)>
#map11 = affine_map<(d0, d1) -> ((((d0 * 256 + d1) floordiv 28) floordiv 28) mod 64)>
#map12 = affine_map<()[s0, s1] -> (-((s0 * 256 + s1) floordiv 28) + (((s0 * 256 + s1) floordiv 28) floordiv 28) * 28 + 1, 0)>
#map13 = affine_map<()[s0, s1] -> (-((s0 * 256 + s1) floordiv 28) + (((s0 * 256 + s1) floordiv 28) floordiv 28) * 28 + 29, 3)>
#map14 = affine_map<()[s0, s1] -> (s0 * -256 - s1 + ((s0 * 256 + s1) floordiv 28) * 28 + 1, 0)>
#map15 = affine_map<()[s0, s1] -> (s0 * -256 - s1 + ((s0 * 256 + s1) floordiv 28) * 28 + 29, 3)>
#map16 = affine_map<(d0) -> (d0 - 1)>
module attributes {gpu.container_module} {
  memref.global "private" constant @constant_0 : memref<64x1x3x3xf32> = dense<1.000000e+00>
  memref.global "private" constant @constant_1 : memref<64xf32> = dense<1.000000e-01>
  memref.global "private" constant @constant_2 : memref<64x1x3x3xf32> = dense<5.000000e-01>
  memref.global "private" constant @constant_3 : memref<64xf32> = dense<2.000000e-01>
  func.func @test_parallel(%arg0: memref<4x1x28x28xf32> {weft.name = "arg0"}) -> (memref<4x64x28x28xf32> {bufferize.result, weft.name = "result0"}) attributes {llvm.emit_c_interface} {
    %cst = arith.constant 0.000000e+00 : f32
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
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 1 {
        affine.for %arg3 = 0 to 64 {
          %4 = affine.apply #map(%arg2, %arg3)
          affine.for %arg4 = 0 to 28 {
            affine.for %arg5 = 0 to 28 {
              %5 = affine.apply #map1(%arg4)
              %6 = affine.apply #map2(%arg4, %arg5)
              %7 = affine.for %arg6 = 0 to 1 iter_args(%arg7 = %cst) -> (f32) {
                %10 = affine.for %arg8 = max #map3(%arg4) to min #map4(%arg4) iter_args(%arg9 = %arg7) -> (f32) {
                  %11 = affine.for %arg10 = max #map3(%arg5) to min #map4(%arg5) iter_args(%arg11 = %arg9) -> (f32) {
                    %12 = affine.apply #map5(%arg6, %arg2)
                    %13 = affine.apply #map6(%arg6, %arg8, %arg2, %5)
                    %14 = affine.apply #map7(%arg6, %arg8, %arg10, %arg2, %5, %6)
                    %15 = affine.load %arg0[%arg1, %12, %13, %14] : memref<4x1x28x28xf32>
                    %16 = affine.load %2[%4, %arg6, %arg8, %arg10] : memref<64x1x3x3xf32>
                    %17 = arith.mulf %15, %16 : f32
                    %18 = arith.addf %arg11, %17 : f32
                    affine.yield %18 : f32
                  }
                  affine.yield %11 : f32
                }
                affine.yield %10 : f32
              }
              %8 = affine.load %3[%4] : memref<64xf32>
              %9 = arith.addf %7, %8 : f32
              affine.store %9, %alloc_0[%arg1, %4, %arg4, %arg5] : memref<4x64x28x28xf32>
            }
          }
        }
      }
    }
    %alloc_1 = memref.alloc() {alignment = 16 : i64, weft.name = "alloc_1"} : memref<4x64x28x28xf32>
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 64 {
        affine.for %arg3 = 0 to 28 {
          affine.for %arg4 = 0 to 28 {
            %4 = affine.load %alloc[%arg1, %arg2, %arg3, %arg4] : memref<4x64x28x28xf32>
            %5 = affine.load %alloc_0[%arg1, %arg2, %arg3, %arg4] : memref<4x64x28x28xf32>
            %6 = arith.addf %4, %5 : f32
            affine.store %6, %alloc_1[%arg1, %arg2, %arg3, %arg4] : memref<4x64x28x28xf32>
          }
        }
      }
    }
    return %alloc_1 : memref<4x64x28x28xf32>
  }
  gpu.module @test_parallel_kernel {
    gpu.func @test_parallel(%arg0: memref<4x1x28x28xf32> {weft.name = "arg0"}, %arg1: memref<64x1x3x3xf32> {weft.name = "constant_0"}, %arg2: memref<64xf32> {weft.name = "constant_1"}, %arg3: memref<4x64x28x28xf32> {weft.name = "alloc"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 784, 1, 1>, weft.max_registers = 40 : i64} {
      %c1 = arith.constant 1 : index
      %c0 = arith.constant 0 : index
      %cst = arith.constant 0.000000e+00 : f32
      %thread_id_x = gpu.thread_id x
      %block_id_x = gpu.block_id x
      %0 = affine.apply #map8(%block_id_x, %thread_id_x)
      %1 = affine.apply #map9(%block_id_x, %thread_id_x)
      %2 = affine.apply #map10(%block_id_x, %thread_id_x)
      %3 = affine.apply #map11(%block_id_x, %thread_id_x)
      %4 = affine.max #map12()[%block_id_x, %thread_id_x]
      %5 = affine.min #map13()[%block_id_x, %thread_id_x]
      %6 = affine.max #map14()[%block_id_x, %thread_id_x]
      %7 = affine.min #map15()[%block_id_x, %thread_id_x]
      %8 = scf.for %arg4 = %4 to %5 step %c1 iter_args(%arg5 = %cst) -> (f32) {
        %11 = affine.apply #map5(%1, %arg4)
        %12 = affine.apply #map16(%11)
        %13 = scf.for %arg6 = %6 to %7 step %c1 iter_args(%arg7 = %arg5) -> (f32) {
          %14 = affine.apply #map5(%0, %arg6)
          %15 = affine.apply #map16(%14)
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
}
