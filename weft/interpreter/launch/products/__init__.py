"""Marked products as instructions of tensor cores."""
