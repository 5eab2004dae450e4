"""`match OP`, `match? OP`, `match* OP`: finds ops of the payload by name, kind, label, dataflow and
properties, and returns handles to them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from ....dsl.diagnostics import count, did_you_mean
from ....dsl.records import record
from ....dsl.tree import LOOP_KINDS
from ...ir.mlir import NotLocalError, ir, operations
from ...ir.refusing import describe
from ...ir.unknown_names import misnamed_op
from ...session.environment import Condition
from ...session.statement import (
    Handle,
    Operand,
    Results,
    Rewriter,
    Statement,
    condition,
    handle,
    integer,
    statement,
    string,
    value_of,
    words,
)

if TYPE_CHECKING:
    from ...focus.carving import Focus, Version
    from ...focus.sections import Body, Section
    from .search import Requirement


@record(kw_only=True)
class _Match(Statement):
    """The search that the three forms share."""

    op: tuple[str, ...] | None = words(judge=misnamed_op)
    consumer_of: Handle | Operand | None = value_of(written="consumer of")
    producer_of: Handle | Operand | None = value_of(written="producer of")
    scope: str | Handle | None = handle(optional=True)
    index: int | None = integer(optional=True, minimum=0)
    attribute: str | None = string(optional=True)
    equals: str | None = string(optional=True)
    requirement: Condition | None = condition(written="where")

    reach = "handles"

    def parts(self, version: Version) -> Iterator[tuple[Statement, Focus]]:
        """The section of a single structured op, if the search has no conditions: the number of
        equal ops before it is then known without a search. The part around an op, if the search is
        for what makes its operands."""
        if self.consumer_of is not None or (self.producer_of is not None and self.scope is not None):
            return
        if isinstance(self.scope, Handle):
            yield from super().parts(version)
            return
        if self.producer_of is not None:  # what it names is outside the ops that the part is around
            yield from ((one, dataclasses.replace(focus, touched=frozenset())) for one, focus in super().parts(version))
            return
        plain = self.attribute is None and self.requirement is None and self.scope is None
        name = self._names[0] if len(self._names) == 1 and len(self.op or ()) == 1 else ""
        if plain and name.startswith("linalg.") and version.sections is not None:
            from ...focus.carving import carve_section

            content = version.sections.content
            (body, *more), index = content.bodies, self.index or 0
            count = body.count(name)
            if not more and not content.others and index < count and (self.index is not None or count == 1):
                section, before = body.nth(name, index)
                yield dataclasses.replace(self, index=before), carve_section(version.sections, body, section)

    def beside(self, body: Body, touched: Set[Section]) -> Iterable[Section]:
        from ...focus.carving import writers

        return writers(body, touched) if self.producer_of is not None else ()

    @property
    def _names(self) -> list[str]:
        """The names of ops among the words."""
        return [word for word in self.op or () if "." in word and not word.startswith('"')]

    @property
    def _related(self) -> bool:
        return self.consumer_of is not None or self.producer_of is not None

    @property
    def _by_name(self) -> bool:
        """Whether ops are searched by their names alone."""
        return len(self._names) == len(self.op or ()) > 0 and not self._related and self.requirement is None

    @property
    def what(self) -> str:
        """The text of the search, without the index."""
        written = " ".join(self.node.span.text.split()).removeprefix(self.node.keyword).strip()
        return (" or ".join(self.op or ()) if self._by_name else written.partition(" #")[0]) or "op"

    def found(self, rewrite: Rewriter, *, enough: bool = True) -> list[ir.Operation]:
        """The matching ops in the scope, in text order; only the `#index`-th if an index is given.

        `enough`: whether W0402 is raised for an index that is too large.
        """
        from ...ir.structured import is_structured

        rewrite.only_marked = True
        wanted = self._requirements(rewrite)
        ops = [op for op in self._candidates(rewrite) if not any(differs(op) for differs in wanted)]
        if all(word.startswith('"') for word in self.op or ()):  # loops have the locations of the op that they tile
            ops = [op for op in ops if is_structured(op)] or ops
        if self.index is None:
            return ops
        if enough and self.index >= len(ops):
            raise rewrite.error(
                "W0402",
                f"there is no `{self.what}` #{self.index}: {count(len(ops), 'op')} of that "
                f"{'name' if self._by_name else 'form'} found",
                at="index",
                notes=[f"#{i}: {self._described(op)}" for i, op in enumerate(ops)],
                hint="numbers start at `#0`; equal ops of a payload are merged into one",
            )
        return ops[self.index : self.index + 1]

    def one(self, rewrite: Rewriter, ops: list[ir.Operation], *, word: str, meant: str) -> Results:
        """A handle to the single op that was found. Raises W0403 if there are several."""
        if len(ops) > 1:
            structure = "" if self._by_name else ", `where rank == 4`, `consumer of h`"
            raise rewrite.error(
                "W0403",
                f"{len(ops)} ops match `{self.what}`, and {meant} is meant",
                at="op",
                notes=[f"#{i}: {self._described(op)}" for i, op in enumerate(ops)],
                hint=f"pick one (`{word} {self.what} #0`), narrow it (`in @f`{structure}), or take all"
                f" (`match* {self.what}`)",
            )
        rewrite.remark(describe(ops[0]))
        return {"op": rewrite.new_handle(ops[0])}

    def _described(self, op: ir.Operation) -> str:
        from ...matching.properties import summary

        return describe(op) if self._by_name else f"{describe(op)}, {summary(op)}"

    def _candidates(self, rewrite: Rewriter) -> Iterator[ir.Operation]:
        """The ops in the scope that may match, by their names alone; the op of a handle is not in
        its own scope."""
        from .search import subjects

        root = self._root(rewrite)
        inside = isinstance(self.scope, Handle)
        labels = any(word.startswith('"') for word in self.op or ())
        named = self.op is not None and (len(self._names) == len(self.op) or labels)
        ops = operations(root, *(() if labels else self._names)) if named else subjects(root)
        if named or not self._names:
            return (op for op in ops if not (inside and op == root))
        either = {*subjects(root), *operations(root, *self._names)}
        return (op for op in operations(root) if op in either and not (inside and op == root))

    def _requirements(self, rewrite: Rewriter) -> list[Requirement]:
        from .search import of_condition, of_consumer, of_producer, of_words

        found = [of_words(rewrite.module, self.op)] if self.op is not None else []
        found += [of_consumer(rewrite, self.consumer_of)] if self.consumer_of is not None else []
        found += [of_producer(rewrite, self.producer_of)] if self.producer_of is not None else []
        found += [self._attribute_differs] if self.attribute is not None else []
        return found + ([of_condition(self.requirement)] if self.requirement is not None else [])

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

    def _attribute_differs(self, op: ir.Operation) -> str | None:
        if self.attribute is None or self.attribute not in op.attributes:
            return f"no attribute `{self.attribute}`"
        value = str(op.attributes[self.attribute])
        return None if self.equals in (None, value, value.strip('"')) else f"`{self.attribute}` is {value}"

    def nothing(self, rewrite: Rewriter) -> Exception:
        """The error W0401 for no match: the ops that the payload has instead, or a row for each
        candidate with what is different."""
        hint = self.probable(rewrite) or f"write `match? {self.what}` if it may be absent"
        if not self._by_name:
            from ...ir.structured import is_loop
            from .search import rows, subjects

            root = self._root(rewrite)
            only_loops = all(word in LOOP_KINDS for word in self.op or ("any",))
            candidates = [op for op in subjects(root) if op != root and (is_loop(op) or not only_loops)]
            listed = rows(candidates, self._requirements(rewrite))
            notes = tuple(listed) or ("it has no op to schedule",)
            return rewrite.error("W0401", f"no `{self.what}` in the payload", at="op", notes=notes, hint=hint)
        names: dict[str, int] = {}
        for op in operations(self._root(rewrite)):
            if op.name.split(".")[0] not in ("builtin", "func", "arith", "tensor") and not op.name.endswith(".yield"):
                names[op.name] = names.get(op.name, 0) + 1
        listed = ", ".join(f"{n} × {name}" if n > 1 else name for name, n in sorted(names.items()))
        note = f"it has {listed}" if listed else "it has no op to schedule"
        return rewrite.error("W0401", f"no `{self.what}` in the payload", at="op", notes=(note,), hint=hint)

    def probable(self, rewrite: Rewriter) -> str | None:
        """A hint with the name or the label that is probably meant, if no op has the written one."""
        from ...matching.labels import labels_of

        if not any(word.startswith('"') or misnamed_op(word, "match") for word in self.op or ()):
            return None
        if rewrite.taken is not None and not isinstance(self.scope, Handle):
            raise NotLocalError
        ops = list(operations(self._root(rewrite)))
        for word in self.op or ():
            if word.startswith('"'):
                labels = {label for op in ops for label in labels_of(op)}
                near = did_you_mean(word[1:-1], labels) if word[1:-1] not in labels else None
            else:
                near = did_you_mean(word, {op.name for op in ops}) if misnamed_op(word, "match") else None
            if near is not None:
                return near
        return None


@statement("match", returns=("op",))
class Match(_Match):
    """Find the only op of a name, a kind, or a label, or the only one with a relation to another
    op.

    A kind is decided by indexing maps and the body, not by the op's name: a `linalg.generic` that
    multiplies and adds is a `contraction`. Each structured op is of one kind: `contraction`
    (products of matrices in any form), `convolution`, `pooling`, `reduction` (any other op with a
    reduced dimension), `fill`, `copy`, `transpose`, `broadcast`, `gather` (reads at computed
    places), or `elementwise`. `any` are all of them, other ops of linalg, and loops. A `loop` of the dialects scf and affine is
    a `reduction loop` if it carries numbers that lanes and threads can combine, and a `parallel
    loop` if its iterations do not depend on each other.

    Args:
        op: an op's name, `linalg.matmul`; a kind; or a label in quotes, which is the `weft.name` of
            an op, or a name in its location, `loc("scores")`. Several are written with `or`. Loops
            of the dialects scf and affine have kinds, too: `loop`, any; `reduction loop`, which
            carries numbers that lanes and threads can combine; `parallel loop`, with iterations
            that do not depend on each other.
        consumer_of: `consumer of h`: only ops that read what the op of `h` makes; `consumer of
            h.out1`: its second result.
        producer_of: `producer of h.lhs`, or `of h.lhs`: only the op that makes this operand;
            `producer of h`: one that makes any of its inputs. Relations go through loops,
            and through what only moves elements (reshapes, slices, paddings, broadcasts,
            transposes, copies); on memrefs they lead to the last op before that writes the buffer.
        scope: the search scope: `in @f` (a function) or `in h` (the ops inside a handle's op,
            without that op); default: the entire payload.
        index: `#n`, the n-th match in the order of the text, counted from 0.
        attribute, equals: `where "name" = "value"`: only ops that have this attribute (with this
            value).
        requirement: `where rank == 4 and type == f32`: only ops for which it holds. Its names are
            first of all properties of the op: `kind`, `rank` and `type` (of the result), `sizes`
            (of the dimensions; `sizes.0` is the first one), `iterations` (all), `terms` (those
            reduced into one element), `innermost` (`"reduction"`, if neighbours in memory are terms
            of one element), `combiner` (`"addf"`, `"maximumf"`), `mapped`, `readers`, `inputs`,
            `results`, `strides`, `dilations`, and of operands `lhs.rank`, `lhs.type`, `lhs.0`. An
            op without the property does not match.

    Returns:
        op: a handle to it. Everywhere in a schedule, its properties are values: `h.rank`,
            `h.lhs.0`.

    Errors: W0401, W0402, W0403, W0404, W0409.

    Source: upstream `transform.structured.match`, and `match.operation_name`, `match.structured` of
    the transform dialect.

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
    """Find an op that may be absent.

    Args:
        op, consumer_of, producer_of, scope, index, attribute, equals, requirement: as for `match`.

    Returns:
        op: a handle to it, or an absent one, which `if op { … }` tests: statements on an absent
            handle do nothing.

    Errors: W0403, W0404, W0409.

    Source: upstream `transform.structured.match`.

    Example:
        let init = match? linalg.fill
        before: linalg.fill
        after:  linalg.fill
    """

    def apply(self, rewrite: Rewriter) -> Results:
        ops = self.found(rewrite, enough=False)
        if not ops:
            near = self.probable(rewrite)
            rewrite.remark(f"no {self.what}: absent" + (f"; {near}" if near is not None else ""))
            return {"op": Handle(-1, absent=True)}
        return self.one(rewrite, ops, word="match?", meant="at most one")


@statement("match*", returns=("ops",))
class MatchAll(_Match):
    """Find all ops of a name, a kind or a label, possibly none, for `foreach`.

    Args:
        op, consumer_of, producer_of, scope, index, attribute, equals, requirement: as for `match`.

    Returns:
        ops: a handle for each, in the order of the text, also for several kinds.

    Errors: W0404, W0409.

    Source: upstream `transform.structured.match`.

    Example:
        let ops = match* linalg.generic
        before: linalg.generic … linalg.generic
        after:  2 × linalg.generic
    """

    def parts(self, version: Version) -> Iterator[tuple[Statement, Focus]]:
        near = self.producer_of is not None or isinstance(self.scope, Handle)
        return super().parts(version) if near else iter(())

    def apply(self, rewrite: Rewriter) -> Results:
        ops = self.found(rewrite)
        rewrite.remark(f"{len(ops)} × {self.what}")
        return {"ops": tuple(rewrite.new_handle(op) for op in ops)}
