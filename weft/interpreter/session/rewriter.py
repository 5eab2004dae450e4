"""The interface of a statement to the session: handles, the module, rewrites and refusals."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, Protocol

from ...dsl.diagnostics import Diagnostic, Span, WeftError
from ...dsl.records import record
from ...dsl.tree import Node, StatementNode
from ..focus.modules import Taken
from ..ir.mlir import TransformError, ancestors, ir, is_used, operations, run_passes, run_transform
from ..ir.refusing import WAYS_OUT, describe, upstream_messages
from ..ir.structured import is_structured
from ..memory.layouts import STORING
from ..memory.names import Written, name_buffers, nameless
from ..proof.coverage.payload.initial_payload import Untouched

HandleKind = Literal["op", "loop", "launch"]


@record
class Handle:
    """A name for one op of the payload. It survives rewrites, because it is a tag on the op and not
    a pointer to it.

    `number` determines the tag (`weft.h3`). An `absent` handle is the result of a `match?` without
    a match: statements on it have no effect.
    """

    number: int
    kind: HandleKind = "op"
    absent: bool = False

    @property
    def tag(self) -> str:
        return f"weft.h{self.number}"


@record
class Operand:
    """`step.lhs`: an operand, by its name, of the op that `handle` names. `spelling` is the user's
    text."""

    handle: Handle
    name: str
    spelling: str


@record
class SizeOf:
    """`A.1`, `gemm.lhs.1`: the size along an axis of a named argument of the payload, or of an
    operand. `spelling` is the user's text."""

    of: str | Operand
    axis: int
    spelling: str


def handles_of(values: Mapping[str, Any]) -> dict[str, Handle]:
    """The handles among the values of a statement's fields, including those of operands and sizes."""
    within = {name: v.of if isinstance(v, SizeOf) else v for name, v in values.items()}
    named = {name: v.handle if isinstance(v, Operand) else v for name, v in within.items()}
    return {name: v for name, v in named.items() if isinstance(v, Handle)}


@record
class Removed:
    """An op as it was before a statement removed it. `by`: the statement and its line."""

    op: ir.Operation
    by: str


def _ops_at(place: ir.Location, root: ir.Operation) -> set[str]:
    """The names of the ops with this location; empty for an unknown location."""
    text = str(place)
    return {op.name for op in operations(root) if str(op.location) == text and "unknown" not in text}


class AtWork(Protocol):
    """The statement that a rewriter works for; its fields are its attributes."""

    @property
    def node(self) -> StatementNode: ...


