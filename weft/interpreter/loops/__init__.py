"""Parallel loops in the forms that maps take."""
