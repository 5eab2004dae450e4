"""Checks one statement against its signature: fields, kinds, literal values, and the handles it uses and consumes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import tree
from .diagnostics import Diagnostic, Span
from .kinds import NAMES, Inference, Known
from .scopes import Bound, Gone, Part, Scope, consumed, let_of
from .signature import Field, Signature
from .wording import count, did_you_mean, quoted


class ScopeCheck:
    """Looks up names in a scope and reports what is wrong with them. `keyword`: the statement that is looked at."""

    def __init__(self, scope: Scope, report: Callable[[Diagnostic], None], keyword: str | None = None) -> None:
        self.scope = scope
        self.report = report
        self.keyword = keyword
        self.inference = Inference(self._lookup, report)

    def error(self, code: str, message: str, span: Span, hint: str | None = None, notes: tuple[str, ...] = ()) -> None:
        self.report(Diagnostic(code, message, span, self.keyword, notes, hint))

    # ---- values -----------------------------------------------------------------------------------------------------------

    def _lookup(self, ref: tree.NameRef) -> Known | None:
        from .expressions import ELEMENT_TYPES

        found = self.scope.names.get(ref.name)
        if isinstance(found, Known):
            return found
        if isinstance(found, Bound):
            hint = "`if h { … }` alone asks whether a handle is there; it can't be part of an expression"
            self.error("W0221", f"`{ref.name}` is a handle, not a value", ref.span, hint)
        elif ref.name in ELEMENT_TYPES:
            return Known("type", ref.name, True)
        else:
            values = self.scope.values()
            notes = (f"values here: {quoted(values) or 'none'}",)
            self.error("W0220", f"`{ref.name}` is not defined", ref.span, did_you_mean(ref.name, values), notes)
        return None

    def expect(self, expr: Any, kind: str, what: str, minimum: int | None = None) -> Known:
        """Infer `expr` and report if it is not of `kind`, or a constant below `minimum`."""
        if isinstance(expr, tree.HandleRef):
            self.error("W0221", f"{what} is {NAMES[kind]}; `{expr.spelling}` is a handle", expr.span)
            return Known("unknown")
        known = self.inference.infer(expr)
        if known.kind not in (kind, "unknown"):
            self.error("W0232", f"{what} is {NAMES[kind]}, not {NAMES[known.kind]}", expr.span)
        elif minimum is not None and known.constant and known.value < minimum:
            self.error("W0231", f"{what} is {known.value}; it must be at least {minimum}", expr.span)
        return known

    # ---- handles ----------------------------------------------------------------------------------------------------------

    def find(self, ref: tree.HandleRef) -> Bound | None:
        found = self.scope.names.get(ref.name)
        if isinstance(found, Bound):
            return found
        if isinstance(found, Known):
            if found.kind != "unknown":  # else what made it unknown was reported
                self.error("W0221", f"`{ref.name}` is {NAMES[found.kind]}, not a handle", ref.span)
            return None
        handles = self.scope.handles()
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
        if rest and not (isinstance(bound, Bound) and bound.shape == "any" and len(rest) == 1):
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
        if isinstance(bound, Bound) and bound.loops < self.scope.loops:
            message = f"`{ref.spelling}` is consumed in the first round of `foreach`, and gone in the next"
            notes = (f"it is bound outside the loop, in line {bound.span.line}",)
            self.error("W0228", message, ref.span, "match or bind it inside the loop", notes)
        self.scope.gone[part] = gone


def check_statement(node: tree.Statement, signature: Signature, check: ScopeCheck, returned: tuple[str, ...]) -> None:
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
            dying += _check_field(node, field, value, check)
        elif not field.optional and field.kind not in ("flag", "handles"):
            check.error("W0230", f"`{node.keyword}` needs its {field.name.replace('_', '-')}", node.span)
    unnamed = () if returned else signature.results
    for part, ref in dying:
        check.consume(part, ref, Gone(f"`{node.keyword}`", node.span, returned, unnamed))


def _check_field(
    node: tree.Statement, field: Field, value: Any, check: ScopeCheck
) -> list[tuple[Part, tree.HandleRef]]:
    """Check one field; return the handles it consumes."""
    what = field.name.replace("_", "-")
    match field.kind, value:
        case "handle", tree.HandleRef():
            part = check.op(value)
            return [(part, value)] if part is not None and field.consumes else []
        case "operand", tree.HandleRef():
            check.operand(value)
        case "int", _:
            check.expect(value, "int", f"`{what}`", field.minimum)
        case "str", _:
            check.expect(value, "str", f"`{what}`")
        case (("sizes" | "ints"), tree.ListExpr()):
            _check_list(field, value, check)
        case "space", tree.Space():
            _check_space(value, check)
        case "distribution", tree.Distribution(chunk=chunk) if chunk is not None:
            check.expect(chunk, "int", "the chunk of `block-cyclic`", 1)
        case "raw", tree.RawText():
            _check_raw(value, check)
    return []


def _check_list(field: Field, given: tree.ListExpr, check: ScopeCheck) -> None:
    what = "a tile size" if field.kind == "sizes" else f"an entry of `{field.name}`"
    for item in given.items:
        if isinstance(item, tree.Skip):
            if field.kind != "sizes":
                check.error("W0232", f"{what} is an integer, not `_`", item.span)
            continue
        check.expect(item, "int", what, field.minimum)


def _check_space(space: tree.Space, check: ScopeCheck) -> None:
    seen: set[str] = set()
    for dimension in space.dimensions:
        if dimension.axis in seen:
            message = f"axis `{dimension.axis}` is given twice"
            check.error("W0238", message, dimension.span, "each of x, y, z stands for one dimension")
        seen.add(dimension.axis)
        if dimension.count is not None and dimension.count != "?":
            check.expect(dimension.count, "int", f"the count of `{dimension.axis}`", 1)


_SSA_NAME = re.compile(r"%([A-Za-z_]\w*)")


def _check_raw(raw: tree.RawText, check: ScopeCheck) -> None:
    """`%name` in a raw text is the op of the handle `name`, unless the text itself defines `%name`."""
    defined = set(re.findall(r"%([A-Za-z_]\w*)\s*(?:,[^=\n]*)?=", raw.text))
    for name in dict.fromkeys(_SSA_NAME.findall(raw.text)):
        bound = check.scope.names.get(name)
        if name in defined or not isinstance(bound, Bound):
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
