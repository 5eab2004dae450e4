"""More random rings than `signal_rings.py` has: four stages, three readers that go each their own way, releases that lag behind,
several arrivals of one reader, other orders of what a thread does, and waits that are left out after a while."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from signal_rings import TILE, Ring, Step

ORDERS = ("wel", "wle", "ewl", "elw", "lwe")
"""In which order who fills a stage waits for it, expects bytes, and loads them."""


@dataclass(frozen=True)
class WideRing(Ring):
    """Args:
    apart: each reader has a branch of its own.
    lag: so many steps later a reader releases what it has read.
    each: so often it does.
    order: of `ORDERS`.
    last_wait, last_look: in this step, and those behind it, nobody waits for empty, or full, stages; 0: all do.
    again: readers wait a second time, for the same phase.
    """

    apart: bool = False
    lag: int = 0
    each: int = 1
    order: str = ORDERS[0]
    last_wait: int = 0
    last_look: int = 0
    again: bool = False

    @property
    def counted(self) -> int:
        return self.each * self.readers + self.arrivals

    def text(self) -> str:
        body = f"scf.for %k = %c0 to %trips step %c1 {{\n{self._use()}\n}}"
        if self.apart:
            for reader in range(2, self.readers + 1):
                number = f"%n{reader} = arith.constant {reader} : index\n%is{reader} = arith.cmpi eq, %t, %n{reader} : index\n"
                mine = f"scf.for %k = %c0 to %trips step %c1 {{\n{self._use()}\n}}"
                body = f"{number}scf.if %is{reader} {{\n{mine}\n}} else {{\n{body}\n}}"
        module = super().text()
        start, rest = module.split("} else {", 1)
        end = rest.split("gpu.return", 1)[1]
        return f"{start}}} else {{\n{body}\n}}\ngpu.return{end}"

    def _until(self, wait: str, last: int) -> str:
        if not last:
            return wait
        return f"%last{last} = arith.constant {last} : index\n%before{last} = arith.cmpi slt, %k, %last{last} : index\n" \
               f"scf.if %before{last} {{\n{wait}\n}}"  # fmt: skip

    def _fill(self) -> str:
        wait = self._until(self._wait("empty", "w", self.refill, 1 + self.odd_refill), self.last_wait) if self.waits else ""
        expect = f'{self._number("e", self.expect)}\nnvgpu.mbarrier.arrive.expect_tx %full[%e], %bytes : !bars'
        load = replace(self, waits=False, order="").loaded() if self.order else ""
        return "\n".join({"w": wait, "e": expect, "l": load}[which] for which in self.order)

    def loaded(self) -> str:
        """What loads a stage."""
        return super()._fill().split("%bytes : !bars", 1)[1]

    def _use(self) -> str:
        look = self._until(self._wait("full", "u", self.look, self.odd_look), self.last_look) if self.looks else ""
        second = self._wait("full", "v", self.look, self.odd_look) if self.looks and self.again else ""
        read = f"""{self._number("r", self.read)}
%v_ = memref.load %buf[%r, %c0] : memref<{self.stages}x{TILE}xf32, 3>
memref.store %v_, %out[%k, %t] : memref<{self.trips}x{self.readers + 1}xf32>"""
        arrive = f"%a = affine.apply affine_map<(k) -> ((k + {self.release - self.lag}) mod {self.stages})>(%k)"
        arrivals = "\n".join(
            f"%token{n} = nvgpu.mbarrier.arrive %empty[%a] : !bars -> !nvgpu.mbarrier.token" for n in range(self.each)
        )
        if self.lag:
            late = f"%lag = arith.constant {self.lag} : index\n%late = arith.cmpi sge, %k, %lag : index\n"
            arrive = f"{late}scf.if %late {{\n{arrive}\n{arrivals}\n}}"
        else:
            arrive = f"{arrive}\n{arrivals}"
        arrive = arrive if self.releases else ""
        return "\n".join((look, second, arrive, read) if self.early else (look, second, read, arrive))

    # ---- as what threads do -----------------------------------------------------------------------------------------------

    def _fills(self, k: int) -> Iterator[Step]:
        steps = list(replace(self, order=ORDERS[0], last_wait=0).in_order(k))
        named = dict(zip("wel" if self.waits else "el", steps, strict=True))
        if self.last_wait and k >= self.last_wait:
            named.pop("w", None)
        yield from (named[which] for which in self.order if which in named)

    def in_order(self, k: int) -> Iterator[Step]:
        """A wait, an expectation, a load."""
        yield from super()._fills(k)

    def _uses(self, k: int) -> Iterator[Step]:
        n = self.stages
        if self.looks and not (self.last_look and k >= self.last_look):
            yield Step("wait", (k + self.look) % n, ((k + self.look) // n + self.odd_look) % 2)
        if self.looks and self.again:
            yield Step("wait", (k + self.look) % n, ((k + self.look) // n + self.odd_look) % 2)
        read = Step("read", (k + self.read) % n)
        freed = k + self.release - self.lag
        arrive = [Step("arrive", n + freed % n)] * self.each if self.releases and k >= self.lag else []
        yield from (*arrive, read) if self.early else (read, *arrive)


def wide_rings(r: random.Random) -> WideRing:
    """A random one: right, or with one or two mistakes."""
    readers = r.choice((1, 1, 2, 2, 2, 3))
    stages, trips = r.randint(1, 4), r.randint(2, 3 if readers == 3 else 5)
    right = WideRing(stages, trips, readers, apart=r.random() < 0.5, lag=r.choice((0, 0, r.randrange(stages))),
                     each=r.choice((1, 1, 1, 2)), order=r.choice(("wel", "wel", "wle")), again=r.random() < 0.1)  # fmt: skip
    changes: dict[str, object] = {}
    for _ in range(r.choice((0, 0, 1, 1, 2))):
        name = r.choice((
            "refill", "expect", "load", "into", "look", "read", "release", "odd_refill", "odd_look", "waits", "looks", "releases",
            "early", "arrivals", "bytes", "lag", "order", "last_wait", "last_look",
        ))  # fmt: skip
        if name in ("waits", "looks", "releases", "early"):
            changes[name] = not getattr(right, name)
        elif name in ("arrivals", "bytes"):
            changes[name] = r.choice((-1, 1)) * (1 if name == "arrivals" else 4 * TILE)
        elif name == "order":
            changes[name] = r.choice(ORDERS)
        elif name in ("last_wait", "last_look"):
            changes[name] = r.randrange(1, trips)
        else:
            changes[name] = r.randint(0, stages) if name == "lag" else 1
    found = replace(right, **changes)  # type: ignore[arg-type]
    return found if found.counted > 0 else right
