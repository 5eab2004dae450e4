"""MLIR as everybody here sees it: the bindings, walking, nesting, structured ops, copies of modules."""
