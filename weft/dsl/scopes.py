"""The scope of names in a schedule that is checked: the meaning of each name, the consumed handles,
and lookups that report errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from . import tree
from .diagnostics import Diagnostic, Span, WeftError, did_you_mean, fail, quoted
from .expressions import (
    ELEMENT_TYPES,
    NAMES,
    SPLIT_TYPES,
    Evaluator,
    Kind,
    KnownValue,
    UnknownValue,
    fits,
    kind_of,
    parts_of,
)
from .records import record
from .tree import OF_OPERANDS, OPERAND, PROPERTIES

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
    """

    by: str
    span: Span
    returned: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    certain: bool = True


Part = tuple[int, str]
"""A handle: the number of its `BoundName` and the name of the result, empty for a single one."""


@dataclass
class Scope:
    """The names visible at a statement. A block works on a `copy`; `merge` adds the handles that
    its ways consumed."""

    names: dict[str, BoundName | UnknownValue] = field(default_factory=dict)
    gone: dict[Part, Gone] = field(default_factory=dict)
    loops: int = 0

    def copy(self, *, unknown: bool = False) -> Scope:
        """A copy for a block. `unknown`: the block runs with other values than the known ones."""
        names = {n: UnknownValue(v.kind) if unknown and isinstance(v, KnownValue) else v for n, v in self.names.items()}
        return Scope(names, dict(self.gone), self.loops)

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


def written_handles(listed: tree.ListExpr, is_handle: Callable[[str], bool]) -> tuple[tree.HandleRef, ...] | None:
    """The handles of a list literal; None if it is a list of values. Raises W0233 for a mixture.
    `is_handle`: whether a name names a handle."""
    items = [tree.HandleRef(i.span, i.name) if isinstance(i, tree.NameRef) else i for i in listed.items]
    refs = tuple(item for item in items if isinstance(item, tree.HandleRef))
    if not any(ref.fields or is_handle(ref.name) for ref in refs):
        return None
    if other := [item for item in items if not isinstance(item, tree.HandleRef)]:
        raise fail(
            "W0233", "`foreach` iterates over handles or over values, and this list has both", span=other[0].span
        )
    return refs


def consumed(spelling: str, span: Span, gone: Gone) -> WeftError:
    """The error of using a consumed handle, with the consumer and the names of its results."""
    line = gone.span.line
    where = f"in line {line}" if gone.span.source == span.source else f"at {gone.span}"
    if not gone.certain:
        message = f"`{spelling}` may be gone: {gone.by} {where} consumes it on one path through the schedule"
        hint = f"use `{spelling}` only where it is not consumed, or consume it in every branch"
        return fail("W0227", message, span=span, hint=hint)
    notes: tuple[str, ...] = ()
    hint = None
    if gone.returned:
        notes = (f"line {line} returned {quoted(gone.returned)} instead",)
        hint = f"use {' or '.join(f'`{name}`' for name in gone.returned)}"
    elif gone.unnamed:
        notes = (f"the result of {gone.by} there has no name",)
        hint = f"name it: `{let_of(gone.unnamed)} = …`"
    return fail("W0223", f"`{spelling}` was consumed by {gone.by} {where}", span=span, notes=notes, hint=hint)


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


def kind_of_property(fields: Sequence[str]) -> Kind | None:
    """The kind of the value of `rank`, `sizes.0`, `lhs.type`, `lhs.0`; None for fields that name no
    property."""
    match [*fields]:
        case [operand, axis] if OPERAND.fullmatch(operand) and axis.isdigit():
            return "int"
        case [operand, name] if OPERAND.fullmatch(operand) and name in OF_OPERANDS:
            return PROPERTIES[name][0]
        case [name, axis] if axis.isdigit() and name in PROPERTIES and PROPERTIES[name][0] == "list":
            return "int"
        case [operand, "sizes", axis] if OPERAND.fullmatch(operand) and axis.isdigit():
            return "int"
        case [name] if name in PROPERTIES:
            return PROPERTIES[name][0]
    return None


# ---- lookups and their errors ------------------------------------------------------------------------


