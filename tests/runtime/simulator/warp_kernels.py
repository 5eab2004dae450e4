"""Kernels whose warps have barriers of their own: threads store and load elements of shared memory, their own, another lane's,
another warp's, in branches and loops that warps decide on.

    staged("nvvm.bar.warp.sync %all : i32", "%tx")     # by hand: store S[tx], this, load S[%tx]
    RandomWarps(7).module()                            # with barriers of the warp and of the block anywhere, right or not
"""

from __future__ import annotations

import random

from shuffle_kernels import exchanging

SYNC = "nvvm.bar.warp.sync %all : i32"
ONE_WARP = f"%one = arith.cmpi eq, %warp, %c1 : index\nscf.if %one {{ {SYNC} }}"
HEAD = """
  %all = arith.constant -1 : i32
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %n = arith.constant {threads} : index
  %first = arith.muli %warp, %c32 : index
  %down = arith.subi %c31, %lane : index
  %mirrored = arith.addi %first, %down : index
  %up = arith.addi %lane, %c1 : index
  %turned = arith.remui %up, %c32 : index
  %next = arith.addi %first, %turned : index
  %ahead = arith.addi %tx, %c32 : index
  %over = arith.remui %ahead, %n : index
  %turns = arith.addi %warp, %c1 : index
  %fifth = arith.addi %first, %c5 : index
"""
ONE_TO_ONE = ("%tx", "%mirrored", "%next", "%over")
"""Indices that no two threads have: their own, those of other lanes, and of the warp behind."""


def in_shared(body: str, kind: str, threads: int) -> str:
    """`exchanging`, with a shared buffer `%S` of as many elements as there are threads, and what `HEAD` makes."""
    memory = f"memref<{threads}x{kind}, #gpu.address_space<workgroup>>"
    text = exchanging(HEAD.format(threads=threads) + body.replace("MEMORY", memory), kind, threads)
    return text.replace(") kernel attributes", f") workgroup(%S: {memory} {{weft.name = \"S\"}}) kernel attributes", 1)


def staged(sync: str, at: str = "%next") -> str:
    """Each of 64 threads stores what it has loaded, and loads S[`at`]."""
    return in_shared(f"memref.store %v, %S[%tx] : MEMORY\n{sync}\n%r = memref.load %S[{at}] : MEMORY", "f32", 64)


class RandomWarps:
    """One kernel of three warps. What is stored and loaded are i32."""

    def __init__(self, seed: int) -> None:
        self.random, self.lines, self.count = random.Random(seed), ["memref.store %v, %S[%tx] : MEMORY"], 0
        self.barriers = self.random.random() < 0.8
        last = self._block("%v", 2, everyone=True)
        self.lines.append(f"%r = arith.addi {last}, %v : i32")

    def module(self) -> str:
        return in_shared("\n".join(self.lines), "i32", 96)

    def _fresh(self) -> str:
        self.count += 1
        return f"%x{self.count}"

    def _block(self, value: str, depth: int, *, everyone: bool) -> str:
        """Some ops; the last value. `everyone`: all warps come here."""
        r = self.random
        for _ in range(r.randint(2, 4)):
            if r.random() < 0.8:
                self.lines.append("gpu.barrier" if everyone and r.random() < 0.3 else SYNC)
            kinds = [self._store, self._load, self._load]
            do = r.choice([*kinds, self._branch, self._loop] if depth else kinds)
            value = do(value, depth, everyone)
        return value

    def _store(self, value: str, depth: int, everyone: bool) -> str:
        at = self.random.choice(ONE_TO_ONE[: self.random.choice((1, 1, 3, 4))])
        self.lines.append(f"memref.store {value}, %S[{at}] : MEMORY")
        return value

    def _load(self, value: str, depth: int, everyone: bool) -> str:
        got, made = self._fresh(), self._fresh()
        at = self.random.choice((*ONE_TO_ONE[: self.random.choice((3, 3, 4))], "%fifth"))
        self.lines += [f"{got} = memref.load %S[{at}] : MEMORY", f"{made} = arith.addi {got}, {value} : i32"]
        return made

    def _branch(self, value: str, depth: int, everyone: bool) -> str:
        made, which, warp = self._fresh(), self._fresh(), self.random.choice(("%c0", "%c1"))
        self.lines += [f"{which} = arith.cmpi eq, %warp, {warp} : index", f"{made} = scf.if {which} -> i32 {{"]
        self.lines += [f"scf.yield {self._block(value, depth - 1, everyone=False)} : i32", "} else {"]
        self.lines += [f"scf.yield {value if self.random.random() < 0.5 else self._block(value, 0, everyone=False)} : i32", "}"]
        return made

    def _loop(self, value: str, depth: int, everyone: bool) -> str:
        made, carried, alike = self._fresh(), self._fresh(), self.random.random() < 0.4
        turns = "%c5" if alike else "%turns"
        self.lines.append(f"{made} = scf.for {made}i = %c0 to {turns} step %c1 iter_args({carried} = {value}) -> i32 {{")
        self.lines += [f"scf.yield {self._block(carried, depth - 1, everyone=alike and everyone)} : i32", "}"]
        return made
