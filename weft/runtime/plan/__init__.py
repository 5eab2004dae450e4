"""The host plan: buffers, steps and signature as data, with its checks and its JSON. No MLIR."""
