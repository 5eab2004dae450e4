"""Coverage: each iteration of a reduction of the payload is executed once, for its own result."""
