"""Random kernels in which warps exchange what they have: shuffles of all modes and widths behind one another, in loops and branches
that warps or blocks decide on, with barriers and a thread's own memory in between.

    RandomShuffles(7).module()                  # exchanging(…)
    RandomShuffles(7).module(torn=True)         # lanes decide where warps did
"""

from __future__ import annotations

import random

from shuffle_kernels import MODES, exchanging

WARPS = 3
HEAD = """
  %w3 = arith.constant 3 : i32
  %w4 = arith.constant 4 : i32
  %w16 = arith.constant 16 : i32
  %c3 = arith.constant 3 : index
  %own = memref.alloca() : memref<4xi32>
  memref.store %v, %own[%c1] : memref<4xi32>
  %o = arith.index_cast %tx : index to i32
  %turns = arith.addi {who}, %c1 : index
  %one = arith.cmpi eq, {who}, %c1 : index
  %bx = gpu.block_id x
  %all = arith.cmpi eq, %bx, %c0 : index
"""


class RandomShuffles:
    """One kernel. Each value is an i32, and may be computed from all those before it."""

    def __init__(self, seed: int) -> None:
        self.random, self.lines, self.count = random.Random(seed), list[str](), 0
        *_, last = pool = self._block(["%v", "%o", "%w3"], 3, barriers=True)
        self.lines.append(f"%r = arith.xori {last}, {self.random.choice(pool)} : i32")

    def module(self, *, torn: bool = False) -> str:
        who = "%lane" if torn else "%warp"
        return exchanging(HEAD.format(who=who) + "\n".join(self.lines), "i32", 32 * WARPS)

    def _fresh(self) -> str:
        self.count += 1
        return f"%x{self.count}"

    def _block(self, given: list[str], depth: int, *, barriers: bool) -> list[str]:
        """Some ops. `barriers`: all threads of the block come here."""
        pool, r = list(given), self.random
        kinds = [self._arithmetic, self._shuffle, self._shuffle, self._in_memory, *([self._if, self._for] if depth else [])]
        for _ in range(r.randint(2, 5)):
            if barriers and r.random() < 0.1:
                self.lines.append("gpu.barrier")
            pool += r.choice(kinds)(pool, depth, barriers)
        return pool

    def _arithmetic(self, pool: list[str], *_: object) -> list[str]:
        r, made = self.random, self._fresh()
        self.lines.append(f"{made} = arith.{r.choice(['addi', 'muli', 'subi', 'xori'])} {r.choice(pool)}, {r.choice(pool)} : i32")
        return [made]

    def _shuffle(self, pool: list[str], *_: object) -> list[str]:
        """Of a lane that is not in the group, another value."""
        r, got, valid, made = self.random, self._fresh(), self._fresh(), self._fresh()
        offset = r.choice(["%w1", "%w3", r.choice(pool)])
        self.lines += [
            f"{got}, {valid} = gpu.shuffle {r.choice(MODES)} {r.choice(pool)}, {offset}, %w{r.choice((4, 16, 32))} : i32",
            f"{made} = arith.select {valid}, {got}, {r.choice(pool)} : i32",
        ]
        return [made]

    def _in_memory(self, pool: list[str], *_: object) -> list[str]:
        """What a thread has stored is there behind the shuffle."""
        r, got, made = self.random, self._fresh(), self._fresh()
        self.lines += [
            f"memref.store {r.choice(pool)}, %own[%c1] : memref<4xi32>",
            f"{got}, {got}valid = gpu.shuffle xor {r.choice(pool)}, %w1, %w32 : i32",
            f"{made} = memref.load %own[%c1] : memref<4xi32>",
        ]
        return [got, made]

    def _if(self, pool: list[str], depth: int, barriers: bool) -> list[str]:
        made, by_block = self._fresh(), self.random.random() < 0.4
        self.lines.append(f"{made}:2 = scf.if {'%all' if by_block else '%one'} -> (i32, i32) {{")
        self._yield(pool, depth, barriers and by_block)
        self.lines.append("} else {")
        self._yield(pool, depth, barriers and by_block)
        self.lines.append("}")
        return [f"{made}#0", f"{made}#1"]

    def _for(self, pool: list[str], depth: int, barriers: bool) -> list[str]:
        r, made, by_block = self.random, self._fresh(), self.random.random() < 0.4
        turns, carried = "%c3" if by_block else "%turns", [f"{made}a", f"{made}b"]
        starts = ", ".join(f"{name} = {r.choice(pool)}" for name in carried)
        self.lines.append(f"{made}:2 = scf.for {made}i = %c0 to {turns} step %c1 iter_args({starts}) -> (i32, i32) {{")
        self._yield([*pool, *carried], depth, barriers and by_block)
        self.lines.append("}")
        return [f"{made}#0", f"{made}#1"]

    def _yield(self, pool: list[str], depth: int, barriers: bool) -> None:
        inside = self._block(pool, depth - 1, barriers=barriers)
        self.lines.append(f"scf.yield {self.random.choice(inside)}, {inside[-1]} : i32, i32")
