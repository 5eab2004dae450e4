// Discussion 001, the question: a launch that waits for two others, which a lowering to streams refuses.
module attributes {gpu.container_module} {
  gpu.binary @kernels  [#gpu.object<#rocdl.target, assembly = "">]
  func.func @async(%arg0: index, %a: memref<7xf32>, %b: memref<7xf32>) {
    %0 = gpu.wait async
    %1 = gpu.launch_func async [%0] @kernels::@left blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0) args(%a : memref<7xf32>)
    %2 = gpu.wait async
    %3 = gpu.launch_func async [%2] @kernels::@right blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0) args(%b : memref<7xf32>)
    %4 = gpu.launch_func async [%1, %3] @kernels::@both blocks in (%arg0, %arg0, %arg0) threads in (%arg0, %arg0, %arg0) args(%a : memref<7xf32>, %b : memref<7xf32>)
    gpu.wait [%4]
    return
  }
}