class ScopeCheck:
    """Looks up names in a scope and reports errors. `keyword`: the statement that is checked."""

    def __init__(self, scope: Scope, report: Callable[[Diagnostic], None], keyword: str | None = None) -> None:
        self.scope = scope
        self.report = report
        self.keyword = keyword
        self.each: str | None = None
        """The name of a `match*` list in a statement that is executed for each of its ops; None:
        not allowed yet, empty: any name."""
        self.evaluator = Evaluator(self._lookup, self._report_all, self._read)
        self.value = self.evaluator.value

    def error(self, code: str, message: str, span: Span, hint: str | None = None, notes: tuple[str, ...] = ()) -> None:
        self.report(Diagnostic(code, message, span, self.keyword, notes, hint))

    def _report_all(self, error: WeftError) -> None:
        for diagnostic in error.diagnostics:
            self.report(replace(diagnostic, statement=self.keyword))

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """A context that reports the errors raised inside."""
        try:
            yield
        except WeftError as error:
            self._report_all(error)

    # ---- lookups that raise ---------------------------------------------------------------------

    def _lookup(self, ref: tree.NameRef) -> Any:
        found = self.scope.names.get(ref.name)
        if isinstance(found, UnknownValue):
            return found.value if isinstance(found, KnownValue) else found
        if isinstance(found, BoundName):
            hint = "only `if h { … }` tests whether a handle is present; a handle can't be part of an expression"
            raise fail("W0221", f"`{ref.name}` is a handle, not a value", span=ref.span, hint=hint)
        if ref.name in ELEMENT_TYPES:
            return ref.name
        values = self.scope.known(UnknownValue)
        notes = (f"values here: {quoted(values) or 'none'}",)
        hint = did_you_mean(ref.name, (*values, *ELEMENT_TYPES, *SPLIT_TYPES))
        raise fail("W0220", f"`{ref.name}` is not defined", span=ref.span, notes=notes, hint=hint)

    def _read(self, asked: tree.Property) -> UnknownValue:
        """The kind of a property of a handle's op, or of a size of one of the payload's arguments."""
        if asked.name not in self.scope.names and len(asked.fields) == 1 and asked.fields[0].isdigit():
            return UnknownValue("int")
        bound = self.find(ref := tree.HandleRef(asked.span, asked.name, asked.fields))
        if bound.shape == "list":
            hint = f"iterate over them: `foreach op in {ref.name} {{ … }}`"
            raise fail("W0221", f"`{ref.name}` names all matched ops", span=ref.span, hint=hint)
        fields = self.single(ref)[1]
        if not fields:
            raise fail("W0221", f"`{ref.spelling}` is a handle, not a value", span=ref.span)
        if len(fields) == 1 and OPERAND.fullmatch(fields[0]):
            hint = f"`{ref.spelling}.0` is its first size; `{ref.spelling}.type`, `{ref.spelling}.rank`"
            raise fail("W0221", f"`{ref.spelling}` is an operand, not a value", span=ref.span, hint=hint)
        kind = kind_of_property(fields) or (kind_of_property(fields[1:]) if bound.shape == "any" else None)
        return UnknownValue(kind) if kind is not None else self._unknown_property(asked, fields)

    def _unknown_property(self, asked: tree.Property | tree.NameRef, fields: Sequence[str]) -> UnknownValue:
        whole = ".".join(fields)
        near = did_you_mean(next((f for f in fields if not f.isdigit()), whole), PROPERTIES)
        hint = near or "`weft statements match` explains them"
        notes = (
            f"properties: {quoted(PROPERTIES)}; of operands {quoted(f'lhs.{name}' for name in OF_OPERANDS)}, `lhs.0`",
        )
        raise fail("W0246", f"an op has no property `{whole}`", span=asked.span, notes=notes, hint=hint)

    def candidate(self) -> Evaluator:
        """An evaluator of the condition after `where`: its names are first of all properties of the
        op that may match."""

        def lookup(ref: tree.NameRef) -> Any:
            if ref.name in PROPERTIES:
                return UnknownValue(PROPERTIES[ref.name][0])
            known = ref.name in ELEMENT_TYPES or ref.name in self.scope.names
            if not known and did_you_mean(ref.name, PROPERTIES) is not None:
                self._unknown_property(ref, (ref.name,))
            return self._lookup(ref)

        def read(asked: tree.Property) -> Any:
            if asked.name not in PROPERTIES and not OPERAND.fullmatch(asked.name):
                return self._read(asked)
            fields = (asked.name, *asked.fields)
            kind = kind_of_property(fields)
            return UnknownValue(kind) if kind is not None else self._unknown_property(asked, fields)

        return Evaluator(lookup, self._report_all, read)

    def condition(self, expr: tree.Expr) -> None:
        """Checks the condition after `where`."""
        value = self.candidate().value(expr)
        if not fits("bool", value):
            self.error("W0232", f"`where` takes a condition, not {NAMES[kind_of(value)]}", expr.span)
        for part in parts_of(expr):
            match part:
                case tree.Binary(left=tree.NameRef(name=own), right=tree.NameRef(name=other)) if (
                    own == other and own in PROPERTIES
                ):
                    message = f"this compares `{own}` of each op with itself: after `where` it is the op's property"
                    hint = f"give the value another name: `let wanted = {own}`"
                    self.error("W0247", message, part.span, hint)

    def find(self, ref: tree.HandleRef) -> BoundName:
        """The binding of a handle's name. Raises W0220, W0221."""
        found = self.scope.names.get(ref.name)
        if isinstance(found, BoundName):
            return found
        if isinstance(found, UnknownValue):
            if found.kind == "unknown":  # the cause was reported
                raise WeftError
            raise fail("W0221", f"`{ref.name}` is {NAMES[found.kind]}, not a handle", span=ref.span)
        handles = self.scope.known(BoundName)
        notes = (f"handles here: {quoted(handles)}" if handles else "no handle is bound here yet",)
        hint = did_you_mean(ref.name, handles)
        raise fail("W0220", f"there is no handle `{ref.name}`", span=ref.span, notes=notes, hint=hint)

    def single(self, ref: tree.HandleRef) -> tuple[Part, tuple[str, ...]]:
        """The live handle named by `ref`, and the remaining fields: `step.lhs` → (step, ("lhs",))."""
        bound = self.find(ref)
        part, rest = "", ref.fields
        if bound.shape == "list" and self.each not in (ref.name, ""):
            hint = f"iterate over them: `foreach op in {ref.name} {{ … }}`"
            raise fail("W0221", f"`{ref.name}` names all matched ops", span=ref.span, hint=hint)
        if bound.shape == "list":
            self.each = ref.name
        if bound.shape == "several":
            names = quoted(f"{ref.name}.{result}" for result in bound.results)
            if not rest:
                message, hint = f"`{ref.name}` names several results", f"name one: {names}"
                raise fail("W0221", message, span=ref.span, hint=hint)
            part, *rest = rest
            if part not in bound.results and not re.fullmatch(bound.open, part):
                raise fail("W0222", f"`{ref.name}` has no result `{part}`", span=ref.span, hint=f"it has {names}")
        if (gone := self.scope.gone.get((bound.number, part))) is not None:
            raise consumed(f"{ref.name}.{part}" if part else ref.name, ref.span, gone)
        return (bound.number, part), tuple(rest)

    def op(self, ref: tree.HandleRef) -> Part:
        """The live handle for a field that takes an op or a loop."""
        part, rest = self.single(ref)
        if rest and not (self.find(ref).shape == "any" and len(rest) == 1):
            owner = ref.spelling.removesuffix(f".{'.'.join(rest)}")
            message = f"`{owner}` is a single handle and has no result `{rest[0]}`"
            raise fail("W0222", message, span=ref.span, hint=f"write `{owner}`")
        return part

    def written(self, iterable: tree.Expr) -> list[tuple[Part, tree.HandleRef]] | None:
        """The live handles of a list literal; None for a list of values. Errors are reported."""
        if not isinstance(iterable, tree.ListExpr):
            return None
        parts: list[tuple[Part, tree.HandleRef]] = []
        with self.reporting():
            refs = written_handles(iterable, lambda name: isinstance(self.scope.names.get(name), BoundName))
            if refs is None:
                return None
            for ref in refs:
                with self.reporting():
                    parts.append((self.op(ref), ref))
        return parts

    def operand(self, ref: tree.HandleRef) -> None:
        """Checks a field that takes an operand: a handle, and the operand's name."""
        if len(self.single(ref)[1]) != 1:
            hint = f"write `{ref.name}.lhs`, `{ref.name}.rhs`, …; `weft statements` lists the names"
            raise fail("W0224", f"`{ref.spelling}` names no operand of an op", span=ref.span, hint=hint)

    def consume(self, part: Part, ref: tree.HandleRef, gone: Gone) -> None:
        bound = self.find(ref)
        if bound.loops < self.scope.loops:
            message = f"`{ref.spelling}` is consumed in the first iteration of `foreach`, and gone in the next"
            notes = (f"it is bound outside the loop, in line {bound.span.line}",)
            self.error("W0228", message, ref.span, "bind it in the loop: `let … = match …`", notes)
        self.scope.gone[part] = gone
