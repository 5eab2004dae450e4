"""Executes the part of a kernel's machine code that determines its time: branches and addresses;
threads in lockstep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...dsl.diagnostics import WeftError, fail
from ...interpreter.hardware.limits import NUMBERED, WARP
from .integers import COMPUTES, GRANTED, Outcome
from .operands import Grid, Registers, Value, address, read
from .registers import named_in, read_by, unknown_results
from .sass import Disassembly, MachineInstruction
from .signals import SIGNALS, signal
from .tracks import Trace, Track, joined
from .warp_operations import TOGETHER, per_warp

MOST = 30_000_000
"""The maximum number of instructions that a warp executes."""

MEMORY = frozenset(["LDS", "STS", "LDSM", "LDG", "STG", "LDGSTS", "ATOMS", "ATOMG", "RED", "LD", "ST", "STSM"])
FENCES = frozenset(["MEMBAR"])
MEETINGS = frozenset(["BAR"])
NOTED = MEMORY | SIGNALS | FENCES | MEETINGS
"""Instructions for which a track records the effect and the participating threads."""
JUMPS = frozenset(["BRA", "EXIT", "BAR", "CALL", "RET", "BRX", "JMP"])


class _Accessed(Exception):
    """Raised at a memory access, with the mask of the accessing threads."""


def working(program: Disassembly, grid: Grid) -> list[tuple[int, int, int]]:
    """The blocks that access memory at all: the others have no tile to process."""
    found, left = [False] * len(grid.blocks), list(range(len(grid.blocks)))
    while left:
        some = Execution(program, replace(grid, blocks=[grid.blocks[n] for n in left]))
        accessing, left_over = some.first_accesses()
        for n in accessing:
            found[left[n]] = True
        left = [left[n] for n in left_over]
    return [block for block, works in zip(grid.blocks, found, strict=True) if works]


class Execution:
    """The execution of all threads of the blocks, padded to whole warps; a value's array has one
    lane per thread."""

    def __init__(self, program: Disassembly, grid: Grid) -> None:
        self.program, self.grid = program, grid
        linear = (np.array(grid.numbers)[:, None] * WARP + np.arange(WARP)).ravel()
        lanes = len(linear)
        x, y, _ = grid.block
        inside = linear < grid.threads
        count = len(grid.blocks)
        thread = {"X": linear % x, "Y": linear // x % y, "Z": linear // (x * y)}
        specials: dict[str, Value] = {f"SR_TID.{n}": _uniform(np.tile(v, count)) for n, v in thread.items()}
        for at, name in enumerate("XYZ"):
            specials[f"SR_CTAID.{name}"] = _uniform(np.repeat([b[at] for b in grid.blocks], lanes))
        ranks = _uniform(np.repeat(grid.ranks, lanes))
        specials |= {"SRZ": 0, "SR_CgaCtaId": ranks, "SR_LANEID": np.tile(linear % WARP, count)}
        self.state = Registers(dict(grid.constants), specials)
        self.alive = np.tile(inside, count)
        self.unknown: set[int] = set()
        self.probing = False
        self.does = [self._doer(at, one) for at, one in enumerate(program.instructions)]
        self.plain = self._stretches()

    def first_accesses(self) -> tuple[list[int], list[int]]:
        """Executes all threads until they access memory.

        Returns the numbers of the blocks that do, and of the blocks that stopped undecided because
        threads of other blocks in their group accessed memory.
        """
        self.probing = True
        count = len(self.grid.blocks)
        accessing, along = np.zeros(count, bool), np.zeros(count, bool)
        waiting: dict[int, np.ndarray] = {0: self.alive}
        while waiting:
            at = min(waiting)
            lanes = waiting.pop(at)
            try:
                for target, part in self._advance(at, lanes, Track(), min(waiting, default=None)).items():
                    waiting[target] = waiting[target] | part if target in waiting else part
            except _Accessed as access:
                accessing |= np.broadcast_to(access.args[0], lanes.shape).reshape(count, -1).any(axis=1)
                along |= lanes.reshape(count, -1).any(axis=1)
        return np.flatnonzero(accessing).tolist(), np.flatnonzero(along & ~accessing).tolist()

    def run(self) -> Trace:
        """Executes all threads to their ends. The group with the lowest instruction index runs
        first, so that diverged threads converge again.

        Raises:
            WeftError: W0782 if a branch depends on data, or if a needed value is unknown.
        """
        total = self.grid.warps * len(self.grid.blocks)
        tracks: dict[bytes, list[Track]] = {}
        pieces: list[tuple[np.ndarray, Track]] = []
        waiting: dict[int, np.ndarray] = {0: self.alive}
        while waiting:
            at = min(waiting)
            lanes = waiting.pop(at)
            warps = np.asarray(lanes.reshape(total, WARP).any(axis=1))
            track = Track()
            pieces.append((warps, track))
            for target, part in self._advance(at, lanes, track, min(waiting, default=None)).items():
                waiting[target] = waiting[target] | part if target in waiting else part
        found: list[Track] = []
        for warp in range(total):
            mine = [track for warps, track in pieces if warps[warp]]
            key = b"".join(id(track).to_bytes(8, "little") for track in mine)
            if key not in tracks:
                tracks[key] = mine if len(mine) < 2 else [joined(mine)]
            found.append(tracks[key][0] if tracks[key] else Track())
        return Trace(found, frozenset(self.unknown))

    def _advance(self, at: int, lanes: np.ndarray, track: Track, stop: int | None) -> dict[int, np.ndarray]:
        """Executes one group of threads from `at` until it diverges, ends, or reaches another group
        at `stop`.

        Returns instruction index → mask of the threads that continue there.
        """
        whole = bool(lanes.all())
        code, places, active, does, instructions = (
            track.code,
            track.places,
            track.active,
            self.does,
            self.program.instructions,
        )
        self.lanes: np.ndarray | None = None if whole else lanes
        while True:
            if len(code) > MOST:
                raise self._refused(f"a warp executes more than {MOST:,} instructions")
            if (stretch := self.plain[at]) is not None and self.lanes is None and (stop is None or stop >= stretch[0]):
                end, lost = stretch
                code.extend(range(at, end))
                places.extend([None] * (end - at))
                active.extend([None] * (end - at))
                self.state.registers.update(lost)
                at = end
                if stop is not None and at >= stop:
                    return {at: lanes}
                continue
            do = does[at]
            one = instructions[at]
            place: Value = None
            if do is not None:
                if one.mnemonic in NOTED:
                    place = do()
                elif one.mnemonic in JUMPS:
                    code.append(at)
                    places.append(None)
                    active.append(None)
                    taken, target = do()
                    if taken is True or taken is None:
                        if target is None:
                            return {}
                        at = target
                    elif taken is False:
                        at += 1
                    else:
                        there, here = lanes & taken, lanes & ~taken
                        split = {at + 1: here} if here.any() else {}
                        if target is not None and there.any():
                            split[target] = there
                        if len(split) == 1 and target is not None:
                            ((at, lanes),) = split.items()
                            continue
                        return split
                    if stop is not None and at >= stop:
                        return {at: lanes}
                    continue
                else:
                    do()
            code.append(at)
            if place is not None:
                places.append(place[0])
                active.append(place[1])
            else:
                places.append(None)
                active.append(None)
            at += 1
            if stop is not None and at >= stop:
                return {at: lanes}

    def _stretches(self) -> list[tuple[int, Outcome] | None]:
        """For each instruction that begins a stretch of instructions with unknown results: the end
        of the stretch, and the registers it writes."""
        found: list[tuple[int, Outcome] | None] = [None] * (len(self.does) + 1)
        starts = {*self.program.labels.values()}
        for at in range(len(self.does) - 1, -1, -1):
            one = self.program.instructions[at]
            if one.predicate is None and one.mnemonic not in NOTED | JUMPS | COMPUTES.keys() | TOGETHER.keys():
                lost = unknown_results(one)
                if any(name.lstrip("U").startswith("P") for name in lost):
                    continue
                behind = found[at + 1] if at + 1 not in starts else None
                found[at] = (behind[0], behind[1] | lost) if behind is not None else (at + 1, lost)
        return found

    # ---- what each instruction does --------------------------------------------------------------

    def _doer(self, at: int, one: MachineInstruction) -> Callable[[], Any] | None:
        if one.mnemonic in MEMORY:
            text = next((a for a in reversed(one.arguments) if "[" in a and not a.startswith("c[")), None)
            lost = unknown_results(one)
            return lambda: self._access(at, one, text, lost)
        if one.mnemonic in SIGNALS:
            return lambda: self._signal(one)
        if one.mnemonic in FENCES:
            return lambda: (0, self._taking(one))
        if one.mnemonic in TOGETHER:
            return lambda: self._together(one)
        if one.mnemonic in JUMPS:
            return (lambda: self._meeting(one)) if one.mnemonic in MEETINGS else lambda: self._jump(at, one)
        if (compute := COMPUTES.get(one.mnemonic)) is not None:
            names = read_by(one) if one.mnemonic not in GRANTED else frozenset[str]()
            return lambda: self._store(one, compute(self.state, one), names)
        lost = unknown_results(one)
        registers = self.state.registers
        if not lost:
            return None
        if one.predicate is None and all(name[0] in "UR" and not name.startswith("UP") for name in lost):
            return lambda: registers.update(lost)
        return lambda: self._store(one, lost)

    def _guard(self, one: MachineInstruction) -> Value:
        return True if one.predicate is None else read(self.state, one.predicate)

    def _store(self, one: MachineInstruction, outcome: Outcome, names: frozenset[str] = frozenset()) -> None:
        """Writes the results of an instruction. `names`: the registers and predicates from which
        they are computed."""
        guard, mask = self._guard(one), self.lanes
        if guard is False:
            return
        if isinstance(guard, np.ndarray):
            mask = guard if mask is None else mask & guard
        known = self.state.known_of(names)
        certain = self.state.known_of(named_in(one.predicate)) if one.predicate is not None else None
        for name, value in outcome.items():
            if name not in ("RZ", "URZ", "PT", "UPT"):
                self.state.put(name, None if guard is None else value, mask, known, certain)

    def _access(self, at: int, one: MachineInstruction, text: str | None, lost: Outcome) -> tuple[Value, Value]:
        """The address that each thread accesses, and the mask of the accessing threads. `text`: the
        operand of the address."""
        guard = self._guard(one)
        if guard is False:
            return 0, False
        place = address(self.state, text) if text is not None else None
        if not self._sure(one.predicate or "", True):
            guard = None
        mask = True if guard is None else guard
        if self.lanes is not None:
            mask = self.lanes & mask
        if place is None or not self._sure(text or "", mask):
            self.unknown.add(at)
            place = None
        if self.probing and np.any(mask):
            raise _Accessed(mask if self.lanes is None else self.lanes & mask)
        if lost:
            self._store(one, lost)
        return place, mask

    def _meeting(self, one: MachineInstruction) -> tuple[Value, Value]:
        """The participants of a block barrier: the number of threads times 16, plus the barrier's
        number; 0 for the whole block."""
        if "SYNC" not in one.modifiers or len(one.arguments) != 2:
            return 0, True
        number, threads = (read(self.state, text) for text in one.arguments)
        if number is None or threads is None:
            raise self._refused(f"the participants of `{one.mnemonic}` at {one.address:#x} depend on data")
        return threads * NUMBERED + number, True

    def _taking(self, one: MachineInstruction) -> np.ndarray:
        """The mask of the threads that execute the instruction; an unknown guard counts as true."""
        guard, lanes = self._guard(one), self.alive if self.lanes is None else self.lanes
        return lanes if guard is None else lanes & guard

    def _signal(self, one: MachineInstruction) -> tuple[Value, Value]:
        """The effect on a memory barrier, and the mask of the executing threads. A wait succeeds at
        once here: its time is determined when clocks are counted."""
        guard = self._guard(one)
        mask = (self.alive if self.lanes is None else self.lanes) & (guard is None or guard)
        found = signal(self.state, one, self.grid.boxes, int(mask.argmax()))
        if guard is None or found is None:
            raise self._refused(f"the effect of `{one.mnemonic}` at {one.address:#x} depends on data")
        if self.probing and np.any(mask):
            raise _Accessed(mask)
        if found.kind == "wait":
            self._store(one, {one.arguments[0]: True})
        return found, mask

    def _together(self, one: MachineInstruction) -> None:
        """Executes a warp-wide operation.

        The results of `ELECT` and the non-uniform results of `R2UR` are written in the executing
        threads, all others in all threads of their warps.
        """
        guard = self._guard(one)
        going = self.alive if self.lanes is None else self.lanes
        lanes = going if guard is None else going & guard
        warps = np.repeat(lanes.reshape(-1, WARP).any(axis=1), WARP)
        for name, value in per_warp(self.state, one, lanes.reshape(-1, WARP)).items():
            of_threads = one.mnemonic == "ELECT" or (one.mnemonic == "R2UR" and not name.startswith("U"))
            self.state.put(name, None if guard is None else value, lanes if of_threads else warps, None, None)

    def _sure(self, text: str, mask: Value) -> bool:
        """Whether all registers and predicates named in `text` are known for all threads of `mask`
        that execute."""
        known = self.state.known_of(named_in(text))
        lanes = self.alive if self.lanes is None else self.lanes
        return known is None or bool((known | ~(lanes & mask)).all())

    def _jump(self, at: int, one: MachineInstruction) -> tuple[Value, int | None]:
        """The mask of the threads that take a branch (None: all), and its target."""
        far = one.mnemonic == "CALL" and one.target is not None  # a label of the kernel, too far for a branch
        if one.mnemonic not in ("BRA", "EXIT") and not far:
            raise self._refused(f"the target of the jump `{one.mnemonic}` is not known")
        if one.target is not None and self.program.labels[one.target] == at + 1:
            return False, None  # the next instruction in any case
        taken: Value = self._guard(one)
        for text in one.arguments:
            if text.lstrip("!U").startswith("P"):
                flag = read(self.state, text)
                taken = None if taken is None or flag is None else taken & flag
        if taken is None or not self._sure(f"{one.predicate} {one.operands}", True):
            if one.target is not None and self._is_slow(at + 1):
                return True, self.program.labels[one.target]
            raise self._refused(
                f"the branch at {one.address:#x} depends on data, or on an instruction that is not executed here"
            )
        taken = _same(taken)
        if one.mnemonic == "EXIT":
            return taken, None
        return taken, self.program.labels[one.target] if one.target is not None else None

    def _is_slow(self, at: int) -> bool:
        """Whether the code from `at` on is the compiler's call of the slow path for a reciprocal or
        a root of a tiny or huge number.

        As for quotients (`FCHK`), such numbers are assumed not to occur.
        """
        near = self.program.instructions[at : at + 4]
        jumps = [one for one in near if one.mnemonic in JUMPS]
        return bool(jumps) and jumps[0].mnemonic == "CALL" and "_slowpath" in jumps[0].operands

    def _refused(self, message: str) -> WeftError:
        hint = (
            "measure this kernel on a GPU (`weft bench`), or run it by `--target sim`: the prediction follows only"
            " branches that sizes and indices decide"
        )
        return fail("W0782", f"the time of `{self.program.name}` is not predicted: {message}", hint=hint)


def _same(flag: Value) -> Value:
    """A predicate, reduced to a single value if it is the same for all threads."""
    if isinstance(flag, np.ndarray):
        return bool(flag[0]) if bool((flag == flag[0]).all()) else flag
    return bool(flag)


def _uniform(values: np.ndarray) -> Value:
    return int(values[0]) if bool((values == values[0]).all()) else values
