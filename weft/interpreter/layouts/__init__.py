"""Layouts: positions of elements as digits."""
