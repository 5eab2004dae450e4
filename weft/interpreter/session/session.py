"""The application of a schedule to a payload, statement by statement; each statement is a
transaction that can be undone.

The state is a value: an immutable module, the frames of the walk over the tree, and the fate of the
handles. A statement works on a clone and makes the next state, or raises and leaves the session
unchanged. So undo, redo and access to earlier states are mere indexing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from ...dsl import tree
from ...dsl.diagnostics import Diagnostic, WeftError
from ...dsl.scopes import Gone, names_of
from ..focus.carving import Version
from ..focus.modules import Taken
from ..ir.cleanup import tidy
from ..ir.cloning import clone_module, strip_tags
from ..ir.mlir import NotLocalError, ir, operations
from ..ir.refusing import upstream_messages
from ..memory.names import Written, nameless
from ..proof.coverage.payload.initial_payload import Untouched
from .alternatives import enter_block, first, instead, with_refusals
from .environment import Environment, evaluate_fields
from .frames import begin, called_from, executed, named
from .listeners import notify
from .order import in_order
from .rewriter import Removed, Rewriter, handles_of
from .state import SKIP, Executed, Made, State, Step, after, extended, statement_at, statement_text
from .statement import Handle, NotMet, Statement, registry
from .versions import ASSUME, assuming, beginning, finished, without_version
from .walk import left, onward, passed

Applied = tuple[Rewriter, dict[str, Any], Version]
"""The rewriter of a statement, the results, and the module after it."""


class Session:
    """A checked schedule, applied to a payload.

    Args:
        module: the payload; the session works on a copy of it.
        file: the parsed and checked file; its main schedule is run.
        values: the parameters of the main schedule, bound (`dsl.parameters`).
        unproven: kernels that are not proven race-free are accepted and marked as such; otherwise
            they are refused.
        written: the names of values in the payload's text, by location: a buffer gets the name of
            the value that it holds.

    `run()` executes all remaining statements, `step()` one; `undo()` and `redo()` move between the
    states.
    """

    def __init__(
        self,
        module: ir.Module,
        file: tree.File,
        values: Mapping[str, Any],
        *,
        unproven: bool = False,
        written: Written = nameless,
    ) -> None:
        self.file, self.written = file, written
        self.unproven = unproven
        registry()  # imports the statements here instead of in the first step
        start = State(Version(clone_module(module), untidy=True), (begin(file.main, values, {}),))
        self.payload = Untouched.of(start.module)
        self._states: list[State] = [start]
        self._at = self._kept = 0
        self._known: dict[Hashable, Any] = {}

    # ---- looking -----------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self._states[self._at]

    @property
    def module(self) -> ir.Module:
        """The current module, including handle tags. It must not be changed."""
        return self.state.module

    @property
    def ir(self) -> str:
        """The text of the current module, without handle tags."""
        return str(strip_tags(self.state.module))

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far, in order."""
        return tuple(s.step for s in self._states[1 : self._at + 1] if s.step is not None)

    @property
    def environment(self) -> Environment:
        """The names in scope at this point."""
        return self.state.env

    # ---- moving ------------------------------------------------------------------------------------------------------

    def step(self) -> Step | None:
        """Executes the next statement and returns its step; None at the end. Raises `WeftError`,
        and then leaves the session unchanged."""
        if (end := self._forward(self.state, ordered=True)) is not None:
            self._states[self._at] = end
            return None
        return self.state.step

    def _forward(
        self, state: State, until: Callable[[State], bool] = lambda _: False, *, since: int = 0, ordered: bool = False
    ) -> State | None:
        """Executes the next statement, or enters the next block of `alternatives` if it is refused.
        Returns the state there if there is none.

        Args:
            until: a condition to stop earlier.
            since: only `alternatives` at this position or later have a next block.
            ordered: whether a refusal names later statements that must come before.
        """
        seen = [state]
        try:
            state = self._settled(state, until, seen.append)
            if until(state) or (found := statement_at(state)) is None:
                return state
            with called_from(state.frames):
                done = self._statement(state, *found)
                step = done.step and replace(done.step, frames=state.frames)
                self._record(replace(done, step=step))
        except WeftError as error:
            if (other := instead(seen[-1].frames, error, since)) is None:
                hinted = (
                    in_order(lambda at, items: self.fork(state=at).do(items), seen[-1]) if ordered else nullcontext()
                )
                with hinted, with_refusals(seen[-1].frames):
                    raise
            self._at = other.at
            self._record(enter_block(other))
        return None

    def do(self, items: tuple[tree.Item, ...]) -> tuple[Step, ...]:
        """Executes new items, as if they were at this point of the schedule. All of them or none:
        raises `WeftError`, and then leaves the session unchanged."""
        before = list(self._states), self._at, self._kept
        at = self._at
        *outer, frame = self.state.frames
        written = (*frame.items[: frame.index], *items, *frame.items[frame.index :])
        state = replace(self.state, frames=(*outer, replace(frame, items=written)))
        depth, end = len(outer), frame.index + len(items)

        def until(reached: State) -> bool:
            return len(reached.frames) == depth + 1 and reached.frames[-1].index >= end

        try:
            while (reached := self._forward(state, until, since=at)) is None:
                state = self.state
            state = reached
        except BaseException:  # an interrupt as well must leave the session unchanged
            self._states, self._at, self._kept = before
            raise
        if self._at > at:
            self._states[self._at] = state
        return self.steps[len(self.steps) - (self._at - at) :] if self._at > at else ()

    def skip(self) -> Step | None:
        """Leaves the next statement out; returns its step, or None at the end."""
        state = self._settled(self.state)
        if (found := statement_at(state)) is None:
            return None
        *outer, frame = state.frames
        items = (*frame.items[: frame.index], *frame.items[frame.index + 1 :])
        text = f"{SKIP} {statement_text(found[1] or found[0])}"
        step = Step(text, found[0].span, SKIP, (), 0.0, state.version, skipped=True)
        self._record(replace(state, frames=(*outer, replace(frame, items=items)), step=step))
        return step

    def run(self) -> ir.Module:
        """Executes all remaining statements and returns the scheduled module. Raises where a kernel
        is not proven."""
        while self.step() is not None:
            pass
        self.expect_proven()
        return self.module

    def expect_proven(self) -> None:
        """Proves again the kernels that statements have changed since their launch, and proves
        those that no `launch` made.

        Raises W0601 to W0603, W0610, W0640 at the statement that changed the kernel; with
        `unproven`, marks the kernel instead.
        """
        from ..proof.races import proof

        payloads = proof.kernel_symbols(self._states[0].module)
        changed = proof.changed_kernels(self.module, payloads)
        wrong = {proof.symbol_of(k): found for k, found in proof.judge_changed(self.module, changed)} if changed else {}
        if wrong and self.unproven:
            module, remarks = clone_module(self.module), list[str]()
            for kernel in proof.changed_kernels(module, payloads):
                if (symbol := proof.symbol_of(kernel)) in wrong:
                    remarks += proof.let_through(kernel, wrong[symbol])
            version, last = Version(module), self.state.step
            step = last and replace(last, version=version, remarks=(*last.remarks, *remarks))
            self._states[self._at] = replace(self.state, version=version, step=step)
        elif wrong:
            refused = [(symbol, d) for symbol, found in wrong.items() for d in proof.refusal(found)]
            raise WeftError(*(self._since(d, symbol, payloads) for symbol, d in refused))

    def _since(self, diagnostic: Diagnostic, symbol: str, payloads: frozenset[str]) -> Diagnostic:
        """The diagnostic of a kernel, moved to the first statement after which the kernel differs
        from the proven one."""
        from ..proof.races import proof

        for state in self.states:
            if state.step is not None and symbol in map(proof.symbol_of, proof.changed_kernels(state.module, payloads)):
                notes = (*diagnostic.notes, "this statement changed the kernel after its proof")
                return replace(diagnostic, span=state.step.span, statement=state.step.keyword, notes=notes)
        return diagnostic

    def undo(self) -> bool:
        """Returns to the state before the last statement. False at the start."""
        if self._at == 0:
            return False
        self._at -= 1
        self._kept = self._at
        return True

    def redo(self) -> bool:
        """Returns to the state before the last `undo`. False if nothing was undone."""
        if self._at + 1 >= len(self._states):
            return False
        self._at += 1
        self._kept = max(self._kept, self._at)
        return True

    def goto(self, number: int) -> None:
        """Moves to the state after `number` statements, undone ones included. Raises `IndexError`
        for a number without a state."""
        if not 0 <= number < len(self._states):
            raise IndexError(number)
        self._at = number

    # ---- looking ahead -----------------------------------------------------------------------------------------------

    @property
    def states(self) -> tuple[State, ...]:
        """The states from the start to the current one."""
        return tuple(self._states[: self._at + 1])

    @property
    def undone(self) -> int:
        """The number of statements that `redo` can repeat."""
        return len(self._states) - 1 - self._at

    @property
    def kept(self) -> int:
        """The last position up to which nothing was undone: the current one, or a later one from
        which `goto` moved back."""
        return max(self._kept, self._at)

    def upcoming(self) -> tree.Node | None:
        """The statement that `step` executes next, or the earlier item at which it will fail; None
        at the end."""
        state = self.state
        try:
            state = self._settled(state, note=(seen := [state]).append)
        except WeftError:
            frame = seen[-1].frames[-1]
            return None if frame.done else frame.items[frame.index]
        found = statement_at(state)
        return None if found is None else found[1] or found[0]

    def fork(self, *, unproven: bool = False, state: State | None = None) -> Session:
        """An independent session that continues from the current state (or from `state`), for
        trials. `unproven`: for inspection, not for a build."""
        copy = object.__new__(Session)
        copy.file, copy.unproven = self.file, self.unproven or unproven
        copy._known, copy.written, copy.payload = self._known, self.written, self.payload
        copy._states, copy._at = [*self._states[: self._at], state or self.state], self._at
        copy._kept = self._at
        return copy

    # ---- one item of the tree ----------------------------------------------------------------------------------------

    def _record(self, state: State) -> None:
        self._states[self._at + 1 :] = [left(beginning(state, self.state))]
        self._at += 1
        self._kept = self._at

    def _settled(
        self,
        state: State,
        until: Callable[[State], bool] = lambda _: False,
        note: Callable[[State], None] = lambda _: None,
    ) -> State:
        """The state before the next statement, or at the end: conditions evaluated, calls entered,
        blocks left.

        `until`: a condition to stop earlier. `note`: a callback for every state on the way.
        """
        while not until(state):
            note(state)
            frame = state.frames[-1]
            if frame.done:
                following = onward(state) if len(state.frames) > 1 else finished(state)
                if following is None:
                    break
                state = following
            elif statement_at(state) is not None:
                break
            else:
                with called_from(state.frames):
                    state = passed(state, frame.items[frame.index], self.file)
        return state

    def _statement(self, state: State, node: Executed, let: tree.Let | None) -> State:
        if isinstance(node, tree.Alternatives):
            return enter_block(first(node, state, self._at))
        if not isinstance(node, tree.StatementNode):
            assert let is not None
            return named(state, node, let)
        started, rest = time.perf_counter(), after(state.frames)
        cls = registry().get(node.keyword)
        if cls is None:
            raise WeftError(Diagnostic("W0204", f"`{node.keyword}` is not a statement of this version", node.span))
        env = state.env
        values = evaluate_fields(node, cls.signature, env, state.dead, state.read)
        text = statement_text(let or node)
        if any(handle.absent for handle in handles_of(values).values()):
            nothing = () if node.keyword.endswith("*") else Handle(-1, absent=True)
            results: dict[str, Any] = dict.fromkeys(cls.signature.results, nothing)
            step = Step(text, node.span, node.keyword, ("nothing to do: absent",), 0.0, state.version, skipped=True)
            return replace(state, frames=executed(rest, let, results), step=step)
        statement = cls(node=node, **values)
        notify(f"`{text}` ({node.span})")
        try:
            rewrite, results, version = self._applied(state, statement)
        except NotMet as unmet:
            dropped, remark = without_version(state, unmet)
            seconds = time.perf_counter() - started
            return replace(dropped, step=Step(text, node.span, node.keyword, (remark,), seconds, dropped.version))
        finally:
            notify("")
        seconds = time.perf_counter() - started
        remarks, shown, about = tuple(rewrite.remarks), tuple(rewrite.shown), tuple(rewrite.about)
        step = Step(text, node.span, node.keyword, remarks, seconds, version, shown=shown, about=about)
        names = names_of(let, tuple(results))
        gone = Gone(f"`{node.keyword}`", node.span, names, () if names else tuple(results))
        dying = handles_of({f.name: values.get(f.name) for f in cls.signature.fields if f.consumes})
        dead = extended(state.dead, {handle.number: gone for handle in dying.values()})
        made: dict[int, Made] = {}
        known_names = names if len(names) == len(results) else tuple(results)
        for name, value in zip(known_names, results.values(), strict=False):
            for handle in value if isinstance(value, tuple) else (value,):
                if isinstance(handle, Handle) and not handle.absent and handle.number not in state.made:
                    made.setdefault(handle.number, Made(name, node.span, node.keyword, handle.kind))
        if node.keyword == ASSUME:
            rest = assuming(rest)
        done = replace(
            state, version=version, numbers=next(rewrite.numbers), dead=dead, made=extended(state.made, made)
        )
        return replace(done, frames=executed(rest, let, results, step.remarks), step=step)

    def _applied(self, state: State, statement: Statement) -> Applied:
        """Applies the statement to the part of a large module that it touches, or to the whole
        module if needed. After a refusal on the part, the statement is applied to the whole module:
        the part may lack something, and diagnostics must concern the whole module."""
        for part, focus in () if statement.reach == "module" else statement.parts(state.version):
            try:
                rewrite, results = self._apply(part, focus.module, state.numbers, taken=focus.version.content.taken)
                return rewrite, results, Version(part=focus if rewrite.only_marked else focus.check())
            except WeftError:
                break
            except NotLocalError:
                continue
        module = clone_module(state.module)
        return *self._apply(statement, module, state.numbers, untidy=state.version.untidy), Version(module)

    def _removed(self, handle: Handle) -> Removed | None:
        """The op of a handle in the last state that had it, with the statement that removed it."""
        for before, then in zip(self.states[-2::-1], self.states[:0:-1], strict=True):
            tagged = (op for op in operations(before.module.operation) if handle.tag in op.attributes)
            if (op := next(tagged, None)) is not None and (step := then.step) is not None:
                return Removed(op, f"`{step.text}` in line {step.span.line}")
        return None

    def _apply(
        self, statement: Statement, module: ir.Module, number: int, *, taken: Taken | None = None, untidy: bool = False
    ) -> tuple[Rewriter, dict[str, Any]]:
        rewrite = Rewriter(
            module,
            statement,
            itertools.count(number),
            taken,
            unproven=self.unproven,
            written=self.written,
            known=self._known,
            payload=self.payload,
            removed=self._removed,
        )
        with module.context, ir.Location.unknown(), rewrite.placing():
            results = dict(statement.apply(rewrite))
            try:  # the end of every statement: the verifier, common subexpressions, dead code
                if untidy or not rewrite.only_marked:
                    tidy(module, verify=True)
            except ir.MLIRError as error:
                what, notes = "the statement left IR that does not verify: a defect in Weft", upstream_messages(error)
                raise rewrite.error("W0313", what, notes=notes) from error
        return rewrite, results
