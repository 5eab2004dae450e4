#map = affine_map<(d0) -> (d0 * 32)>
#map1 = affine_map<(d0) -> (d0 * 16)>
#map2 = affine_map<(d0) -> (d0 * 8)>
#map3 = affine_map<(d0) -> (d0 floordiv 4)>
#map4 = affine_map<(d0) -> (d0 mod 4)>
#map5 = affine_map<(d0) -> (d0 * 2)>
module {
  func.func @product(%arg0: tensor<32x64xf16> {weft.name = "A"}, %arg1: tensor<64x32xf16> {weft.name = "B"}, %arg2: tensor<32x32xf32> {weft.name = "C"}) -> (tensor<32x32xf32> {bufferize.result, weft.name = "result0"}) {
    %0 = scf.forall (%arg3, %arg4) in (1, 1) shared_outs(%arg5 = %arg2) -> (tensor<32x32xf32>) {
      %1 = affine.apply #map(%arg3)
      %2 = affine.apply #map(%arg4)
      %extracted_slice = tensor.extract_slice %arg0[%1, 0] [32, 64] [1, 1] : tensor<32x64xf16> to tensor<32x64xf16>
      %extracted_slice_0 = tensor.extract_slice %arg1[0, %2] [64, 32] [1, 1] : tensor<64x32xf16> to tensor<64x32xf16>
      %extracted_slice_1 = tensor.extract_slice %arg5[%1, %2] [32, 32] [1, 1] : tensor<32x32xf32> to tensor<32x32xf32>
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %c16 = arith.constant 16 : index
      %3 = scf.for %arg6 = %c0 to %c64 step %c16 iter_args(%arg7 = %extracted_slice_1) -> (tensor<32x32xf32>) {
        %extracted_slice_2 = tensor.extract_slice %extracted_slice[0, %arg6] [32, 16] [1, 1] : tensor<32x64xf16> to tensor<32x16xf16>
        %extracted_slice_3 = tensor.extract_slice %extracted_slice_0[%arg6, 0] [16, 32] [1, 1] : tensor<64x32xf16> to tensor<16x32xf16>
        %4 = scf.forall (%arg8, %arg9) in (2, 2) shared_outs(%arg10 = %arg7) -> (tensor<32x32xf32>) {
          %5 = affine.apply #map1(%arg8)
          %6 = affine.apply #map1(%arg9)
          %extracted_slice_4 = tensor.extract_slice %extracted_slice_2[%5, 0] [16, 16] [1, 1] : tensor<32x16xf16> to tensor<16x16xf16>
          %extracted_slice_5 = tensor.extract_slice %extracted_slice_3[0, %6] [16, 16] [1, 1] : tensor<16x32xf16> to tensor<16x16xf16>
          %extracted_slice_6 = tensor.extract_slice %arg10[%5, %6] [16, 16] [1, 1] : tensor<32x32xf32> to tensor<16x16xf32>
          %7 = scf.forall (%arg11, %arg12) in (1, 2) shared_outs(%arg13 = %extracted_slice_6) -> (tensor<16x16xf32>) {
            %8 = affine.apply #map1(%arg11)
            %9 = affine.apply #map2(%arg12)
            %extracted_slice_7 = tensor.extract_slice %extracted_slice_4[%8, 0] [16, 16] [1, 1] : tensor<16x16xf16> to tensor<16x16xf16>
            %extracted_slice_8 = tensor.extract_slice %extracted_slice_5[0, %9] [16, 8] [1, 1] : tensor<16x16xf16> to tensor<16x8xf16>
            %extracted_slice_9 = tensor.extract_slice %arg13[%8, %9] [16, 8] [1, 1] : tensor<16x16xf32> to tensor<16x8xf32>
            %10 = scf.forall (%arg14, %arg15) in (2, 1) shared_outs(%arg16 = %extracted_slice_9) -> (tensor<16x8xf32>) {
              %11 = affine.apply #map2(%arg14)
              %12 = affine.apply #map2(%arg15)
              %extracted_slice_10 = tensor.extract_slice %extracted_slice_7[%11, 0] [8, 16] [1, 1] : tensor<16x16xf16> to tensor<8x16xf16>
              %extracted_slice_11 = tensor.extract_slice %extracted_slice_8[0, %12] [16, 8] [1, 1] : tensor<16x8xf16> to tensor<16x8xf16>
              %extracted_slice_12 = tensor.extract_slice %arg16[%11, %12] [8, 8] [1, 1] : tensor<16x8xf32> to tensor<8x8xf32>
              %13 = scf.forall (%arg17) in (32) shared_outs(%arg18 = %extracted_slice_12) -> (tensor<8x8xf32>) {
                %14 = affine.apply #map3(%arg17)
                %15 = affine.apply #map4(%arg17)
                %16 = affine.apply #map5(%15)
                %extracted_slice_13 = tensor.extract_slice %extracted_slice_10[%14, 0] [1, 16] [1, 1] : tensor<8x16xf16> to tensor<1x16xf16>
                %extracted_slice_14 = tensor.extract_slice %extracted_slice_11[0, %16] [16, 2] [1, 1] : tensor<16x8xf16> to tensor<16x2xf16>
                %extracted_slice_15 = tensor.extract_slice %arg18[%14, %16] [1, 2] [1, 1] : tensor<8x8xf32> to tensor<1x2xf32>
                %17 = linalg.matmul {weft.mma = "[16, 8, 16] of f16 in f32"} ins(%extracted_slice_13, %extracted_slice_14 : tensor<1x16xf16>, tensor<16x2xf16>) outs(%extracted_slice_15 : tensor<1x2xf32>) -> tensor<1x2xf32>
                scf.forall.in_parallel {
                  tensor.parallel_insert_slice %17 into %arg18[%14, %16] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<8x8xf32>
                }
              } {weft.map = {axes = ["x"], counts = array<i64: 32>, space = "lanes"}}
              scf.forall.in_parallel {
                tensor.parallel_insert_slice %13 into %arg16[%11, %12] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<16x8xf32>
              }
            } {weft.map = {axes = [], counts = array<i64>, space = "registers"}}
            scf.forall.in_parallel {
              tensor.parallel_insert_slice %10 into %arg13[%8, %9] [16, 8] [1, 1] : tensor<16x8xf32> into tensor<16x16xf32>
            }
          } {weft.map = {axes = [], counts = array<i64>, space = "registers"}}
          scf.forall.in_parallel {
            tensor.parallel_insert_slice %7 into %arg10[%5, %6] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<32x32xf32>
          }
        } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "warps"}}
        scf.yield %4 : tensor<32x32xf32>
      }
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %3 into %arg5[%1, %2] [32, 32] [1, 1] : tensor<32x32xf32> into tensor<32x32xf32>
      }
    } {weft.map = {axes = ["y", "x"], counts = array<i64: -1, -1>, space = "blocks"}}
    return %0 : tensor<32x32xf32>
  }
}
