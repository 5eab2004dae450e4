"""Compiled code on a CPU: kernels as loops, payloads as they are (the reference), one way to machine code."""
