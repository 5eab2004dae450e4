module attributes {gpu.container_module} {
  gpu.binary @kernels  [#gpu.object<#rocdl.target, assembly = "">]
  func.func @leaks(%arg0: index, %arg1: memref<7xf32> {llvm.noalias}, %arg2: memref<7xf32> {llvm.noalias}) {
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @kernels::@kernel blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  args(%arg1 : memref<7xf32>)
    %2 = gpu.wait async
    %3 = gpu.launch_func async [%2] @kernels::@kernel blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  args(%arg2 : memref<7xf32>)
    gpu.wait [%1, %3]
    return
  }
}
