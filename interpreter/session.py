"""A schedule being applied to a payload, one statement at a time, each a transaction that can be undone.

The state is a value: a module that is never changed again, the frames of the walk over the tree, and what became of the
handles. A statement works on a clone and makes the next state, or raises and leaves the session where it was. Undo,
redo and looking back are then nothing but indexing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..dsl import tree
from ..dsl.diagnostics import Diagnostic, Span, WeftError
from ..dsl.expressions import evaluate
from .clone import clone_module, strip_tags
from .environment import Bundle, Death, Environment
from .fields import absent_handles, evaluate_fields, handle_of
from .frames import Frame, bind, call_frame, enter, returned
from .mlir import ir
from .rewriter import Rewriter, upstream_messages
from .statement import Handle, Operand, registry
from .tidy import tidy


@dataclass(frozen=True)
class Step:
    """What one statement did.

    Args:
        text: the statement as it stands in the source, on one line.
        span: where.
        remarks: what it did, a line each.
        seconds: the time it took, clone, verification and clean-up included.
        module: the module after it.
        skipped: it had nothing to do, because a handle of it is absent.
        shown: what `print` shows.
    """

    text: str
    span: Span
    keyword: str
    remarks: tuple[str, ...]
    seconds: float
    module: ir.Module = field(repr=False)
    skipped: bool = False
    shown: tuple[str, ...] = ()

    @property
    def ir(self) -> str:
        """The module after the step, without handle tags."""
        return str(strip_tags(self.module))


@dataclass(frozen=True)
class Made:
    """Where a handle came from, for `handles` and for messages."""

    name: str
    span: Span


@dataclass(frozen=True)
class State:
    """Everything there is between two statements. Nothing in it is ever changed."""

    module: ir.Module = field(repr=False)
    frames: tuple[Frame, ...]
    numbers: int = 0
    dead: Mapping[int, Death] = field(default_factory=dict)
    made: Mapping[int, Made] = field(default_factory=dict)
    step: Step | None = None


class Session:
    """A checked schedule at work on a payload.

    Args:
        module: the payload; the session works on a copy of it.
        file: the parsed and checked file; its main schedule is run.
        values: the parameters of the main schedule, bound (`dsl.binding`).

    `run()` goes to the end, `step()` does one statement, `undo()`/`redo()` move between what was done.
    """

    def __init__(self, module: ir.Module, file: tree.File, values: Mapping[str, Any]) -> None:
        self.file = file
        registry()  # imports the statements now, and not within the first step
        self.schedules = {s.name: s for s in file.schedules}
        start = State(clone_module(module), (Frame(file.main.body, dict(values)),))
        self._states: list[State] = [start]
        self._at = 0

    # ---- looking ------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return self._states[self._at]

    @property
    def module(self) -> ir.Module:
        """The module as it stands, handle tags included. Not to be changed."""
        return self.state.module

    @property
    def ir(self) -> str:
        """The module as it stands, without handle tags."""
        return str(strip_tags(self.state.module))

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was done so far, in order."""
        return tuple(s.step for s in self._states[1 : self._at + 1] if s.step is not None)

    @property
    def environment(self) -> Environment:
        """The names in scope at this point."""
        return self.state.frames[-1].env if self.state.frames else {}

    # ---- moving -------------------------------------------------------------------------------------------------------

    def step(self) -> Step | None:
        """Do the next statement and return what it did; None at the end. Raises `WeftError` and then changes nothing."""
        state = self.state
        while state.frames:
            frame = state.frames[-1]
            if frame.done:
                state = replace(state, frames=enter(state.frames))
                continue
            item = frame.items[frame.index]
            state = self._item(state, frame, item)
            if state.step is not None and state.step is not self.state.step:
                self._states = [*self._states[: self._at + 1], state]
                self._at += 1
                return state.step
        self._states[self._at] = replace(state, step=self.state.step)
        return None

    def run(self) -> ir.Module:
        """Do everything that is left; return the scheduled module."""
        while self.step() is not None:
            pass
        return self.module

    def undo(self) -> bool:
        """Back before the last statement. False at the start."""
        if self._at == 0:
            return False
        self._at -= 1
        return True

    def redo(self) -> bool:
        """Forward again over what was undone. False where nothing was."""
        if self._at + 1 >= len(self._states):
            return False
        self._at += 1
        return True

    # ---- one item of the tree -----------------------------------------------------------------------------------------

    def _item(self, state: State, frame: Frame, item: tree.Item) -> State:
        rest = (*state.frames[:-1], replace(frame, index=frame.index + 1))
        match item:
            case tree.Let(value=tree.Statement() as node):
                return self._statement(state, rest, node, item)
            case tree.Statement():
                return self._statement(state, rest, item, None)
            case tree.Let(value=tree.Call() as call):
                return replace(state, frames=(*rest, call_frame(call, self.schedules, frame.env, state.dead, item)))
            case tree.Call():
                return replace(state, frames=(*rest, call_frame(item, self.schedules, frame.env, state.dead, None)))
            case tree.Require():
                if not _value(item.condition, frame.env):
                    text = item.message or "the schedule's requirement does not hold"
                    raise WeftError(Diagnostic("W0240", text, item.condition.span, notes=(_operands(item, frame.env),)))
                return replace(state, frames=rest)
            case tree.If():
                body = item.then if _condition(item.condition, frame.env) else item.otherwise
                return replace(state, frames=(*rest, Frame(body, dict(frame.env))))
            case tree.Foreach():
                values = _elements(item.iterable, frame.env)
                frames = [Frame(item.body, {**frame.env, item.variable.name: value}) for value in reversed(values)]
                return replace(state, frames=(*rest, *frames))
            case tree.Return():
                return replace(state, frames=returned(item, state.frames, state.dead))
        raise AssertionError(item)

    def _statement(self, state: State, rest: tuple[Frame, ...], node: tree.Statement, let: tree.Let | None) -> State:
        started = time.perf_counter()
        cls = registry().get(node.keyword)
        if cls is None:
            raise WeftError(Diagnostic("W0204", f"`{node.keyword}` is not a statement of this version", node.span))
        env = rest[-1].env
        values = evaluate_fields(node, cls.signature, env, state.dead)
        text = statement_text(let or node)
        if absent_handles(values):
            names = cls.signature.results
            results: dict[str, Any] = {n: Handle(-1, absent=True) for n in names}
            step = Step(text, node.span, node.keyword, ("nothing to do: absent",), 0.0, state.module, skipped=True)
            return replace(state, frames=bind(rest, let, results), step=step)
        module = clone_module(state.module)
        numbers = itertools.count(state.numbers)
        statement = cls(node=node, **values)
        rewrite = Rewriter(module, statement, numbers)
        with module.context, ir.Location.unknown():
            results = dict(statement.apply(rewrite))
            self._finish(rewrite)
        dead, made = self._account(state, cls, values, results, node, let)
        step = Step(text, node.span, node.keyword, tuple(rewrite.remarks), time.perf_counter() - started, module,
                    shown=tuple(rewrite.shown))
        return State(module, bind(rest, let, results), next(numbers), dead, made, step)

    def _finish(self, rewrite: Rewriter) -> None:
        """What every statement ends with: the verifier, common subexpressions, dead code."""
        try:
            rewrite.module.operation.verify()
            tidy(rewrite.module)
        except ir.MLIRError as error:
            raise rewrite.error(
                "W0313", "the statement left IR that does not verify: a defect in Weft", notes=upstream_messages(error)
            ) from error

    def _account(
        self,
        state: State,
        cls: type,
        values: Mapping[str, Any],
        results: Mapping[str, Any],
        node: tree.Statement,
        let: tree.Let | None,
    ) -> tuple[dict[int, Death], dict[int, Made]]:
        names = tuple(b.name for b in let.targets if b.name != "_") if let is not None else ()
        if let is not None and not let.destructured and len(results) > 1:
            names = tuple(f"{let.targets[0].name}.{r}" for r in results)
        dead = dict(state.dead)
        for f in cls.signature.fields:
            if f.consumes and isinstance(values.get(f.name), (Handle, Operand)):
                value = values[f.name]
                number = value.handle.number if isinstance(value, Operand) else value.number
                dead[number] = Death(node.keyword, node.span, names)
        made = dict(state.made)
        spelled = names if len(names) == len(results) else tuple(results)
        for name, value in zip(spelled, results.values(), strict=False):
            for handle in value if isinstance(value, tuple) else (value,):
                if isinstance(handle, Handle) and not handle.absent:
                    made.setdefault(handle.number, Made(name, node.span))
        return dead, made


