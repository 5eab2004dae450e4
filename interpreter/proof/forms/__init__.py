"""Quasi-affine forms and formulas, and the one place that hands them to ISL."""
