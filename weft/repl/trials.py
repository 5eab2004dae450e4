"""The statements that are legal now: each is tried on a fork of the session, with arguments that
suit its handle.

The syntax of a statement comes from the grammar and its fields from its signature, so that new
statements are tried without a change here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from rich.text import Text

from ..dsl.diagnostics import WeftError
from ..dsl.records import record
from ..dsl.signature import Field, Signature
from ..dsl.syntax import language
from ..interpreter.hardware.ampere.fragments import PRODUCTS
from ..interpreter.hardware.hopper.warpgroups import ROWS
from ..interpreter.ir.mlir import ir
from ..interpreter.ir.structured import is_structured, operand_names, structure
from ..interpreter.session.session import Session
from ..interpreter.session.statement import signatures
from ..output import colors
from ..output.tables import listing
from .command import Desk, command
from .steps import NO_HANDLES
from .workbench import do, find_handle, first_line, live_handles

SPACES = (
    "tma", "blocks(y, x)", "blocks(x)", "blocks(z, y, x)", "threads(y, x)", "threads(x)", "threads(*) cyclic",
    "threads(x: 32) cyclic", "warpgroups(y)", "warps(y, x)", "warps(x)", "lanes", "grid(y, x)", "grid(x)",
)  # fmt: skip
LAST_RESORTS = ("unproven",)
"""Flags that are never proposed."""
INTEGERS = ("2", "4")
TILES = (16, 8, 4, 2, 1)
MOST_TRIES = 24
SHOWN = 4

Wording = list[tuple[str, str | None]]
"""The words of a statement; a field comes with the keyword before it (`stages 2`)."""


@command("next [HANDLE]", "which statements are legal now: each is tried on a copy", "handle")
def show_next(desk: Desk, text: str) -> None:
    session = desk.session
    if text:
        _, op = find_handle(session, text)
        desk.say(Text.assemble(("for ", "dim"), (text, "bold"), (f", {op.name}, each tried on a copy:", "dim")))
    elif desk.bench.coming:
        desk.say(Text("the next statement is  ", "dim") + colors.statement(desk.bench.coming))
    table = listing()
    known, found = signatures(), list[Tried]()
    with desk.progress(f"next {text}") as clock:
        for one in _Trials(session, text or None).all():
            found.append(one)
            clock.share([*known].index(one.keyword) / len(known))
    for one in sorted(found, key=lambda t: not t.legal):
        mark, words = (("✗ ", "red"), one.keyword), Text(one.refusal or "there are no arguments to try it with", "dim")
        if one.legal:
            mark = (("✓ ", "bold green"), (one.keyword, "bold"))
            words = Text("\n").join(map(colors.statement, one.legal))
        elif not one.refusal:
            mark = (("– ", "dim"), one.keyword)
        table.add_row(Text.assemble(*mark), words)
    desk.table(table)
    if not text:
        names = ", ".join(live_handles(session))
        desk.note(f"`next HANDLE` tries them on one of  {names}" if names else NO_HANDLES)


@record
class Tried:
    """A statement tried on a handle: the legal forms, or the reason of the refusal. Both empty: no
    arguments were found for a trial."""

    keyword: str
    legal: tuple[str, ...] = ()
    refusal: str = ""


class _Trials:
    """The trials of all statements that take the live handle `name`; with None, of those that take
    no handle."""

    def __init__(self, session: Session, name: str | None) -> None:
        self.session, self.name = session, name
        self.alive = live_handles(session)
        self.op = self.alive[name][1] if name is not None else None

    def all(self) -> Iterator[Tried]:
        for keyword, signature in signatures().items():
            roles = [f for f in signature.fields if f.kind in ("handle", "operand") and not f.optional]
            texts = any(f.kind in ("str", "raw", "word") and not f.optional for f in signature.fields)
            if texts or bool(roles) != (self.name is not None):
                continue  # `match`, `run-pass` and `transform` take texts that cannot be guessed
            if (wording := _wording(keyword, signature)) is not None:
                found = self._try(keyword, self._texts(wording, signature))
                flags = [] if found.legal else _flags(signature)
                tried = [self._try(keyword, (f"{t} {flag}" for t in self._texts(wording, signature))) for flag in flags]
                legal = tuple(text for one in tried for text in one.legal[:1])
                yield Tried(keyword, legal) if legal else found

    def _try(self, keyword: str, texts: Iterator[str]) -> Tried:
        legal: dict[str, str] = {}
        reason = ""
        for text in itertools.islice(texts, MOST_TRIES):
            # forms are worth showing if they differ in space, other handle or operand
            head, _, space = text.partition(" to ")
            if (kind := f"{head} {space.partition('(')[0]}" if space else text.partition("[")[0]) in legal:
                continue
            try:
                do(self.session.fork(), text)
            except WeftError as error:
                reason = reason or first_line(error)
                continue
            legal[kind] = text
            if len(legal) == SHOWN:
                break
        return Tried(keyword, tuple(legal.values()), reason if not legal else "")

    def _texts(self, wording: Wording, signature: Signature) -> Iterator[str]:
        """The forms of the statement that are worth a trial. The handle takes one role at a time,
        other live handles the other roles."""
        fields = {f.name: f for f in signature.fields}
        roles = [n for _, n in wording if n is not None and n in fields and fields[n].kind in ("handle", "operand")]
        for role in roles or [None]:
            choices = [
                [f"{lead} {value}".strip() for value in self._values(fields[n], n == role)] if n in fields else [lead]
                for lead, n in wording
            ]
            yield from map(" ".join, itertools.product(*choices))

    def _values(self, field: Field, own: bool) -> Iterator[str]:
        """The possible values of a field. `own`: the handle `name` takes this field."""
        rank = structure(self.op).rank if self.op is not None and is_structured(self.op) else 0
        others = [n for n in self.alive if n != self.name]
        match field.kind:
            case "handle":
                loops = (n for n in reversed(others) if self.alive[n][0].kind == "loop")
                yield from [self.name or ""] if own else loops
            case "operand":
                for handle in [self.name or ""] if own else others:
                    yield from (f"{handle}.{operand}" for operand in operands_of(self.alive[handle][1]))
            case "sizes":
                for count, size in itertools.product([rank] if rank else [1, 2, 3], TILES):
                    yield _listed([size] * min(count, 2) + ["_"] * (count - 2))
                    if count > 2:
                        yield _listed(["_"] * (count - 1) + [size])
            case "ints" if not field.permutation:
                # shapes of tensor core instructions: of warps, and of warpgroups with the number of columns of the op
                yield from (_listed([*shape]) for shape in dict.fromkeys(product.shape for product in PRODUCTS))
                extents = structure(self.op).extents if self.op is not None and is_structured(self.op) else ()
                if len(extents) == 3 and (columns := extents[1]) is not None:
                    yield from (_listed([ROWS, columns, depth]) for depth in (16, 8))
            case "ints":
                yield from (_listed([1, 0, *range(2, r)][:r] if r > 1 else [0]) for r in ([rank] if rank else [2, 3]))
            case "int":
                yield from INTEGERS
            case "space":
                yield from SPACES


def _listed(items: list[int | str] | list[int]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _wording(keyword: str, signature: Signature) -> Wording | None:
    """The shortest form of a statement."""
    lang = language()
    words = lang.spellings
    required = {f.name for f in signature.fields if not f.optional}
    rules: dict[str, list[list[str]]] = {}
    for rule in lang.parser.rules:
        rules.setdefault(rule.origin.name, []).append([symbol.name for symbol in rule.expansion])
    found: list[Wording] = []
    for expansion in rules["statement"]:
        fields = {symbol for symbol in expansion if symbol not in words}
        if words.get(expansion[0]) == keyword and required <= fields and not any(f.startswith("__") for f in fields):
            leads = {symbol: words.get(rules[symbol][0][0], "") for symbol in fields}
            found.append([(leads[s], s) if s in leads else (words[s], None) for s in expansion])
    return min(found, key=len, default=None)


def _flags(signature: Signature) -> list[str]:
    """The flags of a statement that may make a refused form legal."""
    words, parsed = language().spellings, language().parser.rules
    rules = {rule.origin.name: rule.expansion[0].name for rule in parsed if rule.expansion}
    flags = (f.name for f in signature.fields if f.kind == "flag" and f.name in rules)
    return [words[rules[name]] for name in flags if rules[name] in words and name not in LAST_RESORTS]


def operands_of(op: ir.Operation) -> tuple[str, ...]:
    """The named operands of a structured op; empty for other ops."""
    return operand_names(op) if is_structured(op) else ()
