// Payloads of schedules: structured ops and loops with types, layouts and shapes that are seldom met.

// verify: W0611
func.func @transposes(%a: tensor<6x5xf32>) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<5x6xf32>
  %t = linalg.transpose ins(%a : tensor<6x5xf32>) outs(%e : tensor<5x6xf32>) permutation = [1, 0]
  return %t : tensor<5x6xf32>
}
// -----
// verify: W0611
func.func @broadcasts(%a: memref<6xf32>, %b: memref<6x5xf32>) {
  linalg.broadcast ins(%a : memref<6xf32>) outs(%b : memref<6x5xf32>) dimensions = [1]
  return
}
// -----
// verify: W0611
func.func @reduces(%a: tensor<6x5xf32>, %b: tensor<6xf32>) -> tensor<6xf32> {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<6x5xf32>) outs(%b : tensor<6xf32>) dimensions = [1]
  return %r : tensor<6xf32>
}
// -----
// verify: W0611
func.func @to_one(%a: memref<7xf32>, %b: memref<f32>) {
  linalg.reduce { arith.addf } ins(%a : memref<7xf32>) outs(%b : memref<f32>) dimensions = [0]
  return
}
// -----
// verify: W0611
func.func @complex(%a: tensor<6x8xcomplex<f32>>, %b: tensor<8x10xcomplex<f32>>, %c: tensor<6x10xcomplex<f32>>) -> tensor<6x10xcomplex<f32>> {
  %z = linalg.matmul ins(%a, %b : tensor<6x8xcomplex<f32>>, tensor<8x10xcomplex<f32>>) outs(%c : tensor<6x10xcomplex<f32>>) -> tensor<6x10xcomplex<f32>>
  return %z : tensor<6x10xcomplex<f32>>
}
// -----
// verify: W0611
func.func @packs(%a: tensor<16x8xf32>, %b: tensor<4x4x4x2xf32>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %p = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %b : tensor<16x8xf32> -> tensor<4x4x4x2xf32>
  %e = tensor.empty() : tensor<4x4x4x2xf32>
  %q = linalg.exp ins(%p : tensor<4x4x4x2xf32>) outs(%e : tensor<4x4x4x2xf32>) -> tensor<4x4x4x2xf32>
  %u = linalg.unpack %q inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %c : tensor<4x4x4x2xf32> -> tensor<16x8xf32>
  return %u : tensor<16x8xf32>
}
// -----
// verify: W0611
func.func @softmax(%a: tensor<6x5xf32>, %b: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %s = linalg.softmax dimension(1) ins(%a : tensor<6x5xf32>) outs(%b : tensor<6x5xf32>) -> tensor<6x5xf32>
  %e = linalg.exp ins(%s : tensor<6x5xf32>) outs(%a : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %e : tensor<6x5xf32>
}
// -----
// verify: W0611
func.func @winograd(%f: tensor<2x3x3x5xf32>, %o: tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32> {
  %w = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x5xf32>) outs(%o : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  return %w : tensor<6x6x5x2xf32>
}
// -----
// verify: W0611
#tiled = affine_map<(d0) -> (d0 floordiv 32, d0 mod 32)>
func.func @tiled(%a: memref<64xf32, #tiled>) {
  affine.for %i = 0 to 64 {
    %v = affine.load %a[%i] : memref<64xf32, #tiled>
    affine.store %v, %a[%i] : memref<64xf32, #tiled>
  }
  return
}
// -----
// verify: W0611
func.func @unranked(%a: memref<*xf32>, %t: tensor<*xf32>, %b: memref<8xf32>) {
  %m = memref.cast %a : memref<*xf32> to memref<8xf32>
  linalg.copy ins(%m : memref<8xf32>) outs(%b : memref<8xf32>)
  return
}
// -----
// verify: W0611
func.func @onto_itself(%a: memref<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  memref.copy %a, %a : memref<8xf32> to memref<8xf32>
  %e = linalg.exp ins(%b : tensor<8xf32>) outs(%b : tensor<8xf32>) -> tensor<8xf32>
  return %e : tensor<8xf32>
}
// -----
// verify: W0611
func.func @backwards(%a: memref<7xf32>) -> memref<?xf32, strided<[?], offset: ?>> {
  %c0 = arith.constant 0 : index
  %back = arith.constant -1 : index
  %n = memref.dim %a, %c0 : memref<7xf32>
  %last = arith.addi %n, %back : index
  %v = memref.subview %a[%last] [%last] [%back] : memref<7xf32> to memref<?xf32, strided<[?], offset: ?>>
  return %v : memref<?xf32, strided<[?], offset: ?>>
}
// -----
// verify: W0611
func.func @small_types(%a: tensor<6x5xf8E4M3FN>, %b: tensor<6x5xi4>, %c: tensor<6x5xvector<2xf32>>, %d: tensor<6x5xi128>)
    -> (tensor<6x5xf8E4M3FN>, tensor<6x5xi4>, tensor<6x5xvector<2xf32>>, tensor<6x5xi128>) {
  %0 = linalg.copy ins(%a : tensor<6x5xf8E4M3FN>) outs(%a : tensor<6x5xf8E4M3FN>) -> tensor<6x5xf8E4M3FN>
  %1 = linalg.copy ins(%b : tensor<6x5xi4>) outs(%b : tensor<6x5xi4>) -> tensor<6x5xi4>
  %2 = linalg.copy ins(%c : tensor<6x5xvector<2xf32>>) outs(%c : tensor<6x5xvector<2xf32>>) -> tensor<6x5xvector<2xf32>>
  %3 = linalg.copy ins(%d : tensor<6x5xi128>) outs(%d : tensor<6x5xi128>) -> tensor<6x5xi128>
  return %0, %1, %2, %3 : tensor<6x5xf8E4M3FN>, tensor<6x5xi4>, tensor<6x5xvector<2xf32>>, tensor<6x5xi128>
}
// -----
// verify: W0611
func.func @rank_zero(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %e = linalg.exp ins(%a : tensor<f32>) outs(%b : tensor<f32>) -> tensor<f32>
  return %e : tensor<f32>
}
// -----
// verify: W0611
func.func @nothing_in_it(%a: tensor<0x5xf32>, %b: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %e = linalg.exp ins(%a : tensor<0x5xf32>) outs(%b : tensor<0x5xf32>) -> tensor<0x5xf32>
  return %e : tensor<0x5xf32>
}
// -----
// verify: W0611
module attributes {gpu.container_module} {
  func.func @in_an_unknown_op(%a: memref<8xf32>) {
    "test.region"() ({
      affine.parallel (%i) = (0) to (8) {
        "test.use"(%i) : (index) -> ()
      }
    }) : () -> ()
    return
  }
}
// -----
// verify: W0611
func.func @on_memrefs_and_on_tensors(%a: memref<6x4xf32>, %b: memref<4x5xf32>, %c: memref<6x5xf32>, %t: tensor<6x5xf32>) -> tensor<6x5xf32> {
  linalg.matmul ins(%a, %b : memref<6x4xf32>, memref<4x5xf32>) outs(%c : memref<6x5xf32>)
  %e = linalg.exp ins(%t : tensor<6x5xf32>) outs(%t : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %e : tensor<6x5xf32>
}
// -----
// verify: W0611
func.func @undefined_twice(%f: f32, %i: index) -> (tensor<5xf32>, tensor<5xf32>) {
  %t = bufferization.alloc_tensor() : tensor<5xf32>
  %s = tensor.insert %f into %t[%i] : tensor<5xf32>
  return %s, %t : tensor<5xf32>, tensor<5xf32>
}
// -----
// verify: W0611
func.func @no_step(%a: memref<6xf32>, %b: memref<6xf32>) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c0 step %c0 {
    %v = memref.load %a[%i] : memref<6xf32>
    %w = arith.addf %v, %f : f32
    memref.store %w, %b[%i] : memref<6xf32>
  }
  scf.forall (%i, %j) = (0, 4) to (1, 5) step (%c0, 8) {
    memref.store %f, %b[%i] : memref<6xf32>
  }
  return
}
// -----
// verify: W0611
func.func @tiles_in_parallel_loops(%a: memref<5x6x4xf32>, %b: memref<5x6x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  scf.parallel (%i) = (%c0) to (%c5) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c6) step (%c1) {
      %x = memref.subview %a[%i, %j, 0] [1, 1, 4] [1, 1, 1] : memref<5x6x4xf32> to memref<4xf32, strided<[1], offset: ?>>
      %y = memref.subview %b[%i, %j, 0] [1, 1, 4] [1, 1, 1] : memref<5x6x4xf32> to memref<4xf32, strided<[1], offset: ?>>
      linalg.exp ins(%x : memref<4xf32, strided<[1], offset: ?>>) outs(%y : memref<4xf32, strided<[1], offset: ?>>)
    }
  }
  return
}
// -----
// verify: W0611
func.func @complex_constant() -> tensor<2xcomplex<f32>> {
  %c = arith.constant {marked = dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>} dense<(1.2, 2.3)> : tensor<2xcomplex<f32>>
  %e = tensor.extract_slice %c[0] [2] [1] : tensor<2xcomplex<f32>> to tensor<2xcomplex<f32>>
  return %e : tensor<2xcomplex<f32>>
}
// -----
// verify: W0611
func.func @ranks_forgotten(%a: memref<6x4xf32>, %s: memref<?xindex>) -> f32 {
  %c0 = arith.constant 0 : index
  %r = memref.reshape %a(%s) : (memref<6x4xf32>, memref<?xindex>) -> memref<*xf32>
  %b = memref.cast %r : memref<*xf32> to memref<24xf32>
  %v = memref.load %b[%c0] : memref<24xf32>
  return %v : f32
}
// -----
// verify: W0611
#line = affine_map<(d0) -> (d0)>
func.func @nothing_is_written(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %one = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%b : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8xf32>
  linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} ins(%0 : tensor<8xf32>) {
  ^bb0(%in: f32):
    %2 = arith.cmpf one, %in, %one : f32
    cf.assert %2, "not one"
    linalg.yield
  }
  return %0 : tensor<8xf32>
}
// -----
// verify: W0611
module {
  module {
    func.func @in_a_module_within(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = linalg.fill ins(%zero : f32) outs(%a : tensor<8x6xf32>) -> tensor<8x6xf32>
      return %0 : tensor<8x6xf32>
    }
  }
}
// -----
// verify: W0611
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
#again = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
func.func @turned_outputs(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>, %c: tensor<?x?x?xf32>)
    -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#all, #turned, #again], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : tensor<?x?x?xf32>) outs(%b, %c : tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  ^bb0(%in: f32, %x: f32, %y: f32):
    linalg.yield %in, %y : f32, f32
  } -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return %0#0, %0#1 : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}
// -----
// verify: W0611
func.func @asks_for_an_axis_that_is_not_there(%m: tensor<7xf32>, %u: tensor<*xf32>, %n: index) -> index {
  %c = arith.constant 7 : index
  %d = tensor.dim %m, %c : tensor<7xf32>
  %e = tensor.dim %u, %c : tensor<*xf32>
  %s = arith.addi %d, %e : index
  return %s : index
}
