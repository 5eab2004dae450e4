// weft golden concurrent_convs --after 'points #1'
#map = affine_map<(d0) -> (d0 floordiv 28)>
#map1 = affine_map<(d0) -> (d0 mod 28)>
#map2 = affine_map<(d0) -> (d0 floordiv 64)>
#map3 = affine_map<(d0) -> (d0 mod 64)>
#map4 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map5 = affine_map<(d0) -> (-d0 + 1)>
#map6 = affine_map<(d0, d1) -> (-d1 + 1)>
#map7 = affine_map<(d0) -> (-d0 + 1, 0)>
#map8 = affine_map<(d0) -> (-d0 + 29, 3)>
#map9 = affine_map<(d0, d1) -> (d0 + d1)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d1 - d3)>
#map11 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2 - d5)>
module {
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
    scf.forall (%arg1) in (200704) {
      %4 = affine.apply #map(%arg1)
      %5 = affine.apply #map1(%arg1)
      %6 = affine.apply #map(%4)
      %7 = affine.apply #map1(%4)
      %8 = affine.apply #map2(%6)
      %9 = affine.apply #map3(%6)
      %c0 = arith.constant 0 : index
      %10 = affine.apply #map4(%c0, %9)
      %11 = affine.apply #map5(%7)
      %12 = affine.apply #map6(%7, %5)
      %c1 = arith.constant 1 : index
      %13 = scf.for %arg2 = %c0 to %c1 step %c1 iter_args(%arg3 = %cst) -> (f32) {
        %16 = affine.max #map7(%7)
        %17 = affine.min #map8(%7)
        %18 = scf.for %arg4 = %16 to %17 step %c1 iter_args(%arg5 = %arg3) -> (f32) {
          %19 = affine.max #map7(%5)
          %20 = affine.min #map8(%5)
          %21 = scf.for %arg6 = %19 to %20 step %c1 iter_args(%arg7 = %arg5) -> (f32) {
            %22 = affine.apply #map9(%arg2, %c0)
            %23 = affine.apply #map10(%arg2, %arg4, %c0, %11)
            %24 = affine.apply #map11(%arg2, %arg4, %arg6, %c0, %11, %12)
            %25 = memref.load %arg0[%8, %22, %23, %24] : memref<4x1x28x28xf32>
            %26 = memref.load %0[%10, %arg2, %arg4, %arg6] : memref<64x1x3x3xf32>
            %27 = arith.mulf %25, %26 : f32
            %28 = arith.addf %arg7, %27 : f32
            scf.yield %28 : f32
          }
          scf.yield %21 : f32
        }
        scf.yield %18 : f32
      }
      %14 = memref.load %1[%10] : memref<64xf32>
      %15 = arith.addf %13, %14 : f32
      memref.store %15, %alloc[%8, %10, %7, %5] : memref<4x64x28x28xf32>
    }
    %alloc_0 = memref.alloc() {alignment = 16 : i64, weft.name = "alloc_0"} : memref<4x64x28x28xf32>
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 1 {
        affine.for %arg3 = 0 to 64 {
          %4 = affine.apply #map4(%arg2, %arg3)
          affine.for %arg4 = 0 to 28 {
            affine.for %arg5 = 0 to 28 {
              %5 = affine.apply #map5(%arg4)
              %6 = affine.apply #map6(%arg4, %arg5)
              %7 = affine.for %arg6 = 0 to 1 iter_args(%arg7 = %cst) -> (f32) {
                %10 = affine.for %arg8 = max #map7(%arg4) to min #map8(%arg4) iter_args(%arg9 = %arg7) -> (f32) {
                  %11 = affine.for %arg10 = max #map7(%arg5) to min #map8(%arg5) iter_args(%arg11 = %arg9) -> (f32) {
                    %12 = affine.apply #map9(%arg6, %arg2)
                    %13 = affine.apply #map10(%arg6, %arg8, %arg2, %5)
                    %14 = affine.apply #map11(%arg6, %arg8, %arg10, %arg2, %5, %6)
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
}
