"""Conflicts, barriers and unwritten reads of a kernel, decided exactly with integer sets."""
