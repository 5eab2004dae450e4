// weft golden concurrent_convs --after 'map lanes #1'
#map = affine_map<(d0, d1) -> (d0 * 256 + d1)>
#map1 = affine_map<(d0) -> (d0 floordiv 28)>
#map2 = affine_map<(d0) -> (d0 mod 28)>
#map3 = affine_map<(d0) -> (d0 floordiv 64)>
#map4 = affine_map<(d0) -> (d0 mod 64)>
#map5 = affine_map<(d0, d1) -> (d0 * 64 + d1)>
#map6 = affine_map<(d0) -> (-d0 + 1)>
#map7 = affine_map<(d0, d1) -> (-d1 + 1)>
#map8 = affine_map<(d0) -> (-d0 + 1, 0)>
#map9 = affine_map<(d0) -> (-d0 + 29, 3)>
#map10 = affine_map<(d0, d1) -> (d0 + d1)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d1 - d3)>
#map12 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2 - d5)>
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
    scf.forall (%arg1) in (784) {
      scf.forall (%arg2) in (256) {
        %4 = affine.apply #map(%arg1, %arg2)
        %5 = affine.apply #map1(%4)
        %6 = affine.apply #map2(%4)
        %7 = affine.apply #map1(%5)
        %8 = affine.apply #map2(%5)
        %9 = affine.apply #map3(%7)
        %10 = affine.apply #map4(%7)
        %c0 = arith.constant 0 : index
        %11 = affine.apply #map5(%c0, %10)
        %12 = affine.apply #map6(%8)
        %13 = affine.apply #map7(%8, %6)
        %c1 = arith.constant 1 : index
        %14 = scf.for %arg3 = %c0 to %c1 step %c1 iter_args(%arg4 = %cst) -> (f32) {
          %17 = affine.max #map8(%8)
          %18 = affine.min #map9(%8)
          %19 = scf.for %arg5 = %17 to %18 step %c1 iter_args(%arg6 = %arg4) -> (f32) {
            %20 = affine.max #map8(%6)
            %21 = affine.min #map9(%6)
            %22 = scf.for %arg7 = %20 to %21 step %c1 iter_args(%arg8 = %arg6) -> (f32) {
              %23 = affine.apply #map10(%arg3, %c0)
              %24 = affine.apply #map11(%arg3, %arg5, %c0, %12)
              %25 = affine.apply #map12(%arg3, %arg5, %arg7, %c0, %12, %13)
              %26 = memref.load %arg0[%9, %23, %24, %25] : memref<4x1x28x28xf32>
              %27 = memref.load %0[%11, %arg3, %arg5, %arg7] : memref<64x1x3x3xf32>
              %28 = arith.mulf %26, %27 : f32
              %29 = arith.addf %arg8, %28 : f32
              scf.yield %29 : f32
            }
            scf.yield %22 : f32
          }
          scf.yield %19 : f32
        }
        %15 = memref.load %1[%11] : memref<64xf32>
        %16 = arith.addf %14, %15 : f32
        memref.store %16, %alloc[%9, %11, %8, %6] : memref<4x64x28x28xf32>
      } {weft.map = {axes = ["x"], counts = array<i64: -1>, space = "threads"}}
    } {weft.map = {axes = ["x"], counts = array<i64: -1>, space = "blocks"}}
    %alloc_0 = memref.alloc() {alignment = 16 : i64, weft.name = "alloc_0"} : memref<4x64x28x28xf32>
    affine.for %arg1 = 0 to 4 {
      affine.for %arg2 = 0 to 1 {
        affine.for %arg3 = 0 to 64 {
          %4 = affine.apply #map5(%arg2, %arg3)
          affine.for %arg4 = 0 to 28 {
            affine.for %arg5 = 0 to 28 {
              %5 = affine.apply #map6(%arg4)
              %6 = affine.apply #map7(%arg4, %arg5)
              %7 = affine.for %arg6 = 0 to 1 iter_args(%arg7 = %cst) -> (f32) {
                %10 = affine.for %arg8 = max #map8(%arg4) to min #map9(%arg4) iter_args(%arg9 = %arg7) -> (f32) {
                  %11 = affine.for %arg10 = max #map8(%arg5) to min #map9(%arg5) iter_args(%arg11 = %arg9) -> (f32) {
                    %12 = affine.apply #map10(%arg6, %arg2)
                    %13 = affine.apply #map11(%arg6, %arg8, %arg2, %5)
                    %14 = affine.apply #map12(%arg6, %arg8, %arg10, %arg2, %5, %6)
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
