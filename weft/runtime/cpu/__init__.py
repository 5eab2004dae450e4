"""Compiled code on a CPU: kernels as loops; the untouched payload, which is the reference; and the
compilation to machine code that both share."""
