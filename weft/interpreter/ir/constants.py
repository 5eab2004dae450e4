"""Constants of a module, `memref.global "private" constant`, and what is known of a number that is loaded from one."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from ...dsl.records import record
from .functions import symbol
from .mlir import ancestors, children, ir, operations, producer, users

GET = "memref.get_global"


@record
class NumberTable:
    """Whole numbers of a constant of one dimension.

    Args:
        name: the constant's, and of the module that it stands in.
        low, high: its smallest and its largest number.
        distinct: whether no two of them are the same.
    """

    name: tuple[str, ...]
    low: int
    high: int
    distinct: bool


def definition(op: ir.Operation) -> ir.Operation:
    """The `memref.global` that a `memref.get_global` names: upstream has seen to it that there is one."""
    return next(_named(op))


def _named(op: ir.Operation) -> Iterator[ir.Operation]:
    wanted = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    inside = (inner for scope in ancestors(op) for inner in children(scope))
    return (inner for inner in inside if inner.name == "memref.global" and symbol(inner) == wanted)


def table_of(load: ir.Operation) -> NumberTable | None:
    """What a `memref.load` reads, where that is such a constant."""
    got = producer(load.operands[0])
    if got is None or got.name != GET or len(load.operands) != 2:
        return None
    found = next(_named(got), None)  # a part of a module may lack it
    if (
        found is None
        or "constant" not in found.attributes
        or "initial_value" not in found.attributes
        or not _is_only_read(found)
    ):
        return None
    value = found.attributes["initial_value"]
    if not isinstance(value, ir.DenseIntElementsAttr) or not len(value) or str(load.results[0].type) == "i1":
        return None
    known = _seen.setdefault(value.context, {})
    if hash(value) not in known:
        low, high = min(value), max(value)
        known[hash(value)] = low, high, len(set(value)) == len(value)
    around = (
        ir.StringAttr(one.attributes["sym_name"]).value for one in ancestors(found) if "sym_name" in one.attributes
    )
    return NumberTable((symbol(found), *around), *known[hash(value)])


def _is_only_read(found: ir.Operation) -> bool:
    """Whether a constant lies in global memory and is only loaded from: stores are undefined, other memory begins
    without it."""
    used = (
        op for op in operations(found.parent, GET) if ir.FlatSymbolRefAttr(op.attributes["name"]).value == symbol(found)
    )
    there = [op.results[0] for op in used]
    return all(
        one.type.memory_space is None and all(user.name == "memref.load" for user in users(one)) for one in there
    )


_seen: WeakKeyDictionary[ir.Context, dict[int, tuple[int, int, bool]]] = WeakKeyDictionary()
"""An attribute is the same for ever where its context is, and its hash is which it is."""
