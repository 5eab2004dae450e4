"""The simulator: runs `gpu.func`s on NumPy arrays and catches races, the second and independent witness."""
