"""Conflicts, barriers and unwritten reads of a kernel, exact by integer sets."""
