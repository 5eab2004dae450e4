"""A bundle as a function of arrays. On a GPU it needs CuPy and NumPy alone; on the CPU MLIR compiles its module."""

from __future__ import annotations

import warnings
from os import PathLike

from ..files.bundle import read_bundle
from .kernel import Compiled, Kernel
from .targets import Where, open_target


def load_bundle(path: str | PathLike[str], target: Where = "auto") -> Kernel:
    """The kernel that a bundle's folder holds; see `Kernel` for how it is called.

    Args:
        path: the folder that `weft build` wrote.
        target: `cuda`, `cpu`, or `auto`: the GPU where there is one, else the CPU.

    Errors: W0700 … W0713 (what is not a bundle), W0720 (no GPU). A file that was edited is warned of (W0738).
    """
    bundle = read_bundle(str(path))
    for warning in bundle.warnings:
        warnings.warn(f"{warning.code}: {warning.message}", stacklevel=2)
    made = Compiled(bundle.path.name, bundle.plan, bundle.cuda, bundle.module, bundle.signature)
    return Kernel(made, open_target(target))
