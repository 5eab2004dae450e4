"""A scheduled program as a function of arrays. NumPy and CuPy alone are needed here; MLIR where the program runs on the
CPU."""
