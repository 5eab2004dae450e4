"""A statement at work on a part of a large module: the ops it touches, and something unknown in place of those between them."""

from .carving import Focus, carve, carve_around, carve_section, only_body
from .sections import Sectioned, Taken, Version, take_apart

__all__ = ["Focus", "Sectioned", "Taken", "Version", "carve", "carve_around", "carve_section", "only_body", "take_apart"]
