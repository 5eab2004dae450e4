"""Payloads: where the text of the program comes from, and how text of other tools and older MLIR is
read."""
