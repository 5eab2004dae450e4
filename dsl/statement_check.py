"""Checks one statement against its signature: fields, kinds, literal values, and the handles it uses and consumes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from . import tree
from .diagnostics import Diagnostic, Span, WeftError
from .expressions import ELEMENT_TYPES, NAMES, UNKNOWN, Evaluator, UnknownValue
from .fields import field_value
from .scopes import BoundName, Gone, Part, Scope, consumed, let_of
from .signature import Field, Signature
from .wording import count, did_you_mean, quoted


class ScopeCheck:
    """Looks up names in a scope and reports what is wrong with them. `keyword`: the statement that is looked at."""

    def __init__(self, scope: Scope, report: Callable[[Diagnostic], None], keyword: str | None = None) -> None:
        self.scope = scope
        self.report = report
        self.keyword = keyword
        self.evaluator = Evaluator(self._lookup, self._report_all)
        self.value = self.evaluator.value

    def error(self, code: str, message: str, span: Span, hint: str | None = None, notes: tuple[str, ...] = ()) -> None:
        self.report(Diagnostic(code, message, span, self.keyword, notes, hint))

    def _report_all(self, error: WeftError) -> None:
        for diagnostic in error.diagnostics:
            self.report(replace(diagnostic, statement=self.keyword))

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """What is raised is reported."""
        try:
            yield
        except WeftError as error:
            self._report_all(error)

    # ---- values -----------------------------------------------------------------------------------------------------------

    def _lookup(self, ref: tree.NameRef) -> UnknownValue | str:
        found = self.scope.names.get(ref.name)
        if isinstance(found, UnknownValue):
            return found
        if isinstance(found, BoundName):
            hint = "`if h { … }` alone asks whether a handle is there; it can't be part of an expression"
            self.error("W0221", f"`{ref.name}` is a handle, not a value", ref.span, hint)
        elif ref.name in ELEMENT_TYPES:
            return ref.name
        else:
            values = self.scope.known(UnknownValue)
            notes = (f"values here: {quoted(values) or 'none'}",)
            self.error("W0220", f"`{ref.name}` is not defined", ref.span, did_you_mean(ref.name, values), notes)
        return UNKNOWN

    # ---- handles ----------------------------------------------------------------------------------------------------------

    def find(self, ref: tree.HandleRef) -> BoundName | None:
        found = self.scope.names.get(ref.name)
        if isinstance(found, BoundName):
            return found
        if isinstance(found, UnknownValue):
            if found.kind != "unknown":  # else what made it unknown was reported
                self.error("W0221", f"`{ref.name}` is {NAMES[found.kind]}, not a handle", ref.span)
            return None
        handles = self.scope.known(BoundName)
        notes = (f"handles here: {quoted(handles)}",) if handles else ("no handle is bound here yet",)
        hint = did_you_mean(ref.name, handles)
        self.error("W0220", f"there is no handle `{ref.name}`", ref.span, hint, notes)
        return None

    def single(self, ref: tree.HandleRef) -> tuple[Part, tuple[str, ...]] | None:
        """The one live handle that `ref` names, and the fields that are left over: `step.lhs` → (step, ("lhs",))."""
        bound = self.find(ref)
        if bound is None:
            return None
        part, rest = "", ref.fields
        if bound.shape == "list":
            hint = f"walk over them: `foreach op in {ref.name} {{ … }}`"
            self.error("W0221", f"`{ref.name}` stands for all ops that matched", ref.span, hint)
            return None
        if bound.shape == "several":
            names = quoted(f"{ref.name}.{result}" for result in bound.results)
            if not rest:
                self.error("W0221", f"`{ref.name}` stands for several results", ref.span, f"name one: {names}")
                return None
            part, rest = rest[0], rest[1:]
            if part not in bound.results and not bound.open:
                self.error("W0222", f"`{ref.name}` has no result `{part}`", ref.span, f"it has {names}")
                return None
        gone = self.scope.gone.get((bound.number, part))
        if gone is not None:
            shown = ref.name if not part else f"{ref.name}.{part}"
            self.report(consumed(shown, ref.span, gone, self.keyword))
            return None
        return (bound.number, part), rest

    def op(self, ref: tree.HandleRef) -> Part | None:
        """The live handle of a field that takes an op or a loop."""
        found = self.single(ref)
        if found is None:
            return None
        part, rest = found
        bound = self.scope.names[ref.name]
        if rest and not (isinstance(bound, BoundName) and bound.shape == "any" and len(rest) == 1):
            owner = ref.spelling.removesuffix(f".{'.'.join(rest)}")
            message = f"`{owner}` is a single handle and has no result `{rest[0]}`"
            self.error("W0222", message, ref.span, f"write `{owner}`")
            return None
        return part

    def operand(self, ref: tree.HandleRef) -> None:
        """The field that takes an operand: a handle, and the operand's name."""
        found = self.single(ref)
        if found is not None and len(found[1]) != 1:
            hint = f"write `{ref.name}.lhs`, `{ref.name}.rhs`, …; `weft statements` lists the names"
            self.error("W0224", f"`{ref.spelling}` names no operand of an op", ref.span, hint)

    def consume(self, part: Part, ref: tree.HandleRef, gone: Gone) -> None:
        bound = self.scope.names[ref.name]
        if isinstance(bound, BoundName) and bound.loops < self.scope.loops:
            message = f"`{ref.spelling}` is consumed in the first round of `foreach`, and gone in the next"
            notes = (f"it is bound outside the loop, in line {bound.span.line}",)
            self.error("W0228", message, ref.span, "match or bind it inside the loop", notes)
        self.scope.gone[part] = gone


