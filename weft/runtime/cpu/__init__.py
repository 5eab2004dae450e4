"""Compiled code on a CPU: kernels as loops, the untouched payload (the reference), and the path to
machine code that both share."""
