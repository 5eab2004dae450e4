"""What is proven of kernels and of the host functions that launch them: exact, by integer sets."""
