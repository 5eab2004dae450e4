"""Nothing unchecked is built: kernels beside their payload, once."""
