"""The maps of a schedule, each in the last module in which it is still there: `launch` realises them and leaves none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..dsl.diagnostics import fail

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir
    from ..interpreter.session.session import Session


@dataclass(frozen=True)
class LiveMap:
    """A map under the name of the handle that was mapped.

    Args:
        name: of the handle, as the schedule spells it.
        tag: the attribute that finds its op.
        module: the last module in which the op is there, with its map.
    """

    name: str
    tag: str
    module: ir.Module = field(repr=False)

    def find(self, module: ir.Module) -> ir.Operation:
        """The mapped op, in a copy of its module."""
        from ..interpreter.ir.mlir import operations

        return next(op for op in operations(module.operation) if self.tag in op.attributes)


def live_maps(session: Session, names: Sequence[str] = ()) -> list[LiveMap]:
    """The maps of a session that ran to its end, in the order in which the schedule made their handles; or those of `names`.

    Raises:
        WeftError: W0970 for a name that is no handle, W0971 for a handle that is never mapped, W0972 where nothing is.
    """
    found: dict[str, LiveMap] = {}
    handles: set[str] = set()
    while True:
        for name, handle in _handles(session.environment):
            handles.add(name)
            if name not in found and _has_map(session.module, handle.tag):
                found[name] = LiveMap(name, handle.tag, session.module)
        if not session.undo():
            break
    while session.redo():
        pass
    for name in names:
        if name not in handles:
            raise fail("W0970", f"the schedule has no handle `{name}`", hint=f"mapped are: {', '.join(sorted(found))}")
        if name not in found:
            raise fail("W0971", f"`{name}` has no map", hint=f"mapped are: {', '.join(sorted(found)) or 'none'}")
    if not found:
        raise fail("W0972", "the schedule maps nothing", hint="`map tiles to blocks(y, x)`")
    number = {name: int(one.tag.removeprefix("weft.h")) for name, one in found.items()}
    return [found[name] for name in (names or sorted(found, key=lambda name: number[name]))]


def _handles(environment: Any) -> Iterator[tuple[str, Any]]:
    """Every handle that has a name, `t.loop` of a bundle `t` included."""
    from ..interpreter.session.environment import Bundle
    from ..interpreter.session.statement import Handle

    for name, value in environment.items():
        if isinstance(value, Handle) and not value.absent:
            yield name, value
        elif isinstance(value, Bundle):
            yield from ((f"{name}.{key}", one) for key, one in value.results.items() if isinstance(one, Handle))


def _has_map(module: ir.Module, tag: str) -> bool:
    from ..interpreter.ir.mlir import operations
    from ..interpreter.mapping.mapping import mapping_of

    return any(tag in op.attributes and mapping_of(op) is not None for op in operations(module.operation))
