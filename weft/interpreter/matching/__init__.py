"""The criteria of `match`: the kind of an op, its properties, and the ops that make its
operands."""
