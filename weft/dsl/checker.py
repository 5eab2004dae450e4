"""Checks a parsed file without a payload: names, kinds, arity, domains, literal values, and
handles.

Statements are described by data (`Signature`). Handles are followed through both branches of `if`,
through `foreach`, and through calls: a call consumes the arguments that the called schedule
consumes.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from . import tree
from .diagnostics import Diagnostic, WeftError, did_you_mean, fail
from .expressions import (
    ELEMENT_TYPES,
    FUNCTIONS,
    NAMES,
    UNKNOWN,
    KnownValue,
    UnknownValue,
    fits,
    kind_of,
    one_of,
    unmet,
)
from .lookups import ScopeCheck
from .parameters import FINDING, RESERVED, check_arguments, check_parameters, unused
from .records import record
from .scopes import BoundName, Ended, Gone, Part, Scope, Shape, meant, names_of, through
from .signature import Signature, check_count, check_statement


def check(file: tree.File, signatures: Mapping[str, Signature], *, defaults: bool = False) -> list[Diagnostic]:
    """All errors and warnings of a file in the order of its text; with `defaults`, also those of
    its main schedule with the defaults of its parameters."""
    found: list[Diagnostic] = []
    for settled in (None, file.main.name) if defaults else (None,):
        checker = _Checker(file, signatures, settled)
        checker.run()
        found += [d for d in checker.found if not any(d.code == e.code and d.span == e.span for e in found)]

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
    """A schedule's interface to its callers: the handle parameters that it consumes, the names of
    its results, and the handles of the schedule around it that it uses and consumes."""

    consumes: Mapping[str, Gone]
    results: tuple[str, ...]
    captured: Mapping[Part, tree.HandleRef]
    takes: Mapping[Part, Gone]


NO_BLOCK = "the other way is an empty block, or an `if` without `else`"


class _Checker:
    def __init__(self, file: tree.File, signatures: Mapping[str, Signature], settled: str | None) -> None:
        self.file = file
        self.settled = settled
        """The schedule that is checked with the defaults of its parameters; parameters of others
        may have any value."""
        self.signatures = signatures
        self.found: list[Diagnostic] = []
        self.interfaces: dict[int, Interface] = {}
        self.path: list[tree.Schedule] = []
        self.unused: list[Diagnostic] = []
        self.numbers = itertools.count()

    def check(self, scope: Scope, keyword: str | None = None) -> ScopeCheck:
        return ScopeCheck(scope, self.found.append, keyword)

    def run(self) -> None:
        if self.file.payload is not None:
            self._payload(self.file.payload)
        first: dict[tuple[str, str], tree.Schedule] = {}
        for schedule in self.file.schedules:
            self._schedule_name(schedule, first.setdefault((schedule.span.source.name, schedule.name), schedule))
        for schedule in first.values():
            self.interface(schedule)
        if self.settled is None and not any(diagnostic.severity == "error" for diagnostic in self.found):
            self.found += self.unused

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

    def _schedule_name(self, schedule: tree.Schedule, first: tree.Schedule) -> None:
        check = self.check(Scope())
        if first is not schedule:
            notes = (f"the first one is at {first.span}",)
            check.error("W0201", f"there are two schedules `{schedule.name}`", schedule.span, None, notes)
        elif schedule.name in RESERVED.union(tree.CONTROL):
            message = f"`{schedule.name}` is a word of the language and can't name a schedule"
            check.error("W0205", message, schedule.span, f"give it another name: `schedule my-{schedule.name}`")
        elif schedule.name in self.signatures and schedule is not self.file.schedules[-1]:
            message = f"`{schedule.name}` is a statement: a schedule of that name can't be called"
            check.error("W0205", message, schedule.span, f"give it another name: `schedule my-{schedule.name}`")

    # ---- schedules -------------------------------------------------------------------------------

    def interface(self, schedule: tree.Schedule) -> Interface:
        """Checks a schedule, once, and returns its interface."""
        if id(schedule) not in self.interfaces:
            self.interfaces[id(schedule)] = self._interface(schedule, Scope())
        return self.interfaces[id(schedule)]

    def _nested(self, schedule: tree.Schedule, scope: Scope) -> None:
        """Checks a schedule that is written in another one, with the names in scope there."""
        around = [one for one, _ in scope.schedules.values()]
        beside = (s for s in self.file.schedules if s.span.source == schedule.span.source)
        self._schedule_name(schedule, next((s for s in (*beside, *around) if s.name == schedule.name), schedule))
        scope.schedules[schedule.name] = schedule, None
        inner = replace(scope.copy(), first=next(self.numbers), captured={}, parameters={}, beyond=set())
        scope.schedules[schedule.name] = schedule, self._interface(schedule, inner, scope.gone)
        for name in inner.beyond:
            scope.use(name)

    def _interface(self, schedule: tree.Schedule, scope: Scope, gone: Mapping[Part, Gone] | None = None) -> Interface:
        """Checks a schedule in a scope. `gone`: the handles around it that are consumed already."""
        self.path.append(schedule)
        handles: dict[str, Part] = {}

        def take(parameter: tree.Parameter) -> None:
            if isinstance(parameter.default, tree.StatementNode) and parameter.default.keyword in FINDING:
                self._statement(parameter.default, None, scope, once=True)
            bound = BoundName(next(self.numbers), parameter.span, loops=scope.loops)
            scope.bind(parameter.name, bound, parameter.span)
            handles[parameter.name] = (bound.number, "")

        check_parameters(schedule, self.check(scope), take, settled=schedule.name == self.settled)
        self.block(schedule.body, scope, outermost=True)
        last = schedule.body[-1] if schedule.body else None
        results = tuple((ref.fields or (ref.name,))[-1] for ref in last.values) if isinstance(last, tree.Return) else ()
        consumes = {name: scope.gone[part] for name, part in handles.items() if part in scope.gone}
        mine = [p for p in schedule.parameters if p.span.source == self.file.source]
        self.unused += [unused(p, schedule) for p in mine if not scope.parameters.get(p.name, True)]
        takes = {part: why for part, why in scope.gone.items() if part[0] < scope.first and part not in (gone or {})}
        self.path.pop()
        return Interface(consumes, results, scope.captured, takes)

    def block(self, items: tuple[tree.Item, ...], scope: Scope, outermost: bool = False) -> None:
        for index, item in enumerate(items):
            self._item(item, self.check(scope), last=outermost and index == len(items) - 1)

    def _item(self, item: tree.Item, check: ScopeCheck, last: bool) -> None:
        match item:
            case tree.Let():
                self._let(item, check)
            case tree.StatementNode():
                self._statement(item, None, check.scope)
            case tree.Schedule():
                self._nested(item, check.scope)
            case tree.Append():
                self._append(item, check)
            case tree.Call():
                self._call(item, None, check)
            case tree.Require():
                if self._condition(item.condition, "`require`", check) is False and not check.scope.tried:
                    with check.reporting():
                        raise unmet(item, check.scope.values())
            case tree.If():
                self._if(item, check)
            case tree.Foreach():
                self._foreach(item, check)
            case tree.Versions():
                self._ways(item.blocks, [check.scope.copy() for _ in item.blocks], check)
            case tree.Alternatives():  # a requirement that does not hold leads to the next block
                self._ways(item.blocks, [check.scope.copy(unknown=True) for _ in item.blocks], check)
            case tree.Return():
                self._return(item, check, last)

    # ---- statements and calls --------------------------------------------------------------------

    def _let(self, let: tree.Let, check: ScopeCheck) -> None:
        if isinstance(let.value, tree.StatementNode):
            signature, listed = self._statement(let.value, let, check.scope)
            shape: Shape = "list" if listed or let.value.keyword.endswith("*") else "one"
            what = f"`{let.value.keyword}`"
            results, variadic = (signature.results, signature.variadic) if signature else ((), True)
            more = signature.more if signature and variadic else ""
        elif not isinstance(let.value, tree.Call) and isinstance(
            ref := check.scope.as_handle(let.value), tree.HandleRef
        ):
            with check.reporting():
                check.consume(check.op(ref), ref, Gone("`let`", let.span, names_of(let, ("op",))))
            self._bind(let.targets[0], "one", (), "", check)
            return
        elif isinstance(let.value, tree.ListExpr) and (
            (written := check.written(let.value) if let.value.items else []) is not None
        ):
            check.consume_each(written, Gone("`let`", let.span, names_of(let, ("op",))))
            self._bind(let.targets[0], "list", (), "", check)
            return
        elif not isinstance(let.value, tree.Call):
            self._bind_value(let.targets[0], check.value(let.value), check)
            return
        else:
            interface = self._call(let.value, let, check)
            shape, what = "list" if check.each else "one", f"schedule `{let.value.schedule}`"
            results, variadic, more = (interface.results, False, "") if interface else ((), True, "")
        check_count(let, what, results, variadic, check, lists=shape == "list")
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
            check.scope.bind(target.name, bound, target.span)

    def _bind_value(self, target: tree.Binding, value: Any, check: ScopeCheck) -> None:
        """Binds a name to a value, permanently."""
        if target.name in ELEMENT_TYPES:
            check.error("W0205", f"`{target.name}` is an element type and can't name a value", target.span)
        self._free(target, check)
        known = value if isinstance(value, UnknownValue) else KnownValue(kind_of(value), value)
        check.scope.bind(target.name, known, target.span)

    def _free(self, target: tree.Binding, check: ScopeCheck) -> None:
        name = target.name
        old = check.scope.names.get(name)
        if name in RESERVED:
            hint = f"take another name: `let {name}_2 = …`"
            check.error("W0205", f"`{name}` is a word of the language and can't be a name", target.span, hint)
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

    def _append(self, item: tree.Append, check: ScopeCheck) -> None:
        with check.reporting():
            bound = check.find(tree.HandleRef(item.target.span, item.target.name))
            if bound.shape != "list":
                message = f"`{item.target.name}` names no list of handles, to which `append` adds one"
                raise fail("W0233", message, "begin a list: `let all = []`", span=item.target.span)
            check.live(tree.HandleRef(item.target.span, item.target.name), (bound.number, ""))
            check.consume(check.op(item.value), item.value, Gone("`append`", item.span, (item.target.name,)))

    def _statement(
        self, node: tree.StatementNode, let: tree.Let | None, scope: Scope, *, once: bool = False
    ) -> tuple[Signature | None, bool]:
        """The signature of a statement, and whether it is executed for each handle of a list, which
        it is not with `once`."""
        check = self.check(scope, node.keyword)
        signature = self.signatures.get(node.keyword)
        if signature is None:
            hint = "the word is reserved for a later version; `weft statements` lists the statements"
            check.error("W0204", f"`{node.keyword}` is not a statement of this version", node.span, hint)
            return None, False
        check.each = None if once else ""
        check_statement(node, signature, check, names_of(let, signature.results))
        return signature, bool(check.each)

    def _call(self, call: tree.Call, let: tree.Let | None, check: ScopeCheck) -> Interface | None:
        try:
            found = check.scope.schedules.get(call.schedule)
            schedule, interface = (meant(self.file, call), None) if found is None else found
        except WeftError as error:
            self.found += error.diagnostics
            return None
        if schedule is None and call.schedule in FUNCTIONS:
            check.value(call)
            return None
        if schedule is None:
            if call.schedule in self.signatures:
                hint = f"`{call.schedule}` is a statement: `weft statements {call.schedule}` shows its syntax"
            else:
                known = (schedule.name for schedule in self.file.callable_from(call.span.source))
                inner = [item for outer in self.path for item in outer.body if isinstance(item, tree.Schedule)]
                later = [
                    f"write it before the call: line {s.span.line} begins it" for s in inner if s.name == call.schedule
                ]
                hint = next(iter(later), did_you_mean(call.schedule, (*check.scope.schedules, *known)))
            check.error("W0203", f"there is no schedule `{call.schedule}`", call.span, hint)
            return None
        if schedule in self.path:
            circle = " → ".join(f"`{one.name}`" for one in (*self.path[self.path.index(schedule) :], schedule))
            check.error(
                "W0202",
                f"a schedule calls itself, directly or through others: {circle}",
                call.span,
                "repeat statements with `foreach x in [1, 2] { … }`",
            )
            return None
        interface = interface or self.interface(schedule)
        check.each = ""
        handles = check_arguments(call, schedule, check)
        for part, use in interface.captured.items():
            with check.reporting(), through(call, use):
                check.live(replace(use, span=call.span), part)
        names = names_of(let, interface.results)
        gone = Gone(f"the call of `{schedule.name}`", call.span, names, () if names else interface.results)
        for name, (part, ref) in handles.items():
            if (inner := interface.consumes.get(name)) is not None:
                check.consume_by_call(part, ref, replace(gone, certain=inner.certain))
        for part, inner in interface.takes.items():
            if part not in check.scope.gone:
                use = replace(interface.captured[part], span=call.span)
                within = f"there, {inner.by} in line {inner.span.line} consumes it"
                check.consume_by_call(part, use, replace(gone, certain=inner.certain, within=within))
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
        elif check.is_none(condition):
            holds = False
        else:
            holds = self._condition(condition, "`if`", check)
        ways = [scope.copy(unknown=holds is False), scope.copy(unknown=holds is True)]
        self._ways(
            (item.then, item.otherwise), ways, check, [True, False].index(holds) if holds in (True, False) else None
        )

    def _ways(
        self, blocks: Sequence[tuple[tree.Item, ...]], ways: list[Scope], check: ScopeCheck, chosen: int | None = None
    ) -> None:
        """Checks alternative blocks, each in its scope, and joins these."""
        for block, way in zip(blocks, ways, strict=True):
            self.block(block, way)
        without = [f"the block with line {block[0].span.line} does not" if block else NO_BLOCK for block in blocks]
        check.scope.merge(*ways)
        check.scope.join(ways, without, lambda: next(self.numbers), chosen)

    def _foreach(self, item: tree.Foreach, check: ScopeCheck) -> None:
        scope, inner = check.scope, check.scope.copy()
        inner.loops += 1
        self._free(item.variable, check)
        if isinstance(item.iterable, tree.StatementNode):
            iterable = item.iterable
            if self._statement(iterable, None, scope, once=True)[0] and iterable.keyword != "match*":
                message = f"`foreach` iterates over the ops of a `match*`, not over what `{iterable.keyword}` returns"
                check.error("W0233", message, iterable.span, "find several ops with `match*`")
        else:
            iterable = scope.as_handle(item.iterable)
        variable: BoundName | UnknownValue = BoundName(next(self.numbers), item.variable.span, loops=inner.loops)
        handle, bound, written = (variable.number, ""), None, None
        if isinstance(iterable, tree.HandleRef):
            with check.reporting():
                bound = self._iterable(iterable, check)
        elif not isinstance(iterable, tree.StatementNode) and (written := check.written(iterable)) is None:
            variable = self._elements(iterable, check)
        inner.bind(item.variable.name, variable, item.variable.span)
        self.block(item.body, inner)
        scope.merge(inner, scope.copy())
        for name in scope.bound_in(inner):
            if name != item.variable.name and name in inner.places:
                reason = f"line {inner.places[name].line} binds it, in each iteration of the `foreach` of line {item.span.line}"
                hint = f"keep it in a list: `let all = []` before the loop, and `append {name} to all` in it"
                scope.ended.setdefault(name, Ended(inner.places[name], reason, hint))
        if (gone := inner.gone.get(handle)) is None:
            return
        if bound is not None:
            scope.gone[(bound.number, "")] = replace(gone, returned=(), unnamed=())
        check.consume_each(written or (), replace(gone, returned=(), unnamed=()))

    def _iterable(self, ref: tree.HandleRef, check: ScopeCheck) -> BoundName:
        bound = check.find(ref)
        if bound.shape == "one" or bound.shape == "several":
            message = f"`foreach` iterates over a list, or over the handles of a `match*`; `{ref.spelling}` is neither"
            hint = f"a list of it alone is `[{ref.spelling}]`" if bound.shape == "one" else None
            raise fail("W0233", message, hint, span=ref.span)
        check.live(ref, (bound.number, ""))
        return bound

    def _elements(self, iterable: tree.Expr, check: ScopeCheck) -> UnknownValue:
        """The common properties of the elements of a list, as an unknown value."""
        if isinstance(iterable, tree.NameRef) and iterable.name not in check.scope.names:
            with check.reporting():
                check.find(tree.HandleRef(iterable.span, iterable.name))
        elif isinstance(iterable, tree.ListExpr):
            return one_of([check.value(element) for element in iterable.items])
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
