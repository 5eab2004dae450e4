"""Loops of the payload that are parallel, as exact dependence analysis says: what maps distribute."""
