"""The comparison of kernels with their payload, made once before they are built."""
