"""Copies of a module: what makes a statement a transaction."""

from __future__ import annotations

import re

from .mlir import ir


def clone_module(module: ir.Module) -> ir.Module:
    """An independent copy of `module` in the same context, attributes of the module op included."""
    with module.context:
        copy = ir.Module.create(loc=module.operation.location)
        for op in module.body.operations:
            copy.body.append(op.operation.clone())
        for name in module.operation.attributes:
            copy.operation.attributes[name] = module.operation.attributes[name]
    return copy


PROVEN = "weft.proven"
"""On a mapped loop or a kernel: the fingerprint of what was proven race-free (`analysis/proof.py`). Gone from what users see, as
handles' tags are."""

UNPROVEN = "weft.unproven"
"""On a kernel that is not proven race-free and was let through: why."""

_TAG = rf'(?:weft\.h\d+|{re.escape(PROVEN)} = "[0-9a-f]*")'
_AMONG, _ALONE = re.compile(f"{_TAG}, |, {_TAG}"), re.compile(rf"(?: attributes)? \{{{_TAG}\}}")


def strip_tags(module: ir.Module) -> ir.Module:
    """A copy without the handles' tags, for showing and for goldens."""
    from . import mlir

    copy = clone_module(module)
    for op in mlir.operations(copy.operation):
        for name in [n for n in op.attributes if n == PROVEN or _handle_number(n) is not None]:
            del op.attributes[name]
    return copy


def tagged(module: ir.Module) -> dict[int, ir.Operation]:
    """The ops of a module by the number of the handle on them."""
    from . import mlir

    ops = mlir.operations(module.operation)
    return {number: op for op in ops for name in op.attributes if (number := _handle_number(name)) is not None}


def _handle_number(name: str) -> int | None:
    return int(name[6:]) if name.startswith("weft.h") and name[6:].isdigit() else None


def without_tags(text: str) -> str:
    """The text of an op without handle tags: `{weft.h3, weft.map = …}` → `{weft.map = …}`."""
    return _ALONE.sub("", _AMONG.sub("", text))
