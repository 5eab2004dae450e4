"""Lowers marked products to instructions of tensor cores."""
