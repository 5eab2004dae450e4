"""Statements on a part of a large module: the ops they access, and ops of unknown effect in place
of those between them."""
