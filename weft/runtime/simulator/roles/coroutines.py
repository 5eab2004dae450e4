"""What goes through a part of the kernel by itself, and what it waits for."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ....dsl.records import record
from ...devices.report import Fault

Steps = Generator["Waiting | None", None, None]


class Waiting(Protocol):
    """What a coroutine waits for.

    Attributes:
        releases: those who wait go on once it is said what is wrong.
    """

    releases: ClassVar[bool]

    def ready(self) -> bool: ...

    def stuck(self) -> Iterator[Fault]:
        """What is wrong if it never comes."""
        ...


@dataclass(eq=False)
class Coroutine:
    """A group, or some lanes of it, that go through a part of the kernel; `first`: as `Ranked`."""

    steps: Steps
    first: float = 0.0
    waits: Waiting | None = None
    done: bool = False


@record(eq=False)
class Joined:
    """The end of other coroutines."""

    releases: ClassVar[bool] = False
    parts: Sequence[Coroutine]

    def ready(self) -> bool:
        return all(part.done for part in self.parts)

    def stuck(self) -> Iterator[Fault]:
        return iter(())
