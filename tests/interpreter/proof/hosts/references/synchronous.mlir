// Review 004: "Fail when synchronous version has async dependencies."
module attributes {gpu.container_module} {
  gpu.binary @kernels  [#gpu.object<#rocdl.target, assembly = "">]
  func.func @synchronous(%n: index, %a: memref<7xf32>) {
    %r = gpu.wait async
    %t = gpu.launch_func async [%r] @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<7xf32>)
    gpu.launch_func [%t] @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<7xf32>)
    return
  }
}
