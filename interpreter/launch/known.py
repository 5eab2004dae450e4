"""Kernels by what they are made of: a loop that is like one before becomes the same kernel, which nobody has to make and to judge
again. What is alike is the text of the loop with all that it takes of the host, places left out; the copy gets its own."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..ir.clone import clone_module, without_tags
from ..ir.mlir import ir, operations
from ..mapping.geometry import GridSize
from ..session.rewriter import spelled
from .kernel import Outlined

Size = tuple[int | None, int | None, int | None]
MOST = 64


@dataclass(frozen=True)
class Realised:
    """What has become of a kernel's loop.

    Args:
        grid, block: the sizes along x, y, z; those of the grid in terms of the host's values.
        static_grid, static_block: None where only the host knows.
        shared_bytes: its static shared memory.
        found: what has been found out of this kernel and all that are like it, under a name.
    """

    grid: tuple[GridSize, ...]
    block: tuple[int, ...]
    static_grid: Size
    static_block: Size
    shared_bytes: int
    remarks: tuple[str, ...]
    found: dict[Hashable, Any] = field(default_factory=dict)


Known = dict[Hashable, Any]
"""The kernels of a session, as long as there are not too many: what only this file looks into."""


def realised(kernel: Outlined, realise: Callable[[Outlined], Realised], known: Known) -> tuple[Outlined, Realised]:
    """The kernel, realised: by `realise`, or as a copy of one that was like it."""
    name, places = kernel.function.attributes["sym_name"], list[ir.Location]()
    kernel.function.attributes["sym_name"] = ir.StringAttr.get("kernel")
    text = without_tags(kernel.function.get_asm(use_local_scope=True))
    kernel.function.attributes["sym_name"] = name
    key = text, tuple(_number(op.location, places) for op in operations(kernel.function))
    if key not in known:
        done = realise(kernel)
        unknown = ir.Location.unknown()
        if None not in done.static_grid and all(op.location in (*places, unknown) for op in operations(kernel.function)):
            if len(known) == MOST:
                known.clear()
            known[key] = clone_module(kernel.module), places, done
        return kernel, done
    made, before, done = known[key]
    module = clone_module(made)
    function = next(operations(module.operation, "gpu.func"))
    function.attributes["sym_name"] = name
    module.body.operations[0].attributes["sym_name"] = kernel.module.body.operations[0].attributes["sym_name"]
    if before != places:
        for op in operations(module.operation):
            if op.location in before:
                op.location = places[before.index(op.location)]
        names = {spelled(one): spelled(other) for one, other in zip(before, places, strict=True)}
        done = dataclasses.replace(done, remarks=tuple(_placed(remark, names) for remark in done.remarks))
    return dataclasses.replace(kernel, module=module, function=function), done


def _placed(remark: str, names: Mapping[str, str]) -> str:
    """A remark that names places (`rewriter.describe`), of what stands elsewhere."""
    return re.sub("|".join(rf"(?<= at ){re.escape(name)}(?!\d)" for name in names), lambda found: names[found[0]], remark)


def _number(place: ir.Location, places: list[ir.Location]) -> int:
    if place not in places:
        places.append(place)
    return places.index(place)
