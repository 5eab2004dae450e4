module attributes {gpu.container_module} {
  gpu.binary @kernels  [#gpu.object<#rocdl.target, assembly = "">]
  func.func @forks(%arg0: index, %arg1: memref<7xf32> {llvm.noalias}, %arg2: memref<7xf32> {llvm.noalias}) {
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @kernels::@both blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  args(%arg1 : memref<7xf32>, %arg2 : memref<7xf32>)
    %2 = gpu.launch_func async [%1] @kernels::@kernel blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  args(%arg1 : memref<7xf32>)
    %3 = gpu.wait async [%1]
    %4 = gpu.launch_func async [%3] @kernels::@kernel blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  args(%arg2 : memref<7xf32>)
    gpu.wait [%2, %4]
    return
  }
}
