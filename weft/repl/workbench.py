"""The state of the REPL: a recipe with its settings, a session, and the typed statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..dsl import tree
from ..dsl.checker import check
from ..dsl.diagnostics import Source, Span, WeftError, did_you_mean, fail, quoted
from ..dsl.parameters import matched
from ..dsl.parser import parse_items
from ..dsl.records import record
from ..interpreter.ir.cloning import tagged
from ..interpreter.ir.mlir import ir
from ..interpreter.session.environment import Environment, named_handles
from ..interpreter.session.frames import arguments
from ..interpreter.session.session import Session
from ..interpreter.session.state import SKIP, Fork, Frame, Step, condition, elements, scope, statement_text
from ..interpreter.session.statement import Handle, signatures
from ..interpreter.session.versions import open_at
from ..pipeline import TYPED, Applied, Choice, Recipe, opened
from ..runtime.run.execution import Clock


@dataclass
class Workbench:
    """A recipe that is applied step by step.

    Args:
        applied: the recipe, its payload, and the session with the statements executed so far.
        typed: the statements that were typed and executed, by their source.
        lines: the number of lines typed so far.
    """

    applied: Applied
    typed: dict[Source, tuple[tree.Item, ...]] = field(default_factory=dict)
    lines: int = 0

    @classmethod
    def open(cls, choice: Choice) -> Workbench:
        """Reads the schedule and its payload. Raises what `weft apply` raises before its first
        statement."""
        return cls(opened(choice.open()))

    @property
    def recipe(self) -> Recipe:
        return self.applied.recipe

    @property
    def session(self) -> Session:
        return self.applied.session

    @property
    def choice(self) -> Choice:
        return self.recipe.choice

    def timed(self, clock: Clock) -> Applied:
        """The applied recipe with `clock` in place of its own clock."""
        return replace(self.applied, recipe=replace(self.recipe, clock=clock))

    # ---- position --------------------------------------------------------------------------------

    @property
    def position(self) -> int:
        return len(self.session.states) - 1

    @property
    def coming(self) -> str:
        """The statement that `step` executes next, on one line; empty at the end."""
        item = self.session.upcoming()
        return statement_text(item) if item is not None else ""

    def ir_at(self, number: int) -> ir.Module:
        """The module after `number` statements. Raises W0060 if fewer have been executed."""
        states = self.session.states
        if not 0 <= number < len(states):
            done = f"{self.position} statement{'s are' if self.position != 1 else ' is'} done"
            raise fail("W0060", f"there is no position {number}: {done}", hint="`step` continues")
        return states[number].module

    # ---- moving ----------------------------------------------------------------------------------

    def undo(self, number: int) -> tuple[Step, ...]:
        """Undoes up to `number` statements. Returns them, the last one first."""
        undone = self.session.steps[::-1][:number]
        for _ in undone:
            self.session.undo()
        return undone

    def goto(self, number: int) -> None:
        """Moves to the position after `number` statements: back, forward over statements that an
        earlier `goto` left, and then on with the schedule's own statements. Statements that were
        undone return by `redo` only. Raises W0060 for a position after the end."""
        known = self.session.kept
        if number <= known:
            self.session.goto(number)
            return
        before = self.position
        self.session.goto(known)
        while self.position < number:
            if self.session.step() is None:
                end = self.position
                self.session.goto(before)
                raise fail("W0060", f"there is no position {number}: the schedule ends at {end}", hint=f"`goto {end}`")

    def type(self, text: str) -> tuple[Step, ...]:
        """Executes typed statements; on an error nothing changes. A text equal to the schedule's
        next statement executes that one."""
        items = parse_items("\n" * self.lines + text, TYPED)
        own = len(items) == 1 and not isinstance(items[0], tree.Alternatives)
        if own and statement_text(items[0]) == self.coming:
            step = self.session.step()
            return (step,) if step is not None else ()
        self._expect_right(items)
        steps = self.session.do(items)
        self.lines += text.count("\n") + 1
        for item in items:
            self.typed[item.span.source] = items
        return steps

    def _expect_right(self, items: tuple[tree.Item, ...]) -> None:
        """Checks typed statements as `weft check` does for statements of a file. Raises the errors
        that concern them.

        Inside a `foreach` or a call the statements check themselves when they run, since their
        block may run more than once.
        """
        frame, *inner = self.session.state.frames
        if inner or not items:
            return
        file, main = self.recipe.file, self.recipe.file.main
        body = (*frame.items[len(matched(main, ())) : frame.index], *items)
        schedules = tuple(replace(s, body=body) if s is main else s for s in file.schedules)
        mine = next(iter(items)).span.source
        found = check(replace(file, schedules=schedules), signatures())
        if wrong := [d for d in found if d.severity == "error" and d.span is not None and d.span.source == mine]:
            raise WeftError(*wrong)

    # ---- settings --------------------------------------------------------------------------------

    def set(self, settings: Mapping[str, str]) -> int:
        """Executes all statements again from the start with changed settings. Returns their number.
        On an error of one of them nothing changes."""
        fresh = Workbench.open(replace(self.choice, settings={**self.choice.settings, **settings}))
        steps, number = self.session.steps, 0
        while number < len(steps):
            source = steps[number].span.source
            number += 1
            if steps[number - 1].keyword == SKIP:
                fresh.session.skip()
            elif (items := self.typed.get(source)) is None:
                fresh.session.step()
            else:
                fresh.session.do(items)
                while number < len(steps) and steps[number].span.source == source:
                    number += 1
        self.applied = fresh.applied
        return number


# ---- sessions and trials -------------------------------------------------------------------------


def do(fork: Session, text: str) -> tuple[Step, ...]:
    """Executes a statement on a fork of a session."""
    return fork.do(parse_items(text, "<tried>"))


def first_line(error: WeftError) -> str:
    """The message of an error on one line, with its code."""
    diagnostic = error.diagnostics[0]
    return f"{' '.join(diagnostic.message.split())} ({diagnostic.code})"


@record
class Known:
    """A handle. `op` is the name of its op, or None if the handle names no op any more; `state`
    states the reason."""

    name: str
    kind: str
    op: str | None
    made: str
    state: str

    @property
    def alive(self) -> bool:
        return self.op is not None


def known_handles(session: Session) -> list[Known]:
    """All handles made so far, in the order of their creation."""
    state = session.state
    ops = tagged(state.module)
    current = {handle.number: name for name, handle in named_handles(session.environment)}
    out: list[Known] = []
    for number, made in sorted(state.made.items()):
        death, op = state.dead.get(number), ops.get(number)
        if death is not None:
            op, text = None, f"consumed by {death.by.strip('`')}, {_place(death.span)}"
        elif op is None:
            text = "gone: a rewrite removed its op"
        else:
            text = "alive" if number in current else "alive, without a name here"
        where = f"{made.keyword}, {_place(made.span)}"
        out.append(Known(current.get(number, made.name), made.kind, op.name if op is not None else None, where, text))
    return out


def live_handles(session: Session) -> dict[str, tuple[Handle, ir.Operation]]:
    """The handles in scope that name an op, each with that op, by the name used in the schedule."""
    ops, dead = tagged(session.module), session.state.dead
    named = named_handles(session.environment)
    return {name: (h, ops[h.number]) for name, h in named if h.number not in dead and h.number in ops}


def find_handle(session: Session, name: str) -> tuple[Handle, ir.Operation]:
    """The live handle of this name, and its op. Raises W0065."""
    alive = live_handles(session)
    if name in alive:
        return alive[name]
    gone = [one for one in known_handles(session) if one.name == name and not one.alive]
    notes = [f"`{name}` was made by {one.made}; {one.state}" for one in gone[-1:]]
    message = f"`{name}` names no op any more" if gone else f"there is no live handle `{name}`"
    names = quoted(alive) or "none yet: `step`, or `let x = match …`"
    raise fail("W0065", message, notes=(*notes, f"alive: {names}"), hint=did_you_mean(name, alive))


def _place(span: Span) -> str:
    """The line of a statement: `line 7`, `typed 2`."""
    return f"{'typed' if span.source.name == TYPED else 'line'} {span.line}"


def total(session: Session) -> str:
    """The number of statements in all, executed ones included: `14`, or `14+` if it depends on
    values that are not known yet."""
    state, every = session.state, session.file.schedules
    schedules = {s.name: s for s in every if sum(other.name == s.name for other in every) == 1}
    left = _remaining(state.frames, schedules)
    for frame in state.frames:
        if (fork := frame.fork) is not None and not fork.last:
            left += _others(fork, schedules) if open_at(fork, state.version) else _Count(0, certain=False)
    left = sum((_others(fork, schedules) for fork in state.forks), left)
    return f"{len(session.states) - 1 + left.number}{'+' * (not left.certain)}"


@record
class _Count:
    """A number of statements still to execute; `certain`: exact, not only a lower bound."""

    number: int = 0
    certain: bool = True

    def __add__(self, other: _Count) -> _Count:
        return _Count(self.number + other.number, self.certain and other.certain)


_Schedules = Mapping[str, tree.Schedule]


def _remaining(frames: tuple[Frame, ...], schedules: _Schedules) -> _Count:
    """The statements from these frames to the end of the schedule."""
    found = _Count()
    schedules = {**schedules, **{name: one for frame in frames for name, one in frame.schedules.items()}}
    for depth, frame in enumerate(frames, 1):
        env = scope(frames[:depth])
        if (iteration := frame.iteration) is not None:
            for begin in iteration.begins[iteration.number + 1 :]:
                found = _counted(begin.items, env, schedules, found)
        found = _counted(frame.items[frame.index :], env, schedules, found)
    return found


def _others(fork: Fork, schedules: _Schedules) -> _Count:
    """The statements of the versions of a fork that are not executed yet."""
    rest, env = _remaining(fork.before.frames, schedules), fork.before.env
    return sum((_counted(block, env, schedules, rest) for block in fork.item.blocks[fork.number + 1 :]), _Count())


def _counted(items: tuple[tree.Item, ...], env: Environment, schedules: _Schedules, rest: _Count) -> _Count:
    """The statements of `items` and of what follows them (`rest`); each version repeats what
    follows."""
    schedules = {**schedules, **{item.name: item for item in items if isinstance(item, tree.Schedule)}}
    for item in reversed(items):
        match item.value if isinstance(item, tree.Let) else item:
            case tree.StatementNode(fields=fields):
                listed = [len(field.items) for field in fields.values() if isinstance(field, tree.Several)]
                rest += _Count(sum(listed) or 1)
            case tree.Call(schedule=name) as call if name in schedules:
                rest = _counted(schedules[name].body, {}, schedules, rest)
                rest += _Count(len(matched(schedules[name], arguments(call, schedules[name], env))))
            case tree.Call():  # of several files
                rest += _Count(0, certain=False)
            case tree.If() as choice:
                try:
                    way = choice.then if condition(choice.condition, env) else choice.otherwise
                    rest = _counted(way, env, schedules, rest)
                except WeftError:  # a handle that is not made yet, or a value of a called schedule
                    rest = _least(_counted(way, env, schedules, rest) for way in (choice.then, choice.otherwise))
            case tree.Alternatives(blocks=blocks):  # which of them is not refused is not known
                rest = _least(_counted(block, env, schedules, rest) for block in blocks) + _Count(
                    1, certain=len(blocks) < 2
                )
            case tree.Versions(blocks=blocks):  # the effect of the assumptions is known only inside a block
                rest = _least(_counted(block, env, schedules, rest) for block in blocks)
            case tree.Foreach() as loop:
                at = loop.iterable
                if isinstance(at, tree.StatementNode):
                    rest += _Count(1, certain=False)
                    continue
                try:  # a list literal has a fixed number of rounds, even if its handles are not known
                    rounds = at.items if isinstance(at, tree.ListExpr) else elements(at, env, {})
                except WeftError:
                    rest += _Count(0, certain=False)
                else:
                    for _ in rounds:
                        rest = _counted(loop.body, env, schedules, rest)
    return rest


def _least(ways: Iterable[_Count]) -> _Count:
    """The smallest of several alternatives, one of which will be executed; exact if they are equal."""
    one, *others = sorted(ways, key=lambda way: way.number)
    return one if all(one == other for other in others) else replace(one, certain=False)
