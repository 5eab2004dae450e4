"""Makes the kernels of `random_pairs`: free ones, and pipelined loops in the ways in which they are written."""

from __future__ import annotations

import random
from dataclasses import replace

from random_kernels import Expr, For, If, Node
from random_pairs import WARP, Copy, Kernel, Matrices, Memory, Sync, Told, Use

KEPT = ("all", "all", "all", "all", "all", "shared", "global", "none")


def random_kernel(seed: int) -> Kernel:
    """One of them."""
    return Maker(seed).kernel()


class Maker:
    """Draws a kernel."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.threads = draw.choice([2, 4, 4, 4, 8, 8, 32, 32, 64, 96])
        self.blocks = draw.choice([1, 1, 2])
        self.cluster = self.blocks == 2 and draw.random() < 0.5
        self.stages = draw.choice([1, 2, 2, 3, 3, 4])
        width = self.threads
        self.ring = Memory("s", (self.stages, width))
        self.flat = Memory("f", (2 * width,))
        self.rows = Memory("h", (width, 8), "f16")
        self.source = Memory("in", (16 * width,), shared=False)
        self.halves = Memory("hin", (16 * width,), "f16", shared=False)
        self.out = Memory("out", (2 * width,), shared=False)
        self.names = 0
        self.open = False

    def kernel(self) -> Kernel:
        body = self.free() if self.draw.random() < 0.4 else self.pipeline()
        memories = [self.ring, self.flat, self.rows, self.source, self.halves, self.out]
        flags = [self.draw.randrange(2) for _ in range(128)]
        size = self.draw.randrange(8) if self.open else None
        return Kernel(self.threads, self.blocks, memories, body, self.cluster, flags, size)

    def name(self) -> str:
        self.names += 1
        return f"k{self.names}"

    # ---- indices --------------------------------------------------------------------------------------------------------------

    def element(self, around: tuple[str, ...], size: int, count: int = 1) -> Expr:
        """Mostly a thread's own one."""
        many, draw = size // count, self.draw
        turned = f"( t + {draw.randrange(1, 4)} ) mod {self.threads}"
        ways = ["t"] * 6 + [turned, turned, f"{self.threads - 1} - t", "t floordiv 2", "0"]
        if around:
            k = draw.choice(around)
            ways += [f"t + {self.threads} * ( {k} mod 2 )", f"( t + {k} ) mod {self.threads}"]
        return Expr(f"( ( {draw.choice(ways)} ) mod {many} ) * {count}")

    def stage(self, around: tuple[str, ...], shift: int = 0) -> Expr:
        if not around or self.draw.random() < 0.1:
            return Expr(str(self.draw.randrange(self.stages)))
        return Expr(f"( {around[-1]} + {shift} ) mod {self.stages}")

    # ---- free ones ------------------------------------------------------------------------------------------------------------

    def free(self) -> list[Node]:
        body = self.sequence((), self.draw.randint(4, 9), 0, together=True)
        return [Sync("commit"), *body, Sync("wait"), Sync("barrier"), *self.some_reads()]

    def some_reads(self) -> list[Node]:
        return [self.use(("load",), ()) for _ in range(self.draw.randrange(3))]

    def sequence(self, around: tuple[str, ...], items: int, depth: int, *, together: bool) -> list[Node]:
        return [node for _ in range(items) for node in self.item(around, depth, together=together)]

    def item(self, around: tuple[str, ...], depth: int, *, together: bool) -> list[Node]:
        """`together`: all threads are here."""
        draw, kind = self.draw, self.draw.random()
        if kind < 0.12 and depth < 2:
            return [self.loop(around, depth, together=together)]
        if kind < 0.24 and depth < 2:
            return [self.condition(around, depth, together=together)]
        if kind < 0.30 and together and self.threads % WARP == 0:
            return [draw.choice([Sync("warp"), Matrices(self.rows, self.matrix_rows(), draw.choice([1, 2, 4]))])]
        if kind < 0.48 and together:
            return [Sync("barrier", fence=draw.choice(KEPT))]
        if kind < 0.60:
            return [Sync("wait", draw.choice([0, 0, 0, 1, 1, 2, None]))]
        if kind < 0.80:
            return [self.copy(around), *([Sync("commit")] if draw.random() < 0.8 else [])]
        return [self.use(("load", "load", "store", "store", "atomic"), around)]

    def matrix_rows(self) -> Expr:
        return Expr(self.draw.choice(["t", "t", f"( t + 1 ) mod {self.threads}", "t mod 8", f"{self.threads - 1} - t"]))

    def loop(self, around: tuple[str, ...], depth: int, *, together: bool) -> For:
        k, trips = self.name(), self.draw.randrange(5)
        low = self.draw.choice(["0", "0", "0", "t mod 2"])  # or each thread has trips of its own
        body = self.sequence((*around, k), self.draw.randint(1, 4), depth + 1, together=together and low == "0")
        return For(k, Expr(low), (Expr(str(trips)),), 1, body)

    def condition(self, around: tuple[str, ...], depth: int, *, together: bool) -> Node:
        draw = self.draw
        if around and draw.random() < 0.5:
            then, other = (self.sequence(around, n, 2, together=together) for n in (draw.randint(1, 3), draw.randrange(2)))
            return If(Expr(f"{draw.choice(around)} + {draw.randrange(2)}"), Expr(str(draw.randrange(4))), then, other)
        if draw.random() < 0.25:
            return Told(Expr(draw.choice(["0", "t"])), self.sequence(around, draw.randint(1, 2), 2, together=False))
        then, other = (self.sequence(around, n, 2, together=False) for n in (draw.randint(1, 2), draw.randrange(2)))
        left = draw.choice(["t", "t mod 2", "t floordiv 2"])
        return If(Expr(left), Expr(str(draw.randint(1, max(1, self.threads // 2)))), then, other)

    def use(self, kinds: tuple[str, ...], around: tuple[str, ...]) -> Use:
        draw, what = self.draw, self.draw.choice(kinds)
        memory = draw.choice([self.ring, self.ring, self.flat, self.flat, self.rows, self.source, self.out])
        count = 1 if what == "atomic" or draw.random() < 0.7 else 2
        if memory is self.ring:
            return Use(what, memory, (self.stage(around), self.element(around, self.threads, count)), count)
        if memory is self.rows:
            wide = draw.choice([8, 8, 8, 2, 1])
            column = Expr(str(wide * draw.randrange(8 // wide)))
            return Use("load" if what == "atomic" else what, memory, (self.element(around, self.threads), column), wide)
        if memory is self.out or memory is self.source:
            if what == "load":
                memory = self.source
            apart = 0 if draw.random() < 0.4 else self.threads  # of two blocks
            at = self.element(around, self.threads, count).text + f" + {apart} * b"
            return Use(what, memory, (Expr(at),), count)
        return Use(what, memory, (self.element(around, 2 * self.threads, count),), count)

    def copy(self, around: tuple[str, ...]) -> Copy:
        draw = self.draw
        count = draw.choice([1, 1, 1, 2 if self.threads % 2 == 0 else 1])
        begin = Expr(f"{self.element(around, self.threads, count).text} + {self.threads} * {draw.randrange(4)}")
        match draw.randrange(5):
            case 0:
                return Copy(self.flat, (self.element(around, 2 * self.threads, count),), self.source, begin, count)
            case 1:
                return Copy(self.rows, (self.element(around, self.threads), Expr("0")), self.halves, Expr("t * 8"), 8)
            case _:
                return Copy(self.ring, (self.stage(around), self.element(around, self.threads, count)), self.source, begin, count)

    # ---- pipelines ------------------------------------------------------------------------------------------------------------

    def pipeline(self) -> list[Node]:
        """Tiles are copied some stages ahead of where they are read."""
        draw, stages, ahead = self.draw, self.stages, max(self.stages - 1, 1)
        self.open = self.threads <= 8 and draw.random() < 0.25
        number = draw.choice([ahead, ahead + 1, ahead + 2, ahead + 4])
        tiles = "n" if self.open else str(number)
        shift = draw.choice([0, 1, 1, self.threads // 2])
        k, form = self.name(), draw.choice(["peeled", "if", "groups", "either", "inner", "laps"])

        def fill(stage: str, *, commit: bool = True) -> list[Node]:
            at, begin = Expr(f"( {stage} ) mod {stages}"), Expr(f"t + {self.threads} * ( ( {stage} ) mod 8 )")
            return [Copy(self.ring, (at, Expr("t")), self.source, begin), *([Sync("commit")] if commit else [])]

        def read(stage: str) -> Use:
            turned = Expr(f"( t + {shift} ) mod {self.threads}")
            return Use("load", self.ring, (Expr(f"( {stage} ) mod {stages}"), turned))

        def loop(name: str, trips: str, *body: Node) -> For:
            return For(name, Expr("0"), (Expr(trips),), 1, list(body))

        def when(left: str, right: str, then: list[Node], otherwise: list[Node] | None = None) -> If:
            return If(Expr(left), Expr(right), then, otherwise or [])

        if stages == 1:
            form = "single"
        head = [node for stage in range(ahead) if stage < number for node in fill(str(stage))]
        more, barrier = f"{k} + {ahead}", Sync("barrier")
        match form:
            case "single":
                body = [*fill(k), Sync("wait"), barrier, read(k), Sync("barrier")]
                nodes: list[Node] = [loop(k, tiles, *body)]
            case "peeled":
                body = [Sync("wait", ahead - 1), barrier, *fill(more), read(k)]
                last = [(Sync("wait", ahead - 1 - n), Sync("barrier"), read(f"{tiles} - {ahead} + {n}")) for n in range(ahead)]
                nodes = [*head, loop(k, f"{tiles} - {ahead}", *body), *(node for each in last for node in each)]
            case "if":
                body = [Sync("wait", draw.choice([0, None])), barrier, when(more, tiles, fill(more)), read(k)]
                nodes = [*head, loop(k, tiles, *body)]
            case "groups":
                body = [Sync("wait", ahead - 1), barrier, when(more, tiles, fill(more, commit=False)), Sync("commit"), read(k)]
                nodes = [*head, loop(k, tiles, *body)]
            case "either":
                chosen = when(more, tiles, [*fill(more), Sync("wait", ahead)], [Sync("wait")])
                nodes = [*head, loop(k, tiles, chosen, barrier, read(k), Sync("barrier"))]
            case "inner":  # a tile is two groups, one of them of another buffer
                j = self.name()
                own = Copy(self.flat, (Expr(f"t + {self.threads} * ( ( {more} ) mod 2 )"),), self.source, Expr("t"))
                several = loop(j, str(draw.randrange(3)), *fill(f"{more} + {j} * {stages}"))
                body = [Sync("wait"), barrier, several, own, Sync("commit"), read(k)]
                nodes = [*head, loop(k, tiles, *body)]
            case _:
                lap = self.name()
                body = [Sync("wait", ahead - 1), barrier, when(more, tiles, fill(more, commit=False)), Sync("commit"), read(k)]
                nodes = [loop(lap, str(draw.randint(1, 3)), Sync("wait"), Sync("barrier"), *head, loop(k, tiles, *body))]
        for _ in range(draw.choice([0, 0, 1, 1, 1, 2])):
            self.spoil(nodes)
        return nodes

    def spoil(self, nodes: list[Node]) -> None:
        """Change one thing somewhere."""
        draw = self.draw
        places: list[tuple[list[Node], tuple[str, ...]]] = []

        def find(body: list[Node], around: tuple[str, ...]) -> None:
            places.append((body, around))
            for node in body:
                if isinstance(node, For):
                    find(node.body, (*around, node.name))
                elif isinstance(node, If) and not node.left.text.startswith("t"):  # all threads are there
                    find(node.then, around)
                    find(node.otherwise, around)

        find(nodes, ())
        places = [place for place in places if place[0]]
        if not places:
            return
        body, around = draw.choice(places)
        at = draw.randrange(len(body))
        node = body[at]
        match draw.randrange(8):
            case 0:
                del body[at]
            case 1:
                other = draw.randrange(len(body))
                body[at], body[other] = body[other], body[at]
            case 2 if isinstance(node, Sync) and node.what == "wait":
                body[at] = Sync("wait", max(0, (node.pending or 0) + draw.choice([-1, 1])))
            case 3 if isinstance(node, Sync) and node.what == "barrier":
                body[at] = Sync("barrier", fence=draw.choice(KEPT))
            case 4 if isinstance(node, Copy | Use) and node.memory is self.ring:
                body[at] = replace(node, index=(node.index[0], self.element(around, self.threads)))
            case 5:
                use = self.use(("load", "store", "atomic"), around)
                body.insert(at, draw.choice([use, self.copy(around), Sync("commit"), Sync("wait", 1)]))
            case 6 if isinstance(node, Use | Copy) or (isinstance(node, Sync) and node.what in ("commit", "wait")):
                if around and draw.random() < 0.6:
                    body[at] = If(Expr(draw.choice(around)), Expr(str(draw.randint(1, 3))), [node], [])
                else:
                    body[at] = draw.choice([If(Expr("t"), Expr("1"), [node], []), Told(Expr("0"), [node])])
            case _:
                body.insert(at, node if isinstance(node, Sync) else Sync("barrier"))
