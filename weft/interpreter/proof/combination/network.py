"""Abstract interpretation of a kernel, for all threads of a block at once, from each thread's part
of a reduction to the uses of the result.

    part[0] = identity; part[0] = part[0] + term            {t}: thread t's own
    v = part[0]; v = v + shuffle xor v, 16                  {t, t ^ 16}
    parts[t floordiv 32] = v; a barrier; v = parts[0] + …   the union over the writers of these elements
    result = result + v                                     must be exactly the stated set here

Values without parts are not followed. Between threads, program order is assumed: it holds where
there are no conflicts. A loop is iterated to a fixed point if no access of parts in it depends on
its counter; any other loop is followed iteration by iteration.

Source: Cousot and Cousot, "Abstract Interpretation"; the values are relations between threads and
contributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...hardware.lanes import SHUFFLE
from ...indices.linear import Depends, Formula, Linear, Symbol, less
from ...ir.mlir import ir, is_within, made_by, maker
from ...ir.refusing import describe
from .arithmetic import Arithmetic, Followed, unchanged
from .arrays import OTHER, Arrays
from .partial import Doubt, Partial
from .reached_ops import LOAD, STORE, Reached, array_of, continues, places_of
from .threads import Block, Blurred, Threads, Unfollowed
from .verdict import Result, before_bit

Numbers = list[int] | None
"""One per thread; None where unknown."""
MOST_ITERATIONS, MOST_OPS = 256, 40_000
"""Limits: iterations of a loop that are followed one by one, and ops followed in all loops
together."""


class Network(Arithmetic):
    """Follows one kernel.

    Args:
        kernel: the op.
        block: its threads.
        results: its shared results.
    """

    def __init__(self, kernel: ir.Operation, block: Block, results: Sequence[Result]) -> None:
        super().__init__(block, results)
        self.kernel = kernel
        self.sources = {result.part: number for number, result in enumerate(results)}
        self.reached = Reached(kernel, self.sources)
        for result in results:
            result.scan = result.part in self.reached.begins
        self._kept = {*self.reached.begins.values(), *self.reached.carried} & self.reached.arrays
        self._shared = {array for array in self.reached.arrays if made_by(array, "memref.alloca") is None}
        self._counters: dict[ir.Value, Symbol] = {}
        self._left = MOST_OPS
        self._sure = block.every
        """Of the threads that may execute the current op, those that surely do."""
        self._conditions = list[Formula]()
        """Conditions of the current branches."""
        self._started = dict[ir.Value, Threads]()
        """By array of results, the threads that have stored the initial value of their results."""
        self._started_if = dict[ir.Value, list[Formula]]()
        """By array of results, the conditions under which the last of these have."""

    def follow(self) -> None:
        """Follows the whole kernel. Raises `Unfollowed`."""
        self._region(self.kernel, 0, self.block.every)

    # ---- regions -----------------------------------------------------------------------------------------------------

    def _region(self, op: ir.Operation, number: int, active: Threads) -> None:
        for inner in self.reached.inside(op, number):
            self._op(inner, active)

    def _op(self, op: ir.Operation, active: Threads) -> None:
        self._left -= 1
        if not self._left:
            raise Unfollowed("its loops have too many iterations to follow them one by one")
        if op.name == "scf.for":
            self._for(op, active)
        elif op.name == "scf.if":
            self._if(op, active)
        elif len(op.regions):
            raise Unfollowed(f"parts are combined in {describe(op)}, which is not followed")
        elif op.name == LOAD:
            self._load(op, active)
        elif op.name == STORE:
            self._store(op, active)
        elif op.name == SHUFFLE:
            self.shuffle(op, active)
        elif len(op.results) and op.results[0] in self.sources:
            self._begin_round(self.sources[op.results[0]])
            self.memory.own[op.results[0]] = {}
        elif op.name != "scf.yield":
            self.compute(op, active)

    def _if(self, op: ir.Operation, active: Threads) -> None:
        may, must = self.truth(op.operands[0])
        unsure, condition = may & ~must & active, self.block.values.condition(op.operands[0])
        ways = [(0, may & active), (1, active & ~must)]
        before, ends, yielded = self.memory, list[Arrays](), list[list[Followed | None]]()
        sure = self._sure
        for number, threads in ways:
            self.memory = before.copy() if unsure else self.memory
            self._sure = sure & (~may if number else must)
            there = len(op.regions[number].blocks) > 0
            self._conditions.append(condition.negate() if number else condition)
            if threads and there:
                self._region(op, number, threads)
            self._conditions.pop()
            last = list(op.regions[number].blocks[0].operations)[-1] if there else None
            yielded.append([self.values.get(v) for v in last.operands] if last is not None and len(op.results) else [])
            ends.append(self.memory)
        self._sure = sure
        if unsure:
            self.memory = ends[0].joined(ends[1], unsure, self.sources)
            rest = self.block.every & ~may
            if rest & active:  # those that surely take the other path
                self.memory = (
                    self.memory if before.same(ends[1]) else ends[1].joined(self.memory, active & may, self.sources)
                )
        for result, *both in zip(op.results, *yielded, strict=True) if len(op.results) else ():
            self.bind(result, self.either(both[0], both[1], may & active, unsure))

    def _for(self, op: ir.Operation, active: Threads) -> None:
        body, inits = op.regions[0].blocks[0], list(op.operands)[3:]
        carried = list(body.arguments)[1:]
        low, high, step = (self.block.index(v) for v in list(op.operands)[:3])
        runs = None if low is None or high is None else self.block.those(a < b for a, b in zip(low, high, strict=True))
        if runs is None and less(*map(self.block.values.linear, list(op.operands)[:2])) in self._conditions:
            runs = self.block.every
        inside = active if runs is None else active & runs
        for argument, result, init in zip(carried, op.results, inits, strict=True):
            self.bind(argument, self.values.get(init))
            self.bind(result, self.values.get(init))
        if not inside:
            return
        sure, self._sure = self._sure, self._sure & (0 if runs is None else runs)
        try:
            self._followed(op, inside, carried, low, high, step, runs)
        finally:
            self._sure = sure

    def _followed(
        self,
        op: ir.Operation,
        inside: Threads,
        carried: Sequence[ir.Value],
        low: Numbers,
        high: Numbers,
        step: Numbers,
        runs: Threads | None,
    ) -> None:
        """A loop that some threads enter: to a fixed point, or iteration by iteration."""
        known = low is not None and high is not None and step is not None
        alike = known and all(len(set(ends or ())) == 1 for ends in (low, high, step))
        each = range(low[0], high[0], step[0]) if alike and low and high and step and step[0] > 0 else None
        if self._depends_on_counter(op):
            return self._one_by_one(op, inside, carried, each)
        before, outer = self._moment(), dict(self.block.at)
        try:
            self._until_nothing_changes(op, inside, carried, sure=runs is not None)
        except Blurred:
            if each is None or len(each) > MOST_ITERATIONS:
                raise
            self._return_to(before)
            self.block.at = outer
            self._one_by_one(op, inside, carried, each)
        return None

    def _one_by_one(self, op: ir.Operation, inside: Threads, carried: Sequence[ir.Value], each: range | None) -> None:
        if each is None:
            raise Blurred(f"it is not known how often {describe(op)} runs, and each iteration accesses other parts")
        if len(each) > MOST_ITERATIONS:
            raise Blurred(f"{describe(op)} has {len(each)} iterations, and each accesses other parts")
        symbol = self._counters[op.regions[0].blocks[0].arguments[0]]
        for number in each:
            self.block.at[symbol] = number
            self._iteration(op, inside, carried)
        del self.block.at[symbol]

    def _moment(self) -> tuple[Arrays, dict[ir.Value, Followed], list[Result]]:
        results = [
            replace(one, written=dict(one.written), by=set(one.by), faults=list(one.faults)) for one in self.results
        ]
        return self.memory.copy(), dict(self.values), results

    def _return_to(self, moment: tuple[Arrays, dict[ir.Value, Followed], list[Result]]) -> None:
        """Discards everything followed since `moment`, except for counters."""
        self.memory, self.values, results = moment
        for one, before in zip(self.results, results, strict=True):
            vars(one).update(vars(before))

    def _until_nothing_changes(
        self, op: ir.Operation, inside: Threads, carried: Sequence[ir.Value], *, sure: bool
    ) -> None:
        before = self.memory.copy()
        # an iteration cannot read the results of the previous one: its parts are begun anew, and it reads only elements that it
        # has written
        alone = not any(before.shared.values()) and not any(before.own.values()) and not carried
        known = sum(len(result.faults) for result in self.results)
        entering = [self.values.get(argument) for argument in carried]
        self._iteration(op, inside, carried)
        alone = alone and all(is_within(maker(part), op) for part in self.sources)
        stable = alone and known == sum(len(result.faults) for result in self.results)
        for _ in range(0 if stable else 2):
            now = [self.values.get(argument) for argument in carried]
            start = self.memory.copy()
            stable = start.same(before) and all(map(unchanged, now, entering))
            if stable:
                break
            self._iteration(op, inside, carried)
            stable = self.memory.same(start) and all(map(unchanged, now, [self.values.get(a) for a in carried]))
            if stable:
                break
        if not stable:
            raise Unfollowed(f"what {describe(op)} makes of parts changes from one iteration to the next")
        if not sure:
            self.memory = self.memory.joined(before, inside, self.sources)
            if any(value is not None for value in entering):
                raise Unfollowed(f"it is not known whether {describe(op)} runs at all, which hands parts on")

    def _iteration(self, op: ir.Operation, active: Threads, carried: Sequence[ir.Value]) -> None:
        self._region(op, 0, active)
        if carried:
            last = list(op.regions[0].blocks[0].operations)[-1]
            handed = [self.values.get(v) for v in last.operands]
            for argument, result, value in zip(carried, op.results, handed, strict=True):
                self.bind(argument, value)
                self.bind(result, value)

    def _depends_on_counter(self, loop: ir.Operation) -> bool:
        """Whether an access of parts inside a loop depends on the loop's counter. Binds the counter
        to a symbol."""
        counter = loop.regions[0].blocks[0].arguments[0]
        values = self.block.values
        if counter not in self._counters:
            low = values.linear(loop.operands[0]).bounds()[0]
            symbol = values.fresh("loop", Depends(thread=True), None if low is None or low < 0 else 0)
            self._counters[counter] = symbol
            values.bind(counter, Linear.of(symbol))
            for number in range(len(loop.regions)):
                self._bind_counters(loop, number)
        symbol = self._counters[counter]
        accesses = self.reached.loads_and_stores(loop)
        holding = {*self.sources, *self._kept, *filter(self.memory.holds, self.reached.arrays)}
        accesses = [op for op in accesses if array_of(op) in holding]
        return any(symbol in values.linear(place).symbols() for op in accesses for place in places_of(op))

    def _bind_counters(self, op: ir.Operation, number: int) -> None:
        for inner in self.reached.inside(op, number):
            if inner.name == "scf.for":
                self._depends_on_counter(inner)
            elif len(inner.regions):
                for region in range(len(inner.regions)):
                    self._bind_counters(inner, region)

    # ---- accesses ----------------------------------------------------------------------------------------------------

    def _places(self, op: ir.Operation) -> list[int] | None:
        """The number, in row-major order, of the element that each thread accesses; None where
        unknown."""
        shape = list(ir.MemRefType(array_of(op).type).shape)
        flat = [0] * self.block.count
        for size, place in zip(shape, places_of(op), strict=True):
            if size == 1:
                continue
            found = self.block.index(place)
            if found is None or size < 0:
                return None
            flat = [a * size + b for a, b in zip(flat, found, strict=True)]
        return flat

    def _place(self, op: ir.Operation) -> list[int]:
        places = self._places(op)
        if places is None:
            raise Blurred(f"it is not known which element {describe(op)} accesses")
        return places

    def _load(self, op: ir.Operation, active: Threads) -> None:
        array, result = op.operands[0], op.results[0]
        if array not in self.sources and not self.memory.holds(array):
            self.bind(result, None)
        elif array in self.memory.shared:
            self.bind(result, self.memory.read_shared(array, self._place(op), active))
        else:
            self.bind(result, self.memory.read_own(array, self._place(op), active, sure=array in self.sources))

    def _store(self, op: ir.Operation, active: Threads) -> None:
        value, array = self.values.get(op.operands[0]), op.operands[1]
        if array in self.reached.results:
            self._started_with(op, array, value, active)
        if value is None and array in self._kept:
            value = self._from_outside(op)
        if value is None and array in self._shared and self._places(op) is None:
            self.memory.blurred.add(array)
        elif value is None and array in self._shared:
            constant = self.constant(op.operands[0], op)
            value = Partial(None, [0] * self.block.count, identities=frozenset([constant] if constant else []))
            value = value if constant else value.spoiled(self.block.every, OTHER)
        if array in self.sources:
            self._into_part(op, value, active)
        elif isinstance(value, Partial) and not value.terms and array in self.reached.arrays:
            if array in self.reached.odd:
                raise Unfollowed(f"parts are in an array that is accessed as a whole: {describe(op)}")
            of_thread = made_by(array, "memref.alloca") is not None
            result = self.results[value.source or 0]
            if array not in self._kept and (of_thread or result.scan) and result.whole(self.block, value, active):
                self.end(value, active, op)
            else:
                (self.memory.write_own if of_thread else self.memory.write_shared)(
                    array, self._place(op), value, active
                )
        elif value is None:
            if self.memory.holds(array):
                self.memory.overwritten(array, self._place(op), active)
        else:
            self.end(value, active, op)
            if self.memory.holds(array):
                self.memory.overwritten(array, self._place(op), active)

    def _started_with(self, op: ir.Operation, array: ir.Value, value: Followed | None, active: Threads) -> None:
        """Checks that parts are combined into a result by the threads that have stored its initial
        value."""
        missing = active & ~self._started.get(array, 0)
        inside = self._started_if.get(array, [])[: len(self._conditions)] == self._conditions
        sure = bool(self._sure & missing)
        missing = self._sure & missing if sure or not inside else missing
        if continues(op) and value is not None and missing:
            numbers = {one.source for one in ((value,) if isinstance(value, Partial) else value.of)}
            for number in (one for one in numbers if one is not None):
                who = f"thread {self.block.ids[self.block.members(missing)[0]]}"
                self.results[number].fail(
                    f"{who} combines the parts with a result that it has not begun", f"in {describe(op)}", sure=sure
                )
        self._started[array] = self._started.get(array, 0) | active
        self._started_if[array] = list(self._conditions)
        if continues(op) and isinstance(value, Partial) and value.source is not None:
            self._of_its_element(op, array, value, self._sure & active)

    def _of_its_element(self, op: ir.Operation, array: ir.Value, value: Partial, active: Threads) -> None:
        """Checks that each element of a result is combined with the element of the part that has
        the same number."""
        result, many, places = self.results[value.source or 0], self.block.count, self._places(op)
        if places is None or result.scan or ir.MemRefType(array.type).shape != ir.MemRefType(result.part.type).shape:
            return
        for t in self.block.members(active & ~value.bad):
            row = value.rows[t]
            if row and ((row & -row).bit_length() - 1) // many != places[t]:
                which = ((row & -row).bit_length() - 1) // many
                what = f"thread {self.block.ids[t]} combines element {which} of the parts with element {places[t]} of its result"
                return result.fail(what, f"in {describe(op)}")

    def _from_outside(self, op: ir.Operation) -> Partial:
        """The initial value of a scan: an identity, or the previous contents."""
        constant = self.constant(op.operands[0], op)
        if constant is not None:
            return Partial(None, [0] * self.block.count, identities=frozenset([constant]))
        return Partial(None, [before_bit(self.block)] * self.block.count)

    def _begun(self, number: int, op: ir.Operation, places: Sequence[int], active: Threads) -> None:
        """Records that a part is set to the identity. If the op that did this first is executed
        again, a new round begins."""
        result = self.results[number]
        first = result.begun is None
        result.begun = op if first else result.begun
        if op != result.begun:
            return
        for place in set(places):
            result.written[place] = result.written.get(place, 0) & ~active
        if not first and not result.contributing & ~active and set(places) == {0}:
            self._begin_round(number)

    def _begin_round(self, number: int) -> None:
        """Begins a round: existing parts belong to an earlier one."""
        result = self.results[number]
        result.writing = False
        if result.contributing:
            self.memory.change(number, lambda value: result.aged(self.block, value))
            for name, value in list(self.values.items()):
                if isinstance(value, Partial) and value.source == number:
                    self.values[name] = result.aged(self.block, value)

    def _into_part(self, op: ir.Operation, value: Followed | None, active: Threads) -> None:
        array, places = op.operands[1], self._place(op)
        if array in self.reached.odd:
            raise Unfollowed("parts are in an array that is accessed as a whole")
        number, zeros = self.sources[array], [0] * self.block.count
        result, made = self.results[number], Partial(number, zeros)
        if value is None:
            if (begin := self.constant(op.operands[0], op)) is None:
                made = made.spoiled(
                    self.block.every, Doubt("a part begins with something else than a constant", sure=True)
                )
            else:
                result.identities[begin] = None
            self._begun(number, op, places, active)
        elif isinstance(value, Partial) and not value.terms:
            anew = not any(row & ~before_bit(self.block) for row in value.rows)
            if anew:
                self._begun(number, op, places, active)
            result.writing = result.scan and not anew
            made = replace(value, source=number if value.source is None else value.source)
        else:
            made = self._accumulated(value, number, places, active, op)
        self.memory.write_own(array, places, made, active, sure=True)

    def _accumulated(
        self, value: Followed, number: int, places: Sequence[int], active: Threads, op: ir.Operation
    ) -> Partial:
        """A part with one more term, which must be the thread's own."""
        result, many = self.results[number], self.block.count
        own = [1 << (place * many + t) for t, place in enumerate(places)]
        before = before_bit(self.block) if result.scan else 0
        if result.writing and isinstance(value, Partial):
            return replace(value, terms=())
        for one in (value,) if isinstance(value, Partial) else value.of:
            for t in self.block.members(active):
                if one.rows[t] & ~before not in (0, own[t]):
                    who = f"thread {self.block.ids[t]}"
                    result.fail(f"{who} adds a term of its own to the part of another thread", describe(op))
                    break
            if one.bad & active and one.fault is not None:
                return Partial(number, own).spoiled(one.bad & active, one.fault)
            if isinstance(value, Partial) and len(set(value.terms)) < len(value.terms):
                result.fail("a term is combined twice in one iteration", describe(op))
        result.contributing |= active
        if isinstance(value, Partial):
            result.by |= value.by
        begun = value.rows if isinstance(value, Partial) else value.of[0].rows
        return Partial(number, [mine | (row & before) for mine, row in zip(own, begun, strict=True)])
