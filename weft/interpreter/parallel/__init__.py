"""Parallel loops of the payload, by exact dependence analysis: the loops that maps distribute."""