def statement_text(item: tree.Node) -> str:
    """The source text of an item, on one line."""
    span = item.span
    lines = [span.source.line(n) for n in range(span.line, span.end_line + 1)]
    if len(lines) == 1:
        text = lines[0][span.column - 1 : span.end_column - 1]
    else:
        text = " ".join([lines[0][span.column - 1 :], *lines[1:-1], lines[-1][: span.end_column - 1]])
    return " ".join(text.split())


def _value(expr: tree.Expr, env: Environment) -> Any:
    return evaluate(expr, {k: v for k, v in env.items() if not isinstance(v, (Handle, Bundle))})


def _condition(condition: tree.Expr | tree.HandleRef, env: Environment) -> bool:
    if isinstance(condition, tree.NameRef) and isinstance(env.get(condition.name), (Handle, Bundle)):
        condition = tree.HandleRef(condition.span, condition.name)
    if isinstance(condition, tree.HandleRef):
        found = handle_of(condition, env)
        return bool(found) if isinstance(found, tuple) else not getattr(found, "absent", False)
    return bool(_value(condition, env))


def _elements(iterable: tree.Expr | tree.HandleRef, env: Environment) -> tuple[Any, ...]:
    if isinstance(iterable, tree.NameRef) and iterable.name in env:
        found = env[iterable.name]
        if isinstance(found, (Handle, Bundle)) or (isinstance(found, tuple) and found and isinstance(found[0], Handle)):
            iterable = tree.HandleRef(iterable.span, iterable.name)
    if isinstance(iterable, tree.HandleRef):
        found = handle_of(iterable, env)
        return found if isinstance(found, tuple) else (found,)
    value = _value(iterable, env)
    if not isinstance(value, tuple):
        raise WeftError(
            Diagnostic("W0233", "`foreach` walks over a list or over the handles of a `match*`", iterable.span)
        )
    return value


def _operands(item: tree.Require, env: Environment) -> str:
    """`bm = 128, tm = 7`: the values the condition was about."""
    names: list[str] = []

    def collect(expr: Any) -> None:
        if isinstance(expr, tree.NameRef) and expr.name in env and expr.name not in names:
            names.append(expr.name)
        for part in ("left", "right", "operand"):
            if hasattr(expr, part):
                collect(getattr(expr, part))
        for part in (*getattr(expr, "arguments", ()), *getattr(expr, "items", ())):
            collect(part)

    collect(item.condition)
    return f"{statement_text(item.condition)}, with " + ", ".join(f"{n} = {env[n]}" for n in names)
