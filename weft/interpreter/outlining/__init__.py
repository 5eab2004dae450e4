"""A loop as a kernel of its own, and the tensor maps that the host makes for it."""
