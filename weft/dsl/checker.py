"""Checks a parsed file without a payload: names, kinds, arity, domains, literal values, and
handles.

Statements are described by data (`Signature`). Handles are followed through both branches of `if`,
through `foreach`, and through calls: a call consumes the arguments that the called schedule
consumes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from . import tree
from .diagnostics import Diagnostic, WeftError, did_you_mean, fail
from .expressions import ELEMENT_TYPES, FUNCTIONS, NAMES, UNKNOWN, Kind, KnownValue, UnknownValue, fits, kind_of, unmet
from .parameters import RESERVED, check_arguments, check_parameters
from .records import record
from .scopes import BoundName, Gone, Part, Scope, ScopeCheck, Shape, names_of
from .signature import Signature, check_count, check_statement


def check(file: tree.File, signatures: Mapping[str, Signature], *, defaults: bool = False) -> list[Diagnostic]:
    """All errors and warnings of a file in the order of its text; with `defaults`, also those of
    its main schedule with the defaults of its parameters."""
    found: list[Diagnostic] = []
    for settled in (None, file.main.name) if defaults else (None,):
        checker = _Checker(file, signatures, settled)
        checker.run()
        found += checker.found

    def place(diagnostic: Diagnostic) -> tuple[object, ...]:
        span = diagnostic.span or file.span
        return span.source.name != file.source.name, span.source.name, span.line, span.column, diagnostic.code

    return sorted(dict.fromkeys(found), key=place)


def expect_right(file: tree.File, signatures: Mapping[str, Signature]) -> None:
    """Raises the diagnostics of a file if one of them is an error."""
    found = check(file, signatures)
    if any(d.severity == "error" for d in found):
        raise WeftError(*found)


@record
class Interface:
    """A schedule's interface to its callers: the handle parameters that it consumes, and the names
    of its results."""

    consumes: Mapping[str, Gone]
    results: tuple[str, ...]


class _Checker:
    def __init__(self, file: tree.File, signatures: Mapping[str, Signature], settled: str | None) -> None:
        self.file = file
        self.settled = settled
        """The schedule that is checked with the defaults of its parameters; parameters of others
        may have any value."""
        self.signatures = signatures
        self.schedules: dict[str, tree.Schedule] = {}
        self.found: list[Diagnostic] = []
        self.interfaces: dict[str, Interface] = {}
        self.path: list[str] = []
        self.numbers = itertools.count()

    def check(self, scope: Scope, keyword: str | None = None) -> ScopeCheck:
        return ScopeCheck(scope, self.found.append, keyword)

    def run(self) -> None:
        if self.file.payload is not None:
            self._payload(self.file.payload)
        for schedule in self.file.schedules:
            self._schedule_name(schedule)
        for schedule in self.file.schedules:
            if self.schedules[schedule.name] is schedule:
                self.interface(schedule)

    def _payload(self, payload: tree.Payload) -> None:
        check = self.check(Scope())
        seen: set[str] = set()
        for argument in payload.arguments:
            if argument.name in seen:
                check.error("W0208", f"`{argument.name}` is given twice", argument.span)
            seen.add(argument.name or "")
            if isinstance(argument.value, tree.HandleRef):
                check.error("W0221", "a payload's argument is a value, not a handle", argument.value.span)
            else:
                check.value(argument.value)

    def _schedule_name(self, schedule: tree.Schedule) -> None:
        check = self.check(Scope())
        first = self.schedules.setdefault(schedule.name, schedule)
        if first is not schedule:
            notes = (f"the first one is at {first.span}",)
            check.error("W0201", f"there are two schedules `{schedule.name}`", schedule.span, None, notes)
        elif schedule.name in RESERVED.union(tree.CONTROL):
            check.error(
                "W0205", f"`{schedule.name}` is a word of the language and can't name a schedule", schedule.span
            )
        elif schedule.name in self.signatures and schedule is not self.file.schedules[-1]:
            message = f"`{schedule.name}` is a statement: a schedule of that name can't be called"
            check.error("W0205", message, schedule.span, f"give it another name: `schedule my-{schedule.name}`")

    # ---- schedules -------------------------------------------------------------------------------

    def interface(self, schedule: tree.Schedule) -> Interface:
        """Checks a schedule, once, and returns its interface."""
        if schedule.name in self.interfaces:
            return self.interfaces[schedule.name]
        self.path.append(schedule.name)
        scope = Scope()
        check_parameters(schedule, self.check(scope), settled=schedule.name == self.settled)
        handles: dict[str, Part] = {}
        for parameter in schedule.parameters:
            if parameter.type == "handle" and parameter.name not in scope.names:
                bound = BoundName(next(self.numbers), parameter.span)
                scope.names[parameter.name] = bound
                handles[parameter.name] = (bound.number, "")
        self.block(schedule.body, scope, outermost=True)
        last = schedule.body[-1] if schedule.body else None
        results = tuple((ref.fields or (ref.name,))[-1] for ref in last.values) if isinstance(last, tree.Return) else ()
        consumes = {name: scope.gone[part] for name, part in handles.items() if part in scope.gone}
        self.path.pop()
        self.interfaces[schedule.name] = Interface(consumes, results)
        return self.interfaces[schedule.name]

    def block(self, items: tuple[tree.Item, ...], scope: Scope, outermost: bool = False) -> None:
        for index, item in enumerate(items):
            self._item(item, self.check(scope), last=outermost and index == len(items) - 1)

    def _item(self, item: tree.Item, check: ScopeCheck, last: bool) -> None:
        match item:
            case tree.Let():
                self._let(item, check)
            case tree.StatementNode():
                self._statement(item, None, check.scope)
            case tree.Call():
                self._call(item, None, check)
            case tree.Require():
                if self._condition(item.condition, "`require`", check) is False:
                    with check.reporting():
                        raise unmet(item, check.scope.values())
            case tree.If():
                self._if(item, check)
            case tree.Foreach():
                self._foreach(item, check)
            case tree.Versions():
                ways = [check.scope.copy() for _ in item.blocks]
                for block, way in zip(item.blocks, ways, strict=True):
                    self.block(block, way)
                check.scope.merge(*ways)
                for name in item.values:
                    kinds: set[Kind] = {
                        found.kind for way in ways if isinstance(found := way.names[name], UnknownValue)
                    }
                    check.scope.names[name] = UnknownValue(kinds.pop()) if len(kinds) == 1 else UNKNOWN
            case tree.Return():
                self._return(item, check, last)

    # ---- statements and calls --------------------------------------------------------------------

    def _let(self, let: tree.Let, check: ScopeCheck) -> None:
        if isinstance(let.value, tree.StatementNode):
            signature = self._statement(let.value, let, check.scope)
            shape: Shape = "list" if let.value.keyword.endswith("*") else "one"
            what = f"`{let.value.keyword}`"
            results, variadic = (signature.results, signature.variadic) if signature else ((), True)
            more = signature.more if signature and variadic else ""
        elif not isinstance(let.value, tree.Call):
            self._bind_value(let.targets[0], check.value(let.value), check)
            return
        else:
            interface = self._call(let.value, let, check)
            shape, what = "one", f"schedule `{let.value.schedule}`"
            results, variadic, more = (interface.results, False, "") if interface else ((), True, "")
        check_count(let, what, results, variadic, check)
        for target in let.targets:
            if let.destructured or (len(results) == 1 and not variadic):
                self._bind(target, shape, (), "", check)
            else:
                self._bind(target, "several" if results else "any", results, more, check)

    def _bind(self, target: tree.Binding, shape: Shape, results: tuple[str, ...], more: str, check: ScopeCheck) -> None:
        """Binds a name to handles. A name may be bound again once its handle is consumed: `let op =
        interchange op [1, 0]`."""
        if target.name != "_":
            self._free(target, check)
            bound = BoundName(next(self.numbers), target.span, shape, results, more, check.scope.loops)
            check.scope.names[target.name] = bound

    def _bind_value(self, target: tree.Binding, value: Any, check: ScopeCheck) -> None:
        """Binds a name to a value, permanently."""
        if target.name in ELEMENT_TYPES:
            check.error("W0205", f"`{target.name}` is an element type and can't name a value", target.span)
        self._free(target, check)
        known = value if isinstance(value, UnknownValue) else KnownValue(kind_of(value), value)
        check.scope.names[target.name] = known

    def _free(self, target: tree.Binding, check: ScopeCheck) -> None:
        name = target.name
        old = check.scope.names.get(name)
        if name in RESERVED:
            check.error("W0205", f"`{name}` is a word of the language and can't be a name", target.span)
        elif isinstance(old, UnknownValue):
            check.error(
                "W0206",
                f"`{name}` names a value already",
                target.span,
                f"take another name, `let {name}_2 = …`: a value keeps its name",
            )
        elif isinstance(old, BoundName) and check.scope.alive(old):
            message = f"`{name}` still names the handle of line {old.span.line}"
            check.error(
                "W0206",
                message,
                target.span,
                f"take another name, `let {name}_2 = …`; a name is free again once its handle is consumed",
            )

    def _statement(self, node: tree.StatementNode, let: tree.Let | None, scope: Scope) -> Signature | None:
        check = self.check(scope, node.keyword)
        signature = self.signatures.get(node.keyword)
        if signature is None:
            hint = "the word is reserved for a later version; `weft statements` lists the statements"
            check.error("W0204", f"`{node.keyword}` is not a statement of this version", node.span, hint)
            return None
        check.each = "" if let is None else None
        check_statement(node, signature, check, names_of(let, signature.results))
        return signature

    def _call(self, call: tree.Call, let: tree.Let | None, check: ScopeCheck) -> Interface | None:
        schedule = self.schedules.get(call.schedule)
        if schedule is None and call.schedule in FUNCTIONS:
            check.value(call)
            return None
        if schedule is None:
            if call.schedule in self.signatures:
                hint = f"`{call.schedule}` is a statement: `weft statements {call.schedule}` shows its syntax"
            else:
                hint = did_you_mean(call.schedule, self.schedules)
            check.error("W0203", f"there is no schedule `{call.schedule}`", call.span, hint)
            return None
        if schedule.name in self.path:
            circle = " → ".join(f"`{name}`" for name in (*self.path[self.path.index(schedule.name) :], schedule.name))
            check.error(
                "W0202",
                f"a schedule calls itself, directly or through others: {circle}",
                call.span,
                "repeat statements with `foreach x in [1, 2] { … }`",
            )
            return None
        interface = self.interface(schedule)
        for name, (part, ref) in check_arguments(call, schedule, check).items():
            if (inner := interface.consumes.get(name)) is not None:
                names = names_of(let, interface.results)
                unnamed = () if names else interface.results
                gone = Gone(f"the call of `{schedule.name}`", call.span, names, unnamed, inner.certain)
                check.consume(part, ref, gone)
        return interface

    # ---- control ---------------------------------------------------------------------------------

    def _condition(self, condition: tree.Expr | tree.HandleRef, what: str, check: ScopeCheck) -> Any:
        value = check.value(condition)
        if not fits("bool", value):
            check.error("W0232", f"{what} takes a condition, not {NAMES[kind_of(value)]}", condition.span)
        return value

    def _if(self, item: tree.If, check: ScopeCheck) -> None:
        scope = check.scope
        condition, holds = scope.as_handle(item.condition), None
        if isinstance(condition, tree.HandleRef):
            with check.reporting():
                if check.find(condition).shape == "several" and not condition.fields:
                    check.single(condition)
        else:
            holds = self._condition(condition, "`if`", check)
        then, otherwise = scope.copy(unknown=holds is False), scope.copy(unknown=holds is True)
        self.block(item.then, then)
        self.block(item.otherwise, otherwise)
        scope.merge(then, otherwise)

    def _foreach(self, item: tree.Foreach, check: ScopeCheck) -> None:
        scope, inner = check.scope, check.scope.copy()
        inner.loops += 1
        self._free(item.variable, check)
        iterable = scope.as_handle(item.iterable)
        variable: BoundName | UnknownValue = BoundName(next(self.numbers), item.variable.span, loops=inner.loops)
        handle, bound, written = (variable.number, ""), None, None
        if isinstance(iterable, tree.HandleRef):
            with check.reporting():
                bound = self._iterable(iterable, check)
        elif (written := check.written(iterable)) is None:
            variable = self._elements(iterable, check)
        inner.names[item.variable.name] = variable
        self.block(item.body, inner)
        scope.merge(inner, scope.copy())
        if (gone := inner.gone.get(handle)) is None:
            return
        if bound is not None:
            scope.gone[(bound.number, "")] = gone
        once: set[Part] = set()
        for part, ref in written or ():
            if part in once:
                message = (
                    f"`{ref.spelling}` occurs twice in the list, and {gone.by} in line {gone.span.line} consumes it"
                )
                check.error("W0228", message, ref.span, f"write `{ref.spelling}` once")
            else:
                check.consume(part, ref, replace(gone, returned=(), unnamed=()))
            once.add(part)

    def _iterable(self, ref: tree.HandleRef, check: ScopeCheck) -> BoundName:
        bound = check.find(ref)
        if bound.shape == "one" or bound.shape == "several":
            message = f"`foreach` iterates over a list, or over the handles of a `match*`; `{ref.spelling}` is neither"
            hint = f"a list of it alone is `[{ref.spelling}]`" if bound.shape == "one" else None
            raise fail("W0233", message, hint, span=ref.span)
        if (gone := check.scope.gone.get((bound.number, ""))) is not None:
            message = f"the handles of `{ref.name}` were consumed by {gone.by} in line {gone.span.line}"
            raise fail("W0223", message, span=ref.span)
        return bound

    def _elements(self, iterable: tree.Expr, check: ScopeCheck) -> UnknownValue:
        """The common properties of the elements of a list, as an unknown value."""
        if isinstance(iterable, tree.NameRef) and iterable.name not in check.scope.names:
            with check.reporting():
                check.find(tree.HandleRef(iterable.span, iterable.name))
        elif isinstance(iterable, tree.ListExpr):
            kinds: set[Kind] = {kind_of(check.value(element)) for element in iterable.items}
            return UnknownValue(kinds.pop()) if len(kinds) == 1 else UNKNOWN
        elif not fits("list", value := check.value(iterable)):
            message = "`foreach` iterates over a list, or over the handles of a `match*`, not over"
            check.error("W0233", f"{message} {NAMES[kind_of(value)]}", iterable.span)
        return UNKNOWN

    def _return(self, item: tree.Return, check: ScopeCheck, last: bool) -> None:
        if not last:
            check.error("W0207", "`return` belongs at the end of a schedule, outside `if` and `foreach`", item.span)
        seen: set[str] = set()
        for ref in item.values:
            with check.reporting():
                check.op(ref)
            name = (ref.fields or (ref.name,))[-1]
            if name in seen:
                hint = f"bind it to another name first: `let (…, {name}2) = …`"
                check.error("W0206", f"two results would be named `{name}`", ref.span, hint)
            seen.add(name)
