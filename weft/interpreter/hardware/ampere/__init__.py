"""From sm_75 and sm_80 on: asynchronous copies of threads, matrices and products of warps."""
