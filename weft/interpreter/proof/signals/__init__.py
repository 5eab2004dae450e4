"""Memory barriers: which phase each arrival and each wait is of, what happens before what, and who would wait
forever."""
