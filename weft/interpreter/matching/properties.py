"""The properties of an op (`PROPERTIES` in `dsl/tree.py`), as values of a schedule."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from math import prod
from typing import Any

from ...dsl.diagnostics import count
from ..ir.affine_maps import dimension_of, dimensions_of
from ..ir.mlir import ancestors, ir, users
from ..ir.structured import element_type, is_structured, operand_names, operand_number, segments, shape_of, structure
from ..reductions.combiners import combiner
from ..reductions.identities import combination
from .kinds import kind_of, windows_of


class NoValueError(Exception):
    """An op does not have the property, or its value is known only at run time; with the reason, and
    perhaps a way out."""


CHOOSE = "`versions { assume … } else { … }` chooses by sizes that are open until a run"


def property_of(op: ir.Operation, fields: Sequence[str]) -> Any:
    """The value of `rank`, `sizes.0`, `lhs.type`, …. Raises `NoValueError`."""
    first, *rest = fields
    number = operand_number(op, first) if is_structured(op) else None
    if number is not None:
        return _of_operand(op, number, first, rest or ["sizes"])
    if first not in _READ:
        names = operand_names(op) if is_structured(op) else ()
        raise NoValueError(f"no operand `{first}`, but {', '.join(names) or 'none with a name'}")
    value = _READ[first](op)
    return value if not isinstance(value, tuple) else _chosen(value, first, rest)


def _of_operand(op: ir.Operation, number: int, name: str, rest: Sequence[str]) -> Any:
    value = op.operands[number]
    match [*rest]:
        case ["rank"]:
            return len(shape_of(value))
        case ["type"]:
            return str(element_type(value))
        case ["dims", *axis]:
            return _chosen(_dimensions(op, number), f"{name}.dims", axis)
        case _:
            return _chosen(shape_of(value), name, [axis for axis in rest if axis != "sizes"])


def _chosen(values: tuple[int | None, ...], name: str, rest: Sequence[str]) -> Any:
    """All values of a list, or the value with the given number."""
    if rest and int(rest[0]) >= len(values):
        raise NoValueError(f"`{name}` has {count(len(values), 'number')}, the first is `{name}.0`")
    chosen = [values[int(rest[0])]] if rest else values
    if None in chosen:
        raise NoValueError(f"`{'.'.join((name, *rest))}` is known only at run time", CHOOSE)
    return chosen[0] if rest else values


def _dimensions(op: ir.Operation, number: int) -> tuple[int, ...]:
    """The op's dimension along each axis of an operand."""
    indexing = structure(_structured(op)).maps[number]
    found = tuple(d for e in indexing.results if (d := dimension_of(e)) is not None)
    if len(found) < len(indexing.results):
        raise NoValueError(f"an axis is indexed by a sum of dimensions or by a constant: `{indexing}`")
    return found


def _results(op: ir.Operation) -> list[ir.Value]:
    """The results of an op, or the operands that it writes."""
    return list(op.results) or (list(op.operands)[segments(op)[0] :] if is_structured(op) else [])


def _result(op: ir.Operation) -> ir.Value:
    found = _results(op)
    if not found:
        raise NoValueError(f"{op.name} has no result")
    return found[0]


def _kind(op: ir.Operation) -> str:
    if (found := kind_of(op)) is None:
        raise NoValueError(f"{op.name} is of no kind: its indexing maps and its body are not known")
    return found


def _structured(op: ir.Operation) -> ir.Operation:
    if not is_structured(op):
        raise NoValueError(f"{op.name} has no indexing maps")
    return op


def _combiner(op: ir.Operation) -> str:
    if "reduction" not in structure(_structured(op)).iterators:
        raise NoValueError(f"{op.name} reduces nothing")
    if (found := combination(op)) is not None:
        return found.combiner.removeprefix("arith.")
    if (several := combiner(op)) is not None:
        return several.words.replace("arith.", "")
    raise NoValueError(f"how {op.name} combines terms is not known")


def _windows(op: ir.Operation) -> list[tuple[int, int]]:
    if not (found := windows_of(structure(_structured(op)))):
        raise NoValueError(f"{op.name} has no windows: it is no convolution and no pooling")
    return found


def _iterations(op: ir.Operation, name: str, kinds: Collection[str]) -> int:
    space = structure(_structured(op))
    taken = tuple(n for n, kind in zip(space.extents, space.iterators, strict=True) if kind in kinds)
    return prod(_chosen(taken, name, []))


def _innermost(op: ir.Operation) -> str:
    space = structure(_structured(op))
    subscripts = list(space.maps[0].results) if space.inputs else []
    dimensions = sorted(dimensions_of(subscripts[-1])) if subscripts else []
    if not dimensions:
        raise NoValueError(f"{op.name} reads no input along its dimensions")
    return space.iterators[dimensions[-1]]


_READ = {
    "kind": _kind,
    "rank": lambda op: len(shape_of(_result(op))),
    "type": lambda op: str(element_type(_result(op))),
    "sizes": lambda op: structure(_structured(op)).extents,
    "dims": lambda op: _dimensions(op, segments(_structured(op))[0]),
    "combiner": _combiner,
    "iterations": lambda op: _iterations(op, "iterations", ("parallel", "reduction")),
    "terms": lambda op: _iterations(op, "terms", ("reduction",)),
    "innermost": _innermost,
    "mapped": lambda op: any("weft.map" in each.attributes for each in (op, *ancestors(op))),
    "readers": lambda op: len({user.operation for value in op.results for user in users(value)}),
    "inputs": lambda op: segments(_structured(op))[0],
    "results": lambda op: len(_results(op)),
    "strides": lambda op: tuple(stride for stride, _ in _windows(op)),
    "dilations": lambda op: tuple(dilation for _, dilation in _windows(op)),
}


def summary(op: ir.Operation) -> str:
    """The kind, the sizes and the type of an op, for lists of candidates: `contraction 64×64×32 f32`."""
    if (kind := kind_of(op)) is None:
        return op.name
    sizes = "×".join("?" if n is None else str(n) for n in structure(op).extents)
    words = [kind, sizes, str(element_type(_result(op)))]
    if kind in ("reduction", "pooling"):
        with suppress(NoValueError):
            words.append(f"by {_combiner(op)}")
    return " ".join(filter(None, words))
