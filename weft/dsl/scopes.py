"""The scope of names in a schedule that is checked: the meaning of each name, the consumed handles,
and which of them are still alive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from . import tree
from .diagnostics import Span, WeftError, fail, quoted
from .expressions import (
    KnownValue,
    UnknownValue,
    one_of,
)
from .records import record

Shape = Literal["one", "several", "list", "any"]


@record
class BoundName:
    """A name bound to handles.

    Args:
        number: distinguishes it from earlier and later bindings of the name.
        shape: one handle, several named results, the handles of a `match*`, or unknown before the
            run.
        results: the names of several results; `open`: a pattern for the names of further results,
            empty if there are none.
        loops: the number of `foreach` around the binding.
    """

    number: int
    span: Span
    shape: Shape = "one"
    results: tuple[str, ...] = ()
    open: str = ""
    loops: int = 0

    @property
    def parts(self) -> tuple[str, ...]:
        return self.results if self.shape == "several" else ("",)


@record
class Gone:
    """The statement that consumed a handle, and the names of the results that replace it.

    Args:
        by: the statement in messages, "`tile`" or "the call of `stage`".
        returned: the user's names of the results.
        unnamed: the results that the user gave no name.
        certain: False if only some ways through an `if` or a `foreach` consume it.
        within: the statement of a nested schedule that consumes a captured handle.
    """

    by: str
    span: Span
    returned: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    certain: bool = True
    within: str = ""


ABSENT = -1
"""The number of a handle that is `none`."""

Part = tuple[int, str]
"""A handle: the number of its `BoundName` and the name of the result, empty for a single one."""


@record
class Ended:
    """A name that a block binds, and that is not visible after it.

    Args:
        span: the binding.
        reason: what keeps it from being visible.
        hint: how to make it visible.
    """

    span: Span
    reason: str
    hint: str


@dataclass
class Scope:
    """The names visible at a statement. A block works on a `copy`. After alternative blocks,
    `merge` adds the handles that they consumed, and `join` adds the names that all of them bind.

    Args:
        ended: names that earlier blocks bound, and that ended with these blocks.
        places: where names are bound.
        schedules: the schedules written inside this one, with the checker's findings about them.
        first: bindings with smaller numbers are those of the schedule around this one.
        captured: the handles of the schedule around this one that this one uses, each with its
            first use.
        bindings: all bindings of handles by number.
        parameters: the schedule's parameters, each with whether something has used it.
        beyond: the names from outside of this schedule that it has used.
        tried: whether the block is one that may be left out, as in `alternatives`: a requirement in it need not hold.
    """

    names: dict[str, BoundName | UnknownValue] = field(default_factory=dict)
    gone: dict[Part, Gone] = field(default_factory=dict)
    loops: int = 0
    ended: dict[str, Ended] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    schedules: dict[str, Any] = field(default_factory=dict)
    first: int = 0
    captured: dict[Part, tree.HandleRef] = field(default_factory=dict)
    bindings: dict[int, BoundName] = field(default_factory=dict)
    parameters: dict[str, bool] = field(default_factory=dict)
    beyond: set[str] = field(default_factory=set)
    tried: bool = False

    def copy(self, *, unknown: bool = False) -> Scope:
        """A copy for a block. `unknown`: the block runs with other values than the known ones."""
        names = {n: UnknownValue(v.kind) if unknown and isinstance(v, KnownValue) else v for n, v in self.names.items()}
        return replace(
            self,
            names=names,
            gone=dict(self.gone),
            ended=dict(self.ended),
            places=dict(self.places),
            schedules=dict(self.schedules),
            tried=self.tried or unknown,
        )

    def values(self) -> dict[str, Any]:
        """The known values by name."""
        return {name: known.value for name, known in self.names.items() if isinstance(known, KnownValue)}

    def merge(self, *ways: Scope) -> None:
        """Joins the scopes of alternative blocks: a handle that all of them consumed is gone, one
        that some consumed may be gone."""
        for part in {part for way in ways for part in way.gone}:
            found = [way.gone[part] for way in ways if part in way.gone]
            certain = len(found) == len(ways) and all(gone.certain for gone in found)
            self.gone[part] = self.gone.get(part) or replace(found[0], certain=certain)

    def bind(self, name: str, bound: BoundName | UnknownValue, at: Span) -> None:
        """Binds a name at a place."""
        self.names[name], self.places[name] = bound, at
        if isinstance(bound, BoundName):
            self.bindings[bound.number] = bound
        self.ended.pop(name, None)

    def use(self, name: str) -> None:
        """Records that a name is used."""
        if name in self.parameters:
            self.parameters[name] = True
        else:
            self.beyond.add(name)

    def bound_in(self, way: Scope) -> list[str]:
        """The names that a block has bound, or bound again to other handles."""
        return [n for n, bound in way.names.items() if n not in self.names or _rebound(self.names[n], bound)]

    def join(
        self, ways: Sequence[Scope], without: Sequence[str], fresh: Callable[[], int], chosen: int | None = None
    ) -> None:
        """The names after alternative blocks: those that all of them bind. Others end there.

        Args:
            ways: the scope at the end of each block.
            without: for each block, the message if it does not bind a name.
            fresh: makes the number of a binding.
            chosen: the number of the block that is executed, if it is known.
        """
        for name in dict.fromkeys(name for way in ways for name in self.bound_in(way)):
            at = next(way.places[name] for way in ways if name in way.places)
            if lacking := [why for way, why in zip(ways, without, strict=True) if name not in way.names]:
                reason = f"line {at.line} binds it, and {lacking[0]}"
                self.ended[name] = Ended(at, reason, f"bind it there, too: `let {name} = …`")
            elif (joined := self._joined([way.names[name] for way in ways], ways, fresh, chosen)) is not None:
                self.bind(name, joined, at)
            else:
                reason = f"the blocks bind it to different kinds of things, the first in line {at.line}"
                self.ended[name] = Ended(at, reason, f"name a handle in each of them, or a value: `let {name} = …`")

    def _joined(
        self, found: list[BoundName | UnknownValue], ways: Sequence[Scope], fresh: Callable[[], int], chosen: int | None
    ) -> BoundName | UnknownValue | None:
        """The binding that replaces the bindings of a name at the end of alternative blocks; None
        if these differ in kind."""
        values = [one for one in found if isinstance(one, UnknownValue)]
        if len(values) == len(found):
            same = all(isinstance(one, KnownValue) and one == values[0] for one in values)
            one = values[0] if same else one_of(values)
            return one if chosen is None else values[chosen]
        handles = [one for one in found if isinstance(one, BoundName)]
        others = any(one.kind != "none" for one in values)
        if others or len({(one.shape, one.results, one.open) for one in handles}) > 1:
            return None
        joined = replace(handles[0], number=fresh(), loops=min(one.loops for one in handles))
        for part in joined.parts:
            both = zip(ways, found, strict=True)
            gone = [way.gone.get((one.number, part)) for way, one in both if isinstance(one, BoundName)]
            if first := next(filter(None, gone), None):
                certain = all(one is not None and one.certain for one in gone)
                self.gone[(joined.number, part)] = replace(first, certain=certain)
        return joined

    def as_handle(self, value: tree.Expr | tree.HandleRef) -> tree.Expr | tree.HandleRef:
        """A name that the parser read as an expression, as a handle if it names one; otherwise the
        value unchanged."""
        if isinstance(value, tree.NameRef) and isinstance(self.names.get(value.name), BoundName):
            return tree.HandleRef(value.span, value.name)
        return value

    def known(self, kind: type[BoundName | UnknownValue]) -> list[str]:
        """The names of handles, or of values."""
        return [name for name, known in self.names.items() if isinstance(known, kind)]

    def alive(self, bound: BoundName) -> bool:
        """Whether one of the handles of a name is certainly live."""
        return any((bound.number, part) not in self.gone for part in bound.parts)


def _rebound(before: BoundName | UnknownValue, now: BoundName | UnknownValue) -> bool:
    return isinstance(before, BoundName) and isinstance(now, BoundName) and before.number != now.number


def bound_by_all(blocks: Sequence[tuple[tree.Item, ...]]) -> frozenset[str]:
    """The names that each of several blocks binds, so that they are visible after these."""
    return frozenset.intersection(*map(_bound_by, blocks))


def _bound_by(items: tuple[tree.Item, ...]) -> frozenset[str]:
    names: set[str] = set()
    for item in items:
        match item:
            case tree.Let(targets=targets):
                names |= {target.name for target in targets}
            case tree.If():
                names |= bound_by_all((item.then, item.otherwise))
            case tree.Versions(blocks=blocks) | tree.Alternatives(blocks=blocks):
                names |= bound_by_all(blocks)
    return frozenset(names)


def written_handles(listed: tree.ListExpr, is_handle: Callable[[str], bool]) -> tuple[tree.HandleRef, ...] | None:
    """The handles of a list literal; None if it is a list of values. Raises W0233 for a mixture.
    `is_handle`: whether a name names a handle."""
    items = [tree.HandleRef(i.span, i.name) if isinstance(i, tree.NameRef) else i for i in listed.items]
    refs = tuple(item for item in items if isinstance(item, tree.HandleRef))
    if not any(ref.fields or is_handle(ref.name) for ref in refs):
        return None
    if other := [item for item in items if not isinstance(item, tree.HandleRef)]:
        raise fail("W0233", "a list holds either handles or values, and this one has both", span=other[0].span)
    return refs


def consumed(spelling: str, span: Span, gone: Gone) -> WeftError:
    """The error of using a consumed handle, with the consumer and the names of its results."""
    line = gone.span.line
    where = f"in line {line}" if gone.span.source == span.source else f"at {gone.span}"
    notes = (gone.within,) if gone.within else ()
    if not gone.certain:
        message = f"`{spelling}` may be gone: {gone.by} {where} consumes it on one path through the schedule"
        hint = f"use `{spelling}` only where it is not consumed, or consume it in every branch"
        return fail("W0227", message, span=span, notes=notes, hint=hint)
    hint = None
    if gone.returned:
        notes = (*notes, f"line {line} returned {quoted(gone.returned)} instead")
        hint = f"use {' or '.join(f'`{name}`' for name in gone.returned)}"
    elif gone.unnamed:
        notes = (*notes, f"the result of {gone.by} there has no name")
        hint = f"name it: `{let_of(gone.unnamed)} = …`"
    return fail("W0223", f"`{spelling}` was consumed by {gone.by} {where}", span=span, notes=notes, hint=hint)


@contextmanager
def through(call: tree.Call, use: tree.HandleRef) -> Iterator[None]:
    """A context that adds to errors the line in which the schedule of a call uses a handle."""
    try:
        yield
    except WeftError as error:
        note = f"`{call.schedule}` uses `{use.spelling}` in line {use.span.line}"
        raise WeftError(*(replace(d, notes=(note, *d.notes)) for d in error.diagnostics)) from None


def meant(file: tree.File, call: tree.Call) -> tree.Schedule | None:
    """The schedule of a file, or of one that it includes, that a call means. Raises W0201 if several
    of these have it."""
    found = [s for s in file.callable_from(call.span.source) if s.name == call.schedule]
    if len({s.span.source.name for s in found}) > 1 and found[0].span.source != call.span.source:
        notes = tuple(f"one is at {s.span}" for s in found)
        message = f"two of the included files have a schedule `{call.schedule}`"
        raise fail("W0201", message, f"rename one of them: `schedule my-{call.schedule}`", span=call.span, notes=notes)
    return next(iter(found), None)


def twice(ref: tree.HandleRef, by: str) -> WeftError:
    """The error of a handle that occurs twice in a list of handles that are all consumed."""
    message = f"`{ref.spelling}` occurs twice in the list, and {by} consumes it"
    return fail("W0228", message, f"write `{ref.spelling}` once", span=ref.span)


def let_of(results: Iterable[str]) -> str:
    """The syntax for naming results: `let (loop, op)`, `let op`."""
    names = list(results)
    return f"let ({', '.join(names)})" if len(names) != 1 else f"let {names[0]}"


def names_of(let: tree.Let | None, results: tuple[str, ...]) -> tuple[str, ...]:
    """The user's names for the results: those of `let`, or `t.loop` and `t.op`."""
    if let is None:
        return ()
    if let.destructured or len(results) <= 1:
        return tuple(target.name for target in let.targets if target.name != "_")
    return tuple(f"{let.targets[0].name}.{result}" for result in results)
