"""Maps of iterations to processors, as recorded by `map`, and the loops, guards and launch sizes
that they imply."""
