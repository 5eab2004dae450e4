#map = affine_map<(d0) -> (d0 * 16)>
module {
  func.func @mm(%arg0: tensor<64x32xf32> {weft.name = "A"}, %arg1: tensor<32x64xf32> {weft.name = "B"}) -> (tensor<64x64xf32> {bufferize.result, weft.name = "result0"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = scf.forall (%arg2, %arg3) in (4, 4) shared_outs(%arg4 = %1) -> (tensor<64x64xf32>) {
      %alloc = memref.alloc() {weft.name = "A_shared"} : memref<16x20xf32, #gpu.address_space<workgroup>>
      %subview = memref.subview %alloc[0, 0] [16, 16] [1, 1] : memref<16x20xf32, #gpu.address_space<workgroup>> to memref<16x16xf32, strided<[20, 1]>, #gpu.address_space<workgroup>>
      %3 = affine.apply #map(%arg2)
      %4 = affine.apply #map(%arg3)
      %extracted_slice = tensor.extract_slice %arg0[%3, 0] [16, 32] [1, 1] : tensor<64x32xf32> to tensor<16x32xf32>
      %extracted_slice_0 = tensor.extract_slice %arg1[0, %4] [32, 16] [1, 1] : tensor<32x64xf32> to tensor<32x16xf32>
      %extracted_slice_1 = tensor.extract_slice %arg4[%3, %4] [16, 16] [1, 1] : tensor<64x64xf32> to tensor<16x16xf32>
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c16 = arith.constant 16 : index
      %5 = scf.for %arg5 = %c0 to %c32 step %c16 iter_args(%arg6 = %extracted_slice_1) -> (tensor<16x16xf32>) {
        %extracted_slice_2 = tensor.extract_slice %extracted_slice[0, %arg5] [16, 16] [1, 1] : tensor<16x32xf32> to tensor<16x16xf32>
        %extracted_slice_3 = tensor.extract_slice %extracted_slice_0[%arg5, 0] [16, 16] [1, 1] : tensor<32x16xf32> to tensor<16x16xf32>
        %6 = bufferization.to_tensor %subview restrict writable : memref<16x16xf32, strided<[20, 1]>, #gpu.address_space<workgroup>> to tensor<16x16xf32>
        %7 = linalg.copy {cast = #linalg.type_fn<cast_signed>} ins(%extracted_slice_2 : tensor<16x16xf32>) outs(%6 : tensor<16x16xf32>) -> tensor<16x16xf32>
        %8 = linalg.matmul ins(%7, %extracted_slice_3 : tensor<16x16xf32>, tensor<16x16xf32>) outs(%arg6 : tensor<16x16xf32>) -> tensor<16x16xf32>
        scf.yield %8 : tensor<16x16xf32>
      }
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %5 into %arg4[%3, %4] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<64x64xf32>
      }
    }
    return %2 : tensor<64x64xf32>
  }
}
