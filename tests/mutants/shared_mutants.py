"""Kernels that combine the wrong parts of shared reductions: no race, no fault, and a wrong result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "shared"


@dataclass(frozen=True)
class SharedMutant:
    """A scheduled module as it should not be.

    Args:
        what: what is wrong with it.
        schedule: the schedule that was to make it, beside its payload.
        text: the module.
    """

    what: str
    schedule: Path
    text: str


def all_warps() -> list[SharedMutant]:
    """The lowering of 6ab49bc8: in a loop over one axis of threads, threads along another combined the parts of all warps of the
    block. The set is that of the threads which have one row."""
    paths = sorted(FOLDER.glob("*.all_warps.mlir"))
    assert paths, "they are stored"
    what = "all warps of the block are combined"
    return [SharedMutant(what, one.with_name(one.name.replace(".all_warps.mlir", ".weft")), one.read_text()) for one in paths]
