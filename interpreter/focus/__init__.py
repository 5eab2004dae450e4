"""A statement at work on a part of a large module: the ops it touches, and something unknown in place of those between them."""

from .carving import Focus, carve_around, carve_section
from .modules import Names, Sectioned, Taken, numbered, take_apart
from .versions import Version

__all__ = ["Focus", "Names", "Sectioned", "Taken", "Version", "carve_around", "carve_section", "numbered", "take_apart"]
