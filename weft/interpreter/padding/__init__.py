"""Iteration spaces rounded up to multiples of tiles: masked operands, identities of reductions,
padded images."""
