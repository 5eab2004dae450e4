"""The model of a kernel: its accesses, barriers and sizes, read from the IR."""
