"""Constants of a module (`memref.global "private" constant`), and facts about numbers loaded from
them."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from ...dsl.records import record
from .functions import symbol
from .mlir import ancestors, children, ir, operations, producer, users

GET = "memref.get_global"


@record
class NumberTable:
    """The integers of a one-dimensional constant.

    Args:
        name: of the constant, and of its module.
        low, high: the minimum and the maximum.
        distinct: whether no two are equal.
    """

    name: tuple[str, ...]
    low: int
    high: int
    distinct: bool


def definition(op: ir.Operation) -> ir.Operation:
    """The `memref.global` of a `memref.get_global`; upstream has verified that it exists."""
    return next(_named(op))


def _named(op: ir.Operation) -> Iterator[ir.Operation]:
    wanted = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    inside = (inner for scope in ancestors(op) for inner in children(scope))
    return (inner for inner in inside if inner.name == "memref.global" and symbol(inner) == wanted)


def table_of(load: ir.Operation) -> NumberTable | None:
    """The table that a `memref.load` reads, if it reads such a constant."""
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
    """Whether a constant is in global memory and only loaded from: stores are undefined, and other
    memory is not initialized with it."""
    used = (
        op for op in operations(found.parent, GET) if ir.FlatSymbolRefAttr(op.attributes["name"]).value == symbol(found)
    )
    there = [op.results[0] for op in used]
    return all(
        one.type.memory_space is None and all(user.name == "memref.load" for user in users(one)) for one in there
    )


_seen: WeakKeyDictionary[ir.Context, dict[int, tuple[int, int, bool]]] = WeakKeyDictionary()
"""By context and hash of the attribute: an attribute is immutable and unique in its context."""
