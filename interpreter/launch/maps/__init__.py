"""Tensor maps of what a kernel copies: what the host makes them of, and those of pixels."""
