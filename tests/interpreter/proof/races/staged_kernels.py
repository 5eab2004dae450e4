"""Random kernels of the kind schedules make: operands staged per step, double buffers, ragged sizes, several blocks."""

from __future__ import annotations

from random_kernels import Access, Buffer, Expr, For, If, Kernel, Maker, Node


class StagedMaker(Maker):
    """A k loop that fills tiles of shared memory and reads them, in one or two buffers, then perhaps an exchange."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, candidates=True)
        choose = self.random.choice
        self.grid = choose([1, 1, 2, 3])
        self.trips = self.random.randint(1, 4)
        self.size = choose([self.threads, self.threads + 3, 2 * self.threads, 2 * self.threads - 1, 5])
        self.total = max(1, self.trips * self.size - choose([0, 0, 1, self.size // 2]))
        self.slots = choose([1, 1, 2])
        self.ways = [choose(["block", "cyclic", "block-cyclic"]) for _ in range(2)]
        self.tiles = [Buffer(f"s{i}", (self.slots, self.size), "workgroup") for i in range(choose([1, 1, 2]))]
        self.extra = Buffer("t", (self.size,), "workgroup")
        self.source = Buffer("g", (self.grid * self.trips * self.size,), "global")
        self.result = Buffer("out", (self.grid * self.size,), "global")
        self.buffers = [*self.tiles, self.extra, self.source, self.result]

    def kernel(self) -> Kernel:
        body: list[Node] = []
        prefetch = self.slots == 2 and self.random.random() < 0.5
        if self.random.random() < 0.6:
            body += [self.spread([self.write(self.result, self.own())]), self.barrier()]
        if prefetch:
            body += [*(self.spread([self.write(tile, "0", "e")]) for tile in self.tiles), self.barrier()]
        body.append(For("k", Expr("0"), (Expr(str(self.trips)),), 1, self.step(prefetch)))
        if self.random.random() < 0.4:
            body += [self.barrier(), self.spread([self.write(self.extra, "e")]), self.barrier()]
            body.append(self.spread([self.read(self.extra, self.moved()), self.write(self.result, self.own())]))
        return Kernel(self.block, self.buffers, body, self.accesses, self.grid)

    def step(self, prefetch: bool) -> list[Node]:
        """One step of the k loop: fill, then use."""
        now = "0" if self.slots == 1 else "k mod 2"
        target = "( k + 1 ) mod 2" if prefetch else now
        out: list[Node] = []
        for tile in self.tiles:
            load: list[Node] = [self.read(self.source, f"( bx * {self.total} + k * {self.size} + e ) mod {self.source.shape[0]}")]
            filled: list[Node] = [*load, self.write(tile, target, "e")]
            beyond: list[Node] = [] if self.random.random() < 0.15 else [self.write(tile, target, "e")]
            out += [self.barrier(), self.spread([If(Expr(f"k * {self.size} + e"), Expr(str(self.total)), filled, beyond)])]
        use: list[Node] = [self.read(tile, now, self.moved()) for tile in self.tiles]
        if self.random.random() < 0.6:
            use += [self.read(self.result, self.own()), self.write(self.result, self.own())]
        return [*out, self.barrier(), self.spread(use), self.barrier()]

    def own(self) -> str:
        """An element of the result; seldom one that all blocks share."""
        return "e" if self.grid > 1 and self.random.random() < 0.04 else f"bx * {self.size} + e"

    def moved(self) -> str:
        n = self.size
        return self.random.choice(["e", "e", f"( e + 1 ) mod {n}", f"{n - 1} - e", f"( e + tx ) mod {n}", "e floordiv 2"])

    def read(self, buffer: Buffer, *index: str) -> Access:
        return self._made(buffer, False, index)

    def write(self, buffer: Buffer, *index: str) -> Access:
        return self._made(buffer, True, index)

    def _made(self, buffer: Buffer, write: bool, index: tuple[str, ...]) -> Access:
        made = Access(len(self.accesses), write, buffer, tuple(Expr(i) for i in index))
        self.accesses.append(made)
        return made

    def spread(self, body: list[Node]) -> Node:
        """A loop over the elements of a tile, each of which one thread does."""
        way, count = self.random.choice(self.ways), str(self.size)
        if way == "cyclic":
            return For("e", Expr(self.linear), (Expr(count),), self.threads, body)
        if way == "block":
            chunk = -(-self.size // self.threads)
            low, high = f"( {self.linear} ) * {chunk}", f"( {self.linear} ) * {chunk} + {chunk}"
            return For("e", Expr(low), (Expr(high), Expr(count)), 1, body)
        inner = For("e", Expr("o"), (Expr("o + 2"), Expr(count)), 1, body)
        return For("o", Expr(f"( {self.linear} ) * 2"), (Expr(count),), self.threads * 2, [inner])
