"""Convolutions as matrix products: what `as-gemm` rewrites, how, and what it moves along."""
