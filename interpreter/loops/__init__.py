"""Loops of the payload: which of them are parallel, as exact dependence analysis says, and their forms that maps take."""
