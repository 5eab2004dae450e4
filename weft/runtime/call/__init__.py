"""A scheduled program as a function of arrays. It needs NumPy and CuPy; MLIR where it runs on the CPU."""
