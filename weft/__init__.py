"""Weft: a small schedule language for GPU kernels.

`weft.run("shared", settings={"m": 256})` applies a schedule to its payload, runs it and compares; `apply` stops at the
scheduled module, `build` writes a bundle, `load` reads and checks alone. See `weft.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import Applied, Recipe, Report, apply, build, load, run
    from .dsl.diagnostics import Diagnostic, WeftError

__version__ = "0.1.0"

__all__ = ["Applied", "Diagnostic", "Recipe", "Report", "WeftError", "apply", "build", "load", "run"]


def __getattr__(name: str) -> Any:
    """The API is imported when it is first used, so that `weft --help` need not load it."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = ".dsl.diagnostics" if name in ("Diagnostic", "WeftError") else ".api"
    return getattr(importlib.import_module(home, __name__), name)
