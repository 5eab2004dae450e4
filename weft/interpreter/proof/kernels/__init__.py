"""A kernel as a model: its accesses, barriers and sizes, read from the IR."""
