module attributes {gpu.container_module} {
  gpu.binary @kernels  [#gpu.object<#rocdl.target, assembly = "">]
  func.func @async(%arg0: index) {
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @kernels::@kernel blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  
    %2 = gpu.wait async
    %3 = gpu.launch_func async [%2] @kernels::@kernel blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0)  
    %4 = gpu.wait async
    %memref, %asyncToken = gpu.alloc async [%4] () : memref<7xf32>
    %5 = gpu.dealloc async [%asyncToken] %memref : memref<7xf32>
    gpu.wait [%1, %3, %5]
    return
  }
}
