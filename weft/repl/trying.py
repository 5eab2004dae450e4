"""Which statements are legal now: each is tried on a fork of the session, with arguments that make sense for its handle.

How a statement is written comes from the grammar, what its fields are from its signature: a new statement is tried as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Source, WeftError
from . import handles

if TYPE_CHECKING:
    from ..dsl.signature import Field, Signature
    from ..interpreter.ir.mlir import ir
    from ..interpreter.session.session import Session
    from ..interpreter.session.statement import Handle

SPACES = (
    "blocks(y, x)", "blocks(x)", "blocks(z, y, x)", "threads(y, x)", "threads(x)", "threads(*) cyclic", "threads(x: 32) cyclic",
    "warps(y, x)", "warps(x)", "lanes", "grid(y, x)", "grid(x)",
)  # fmt: skip
INTEGERS = ("2", "4")
TILES = (16, 8, 4, 2, 1)
MOST_TRIES = 24
SHOWN = 3


@dataclass(frozen=True)
class Tried:
    """A statement for a handle: how it can be written now, or why it is refused. Both empty: nothing to try it with."""

    keyword: str
    legal: tuple[str, ...] = ()
    tried: str = ""
    refusal: str = ""


def try_all(session: Session, name: str | None) -> Iterator[Tried]:
    """Try every statement on the live handle `name`; with None, those that take no handle."""
    from ..interpreter.session.statement import signatures

    for keyword, signature in signatures().items():
        roles = [f for f in signature.fields if f.kind in ("handle", "operand") and not f.optional]
        texts = any(f.kind in ("str", "raw", "word") and not f.optional for f in signature.fields)
        if texts or bool(roles) != (name is not None):
            continue  # `match`, `run-pass` and `transform` take texts that nobody can guess
        if (wording := _wording(keyword, signature)) is not None:
            yield _try(session, keyword, list(itertools.islice(_texts(session, wording, signature, name), MOST_TRIES)))


def refusal(session: Session, text: str) -> WeftError | None:
    """Try one statement; the error it would raise, or None. Nothing is changed."""
    from ..dsl.parser import parse_items
    from ..dsl.tree import Item

    names = {n.partition(".")[0] for n in handles.named(session)}
    items: tuple[Item, ...] = parse_items(Source("<next>", text).text, "<next>", names)
    try:
        session.fork().do(items)
    except WeftError as error:
        return error
    return None


def _try(session: Session, keyword: str, texts: list[str]) -> Tried:
    legal: list[str] = []
    seen: set[str] = set()
    reason = tried = ""
    for text in texts:
        kind = _kind(text)
        if kind in seen:
            continue
        error = refusal(session, text)
        if error is None:
            legal.append(text)
            seen.add(kind)
            if len(legal) == SHOWN:
                break
        elif not reason:
            reason, tried = handles.first(error), text
    return Tried(keyword, tuple(legal), tried, reason if not legal else "")


def _kind(text: str) -> str:
    """What tells one way to write a statement from another worth showing: the space, the other handle, the operand."""
    head, _, space = text.partition(" to ")
    return f"{head} {space.partition('(')[0]}" if space else text.partition("[")[0]


def _wording(keyword: str, signature: Signature) -> list[tuple[str, str | None]] | None:
    """The shortest way to write a statement: words, and fields with the word that leads each (`stages 2`)."""
    from ..dsl.syntax import language

    lang = language()
    required = {f.name for f in signature.fields if not f.optional}
    rules: dict[str, list[list[str]]] = {}
    found: list[list[tuple[str, str | None]]] = []
    for rule in lang.parser.rules:
        rules.setdefault(rule.origin.name, []).append([symbol.name for symbol in rule.expansion])
    for expansion in rules["statement"]:
        fields = {symbol for symbol in expansion if symbol not in lang.spellings}
        if (
            lang.spellings.get(expansion[0]) != keyword
            or not required <= fields
            or any(f.startswith("__") for f in fields)
        ):
            continue
        wording: list[tuple[str, str | None]] = []
        for symbol in expansion:
            if symbol in lang.spellings:
                wording.append((lang.spellings[symbol], None))
                continue
            lead = lang.spellings.get(rules[symbol][0][0], "")
            wording.append((lead, symbol))
        found.append(wording)
    return min(found, key=len, default=None)


def _texts(
    session: Session, wording: list[tuple[str, str | None]], signature: Signature, name: str | None
) -> Iterator[str]:
    """The ways to write it that are worth a try. `name` fills one of the handles, the other live ones the others."""
    alive = handles.live(session)
    ops = handles.tagged(session.module)
    fields = {f.name: f for f in signature.fields}
    roles = [n for _, n in wording if n is not None and n in fields and fields[n].kind in ("handle", "operand")]
    for role in roles or [None]:
        choices: list[list[str]] = []
        for lead, field_name in wording:
            field = fields.get(field_name or "")
            if field is None:
                choices.append([lead])
                continue
            op = ops.get(alive[name].number) if name is not None else None
            values = list(_values(field, name if field.name == role else None, op, alive, ops, name))
            choices.append([f"{lead} {value}".strip() for value in values])
        for parts in itertools.product(*choices):
            yield " ".join(parts)


def _values(
    field: Field,
    own: str | None,
    op: ir.Operation | None,
    alive: dict[str, Handle],
    ops: dict[int, ir.Operation],
    name: str | None,
) -> Iterator[str]:
    """What a field can be given. `own`: the handle that it is about, if it is this field that takes it."""
    match field.kind:
        case "handle":
            yield from (
                [own] if own is not None else [n for n in reversed(alive) if n != name and alive[n].kind == "loop"]
            )
        case "operand":
            for handle in [own] if own is not None else [n for n in alive if n != name]:
                yield from (f"{handle}.{operand}" for operand in operands_of(ops[alive[handle].number]))
        case "sizes":
            yield from _sizes(op)
        case "ints":
            ranks = [_rank(op)] if _rank(op) else [2, 3]
            for rank in ranks:
                order = list(range(rank))
                yield str([1, 0, *order[2:]] if rank > 1 else order)
        case "int":
            yield from INTEGERS
        case "space":
            yield from SPACES


def _sizes(op: ir.Operation | None) -> Iterator[str]:
    rank = _rank(op)
    for count in [rank] if rank else [1, 2, 3]:
        for size in TILES:
            yield str([size] * min(count, 2) + ["_"] * (count - 2)).replace("'", "")
            if count > 2:
                yield str(["_"] * (count - 1) + [size]).replace("'", "")


def _rank(op: ir.Operation | None) -> int:
    from ..interpreter.ir.structured import is_structured, structure

    return structure(op).rank if op is not None and is_structured(op) else 0


def operands_of(op: ir.Operation) -> tuple[str, ...]:
    from ..interpreter.ir.structured import is_structured, operand_names

    return operand_names(op) if is_structured(op) else ("in0",)
