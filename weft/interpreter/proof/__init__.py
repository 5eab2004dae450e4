"""Proofs about kernels and the host functions that launch them: exact, by integer sets."""
