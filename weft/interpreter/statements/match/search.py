"""The search of `match`: the ops of a scope, and for each of them the requirements that it does not
fulfil."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any

from ....dsl import tree
from ....dsl.diagnostics import did_you_mean
from ....dsl.expressions import parts_of, show
from ....dsl.tree import KINDS, LOOP_KINDS, OPERAND, PROPERTIES
from ...ir.mlir import ancestors, ir, operations
from ...ir.refusing import describe
from ...ir.structured import is_loop, is_structured, operand_names, operand_number, segments
from ...matching.kinds import kind_of
from ...matching.labels import labels_of
from ...matching.properties import NoValueError, property_of
from ...matching.relations import consumes, makers_of, operands_read
from ...parallel import kinds as loops
from ...session.environment import Condition
from ...session.rewriter import Handle, Operand, Rewriter

LINALG = "linalg."
MOST_ROWS = 8
"""The number of candidates that an error lists."""


Requirement = Callable[["ir.Operation"], "str | None"]
"""A requirement of a `match`: the way in which an op does not meet it; None if it does."""


def subjects(root: ir.Operation) -> Iterator[ir.Operation]:
    """The ops below `root` that statements work on, outside of kernels: ops of linalg, and loops."""
    functions = list(operations(root, "func.func")) or [root]
    for function in functions:
        for op in operations(function):
            if is_loop(op) or (op.name.startswith(LINALG) and not next(ancestors(op)).name.startswith(LINALG)):
                yield op


def of_words(module: ir.Module, words: Sequence[str]) -> Requirement:
    """The requirement that the op has one of these names, kinds or labels."""

    def differs(op: ir.Operation) -> str | None:
        kind = cache(partial(kind_of, op))  # one for all words, since it takes the op apart
        if any(fits(module, op, word, kind) for word in words):
            return None
        if is_loop(op) and (kinds := [word for word in words if word in LOOP_KINDS]):
            return loops.differs(module, op, kinds[0])
        if all(word.startswith('"') for word in words):
            labels = labels_of(op)
            return f"its label is {', '.join(labels)}" if labels else "no label"
        return kind() or op.name

    return differs


def fits(module: ir.Module, op: ir.Operation, word: str, kind: Callable[[], str | None]) -> bool:
    """Whether an op of a module has this name, kind or label."""
    if word in LOOP_KINDS:
        return is_loop(op) and loops.differs(module, op, word) is None
    if word.startswith('"'):
        return word[1:-1] in labels_of(op)
    if word not in KINDS:
        return op.name == word
    return word == "any" or kind() == word


def of_consumer(rewrite: Rewriter, related: Handle | Operand) -> Requirement:
    """The requirement that the op reads a result of a handle's op: any result, or the one that the
    relation names."""
    anchor, operand = _anchor(rewrite, related, "consumer_of")
    inputs = segments(anchor)[0] if operand is not None else 0
    if operand is not None and operand < inputs:
        names = operand_names(anchor)
        notes = (f"it writes {', '.join(names[inputs:])}",)
        what = f"{anchor.name} only reads `{names[operand]}`"
        raise rewrite.error("W0409", what, anchor, at="consumer_of", notes=notes)
    number, written = None if operand is None else operand - inputs, rewrite.span("consumer_of").text
    return lambda op: None if consumes(op, anchor, number) else f"it does not read {written}"


def of_producer(rewrite: Rewriter, related: Handle | Operand) -> Requirement:
    """The requirement that the op computes an operand of a handle's op: the operand that the
    relation names, or any that is read."""
    anchor, operand = _anchor(rewrite, related, "producer_of")
    values = operands_read(anchor) if operand is None else [anchor.operands[operand]]
    makers = {made for value in values for made in makers_of(anchor, value) if made != anchor}
    written = rewrite.span("producer_of").text
    missing = f"{written} does not read it" if operand is None else f"it does not make {written}"
    return lambda op: None if op in makers else missing


def _anchor(rewrite: Rewriter, related: Handle | Operand, field: str) -> tuple[ir.Operation, int | None]:
    """The op of a relation, and the number of the named operand. Raises W0409."""
    handle, name = (related.handle, related.name) if isinstance(related, Operand) else (related, None)
    op = rewrite.find(handle)
    if name is None:
        return op, None
    number = operand_number(op, name) if is_structured(op) else None
    if number is None:
        notes = (f"its operands are {', '.join(operand_names(op))}",) if is_structured(op) else ()
        hint = did_you_mean(name, operand_names(op)) if is_structured(op) else None
        if name == "acc" and is_structured(op):
            first = f"{rewrite.span(field).text.removesuffix(name)}out0"
            hint = (
                f"`acc` is what a contraction or a convolution accumulates in; the first result of any op is `{first}`"
            )
        raise rewrite.error("W0409", f"{op.name} has no operand `{name}`", op, hint, at=field, notes=notes)
    return op, number


def of_condition(condition: Condition) -> Requirement:
    """The requirement that all properties in the condition have known values for the op, and that
    the condition holds."""

    def differs(op: ir.Operation) -> str | None:
        found = (_unmet(condition, part, op) for part in _conjuncts(condition.expr))
        return ", ".join(filter(None, found)) or None

    return differs


def _conjuncts(expr: tree.Expr) -> Iterator[tree.Expr]:
    if isinstance(expr, tree.Binary) and expr.operator == "and":
        yield from (*_conjuncts(expr.left), *_conjuncts(expr.right))
    else:
        yield expr


def _unmet(condition: Condition, part: tree.Expr, op: ir.Operation) -> str | None:
    """The properties of an op for which a part of the condition does not hold."""

    def of(fields: Sequence[str]) -> Any:
        return property_of(op, fields)

    try:
        if condition.holds(part, of):
            return None
    except NoValueError as error:
        return error.args[0]
    shown = []
    for inner in parts_of(part):
        if isinstance(inner, tree.NameRef) and inner.name in PROPERTIES:
            shown.append((inner.name, condition.holds(inner, of)))
        elif isinstance(inner, tree.Property) and (inner.name in PROPERTIES or OPERAND.fullmatch(inner.name)):
            shown.append((inner.spelling, condition.holds(inner, of)))
    texts = (f"{name} is {show(value) if isinstance(value, tuple) else value}" for name, value in shown)
    return ", ".join(texts) or "the condition does not hold"


def rows(ops: Sequence[ir.Operation], requirements: Sequence[Requirement]) -> list[str]:
    """A line for each candidate with what is different; those that differ least come first."""
    found = [(op, [text for r in requirements if (text := r(op)) is not None]) for op in ops]
    found.sort(key=lambda row: len(row[1]))
    lines = [f"{describe(op)}: {', '.join(texts)}" for op, texts in found[:MOST_ROWS]]
    return lines + ([f"and {len(found) - MOST_ROWS} others"] if len(found) > MOST_ROWS else [])
