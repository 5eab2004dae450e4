"""A scheduled program as a function of arrays. It needs NumPy, and CuPy for a GPU; MLIR only if it
runs on the CPU."""
