"""Iteration spaces rounded up to tiles: masked operands, identities of reductions, padded images."""
