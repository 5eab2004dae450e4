"""The writers of ops, one file per MLIR dialect."""
