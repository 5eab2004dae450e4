// Review 004: `%t3 = gpu.wait async [%t1, %t2] // last use of %t1 and %t2`, and their streams would never be freed.
module attributes {gpu.container_module} {
  gpu.binary @kernels  [#gpu.object<#rocdl.target, assembly = "">]
  func.func @leaks(%n: index, %a: memref<7xf32>, %b: memref<7xf32>) {
    %r1 = gpu.wait async
    %t1 = gpu.launch_func async [%r1] @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<7xf32>)
    %r2 = gpu.wait async
    %t2 = gpu.launch_func async [%r2] @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%b : memref<7xf32>)
    %t3 = gpu.wait async [%t1, %t2]
    return
  }
}
