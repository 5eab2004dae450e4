"""The host plan: buffers, steps and signature as data, checked, written and read. No MLIR."""
