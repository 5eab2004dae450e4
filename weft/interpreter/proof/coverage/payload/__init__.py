"""The untouched payload: its ops, the elements of its tensors, and the loops of the host around a launch."""
