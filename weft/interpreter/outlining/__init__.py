"""A loop as a kernel of its own, and what the host makes for it."""
