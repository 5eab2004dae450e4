"""What compiled code on a CPU does: kernels as functions of loops, and the way from a module to machine code."""
