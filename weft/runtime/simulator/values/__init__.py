"""Evaluation of ops on NumPy scalars and arrays."""
