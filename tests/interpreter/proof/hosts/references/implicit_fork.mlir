// Review 004: forks are assumed to be explicit, and it is not enforced: a token that two launches take.
module attributes {gpu.container_module} {
  gpu.binary @kernels  [#gpu.object<#rocdl.target, assembly = "">]
  func.func @forks(%n: index, %a: memref<7xf32>, %b: memref<7xf32>) {
    %r = gpu.wait async
    %t0 = gpu.launch_func async [%r] @kernels::@both blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<7xf32>, %b : memref<7xf32>)
    %t1 = gpu.launch_func async [%t0] @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<7xf32>)
    %t2 = gpu.launch_func async [%t0] @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%b : memref<7xf32>)
    gpu.wait [%t1, %t2]
    return
  }
}
