"""MLIR for the rest of the interpreter: the bindings, walks, nesting, structured ops, copies of
modules."""
