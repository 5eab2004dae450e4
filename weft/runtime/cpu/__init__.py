"""What compiled code on a CPU does: kernels as loops, payloads as they are (the reference), and one way to machine
code."""
