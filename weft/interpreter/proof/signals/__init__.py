"""Memory barriers: the phase of each arrival and wait, the happens-before order, and deadlocks."""