def check_statement(node: tree.StatementNode, signature: Signature, check: ScopeCheck, returned: tuple[str, ...]) -> None:
    """Check the fields of `node`, and take from the scope what it consumes. `returned`: names that its `let` binds."""
    for name, value in node.fields.items():
        if signature.field(name) is None:
            word = name.replace("_", "-")
            at = value.span if isinstance(value, tree.Node) else node.span
            check.error("W0215", f"`{node.keyword}` of this version takes no `{word}`", at)
    dying: list[tuple[Part, tree.HandleRef]] = []
    for field in signature.fields:
        value = node.fields.get(field.name)
        if value is not None:
            dying += _check_field(field, value, check)
        elif not field.optional and field.kind not in ("flag", "handles"):
            check.error("W0230", f"`{node.keyword}` needs its {field.word}", node.span)
    unnamed = () if returned else signature.results
    for part, ref in dying:
        check.consume(part, ref, Gone(f"`{node.keyword}`", node.span, returned, unnamed))


def _check_field(field: Field, value: Any, check: ScopeCheck) -> list[tuple[Part, tree.HandleRef]]:
    """Check one field; return the handles it consumes."""
    match field.kind, value:
        case "handle", tree.HandleRef():
            part = check.op(value)
            return [(part, value)] if part is not None and field.consumes else []
        case "operand", tree.HandleRef():
            check.operand(value)
        case "raw", tree.Word():
            _check_raw(value, check)
        case ("int" | "str" | "sizes" | "ints" | "space" | "distribution"), _:
            field_value(field, value, check.evaluator)
    return []


_SSA_NAME = re.compile(r"%([A-Za-z_]\w*)")


def _check_raw(raw: tree.Word, check: ScopeCheck) -> None:
    """`%name` in a raw text is the op of the handle `name`, unless the text itself defines `%name`."""
    defined = set(re.findall(r"%([A-Za-z_]\w*)\s*(?:,[^=\n]*)?=", raw.text))
    for name in dict.fromkeys(_SSA_NAME.findall(raw.text)):
        bound = check.scope.names.get(name)
        if name in defined or not isinstance(bound, BoundName):
            continue
        gone = check.scope.gone.get((bound.number, ""))
        if gone is not None and bound.shape != "several":
            check.report(consumed(name, raw.span, gone, check.keyword))


def check_count(let: tree.Let, what: str, results: tuple[str, ...], variadic: bool, check: ScopeCheck) -> None:
    """Whether as many names stand in `let (…)` as there are results."""
    if not results and not variadic:
        check.error("W0225", f"{what} returns nothing", let.span, "write it without `let`")
        return
    given = len(let.targets)
    if not let.destructured or given == len(results) or (variadic and given > len(results)):
        return
    least = "at least " if variadic else ""
    notes = (f"{what} returns {quoted(results)}",)
    names = [*(target.name for target in let.targets), *results[given:]][: len(results)]
    hint = f"write `{let_of(names)} = …`; `_` throws a result away"
    check.error("W0226", f"{count(given, 'name')} for {least}{count(len(results), 'result')}", let.span, hint, notes)
