// Host functions: tokens, frees, and launches where they are seldom met.

// verify: W0628
func.func @f() {
  %c1 = arith.constant 1 : index
  %t = gpu.launch async [] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  gpu.wait [%t]
  return
}
"test.graph_region"() ({
  %u = gpu.wait async
}) : () -> ()
// -----
// verify: W0628
module attributes {gpu.container_module} {
  func.func @f() {
    %c = arith.constant 1 : index
    "test.region"() ({
    }, {
      gpu.launch_func @k::@f blocks in (%c, %c, %c) threads in (%c, %c, %c)
    }) : () -> ()
    return
  }
  gpu.module @k {
    gpu.func @f() kernel {
      gpu.return
    }
  }
}
// -----
// verify: right
func.func @f(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.realloc %a : memref<?xf32> to memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  return
}
// -----
// verify: right
func.func @f(%a: memref<*xf32>, %b: memref<4xf32>) {
  memref.dealloc %a : memref<*xf32>
  memref.dealloc %b : memref<4xf32>
  return
}
// -----
// verify: W0634
func.func @f(%a: memref<4xf32>, %c: i1) {
  cf.cond_br %c, ^one, ^two
^one:
  %t = gpu.wait async
  cf.br ^end(%t : !gpu.async.token)
^two:
  %u = gpu.wait async
  cf.br ^end(%u : !gpu.async.token)
^end(%w: !gpu.async.token):
  gpu.wait [%w]
  return
}
// -----
// verify: W0634
func.func @f(%a: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = async.execute {
    memref.dealloc %a : memref<4xf32>
    async.yield
  }
  async.await %t : !async.token
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %w = gpu.wait async
    gpu.wait [%w]
  }
  return
}
// -----
// verify: right
func.func @even(%a: memref<4xf32>) {
  %t = gpu.wait async
  gpu.wait [%t]
  func.call @odd(%a) : (memref<4xf32>) -> ()
  return
}
func.func @odd(%a: memref<4xf32>) {
  func.call @even(%a) : (memref<4xf32>) -> ()
  return
}
func.func private @elsewhere(memref<4xf32>) -> !gpu.async.token
// -----
// verify: right
#tiled = affine_map<(d0) -> (d0 floordiv 32, d0 mod 32)>
func.func @f(%a: memref<64xf32, #tiled>, %b: memref<64xf32, #tiled>) {
  %t = gpu.wait async
  %u = gpu.memcpy async [%t] %a, %b : memref<64xf32, #tiled>, memref<64xf32, #tiled>
  %z = arith.constant 0.0 : f32
  %v = gpu.memset async [%u] %a, %z : memref<64xf32, #tiled>, f32
  gpu.wait [%v]
  return
}
