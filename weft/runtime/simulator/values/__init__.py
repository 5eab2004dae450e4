"""What ops compute, on NumPy scalars and arrays."""
