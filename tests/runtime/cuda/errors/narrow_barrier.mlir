gpu.module @m {
  gpu.func @k(%x: memref<8xf32>) kernel {
    "gpu.barrier"() <{scope = #gpu.barrier_scope<subgroup>}> : () -> ()
    gpu.return
  }
}
