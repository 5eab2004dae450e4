#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @normalized(%arg0: tensor<16x64xf32> {weft.name = "x"}) -> (tensor<16xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<16xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<16xf32>) -> tensor<16xf32>
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c16 = arith.constant 16 : index
    %2 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<16xf32>) -> tensor<16xf32>
    %3:2 = scf.for %arg1 = %c0 to %c64 step %c16 iter_args(%arg2 = %1, %arg3 = %2) -> (tensor<16xf32>, tensor<16xf32>) {
      %4 = linalg.fill ins(%cst : f32) outs(%0 : tensor<16xf32>) -> tensor<16xf32>
      %extracted_slice = tensor.extract_slice %arg0[0, %arg1] [16, 16] [1, 1] : tensor<16x64xf32> to tensor<16x16xf32>
      %reduced = linalg.reduce { arith.maximumf } ins(%extracted_slice : tensor<16x16xf32>) outs(%4 : tensor<16xf32>) dimensions = [1] 
      %5:3 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]} ins(%reduced : tensor<16xf32>) outs(%arg2, %0, %0 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
      ^bb0(%in: f32, %out: f32, %out_2: f32, %out_3: f32):
        %9 = arith.maximumf %out, %in : f32
        %10 = arith.cmpf oeq, %9, %cst : f32
        %11 = arith.select %10, %cst_0, %9 : f32
        %12 = arith.subf %out, %11 : f32
        %13 = math.exp %12 : f32
        linalg.yield %9, %13, %11 : f32, f32, f32
      } -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%5#1 : tensor<16xf32>) outs(%arg3 : tensor<16xf32>) {
      ^bb0(%in: f32, %out: f32):
        %9 = arith.mulf %out, %in : f32
        linalg.yield %9 : f32
      } -> tensor<16xf32>
      %7 = tensor.empty() : tensor<16x16xf32>
      %8 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice, %5#2 : tensor<16x16xf32>, tensor<16xf32>) outs(%7 : tensor<16x16xf32>) {
      ^bb0(%in: f32, %in_2: f32, %out: f32):
        %9 = arith.subf %in, %in_2 : f32
        %10 = math.exp %9 : f32
        linalg.yield %10 : f32
      } -> tensor<16x16xf32>
      %reduced_1 = linalg.reduce { arith.addf } ins(%8 : tensor<16x16xf32>) outs(%6 : tensor<16xf32>) dimensions = [1] 
      scf.yield %5#0, %reduced_1 : tensor<16xf32>, tensor<16xf32>
    }
    return %3#1 : tensor<16xf32>
  }
}
