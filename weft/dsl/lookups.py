"""Lookups of names and properties in the scope of a schedule that is checked, and their errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

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
from .scopes import ABSENT, BoundName, Gone, Part, Scope, consumed, twice, written_handles
from .tree import OF_OPERANDS, OPERAND, PROPERTIES


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
        case [operand, "sizes" | "dims", axis] if OPERAND.fullmatch(operand) and axis.isdigit():
            return "int"
        case [name] if name in PROPERTIES:
            return PROPERTIES[name][0]
    return None


def one_is_meant(listed: str, span: Span, where: str = "") -> WeftError:
    """The error of a list of handles in place of a handle."""
    hint = f"iterate over them: `foreach op in {listed} {{ … }}`"
    return fail("W0221", f"`{listed}` is a list, and one handle is meant{where}", span=span, hint=hint)


class ScopeCheck:
    """Looks up names in a scope and reports errors. `keyword`: the statement that is checked."""

    def __init__(self, scope: Scope, report: Callable[[Diagnostic], None], keyword: str | None = None) -> None:
        self.scope = scope
        self.report = report
        self.keyword = keyword
        self.each: str | None = None
        """The list in a statement that is executed for each of its handles; None: not allowed,
        empty: none so far."""
        self.evaluator = Evaluator(self._lookup, self._report_all, self._present, self._read)
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
        self.scope.use(ref.name)
        if isinstance(found, UnknownValue):
            return found.value if isinstance(found, KnownValue) else found
        if isinstance(found, BoundName):
            hint = f"`if {ref.name}` and `{ref.name} != none` test whether the handle is present; no expression has it as a value"
            raise fail("W0221", f"`{ref.name}` is a handle, not a value", span=ref.span, hint=hint)
        if ref.name in ELEMENT_TYPES:
            return ref.name
        self.expect_visible(ref)
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
            raise one_is_meant(ref.name, ref.span)
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

        return Evaluator(lookup, self._report_all, self._present, read)

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

    def is_none(self, value: tree.Expr | tree.HandleRef) -> bool:
        """Whether an expression is `none`, or a name of it: as a handle, an absent one."""
        named = self.scope.names.get(value.name) if isinstance(value, tree.NameRef) else None
        if isinstance(value, tree.NameRef):
            self.scope.use(value.name)
        literal = isinstance(value, tree.Literal) and value.value is tree.NONE
        return literal or (isinstance(named, UnknownValue) and named.kind == "none")

    def expect_visible(self, ref: tree.NameRef | tree.HandleRef) -> None:
        """Raises W0229 for a name that ended with the block that binds it."""
        if (ended := self.scope.ended.get(ref.name)) is not None:
            message = f"`{ref.name}` is not visible here: the block that binds it has ended"
            raise fail("W0229", message, span=ref.span, notes=(ended.reason,), hint=ended.hint)

    def _present(self, ref: tree.NameRef) -> UnknownValue | None:
        self.scope.use(ref.name)
        return UnknownValue("bool") if isinstance(self.scope.names.get(ref.name), BoundName) else None

    def find(self, ref: tree.HandleRef) -> BoundName:
        """The binding of a handle's name. Raises W0220, W0221, W0229."""
        found = self.scope.names.get(ref.name)
        self.scope.use(ref.name)
        if isinstance(found, BoundName):
            return found
        if isinstance(found, UnknownValue):
            if found.kind == "none":  # an absent handle
                return BoundName(ABSENT, ref.span)
            if found.kind == "unknown":  # the cause was reported
                raise WeftError
            raise fail("W0221", f"`{ref.name}` is {NAMES[found.kind]}, not a handle", span=ref.span)
        self.expect_visible(ref)
        handles = self.scope.known(BoundName)
        notes = (f"handles here: {quoted(handles)}" if handles else "no handle is bound here yet",)
        hint = did_you_mean(ref.name, handles)
        raise fail("W0220", f"there is no handle `{ref.name}`", span=ref.span, notes=notes, hint=hint)

    def single(self, ref: tree.HandleRef) -> tuple[Part, tuple[str, ...]]:
        """The live handle named by `ref`, and the remaining fields: `step.lhs` → (step, ("lhs",))."""
        bound = self.find(ref)
        part, rest = "", ref.fields
        if bound.shape == "list":
            self.iterate(ref.name, ref.span)
        if bound.shape == "several":
            names = quoted(f"{ref.name}.{result}" for result in bound.results)
            if not rest:
                message, hint = f"`{ref.name}` names several results", f"name one: {names}"
                raise fail("W0221", message, span=ref.span, hint=hint)
            part, *rest = rest
            if part not in bound.results and not re.fullmatch(bound.open, part):
                raise fail("W0222", f"`{ref.name}` has no result `{part}`", span=ref.span, hint=f"it has {names}")
        self.live(replace(ref, fields=(part,) if part else ()), (bound.number, part))
        return (bound.number, part), tuple(rest)

    def iterate(self, listed: str, span: Span) -> None:
        """Records the list for each element of which the statement is executed. Raises W0221 for a
        second list, and for a list in a place that takes a single handle."""
        if self.each not in (listed, ""):
            raise one_is_meant(listed, span, f" beside the list `{self.each}`" if self.each else "")
        self.each = listed

    def live(self, ref: tree.HandleRef, part: Part) -> None:
        """Raises W0223 or W0227 for a handle that was consumed; records the use of a handle of the
        schedule around this one."""
        if (gone := self.scope.gone.get(part)) is not None:
            raise consumed(ref.spelling, ref.span, gone)
        if ABSENT < part[0] < self.scope.first:
            self.scope.captured.setdefault(part, ref)

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
                    if (bound := self.find(ref)).shape == "list" and not ref.fields:  # its elements
                        self.live(ref, (bound.number, ""))
                        parts.append(((bound.number, ""), ref))
                    else:
                        parts.append((self.op(ref), ref))
        return parts

    def operand(self, ref: tree.HandleRef) -> None:
        """Checks a field that takes an operand: a handle, and the operand's name."""
        if len(self.single(ref)[1]) != 1:
            hint = f"write `{ref.name}.lhs`, `{ref.name}.rhs`, …; `weft statements` lists the names"
            raise fail("W0224", f"`{ref.spelling}` names no operand of an op", span=ref.span, hint=hint)

    def consume(self, part: Part, ref: tree.HandleRef, gone: Gone) -> None:
        if part[0] == ABSENT:
            return
        bound = self.scope.bindings[part[0]]
        if bound.loops < self.scope.loops:
            message = f"`{ref.spelling}` is consumed in the first iteration of `foreach`, and gone in the next"
            notes = (f"it is bound outside the loop, in line {bound.span.line}",)
            self.error("W0228", message, ref.span, "bind it in the loop: `let … = match …`", notes)
        self.scope.gone[part] = gone

    def consume_each(self, written: Sequence[tuple[Part, tree.HandleRef]], gone: Gone) -> None:
        """Consumes the handles of a list literal."""
        once: set[Part] = set()
        for part, ref in written:
            if part in once:
                with self.reporting():
                    raise twice(ref, f"{gone.by} in line {gone.span.line}")
            else:
                self.consume(part, ref, gone)
            once.add(part)

    def consume_by_call(self, part: Part, ref: tree.HandleRef, gone: Gone) -> None:
        """Consumes a handle in a call, which may be executed for each handle of a list."""
        if self.each and part[0] != ABSENT and self.scope.bindings[part[0]].shape != "list":
            message = (
                f"`{ref.spelling}` is consumed by the call for the first op of `{self.each}`, and gone for the next"
            )
            hint = f"bind it for each: `foreach op in {self.each} {{ let … = match … }}`"
            self.error("W0228", message, ref.span, hint)
        self.consume(part, ref, gone)
