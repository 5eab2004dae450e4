#map = affine_map<(d0) -> (d0 * -32 + 100, 32)>
#map1 = affine_map<(d0) -> (d0 * 32)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0) -> ()>
module {
  func.func @scan(%arg0: tensor<100xf32> {weft.name = "x"}, %arg1: tensor<f32> {weft.name = "start"}) -> (tensor<f32> {bufferize.result, weft.name = "result0"}, tensor<100xf32> {bufferize.result, weft.name = "result1"}) {
    %0 = tensor.empty() : tensor<100xf32>
    %1 = tensor.empty() : tensor<4xf32>
    %2 = scf.forall (%arg2) in (4) shared_outs(%arg3 = %1) -> (tensor<4xf32>) {
      %5 = affine.min #map(%arg2)
      %extracted_slice = tensor.extract_slice %arg3[%arg2] [1] [1] : tensor<4xf32> to tensor<f32>
      %cst = arith.constant -0.000000e+00 : f32
      %6 = linalg.fill ins(%cst : f32) outs(%extracted_slice : tensor<f32>) -> tensor<f32>
      %7 = affine.apply #map1(%arg2)
      %extracted_slice_0 = tensor.extract_slice %arg0[%7] [%5] [1] : tensor<100xf32> to tensor<?xf32>
      %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["reduction"]} ins(%extracted_slice_0 : tensor<?xf32>) outs(%6 : tensor<f32>) {
      ^bb0(%in: f32, %out: f32):
        %9 = arith.addf %out, %in : f32
        linalg.yield %9 : f32
      } -> tensor<f32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %8 into %arg3[%arg2] [1] [1] : tensor<f32> into tensor<4xf32>
      }
    }
    %3:2 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["reduction"]} ins(%2 : tensor<4xf32>) outs(%arg1, %1 : tensor<f32>, tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32, %out_0: f32):
      %5 = arith.addf %out, %in : f32
      linalg.yield %5, %out : f32, f32
    } -> (tensor<f32>, tensor<4xf32>)
    %4 = scf.forall (%arg2) in (4) shared_outs(%arg3 = %0) -> (tensor<100xf32>) {
      %5 = affine.min #map(%arg2)
      %6 = affine.apply #map1(%arg2)
      %extracted_slice = tensor.extract_slice %arg3[%6] [%5] [1] : tensor<100xf32> to tensor<?xf32>
      %extracted_slice_0 = tensor.extract_slice %3#1[%arg2] [1] [1] : tensor<4xf32> to tensor<f32>
      %extracted_slice_1 = tensor.extract_slice %arg0[%6] [%5] [1] : tensor<100xf32> to tensor<?xf32>
      %7:2 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["reduction"]} ins(%extracted_slice_1 : tensor<?xf32>) outs(%extracted_slice_0, %extracted_slice : tensor<f32>, tensor<?xf32>) {
      ^bb0(%in: f32, %out: f32, %out_2: f32):
        %8 = arith.addf %out, %in : f32
        linalg.yield %8, %8 : f32, f32
      } -> (tensor<f32>, tensor<?xf32>)
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %7#1 into %arg3[%6] [%5] [1] : tensor<?xf32> into tensor<100xf32>
      }
    }
    return %3#0, %4 : tensor<f32>, tensor<100xf32>
  }
}