class Rewriter:
    """The view that one statement has of the session.

    Args:
        module: the module to rewrite in place (the session keeps a clone, so that a failure loses
            nothing).
        statement: the current statement, for spans and the keyword in diagnostics.
        numbers: the source of fresh handle numbers.
        taken: the names in the session's module, of which `module` may be a part.
        unproven: kernels that are not proven race-free are accepted and marked as such.
        written: the names of values in the payload's text, by location.
        known: the session's cache of facts on the kernels that it has made (`launch/launch.py`).
        payload: the module at the start of the session.
        removed: for a handle without an op, the op that it named and the statement that removed it.
    """

    def __init__(
        self,
        module: ir.Module,
        statement: AtWork,
        numbers: itertools.count[int],
        taken: Taken | None = None,
        *,
        unproven: bool = False,
        written: Written = nameless,
        known: dict[Hashable, Any] | None = None,
        payload: Untouched | None = None,
        removed: Callable[[Handle], Removed | None] = lambda _: None,
    ) -> None:
        self.module = module
        self.written = written
        self.statement = statement
        self.numbers = numbers
        self.unproven = unproven
        self.known: dict[Hashable, Any] = {} if known is None else known
        self.taken, self.payload, self.removed = taken, payload, removed
        self.only_marked = False
        """The statement has only put marks on ops: a tidy module then needs no clean-up."""
        self.remarks: list[str] = []
        self.shown: list[str] = []
        self.about: list[ir.Location] = []
        """The locations of the ops that were found by their handles."""

    def name_buffers(self) -> None:
        """Names the allocations that have no name."""
        name_buffers(self.module, self.written, *(() if self.taken is None else (self.taken.buffers,)))

    # ---- handles -----------------------------------------------------------------------------------------------------

    def find(self, handle: Handle) -> ir.Operation:
        """The op that `handle` names, looked up by its tag.

        An `Operation` is invalid after `transform` or `passes`: look it up again. Raises W0310 if
        the op is gone.
        """
        found = self.tagged(handle.tag)
        if len(found) != 1:
            what = (
                "the op of this handle is gone: a rewrite removed it"
                if not found
                else f"this handle names {len(found)} ops"
            )
            hint = (
                "`match` it again, or use the handle before the rewrite; ops that no result and no memory depends on"
                " are removed"
            )
            notes: list[str] = []
            if not found and (lost := self.removed(handle)) is not None:
                notes = [f"{lost.by} left no {describe(lost.op)}"]
                *_, before = ancestors(lost.op)
                made = _ops_at(lost.op.location, self.module.operation) - _ops_at(lost.op.location, before)
                if made:
                    names = ", ".join(f"`{name}`" for name in sorted(made))
                    hint = f"use the handle before that, or `match` its replacement: {names}"
            raise self.error("W0310", what, hint=self._lost() or hint, notes=notes)
        self.about.append(found[0].location)
        return found[0]

    def _lost(self) -> str | None:
        """A hint for a payload that stores its result into an unused tensor; None otherwise."""
        functions = () if self.payload is None else self.payload.functions.values()
        for op in (op for function in functions for op in operations(function, STORING) if op.results):
            if not is_used(*op.results):
                buffer = str(op.operands[1].type).replace("tensor", "memref", 1)
                return (
                    f"{describe(op)} makes a new tensor, which nothing uses, so that its stores are removed:"
                    f" return it, or"
                    f" put it into a memref, `in restrict writable %… : ({op.operands[0].type}, {buffer}) -> ()`"
                )
        return None

    def tagged(self, tag: str) -> list[ir.Operation]:
        """All ops that have an attribute."""
        return [op for op in operations(self.module.operation) if tag in op.attributes]

    def new_handle(self, op: ir.Operation | ir.OpView, kind: HandleKind = "op") -> Handle:
        """Tags `op` and returns a handle to it."""
        handle = Handle(next(self.numbers), kind)
        op.operation.attributes[handle.tag] = ir.UnitAttr.get(self.module.context)
        return handle

    def fresh_handle(self, kind: HandleKind = "op") -> Handle:
        """A handle with a tag that is not yet on any op: `transform` bodies attach it with
        `annotate`."""
        return Handle(next(self.numbers), kind)

    # ---- rewriting ---------------------------------------------------------------------------------------------------

    def transform(self, body: str) -> None:
        """Runs upstream transform ops. A handle `h` is matched by `attributes{h.tag}`, see
        `matcher`. Raises W0311 where upstream refuses."""
        try:
            run_transform(self.module, body)
        except (ir.MLIRError, TransformError) as error:
            raise self.error("W0311", "upstream refuses this transformation", notes=upstream_messages(error)) from error

    @staticmethod
    def matcher(name: str, handle: Handle) -> str:
        """The text `%name = transform.structured.match attributes{weft.hN} …` for a `transform`
        body."""
        return (
            f"%{name} = transform.structured.match attributes{{{handle.tag}}} in %root : "
            "(!transform.any_op) -> !transform.any_op"
        )

    @staticmethod
    def annotate(name: str, handle: Handle) -> str:
        """The text that, in a `transform` body, tags the op of `%name` with `handle`."""
        return f'transform.annotate %{name} "{handle.tag}" : !transform.any_op'

    def passes(self, pipeline: str) -> None:
        """Runs a pass pipeline on the module. Raises W0312 where it does not parse or fails."""
        try:
            run_passes(self.module, pipeline)
        except ir.MLIRError as error:
            raise self.error(
                "W0312", f"the pass pipeline `{pipeline}` fails", notes=upstream_messages(error)
            ) from error
        except ValueError as error:  # the bindings raise it for a pipeline that does not parse
            lines = tuple(line.strip() for line in str(error).splitlines() if line.strip(" ^"))
            hint = _nested(pipeline, "\n".join(lines))
            hint = hint or "write it as for `mlir-opt --pass-pipeline`, without the outer `builtin.module(…)`"
            raise self.error("W0312", f"`{pipeline}` is not a pass pipeline", notes=lines, hint=hint) from error

    # ---- talking -----------------------------------------------------------------------------------------------------

    def remark(self, text: str) -> None:
        """Adds one line to the step's report: a short account of the change."""
        self.remarks.append(text)

    def show(self, text: str) -> None:
        """Adds requested output, which is printed wherever the schedule is applied."""
        self.shown.append(text)

    def span(self, at: str | None = None) -> Span:
        """The span of the statement's field `at`, or of the whole statement."""
        node = self.statement.node
        value = node.fields.get(at) if at is not None else None
        return value.span if isinstance(value, Node) else node.span

    def error(
        self,
        code: str,
        message: str,
        payload: ir.Operation | None = None,
        hint: str | None = None,
        *,
        at: str | None = None,
        notes: Iterable[str] = (),
    ) -> WeftError:
        """An error of this statement, to be raised by the caller.

        Args:
            payload: the op that the error concerns: its name and location are shown.
            at: the invalid field; by default the field that names the op, or the whole statement.
        """
        span, where = self.span(at or self._naming(payload)), None if payload is None else describe(payload)
        return WeftError(Diagnostic(code, message, span, self.statement.node.keyword, tuple(notes), hint, where))

    def _naming(self, op: ir.Operation | None) -> str | None:
        """The field with a handle to the op; None if there is none."""
        named = {} if op is None else handles_of(vars(self.statement))
        return next((field for field, handle in named.items() if op is not None and handle.tag in op.attributes), None)

    def expect_structured(self, op: ir.Operation, code: str) -> None:
        """Raises `code` for a target that is not a structured op."""
        if not is_structured(op):
            what = f"`{self.statement.node.keyword}` takes a structured (linalg) op, and this is {op.name}"
            raise self.error(code, what, op, WAYS_OUT.get(op.name))

    @contextmanager
    def placing(
        self,
        payload: ir.Operation | None = None,
        *,
        at: str | None = None,
        fields: Mapping[str, str] | None = None,
        notes: Iterable[str] = (),
    ) -> Iterator[None]:
        """A context that attributes errors without a span to this statement, as `error` does, and
        adds `notes`.

        `fields`: the invalid field by code, for codes with a field other than `at`.
        """
        try:
            yield
        except WeftError as error:
            if all(d.span is not None for d in error.diagnostics):
                raise
            own, where = self.statement.node.keyword, None if payload is None else describe(payload)
            at = at or self._naming(payload)
            spans = [self.span((fields or {}).get(d.code, at)) for d in error.diagnostics]
            each = zip(error.diagnostics, spans, strict=True)
            placed = (
                replace(d, span=s, statement=own, payload=d.payload or where, notes=(*d.notes, *notes)) for d, s in each
            )
            raise WeftError(*placed) from error


_NOT_NESTED = re.compile(
    r"restricted to '(?P<anchor>[\w.]+)' on a PassManager intended to run on 'builtin\.module'.*?"
    r"failed to add `(?P<name>[^`]+)` with options `(?P<options>[^`]*)`",
    re.DOTALL,
)


def _nested(pipeline: str, lines: str) -> str | None:
    """A hint that nests a pass which upstream runs only on functions (or kernels); None for any
    other error."""
    found = _NOT_NESTED.search(lines)
    if found is None:
        return None
    written = found["name"] + (f"{{{found['options']}}}" if found["options"] else "")
    nested = f"{found['anchor']}({written})"
    if pipeline.strip() == written:
        return f'nest it: run-pass "{nested}"'
    return f"nest it: `{nested}` instead of `{written}`"
