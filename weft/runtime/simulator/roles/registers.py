"""Registers that the warp groups of a block exchange: a request waits until other groups have
released enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...devices.report import Fault
from ..machine.shadow import Mask
from .cluster import GroupLanes
from .phases import whole
from .schedule import Steps


@dataclass(eq=False)
class RegisterWait:
    """A warp group that waits until its block has `needed` free registers."""

    releases: ClassVar[bool] = False
    group: GroupLanes
    needed: int
    site: int

    def ready(self) -> bool:
        return self.needed <= self.group.home.free

    def stuck(self) -> Iterator[Fault]:
        if not self.ready():
            message = f"waits for {self.needed} registers more, and {self.group.home.free} of its block are free"
            yield Fault("deadlock", message, self.group.doing(0, self.site), count=self.group.nt)


def registers(group: GroupLanes, count: int, more: bool, mask: Mask, site: int) -> Steps:
    """`nvvm.setmaxregister`."""
    whole(group, mask, site, "changes its registers together")
    if (count < group.registers) if more else (count > group.registers):
        what, than = ("increase", "more") if more else ("decrease", "fewer")
        message = f"registers {what} to {count}, where each thread has {group.registers}: that is not {than}"
        group.cluster.fault("register misuse", group, int(group.active(mask)[0]), site, message)
        return
    yield from group.cluster.pause()
    request = RegisterWait(group, (count - group.registers) * group.nt, site)
    if not request.ready():
        yield request
    group.home.free -= request.needed
    group.registers = count
