"""Weft: a small schedule language for GPU kernels.

`weft.compile("shared", settings={"m": 256})` returns a function of arrays. `run` applies a schedule
to its payload, executes the kernels and compares the results; `apply` stops at the scheduled
module, `build` writes a bundle, `load_bundle` returns a function for a bundle, `load` only reads
and checks. See `weft.api`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .source import __version__ as __version__

if TYPE_CHECKING:
    from .api import Applied, Recipe, Report, apply, build, compile, load, run
    from .dsl.diagnostics import Diagnostic, WeftError
    from .runtime.call.kernel import Kernel, load_bundle
    from .runtime.call.pytorch import torch_op

__all__ = [
    "Applied",
    "Diagnostic",
    "Kernel",
    "Recipe",
    "Report",
    "WeftError",
    "apply",
    "build",
    "compile",
    "load",
    "load_bundle",
    "run",
    "torch_op",
]
_HOMES = {
    "Diagnostic": ".dsl.diagnostics",
    "Kernel": ".runtime.call.kernel",
    "WeftError": ".dsl.diagnostics",
    "load_bundle": ".runtime.call.kernel",
    "torch_op": ".runtime.call.pytorch",
}


def __getattr__(name: str) -> Any:
    """Imports the API on first use, so that `weft --help` does not load it."""
    import importlib

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, ".api"), __name__), name)


def __dir__() -> list[str]:
    """The public names, loaded or not, without internal modules: for completion."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
