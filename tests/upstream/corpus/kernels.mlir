// Kernels with types, layouts, regions and ops that are seldom met. `verify:` says what `weft verify` says: `right` or a code.

// verify: right
gpu.module @k {
  gpu.func @transposes(%a: memref<8x4xf32>, %b: memref<4x8xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    linalg.transpose ins(%a : memref<8x4xf32>) outs(%b : memref<4x8xf32>) permutation = [1, 0]
    gpu.return
  }
}
// -----
// verify: W0601
gpu.module @k {
  gpu.func @broadcasts(%a: memref<8xf32>, %b: memref<8x4xf32>) kernel attributes {known_block_size = array<i32: 8, 1, 1>} {
    linalg.broadcast ins(%a : memref<8xf32>) outs(%b : memref<8x4xf32>) dimensions = [1]
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @reduces(%a: memref<8x4xf32>, %b: memref<8xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    linalg.reduce { arith.addf } ins(%a : memref<8x4xf32>) outs(%b : memref<8xf32>) dimensions = [1]
    linalg.map { arith.addf } ins(%b, %b : memref<8xf32>, memref<8xf32>) outs(%b : memref<8xf32>)
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @softmax(%a: memref<8x4xf32>, %b: memref<8x4xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    linalg.softmax dimension(1) ins(%a : memref<8x4xf32>) outs(%b : memref<8x4xf32>)
    gpu.return
  }
}
// -----
// verify: W0398
#tiled = affine_map<(d0) -> (d0 floordiv 32, d0 mod 32)>
gpu.module @k {
  gpu.func @tiled(%a: memref<64xf32, #tiled>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %a[%t] : memref<64xf32, #tiled>
    memref.store %v, %a[%t] : memref<64xf32, #tiled>
    gpu.return
  }
}
// -----
// verify: W0398
#tiled = affine_map<(d0) -> (d0 floordiv 32, d0 mod 32)>
func.func @f(%a: memref<64xf32, #tiled>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %v = memref.load %a[%tx] : memref<64xf32, #tiled>
    memref.store %v, %a[%tx] : memref<64xf32, #tiled>
    gpu.terminator
  }
  return
}
// -----
// verify: right
#columns = affine_map<(d0, d1) -> (d0 + d1 * 8)>
gpu.module @k {
  gpu.func @by_columns(%a: memref<8x4xf32, #columns>) kernel attributes {known_block_size = array<i32: 8, 4, 1>} {
    %i = gpu.thread_id x
    %j = gpu.thread_id y
    %v = memref.load %a[%i, %j] : memref<8x4xf32, #columns>
    memref.store %v, %a[%i, %j] : memref<8x4xf32, #columns>
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @complex(%a: memref<64xcomplex<f32>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %a[%t] : memref<64xcomplex<f32>>
    %w = complex.mul %v, %v : complex<f32>
    memref.store %w, %a[%t] : memref<64xcomplex<f32>>
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @elements(%a: memref<64xvector<4xf32>>, %b: memref<64xf8E4M3FN>, %c: memref<64xi4>, %d: memref<64xi128>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %a[%t] : memref<64xvector<4xf32>>
    memref.store %v, %a[%t] : memref<64xvector<4xf32>>
    %w = memref.load %b[%t] : memref<64xf8E4M3FN>
    memref.store %w, %b[%t] : memref<64xf8E4M3FN>
    %x = memref.load %c[%t] : memref<64xi4>
    memref.store %x, %c[%t] : memref<64xi4>
    %y = memref.load %d[%t] : memref<64xi128>
    memref.store %y, %d[%t] : memref<64xi128>
    gpu.return
  }
}
// -----
// verify: W0640
gpu.module @k {
  gpu.func @branches(%a: memref<64xf32>, %c: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    cf.cond_br %c, ^then, ^end
  ^then:
    memref.store %zero, %a[%t] : memref<64xf32>
    cf.br ^end
  ^end:
    gpu.return
  }
}
// -----
// verify: W0601
gpu.module @k {
  gpu.func @switches(%a: memref<64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    scf.index_switch %n
    case 2 {
      memref.store %zero, %a[%t] : memref<64xf32>
      scf.yield
    }
    default {
      scf.yield
    }
    %r = scf.execute_region -> index {
      memref.store %zero, %a[%n] : memref<64xf32>
      scf.yield %n : index
    }
    memref.alloca_scope {
      %s = memref.alloca() : memref<4xf32>
      memref.store %zero, %s[%r] : memref<4xf32>
    }
    gpu.return
  }
}
// -----
// verify: W0640
gpu.module @k {
  gpu.func @parallel(%a: memref<64x4xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      memref.store %zero, %a[%t, %i] : memref<64x4xf32>
    }
    scf.forall (%i) in (4) {
      memref.store %zero, %a[%t, %i] : memref<64x4xf32>
    }
    affine.parallel (%i) = (0) to (4) {
      affine.store %zero, %a[%i, %i] : memref<64x4xf32>
    }
    %s = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%zero) -> f32 {
      %v = memref.load %a[%t, %i] : memref<64x4xf32>
      scf.reduce(%v : f32) {
      ^bb0(%l: f32, %r: f32):
        %n = arith.addf %l, %r : f32
        scf.reduce.return %n : f32
      }
    }
    gpu.return
  }
}
// -----
// verify: W0601
gpu.module @k {
  gpu.func @views(%a: memref<256xi8>, %n: index, %shape: memref<2xindex>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %v = memref.view %a[%c0][%n] : memref<256xi8> to memref<?x4xf32>
    %w = memref.transpose %v (i, j) -> (j, i) : memref<?x4xf32> to memref<4x?xf32, strided<[1, 4]>>
    %x = memref.reshape %v(%shape) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %x : memref<?x?xf32> -> memref<f32>, index, index, index, index, index
    %y = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#0], strides: [%strides#0]
        : memref<f32> to memref<?xf32, strided<[?], offset: ?>>
    memref.store %zero, %w[%t, %c0] : memref<4x?xf32, strided<[1, 4]>>
    memref.store %zero, %y[%t] : memref<?xf32, strided<[?], offset: ?>>
    gpu.return
  }
}
// -----
// verify: W0640
gpu.module @k {
  gpu.func @masks(%a: memref<64x8xf32>, %i: vector<4xindex>, %m: vector<4xi1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %p = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %g = vector.gather %a[%c0, %c0] [%i], %m, %zero : memref<64x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.scatter %a[%c0, %c0] [%i], %m, %g : memref<64x8xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32>
    %e = vector.expandload %a[%c0, %c0], %m, %zero : memref<64x8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    vector.compressstore %a[%c0, %c0], %m, %e : memref<64x8xf32>, vector<4xi1>, vector<4xf32>
    %t = vector.mask %m { vector.transfer_read %a[%c0, %c0], %p : memref<64x8xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
    %u = vector.transfer_read %a[%c0, %c0], %p {permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<64x8xf32>, vector<4x4xf32>
    %w = vector.transfer_read %a[%c0, %c0], %p {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d0)>} : memref<64x8xf32>, vector<4x4xf32>
    gpu.return
  }
}
// -----
// verify: W0640
gpu.module @k {
  gpu.func @warps(%a: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.lane_id
    %v = memref.load %a[%lane] : memref<32xf32>
    %s = gpu.all_reduce add %v uniform {} : (f32) -> f32
    gpu.warp_execute_on_lane_0(%lane)[32] {
      %c0 = arith.constant 0 : index
      memref.store %s, %a[%c0] : memref<32xf32>
    }
    gpu.return
  }
}
// -----
// verify: W0640
gpu.module @k {
  gpu.func @unknown(%a: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %v = "other.load"(%a, %t) ({
    ^bb0(%i: index):
      %w = "other.inner"(%i) : (index) -> f32
      "other.yield"(%w) : (f32) -> ()
    }) {map = affine_map<(d0) -> (d0)>} : (memref<32xf32>, index) -> f32
    "other.store"(%v, %a)[^end] : (f32, memref<32xf32>) -> ()
  ^end:
    gpu.return
  }
}
// -----
// verify: W0611
gpu.module @k {
  func.func @helper(%a: memref<32xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %v = memref.load %a[%c0] : memref<32xf32>
    return %v : f32
  }
  gpu.func @device(%a: memref<32xf32>) {
    gpu.return
  }
}
// -----
// verify: W0640
gpu.module @k {
  func.func @again(%a: memref<32xf32>, %n: index) {
    func.call @again(%a, %n) : (memref<32xf32>, index) -> ()
    return
  }
  gpu.func @calls(%a: memref<32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    func.call @again(%a, %t) : (memref<32xf32>, index) -> ()
    gpu.return
  }
}
// -----
// verify: W0610
memref.global "private" @table : memref<4xf32> = dense<1.0>
memref.global "private" @elsewhere : memref<4xf32, 3>
gpu.module @k {
  memref.global @own : memref<4xf32, #gpu.address_space<workgroup>>
  gpu.func @globals(%a: memref<4xf32>) kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    %t = gpu.thread_id x
    %o = memref.get_global @own : memref<4xf32, #gpu.address_space<workgroup>>
    %v = memref.load %o[%t] : memref<4xf32, #gpu.address_space<workgroup>>
    memref.store %v, %a[%t] : memref<4xf32>
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @nothing() kernel attributes {known_block_size = array<i32: 4, 1, 1>} {
    gpu.return
  }
  gpu.func @empty(%a: memref<0x4xf32>, %b: memref<f32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%a : memref<0x4xf32>)
    memref.store %zero, %b[] : memref<f32>
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @a_memref_of_vectors(%a: memref<4x5xvector<2xf32>>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %z = arith.constant dense<0.0> : vector<2xf32>
    %v = vector.transfer_read %a[%c0, %c0], %z {permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : memref<4x5xvector<2xf32>>, vector<1x1x2xf32>
    vector.transfer_write %v, %a[%c0, %c0] {permutation_map = affine_map<(d0, d1) -> (d0, d1)>} : vector<1x1x2xf32>, memref<4x5xvector<2xf32>>
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @vectors_without_dimensions(%n: index) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %m = vector.create_mask %n : vector<i1>
    %o = vector.constant_mask [1] : vector<i1>
    %f = arith.constant dense<1.5> : vector<f32>
    %i = arith.constant dense<3> : vector<i32>
    %x = arith.constant dense<2> : vector<index>
    %b = arith.constant dense<true> : vector<i1>
    %s = vector.extract %f[] : f32 from vector<f32>
    %q = vector.insert %s, %f[] : f32 into vector<f32>
    %l = vector.interleave %f, %f : vector<f32> -> vector<2xf32>
    gpu.return
  }
}
// -----
// verify: W0601
gpu.module @k {
  gpu.func @unranked(%a: memref<*xf32>, %c: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %b = memref.cast %a : memref<*xf32> to memref<64xf32>
    %d = memref.cast %c : memref<64xf32> to memref<*xf32>
    %r = memref.rank %a : memref<*xf32>
    %n = memref.dim %a, %c0 : memref<*xf32>
    memref.store %zero, %b[%c0] : memref<64xf32>
    gpu.return
  }
}
// -----
// verify: W0601
func.func @f(%a: memref<*xf32>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %b = memref.cast %a : memref<*xf32> to memref<64xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    memref.store %zero, %b[%c0] : memref<64xf32>
    gpu.terminator
  }
  return
}
// -----
// verify: right
gpu.module @k {
  gpu.func @rank_zero(%a: memref<f32>, %b: memref<1xf32>) workgroup(%s: memref<f32, #gpu.address_space<workgroup>>)
      private(%p: memref<f32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.5 : f32
    %v = memref.alloca() : memref<f32>
    %w = memref.alloca() : memref<1x1xf32>
    %x = memref.alloc() : memref<f32, #gpu.address_space<workgroup>>
    memref.store %one, %v[] : memref<f32>
    memref.store %one, %w[%c0, %c0] : memref<1x1xf32>
    memref.store %one, %s[] : memref<f32, #gpu.address_space<workgroup>>
    memref.store %one, %x[] : memref<f32, #gpu.address_space<workgroup>>
    memref.store %one, %p[] : memref<f32, #gpu.address_space<private>>
    %0 = memref.load %v[] : memref<f32>
    %1 = memref.load %w[%c0, %c0] : memref<1x1xf32>
    %2 = memref.load %s[] : memref<f32, #gpu.address_space<workgroup>>
    %3 = memref.load %x[] : memref<f32, #gpu.address_space<workgroup>>
    %4 = memref.load %p[] : memref<f32, #gpu.address_space<private>>
    %5 = arith.addf %0, %1 : f32
    %6 = arith.addf %5, %2 : f32
    %7 = arith.addf %6, %3 : f32
    %8 = arith.addf %7, %4 : f32
    %e = memref.expand_shape %v [] output_shape [1, 1] : memref<f32> into memref<1x1xf32>
    %f = memref.load %e[%c0, %c0] : memref<1x1xf32>
    %g = memref.collapse_shape %w [] : memref<1x1xf32> into memref<f32>
    %h = memref.load %g[] : memref<f32>
    %i = arith.addf %f, %h : f32
    %j = arith.addf %8, %i : f32
    memref.store %j, %a[] : memref<f32>
    memref.store %j, %b[%c0] : memref<1xf32>
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @shifts(%a: memref<64xi32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %back = arith.constant -1 : i32
    %far = arith.constant 40 : i32
    %v = memref.load %a[%t] : memref<64xi32>
    %0 = arith.shrsi %v, %back : i32
    %1 = arith.shrui %0, %far : i32
    %2 = arith.shli %1, %back : i32
    memref.store %2, %a[%t] : memref<64xi32>
    gpu.return
  }
}
// -----
// verify: right
gpu.module @k {
  gpu.func @more_lanes_than_elements(%a: memref<f32>, %o: memref<32xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %m = arith.constant dense<true> : vector<32xi1>
    %p = arith.constant dense<0.0> : vector<32xf32>
    %v = vector.maskedload %a[], %m, %p : memref<f32>, vector<32xi1>, vector<32xf32> into vector<32xf32>
    vector.store %v, %o[%c0] : memref<32xf32>, vector<32xf32>
    gpu.return
  }
}
