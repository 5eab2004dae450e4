"""The comparison of kernels with their payload, which is made once, before the kernels are
built."""
