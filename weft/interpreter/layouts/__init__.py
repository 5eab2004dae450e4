"""Layouts: positions of elements as digits of numbers."""
