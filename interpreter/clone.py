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


def strip_tags(module: ir.Module) -> ir.Module:
    """A copy without the handles' tags, for showing and for goldens."""
    from . import mlir

    copy = clone_module(module)
    for op in mlir.operations(copy.operation):
        for name in [n for n in op.attributes if n.startswith("weft.h") and n[6:].isdigit()]:
            del op.attributes[name]
    return copy


def without_tags(text: str) -> str:
    """The text of an op without handle tags: `{weft.h3, weft.map = …}` → `{weft.map = …}`."""
    text = re.sub(r"weft\.h\d+, |, weft\.h\d+", "", text)
    return re.sub(r" \{weft\.h\d+\}", "", text)
