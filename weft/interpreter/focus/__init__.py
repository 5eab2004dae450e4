"""A statement at work on a part of a large module: the ops it touches, and something unknown in place of those between
them."""
