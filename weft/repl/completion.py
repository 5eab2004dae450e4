"""What can stand at the cursor: commands, what the grammar accepts there, live handles, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from ..dsl.syntax import accepted, language
from ..interpreter.ir.cloning import tagged
from ..interpreter.ir.mlir import operations
from ..interpreter.session.statement import signatures
from . import handles
from .command import COMMANDS, Desk
from .kernels import TARGETS
from .trials import operands_of

_WORD = re.compile(r"@?[A-Za-z_][\w-]*[?*]?$")
_DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)\.(\w*)$")
_COMMAND = re.compile(r"\s*([a-z]+)\s+(\S*)$")
_VALUES = {"INT", "FLOAT", "MINUS"}


def candidates(desk: Desk, text: str) -> tuple[str, list[str]]:
    """The beginning of a word before the cursor, and the words that could stand there. `text`: up to the cursor."""
    if (found := _COMMAND.fullmatch(text)) and found[1] in COMMANDS:
        word, words = found[2], sorted(_behind(desk, found[1]))
    elif dotted := _DOTTED.search(text):
        matching = text[: dotted.start()].rstrip().endswith("match")
        word, words = (dotted[0], _op_names(desk)) if matching else (dotted[2], _parts(desk, dotted[1]))
    else:
        word = found[0] if (found := _WORD.search(text)) else ""
        before = text[: len(text) - len(word)]
        words = [*(COMMANDS if not before.strip() else ()), *_expected(desk, before)]
    return word, [w for w in dict.fromkeys(words) if w.startswith(word)]


def _expected(desk: Desk, before: str) -> Iterator[str]:
    """Words that the grammar accepts behind `before`."""
    lang = language()
    accepts = accepted(before, "body")
    known = signatures()
    spelled = sorted(lang.spellings[name] for name in accepts if lang.spellings.get(name, " ")[0].isalpha())
    begins = "LET" in accepts and "WORD" in accepts
    if "NAME" in accepts and not re.search(r"\b(let|foreach)\s*(\([^)]*)?$", before):
        alive = handles.live(desk.bench.session)
        yield from (n for n in alive if "." not in n or not n.rpartition(".")[2].isdigit())
        if accepts & _VALUES:
            yield from desk.bench.recipe.values
    if "OP" in accepts:
        yield from _op_names(desk)
    if "WORD" in accepts:
        yield from (s.name for s in desk.bench.recipe.file.schedules if s is not desk.bench.recipe.file.main)
    yield from (w for w in spelled if not (begins or w in lang.statements) or w not in lang.statements or w in known)


def _behind(desk: Desk, command: str) -> Iterable[str]:
    """What can stand behind a command."""
    match COMMANDS[command].argument:
        case "handle":
            return handles.live(desk.bench.session)
        case "topic":
            return [*COMMANDS, *signatures()]
        case "parameter":
            return [f"{name}=" for name in (*desk.bench.recipe.values, *desk.bench.recipe.payload_values)]
        case "target":
            return TARGETS
    return ()


def _parts(desk: Desk, name: str) -> list[str]:
    """What `name.` can be followed by: results of a statement, operands of an op."""
    alive = handles.live(desk.bench.session)
    parts = [full.removeprefix(f"{name}.") for full in alive if full.startswith(f"{name}.")]
    if name in alive:
        op = tagged(desk.bench.session.module)[alive[name].number]
        parts += operands_of(op) if op.name.startswith("linalg.") else ()
    return parts


def _op_names(desk: Desk) -> list[str]:
    names = {op.name for op in operations(desk.bench.session.module.operation)}
    return sorted(names - {"builtin.module", "func.func", "func.return"})


class WeftCompleter(Completer):
    """`candidates` as prompt_toolkit wants it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        found = _COMMAND.fullmatch(text)
        if found and found[1] in COMMANDS and COMMANDS[found[1]].argument == "file":
            yield from PathCompleter(expanduser=True).get_completions(Document(found[2]), complete_event)
            return
        word, words = candidates(self.desk, text)
        yield from (Completion(w, start_position=-len(word)) for w in words)
