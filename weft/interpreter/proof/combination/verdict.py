"""The verdict on one shared result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ....dsl.records import record
from ...ir.mlir import ir
from .merges import changes_nothing, fits
from .partial import Doubt, Partial, Row
from .threads import Block, Threads

State = Literal["proven", "wrong", "assumed"]


@record
class Combined:
    """Whether a result combines the parts of exactly the stated threads, each once.

    Args:
        name: of the buffer of the result, where known.
        op: the op that creates a thread's part, with its location.
        state: `wrong` with a witness, or `assumed` with the reason why it could not be proven.
        why: the reason; empty if the result is proven.
        notes: the witness.
        words: the threads that contribute, as text.
    """

    name: str
    op: str
    state: State
    why: str = ""
    notes: tuple[str, ...] = ()
    words: str = ""


@dataclass
class Result:
    """A kernel's shared result, while the kernel is followed.

    Args:
        part: the array with a thread's part.
        stated: for each thread, the threads that contribute to its result.
        place: the location of the op that creates the part.
        words: `stated`, as text.
        combiner: the stated combiner as text, where there is one.

    Attributes:
        buffer: the buffer that holds the result.
        scan: it is a scan: a thread's result has the parts of the participants before it, in the
            order of their numbers, or of all participants. Rows have one more bit for the initial
            value, and one for the result of earlier rounds.
        writing: the last phase of a scan: each part holds the combination before the thread's own
            terms, and the thread iterates over these once more.
        begun: the op that first sets a part to an identity.
        contributing: the threads that reduce any term; the part of every other thread is the
            identity.
        written: by element, the threads that have combined the parts with the previous result.
        places: the threads that store a result, and for each thread the element that it stores, or
            would store; None: unknown.
        made: the threads with a part that is in the result of some thread.
        by: how terms and parts are combined.
        identities: constants taken for the identity, each with the text of what it initializes or
            replaces.
        faults: what is wrong or unproven, with a witness.
    """

    part: ir.Value
    stated: Sequence[Threads]
    place: str
    words: str
    combiner: str = ""
    buffer: str | None = None
    scan: bool = False
    writing: bool = False
    begun: ir.Operation | None = None
    contributing: Threads = 0
    written: dict[int, Threads] = field(default_factory=dict)
    made: Threads = 0
    places: list[tuple[Threads, list[tuple[int, ...]] | None]] = field(default_factory=list)
    by: set[str] = field(default_factory=set)
    identities: dict[tuple[ir.Attribute, str], None] = field(default_factory=dict)
    faults: list[tuple[Doubt, tuple[str, ...]]] = field(default_factory=list)

    def fail(self, why: str, *notes: str, sure: bool = True) -> None:
        """Records a fault, or, if it is not `sure`, an unproven fact."""
        self.faults.append((Doubt(why, sure), notes))

    def used(self, block: Block, value: Partial, active: Threads, op: str) -> None:
        """Checks that a value that these threads use as a result combines exactly the stated
        parts."""
        spoiled = value.bad & active
        if spoiled and value.fault is not None:
            self.fail(value.fault.why, f"{_thread(block, spoiled)} uses it in {op}", sure=value.fault.sure)
            return
        many = block.count
        if self.scan:
            return self._used_of_scan(block, value, active, op)
        cell = next((_lowest(row) // many for row in value.rows if row), 0)
        for t in block.members(active):
            wanted = (self.stated[t] & self.contributing) << (cell * many)
            if value.rows[t] != wanted:
                self._differs(block, t, value.rows[t], wanted, cell, op)
                return
        for t in block.members(active):
            self.made |= self.stated[t]
        self.by |= value.by

    def whole(self, block: Block, value: Partial, active: Threads) -> bool:
        """Whether the value is the complete result of these threads, without any other term."""
        if value.bad & active or value.source is None:
            return False
        rows, scanned = value.rows, (before_bit(block), rounds_bit(block))
        row = next((rows[t] for t in block.members(active) if rows[t]), 0)
        shift = 0 if self.scan or not row else (_lowest(row) // block.count) * block.count
        for t in block.members(active):
            row, extra, wanted = rows[t], 0, (self.stated[t] & self.contributing) << shift
            if self.scan:
                row, extra = row & block.every, row & ~block.every
                wanted = self._of_scan(t, row)
            if row != wanted or (self.scan and extra not in scanned):
                return False
        return True

    def _of_scan(self, t: int, tokens: Row) -> Threads:
        """The parts in a complete value of a scan: all of them, if the value includes the thread's
        own part; else the parts of the threads before it."""
        every = self.stated[t] & self.contributing
        return every if tokens >> t & 1 else every & ((1 << t) - 1)

    def _used_of_scan(self, block: Block, value: Partial, active: Threads, op: str) -> None:
        """Checks that a scan's value combines the initial value, once, with all terms or with the
        terms before a thread's own."""
        for t in block.members(active):
            row, tokens = value.rows[t], value.rows[t] & block.every
            wanted = self._of_scan(t, tokens)
            if tokens != wanted:
                return self._differs(block, t, tokens, wanted, 0, op)
            if row & ~block.every not in (before_bit(block), rounds_bit(block)):
                what = "twice" if row & ~block.every else "not"
                return self.fail(
                    f"thread {block.ids[t]} combines the initial value {what}", f"its result is used in {op}"
                )
            self.made |= self.stated[t]
        self.by |= value.by
        return None

    def aged(self, block: Block, value: Partial) -> Partial:
        """A value that is kept in a new round: the combination of all threads becomes the result of
        earlier rounds."""
        rows, spoiled, both = list(value.rows), 0, (before_bit(block), rounds_bit(block))
        for t, row in enumerate(rows):
            if tokens := row & block.every:
                whole = self.scan and tokens == self.stated[t] & self.contributing and row & ~block.every in both
                rows[t] = rounds_bit(block) if whole else 0
                spoiled |= 0 if whole else 1 << t
        return replace(value, rows=rows).spoiled(spoiled, Doubt("parts of an earlier round are combined", sure=True))

    def _differs(self, block: Block, t: int, row: Row, wanted: Row, cell: int, op: str) -> None:
        """Reports a thread with a wrong result, and a part that it lacks or has by mistake."""
        own, many = f"thread {block.ids[t]}", block.count
        if extra := row & ~wanted:
            which = _lowest(extra)
            other = block.ids[which % many]
            part = (
                f"the part of thread {other}"
                if which // many == cell
                else f"element {which // many} of that of thread {other}"
            )
            why = (
                "which takes no part in its result" if which // many == cell else f"which is none of its element {cell}"
            )
            message = f"{own} combines {part}, {why}"
        else:
            missing = wanted & ~row
            which = _lowest(missing)
            message = f"{own} leaves out the part of thread {block.ids[which % many]}, which takes part in its result"
        self.fail(message, f"stated: {self.words}", f"its result is used in {op}")

    def stored(self, block: Block, value: Partial, active: Threads, op: str) -> None:
        """Records that these threads store the previous result combined with parts, once each."""
        row = next((value.rows[t] for t in block.members(active) if value.rows[t]), 0)
        cell = _lowest(row) // block.count if row else 0
        if self.scan:
            return
        if again := self.written.get(cell, 0) & active:
            self.fail(f"{_thread(block, again)} combines the parts with its result twice", f"the second time in {op}")
        self.written[cell] = self.written.get(cell, 0) | active

    def verdict(self, block: Block, reason: str | None) -> Combined:
        """The final verdict. `reason`: why the kernel was not followed to its end; None if it
        was."""
        if reason is None:
            self._finish(block)
        wrong = next(((f, notes) for f, notes in self.faults if f.sure), None)
        open_ = next(iter(self.faults), None)
        if wrong is not None:
            return Combined(self.buffer or "part", self.place, "wrong", wrong[0].why, wrong[1], self.words)
        if reason is not None or open_ is not None:
            why = reason if reason is not None else open_[0].why if open_ is not None else ""
            return Combined(
                self.buffer or "part", self.place, "assumed", why, () if open_ is None else open_[1], self.words
            )
        return Combined(self.buffer or "part", self.place, "proven", words=self.words)

    def _finish(self, block: Block) -> None:
        if not self.contributing:
            self.fail("no thread has anything to combine", sure=False)
        left = self.contributing & ~self.made
        for active, places in self.places:  # a result common to several threads is stored by one of them
            if places is not None:
                stored = {places[t] for t in block.members(active)}
                left &= ~block.those(place in stored for place in places)
            elif active:
                left = 0
        if left and not self.faults:
            self.fail(f"no result has the part of {_thread(block, left)}", f"stated: {self.words}")
        fitting = {by: fits(by, self.combiner) for by in self.by} if self.combiner else {}
        if other := next((by for by, fit in fitting.items() if fit is False), None):
            self.fail(f"parts are combined by {other}, and the stated combiner is {self.combiner}")
        elif len(self.by) > 1:  # perhaps a formula that is not recognized
            self.fail(
                f"parts are combined in several ways: {', '.join(sorted(self.by))}", sure=None not in fitting.values()
            )
        for by in self.by if len(self.by) == 1 else ():
            for constant, where in self.identities:
                if not changes_nothing(constant, by):
                    self.fail(f"{constant} is not the identity of {by}", where)


def _lowest(row: Row) -> int:
    return (row & -row).bit_length() - 1


def before_bit(block: Block) -> Row:
    """The bit of a scan's rows for the initial value."""
    return 1 << block.count


def rounds_bit(block: Block) -> Row:
    """The bit of a scan's rows for the result of earlier rounds."""
    return 2 << block.count


def _thread(block: Block, threads: Threads) -> str:
    """The first of some threads, as text."""
    return f"thread {block.ids[block.members(threads)[0]]}"
