"""The simulator: executes `gpu.func`s on NumPy arrays and detects races, independently of the
proof."""
