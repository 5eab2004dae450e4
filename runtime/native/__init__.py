"""Kernels as functions of loops: what the oracle compiles where a payload launches kernels itself."""
