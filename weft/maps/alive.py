"""The maps of a schedule, each in the last module in which it is still there: `launch` realises them and leaves none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..dsl.diagnostics import fail
from ..interpreter.ir.cloning import tagged
from ..interpreter.ir.mlir import ir
from ..interpreter.mapping.mapping import mapping_of
from ..interpreter.session.environment import named_handles
from ..interpreter.session.session import Session
from ..interpreter.session.statement import Handle


@dataclass(frozen=True)
class LiveMap:
    """A map under the name of the handle that was mapped.

    Args:
        name: of the handle, as the schedule spells it.
        module: the last module in which the op is there, with its map.
    """

    name: str
    handle: Handle
    module: ir.Module = field(repr=False)

    @property
    def op(self) -> ir.Operation:
        """The mapped op."""
        return tagged(self.module)[self.handle.number]


def live_maps(session: Session, names: Sequence[str] = ()) -> list[LiveMap]:
    """The maps of a session that ran to its end, in the order in which the schedule made their handles; or those of `names`.

    Raises:
        WeftError: W0970 for a name that is no handle, W0971 for a handle that is never mapped, W0972 where nothing is.
    """
    found: dict[str, LiveMap] = {}
    handles: set[str] = set()
    for state in reversed(session.states):
        ops = tagged(state.module)
        for name, handle in named_handles(state.frames[-1].env):
            if name.rpartition(".")[2].isdigit():
                continue
            handles.add(name)
            if name not in found and handle.number in ops and mapping_of(ops[handle.number]) is not None:
                found[name] = LiveMap(name, handle, state.module)
    for name in names:
        if name not in handles:
            raise fail("W0970", f"the schedule has no handle `{name}`", hint=f"mapped are: {', '.join(sorted(found))}")
        if name not in found:
            raise fail("W0971", f"`{name}` has no map", hint=f"mapped are: {', '.join(sorted(found)) or 'none'}")
    if not found:
        raise fail("W0972", "the schedule maps nothing", hint="`map tiles to blocks(y, x)`")
    return [found[name] for name in (names or sorted(found, key=lambda name: found[name].handle.number))]
