"""What the fields of a statement hold: evaluated for the statement, and checked before it, by the same walk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from . import tree
from .diagnostics import fail
from .expressions import Evaluator
from .signature import Field


@dataclass(frozen=True)
class SpaceSpec:
    """An evaluated space. `counts[i]` belongs to `axes[i]`: an int, None (as many as iterations) or "?" (symbolic)."""

    kind: Literal["blocks", "threads", "warps", "lanes", "grid"]
    axes: tuple[str, ...]
    counts: tuple[int | Literal["?"] | None, ...]
    all: bool = False


@dataclass(frozen=True)
class DistributionSpec:
    """An evaluated distribution."""

    kind: Literal["block", "cyclic", "block-cyclic"]
    chunk: int | None = None


def field_value(field: Field, given: Any, evaluator: Evaluator) -> Any:
    """The value of a field that names no handle. What is wrong with it goes to the evaluator's `report`."""
    match given:
        case tree.Word():
            return given.text
        case tree.Space():
            counts = tuple(_counts(given, evaluator))
            return SpaceSpec(given.kind, tuple(d.axis for d in given.dimensions), counts, given.all)
        case tree.Distribution():
            what = "the chunk of `block-cyclic`"
            return DistributionSpec(given.kind, given.chunk and evaluator.expect(given.chunk, "int", what, 1))
        case tree.ListExpr() if field.kind == "names":
            return tuple(item.name if isinstance(item, tree.NameRef) else item.value for item in given.items)  # type: ignore[union-attr]
        case tree.ListExpr():
            return tuple(_entry(field, item, evaluator) for item in given.items)
        case bool():
            return () if field.kind == "names" else given
    return evaluator.expect(given, "str" if field.kind == "str" else "int", f"`{field.word}`", field.minimum)


def _entry(field: Field, item: tree.Expr, evaluator: Evaluator) -> int | None:
    """An entry of a list; None for a dimension that is left alone."""
    what = "a tile size" if field.kind == "sizes" else f"an entry of `{field.name}`"
    if not isinstance(item, tree.Skip):
        value = evaluator.expect(item, "int", what, field.minimum)
        return value or None if field.kind == "sizes" else value
    if field.kind != "sizes":
        evaluator.report(fail("W0232", f"{what} is an integer, not `_`", span=item.span))
    return None


def _counts(space: tree.Space, evaluator: Evaluator) -> Iterator[Any]:
    seen: set[str] = set()
    for dimension in space.dimensions:
        if dimension.axis in seen:
            message, hint = f"axis `{dimension.axis}` is given twice", "each of x, y, z stands for one dimension"
            evaluator.report(fail("W0238", message, span=dimension.span, hint=hint))
        seen.add(dimension.axis)
        if dimension.count is None or dimension.count == "?":
            yield dimension.count
        else:
            yield evaluator.expect(dimension.count, "int", f"the count of `{dimension.axis}`", 1)
