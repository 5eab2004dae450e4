"""`match OP`, `match? OP`, `match* OP`: finds ops of the payload by name, and loops by structure, and
returns handles to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...dsl.diagnostics import count, did_you_mean
from ...dsl.records import record
from ...dsl.signature import Wrong
from ..ir.mlir import ir, operations
from ..ir.refusing import describe
from ..ir.unknown_names import misnamed_op
from ..session.statement import Handle, Results, Rewriter, Statement, handle, integer, statement, string, word

if TYPE_CHECKING:
    from ..focus.carving import Focus, Version


def _misnamed(name: str, keyword: str) -> Wrong | None:
    return None if _kind_of_loops(name) else misnamed_op(name, keyword)


def _kind_of_loops(name: str) -> str:
    """The kind of loops that words name; empty for the name of an op."""
    words = name.split()
    return " ".join(words) if words[-1] == "loop" else ""


@record(kw_only=True)
class _Match(Statement):
    """The search that the three forms share."""

    op: str = word(judge=_misnamed)
    scope: str | Handle | None = handle(optional=True)
    index: int | None = integer(optional=True, minimum=0)
    attribute: str | None = string(optional=True)
    equals: str | None = string(optional=True)

    reach = "handles"

    def parts(self, version: Version) -> Iterator[tuple[Statement, Focus]]:
        """The section of a single structured op, for a plain search: the number of equal ops before
        it is known without a search."""
        if isinstance(self.scope, Handle):
            yield from super().parts(version)
            return
        plain = self.attribute is None and self.scope is None and self.op.startswith("linalg.")
        if plain and version.sections is not None:
            from ..focus.carving import carve_section

            content = version.sections.content
            (body, *more), index = content.bodies, self.index or 0
            count = body.count(self.op)
            if not more and not content.others and index < count and (self.index is not None or count == 1):
                section, before = body.nth(self.op, index)
                yield dataclasses.replace(self, index=before), carve_section(version.sections, body, section)

    def found(self, rewrite: Rewriter, *, enough: bool = True) -> list[ir.Operation]:
        """The matching ops in the scope, in text order; only the `#index`-th if an index is given.

        `enough`: raise W0402 for an index that is too large.
        """
        rewrite.only_marked = True
        ops = [op for op in self._candidates(rewrite) if self._differs(rewrite, op) is None]
        if self.index is None:
            return ops
        if enough and self.index >= len(ops):
            raise rewrite.error(
                "W0402",
                f"there is no `{self.op}` #{self.index}: {count(len(ops), 'op')} of that name found",
                at="index",
                notes=[f"#{i}: {describe(op)}" for i, op in enumerate(ops)],
                hint="numbers start at `#0`; equal ops of a payload are merged into one",
            )
        return ops[self.index : self.index + 1]

    def one(self, rewrite: Rewriter, ops: list[ir.Operation], *, word: str, meant: str) -> Results:
        """A handle to the single op that was found. Raises W0403 if there are several."""
        if len(ops) > 1:
            raise rewrite.error(
                "W0403",
                f"{len(ops)} ops match `{self.op}`, and {meant} is meant",
                at="op",
                notes=[f"#{i}: {describe(op)}" for i, op in enumerate(ops)],
                hint=f"pick one (`{word} {self.op} #0`), narrow it (`in @f`), or take all (`match* {self.op}`)",
            )
        rewrite.remark(describe(ops[0]))
        return {"op": rewrite.new_handle(ops[0])}

    def _candidates(self, rewrite: Rewriter) -> list[ir.Operation]:
        """The ops of the name, or all loops."""
        from ..parallel.kinds import LOOPS

        names = LOOPS if _kind_of_loops(self.op) else (self.op,)
        return [op for op in self._searched(rewrite, *names) if self._attribute_matches(op)]

    def _differs(self, rewrite: Rewriter, op: ir.Operation) -> str | None:
        """In what a loop differs from the kind that is searched for; None for one of it, and for an
        op that is searched for by its name."""
        from ..parallel.kinds import differs

        kind = _kind_of_loops(self.op)
        return differs(rewrite.module, op, kind) if kind else None

    def _searched(self, rewrite: Rewriter, *names: str) -> Iterator[ir.Operation]:
        """The ops with these names in the scope; the op of a handle is not in its own scope."""
        root = self._root(rewrite)
        inside = isinstance(self.scope, Handle)
        return (op for op in operations(root, *names) if not (inside and op == root))

    def _root(self, rewrite: Rewriter) -> ir.Operation:
        if isinstance(self.scope, Handle):
            return rewrite.find(self.scope)
        if self.scope is None:
            return rewrite.module.operation
        name = self.scope.removeprefix("@")
        functions = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in operations(rewrite.module.operation, "func.func")
        }
        if name not in functions:
            known = ", ".join(f"@{f}" for f in functions) or "none"
            raise rewrite.error("W0404", f"the payload has no function @{name}", at="scope", notes=(f"it has {known}",))
        return functions[name]

    def _attribute_matches(self, op: ir.Operation) -> bool:
        if self.attribute is None:
            return True
        if self.attribute not in op.attributes:
            return False
        value = op.attributes[self.attribute]
        return self.equals in (None, str(value), str(value).strip('"'))

    def nothing(self, rewrite: Rewriter) -> Exception:
        """The error W0401 for no match, with the ops that the payload has instead."""
        names: dict[str, int] = {}
        for op in self._searched(rewrite):
            if op.name.split(".")[0] not in ("builtin", "func", "arith", "tensor") and not op.name.endswith(".yield"):
                names[op.name] = names.get(op.name, 0) + 1
        listed = ", ".join(f"{n} × {name}" if n > 1 else name for name, n in sorted(names.items()))
        others = [f"{describe(op)}: {self._differs(rewrite, op)}" for op in self._candidates(rewrite)]
        near = did_you_mean(self.op, names) if misnamed_op(self.op, "match") else None
        return rewrite.error(
            "W0401",
            f"no `{self.op}` in the payload",
            at="op",
            notes=(f"it has {listed}" if listed else "it has no op to schedule", *others),
            hint=near or f"write `match? {self.op}` if it may be absent",
        )


@statement("match", returns=("op",))
class Match(_Match):
    """Find the only op of a name, or loop of a kind.

    Args:
        op: the op's name, e.g. `linalg.matmul`; or a kind of loops, of the dialects scf and affine:
            `loop`, any; `reduction loop`, which carries numbers that lanes and threads can combine;
            `parallel loop`, with iterations that do not depend on each other.
        scope: the search scope: `in @f` (a function) or `in h` (the ops inside a handle's op,
            without that op); default: the entire payload.
        index: `#n`, the n-th match in the order of the text, counted from 0.
        attribute, equals: `where "name" = "value"`: only ops that have this attribute (with this
            value).

    Returns:
        op: a handle to it.

    Errors: W0401, W0402, W0403, W0404.

    Source: upstream `transform.structured.match`.

    Example:
        let gemm = match linalg.matmul
        before: linalg.matmul
        after:  linalg.matmul
    """

    def apply(self, rewrite: Rewriter) -> Results:
        ops = self.found(rewrite)
        if not ops:
            raise self.nothing(rewrite)
        return self.one(rewrite, ops, word="match", meant="one")


@statement("match?", returns=("op",))
class MatchOptional(_Match):
    """Find the op of a name, which may be absent.

    Args:
        op, scope, index, attribute, equals: as for `match`.

    Returns:
        op: a handle to it, or an absent one, which `if op { … }` tests: statements on an absent
            handle do nothing.

    Errors: W0403.

    Source: upstream `transform.structured.match`.

    Example:
        let init = match? linalg.fill
        before: linalg.fill
        after:  linalg.fill
    """

    def apply(self, rewrite: Rewriter) -> Results:
        ops = self.found(rewrite, enough=False)
        if not ops:
            rewrite.remark(f"no {self.op}: absent")
            return {"op": Handle(-1, absent=True)}
        return self.one(rewrite, ops, word="match?", meant="at most one")


@statement("match*", returns=("ops",))
class MatchAll(_Match):
    """Find all ops of a name, possibly none, for `foreach`.

    Args:
        op, scope, index, attribute, equals: as for `match`.

    Returns:
        ops: a handle for each, in the order of the text.

    Errors: W0404.

    Source: upstream `transform.structured.match`.

    Example:
        let ops = match* linalg.generic
        before: linalg.generic … linalg.generic
        after:  2 × linalg.generic
    """

    def parts(self, version: Version) -> Iterator[tuple[Statement, Focus]]:
        return super().parts(version) if isinstance(self.scope, Handle) else iter(())

    def apply(self, rewrite: Rewriter) -> Results:
        ops = self.found(rewrite)
        rewrite.remark(f"{len(ops)} × {self.op}")
        return {"ops": tuple(rewrite.new_handle(op) for op in ops)}
