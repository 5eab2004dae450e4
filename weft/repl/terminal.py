"""The prompt on a terminal: editing, history, completion, colors, and the next statement in grey."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from ..dsl.highlighter import WeftLexer
from ..dsl.syntax import accepted, language
from ..explain import all_codes
from ..interpreter.ir.mlir import operations
from ..interpreter.session.statement import signatures
from ..output import colors
from ..runtime.files.cache import state_folder
from ..runtime.predict.chips import CHIPS
from .command import COMMANDS, Desk
from .kernels import TARGETS
from .trials import operands_of
from .workbench import live_handles


def prompter(
    desk: Desk, coming: Callable[[], str], shown: Callable[[], None], incomplete: Callable[[str], bool]
) -> Callable[[str], str]:
    """A function that shows a prompt and returns the input. It raises `KeyboardInterrupt` and
    `EOFError`.

    Args:
        coming: the text shown in grey in an empty input.
        shown: a function that is called once a prompt is on the screen.
        incomplete: whether an input continues on the next line.
    """
    plain = desk.plain
    session: PromptSession[str] = PromptSession(
        history=_history(),
        completer=WeftCompleter(desk),
        complete_while_typing=False,
        lexer=None if plain else PygmentsLexer(WeftLexer),
        style=Style.from_dict({} if plain else _styles()),
        color_depth=ColorDepth.DEPTH_1_BIT if plain else ColorDepth.DEPTH_4_BIT,
        multiline=True,
        key_bindings=_bindings(incomplete),
        prompt_continuation=lambda width, line, wrapped: " " * max(width - 4, 0) + "  · ",
        enable_history_search=True,
        reserve_space_for_menu=6,
    )
    session.app.after_render += lambda _: shown()

    def ask(prompt: str) -> str:
        grey = FormattedText([("class:placeholder", coming())])
        return session.prompt(FormattedText([("class:prompt", prompt)]), placeholder=grey)

    return ask


def _styles() -> dict[str, str]:
    """The colors of `output/colors.py` under prompt_toolkit's names."""
    out = {"prompt": "bold", "placeholder": "ansibrightblack italic"}
    for kind, style in colors.STYLES.items():
        words = ["ansibrightblack" if w == "dim" else w if w == "bold" else f"ansi{w}" for w in style.split()]
        out[f"pygments.{kind.lower()}"] = " ".join(words)
    return out


def _history() -> History:
    """The inputs of earlier sessions, from a file in the user's state folder; a history in memory
    if that file cannot be written."""
    path = state_folder() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError:
        return InMemoryHistory()

    class Kept(FileHistory):
        def store_string(self, string: str) -> None:
            try:
                super().store_string(string)
            except OSError:  # the disk is full or the folder is gone: the history continues in memory
                return

    return Kept(str(path))


def _bindings(incomplete: Callable[[str], bool]) -> KeyBindings:
    keys = KeyBindings()

    @keys.add(Keys.Enter)
    def _(event: Any) -> None:
        """Enter ends a complete input and otherwise begins a new line. On an empty line it ends the
        input."""
        buffer = event.current_buffer
        text = buffer.text
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
            return
        blank = text.endswith("\n") and not text.rpartition("\n")[0].endswith("{")
        if blank or not incomplete(text):
            buffer.validate_and_handle()
            return
        depth = text.count("{") - text.count("}")
        buffer.insert_text("\n" + "  " * max(depth, 0))

    return keys


_WORD = re.compile(r"@?[A-Za-z_][\w-]*[?*]?$")
_DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)\.(\w*)$")
_COMMAND = re.compile(r"\s*([a-z]+)\s+(\S*)$")
_VALUES = {"INT", "FLOAT", "MINUS"}


def candidates(desk: Desk, text: str) -> tuple[str, list[str]]:
    """The part of a word before the cursor, and the words that can complete it. `text`: the input
    up to the cursor."""
    if (found := _COMMAND.fullmatch(text)) and found[1] in COMMANDS:
        word, words = found[2], sorted(_arguments_of(desk, found[1]))
    elif dotted := _DOTTED.search(text):
        matching = text[: dotted.start()].rstrip().endswith("match")
        word, words = (dotted[0], _op_names(desk)) if matching else (dotted[2], _parts(desk, dotted[1]))
    else:
        word = found[0] if (found := _WORD.search(text)) else ""
        before = text[: len(text) - len(word)]
        words = [*(COMMANDS if not before.strip() else ()), *_expected(desk, before)]
    return word, [w for w in dict.fromkeys(words) if w.startswith(word)]


def _expected(desk: Desk, before: str) -> Iterator[str]:
    """The words that the grammar accepts after `before`."""
    lang = language()
    accepts = accepted(before, "body")
    known = signatures()
    keywords = sorted(lang.spellings[name] for name in accepts if lang.spellings.get(name, " ")[0].isalpha())
    if "NAME" in accepts and not re.search(r"\b(let|foreach)\s*(\([^)]*)?$", before):
        alive = live_handles(desk.session)
        yield from (n for n in alive if "." not in n or not n.rpartition(".")[2].isdigit())
        if accepts & _VALUES:
            yield from desk.bench.recipe.values
    if "OP" in accepts:
        yield from _op_names(desk)
    if "WORD" in accepts:
        yield from (s.name for s in desk.bench.recipe.file.schedules if s is not desk.bench.recipe.file.main)
    yield from (w for w in keywords if w not in lang.statements or w in known)


def _arguments_of(desk: Desk, command: str) -> Iterable[str]:
    """The possible arguments of a command."""
    match COMMANDS[command].argument:
        case "handle":
            return live_handles(desk.session)
        case "topic":
            return [*COMMANDS, *signatures()]
        case "code":
            return all_codes()
        case "parameter":
            return [f"{name}=" for name in (*desk.bench.recipe.values, *desk.bench.recipe.payload_values)]
        case "target":
            return TARGETS
        case "chip":
            return tuple(CHIPS)
    return ()


def _parts(desk: Desk, name: str) -> list[str]:
    """The words that can follow `name.`: results of a statement, operands of an op."""
    alive = live_handles(desk.session)
    parts = [full.removeprefix(f"{name}.") for full in alive if full.startswith(f"{name}.")]
    if name in alive:
        _, op = alive[name]
        parts += operands_of(op) if op.name.startswith("linalg.") else ()
    return parts


def _op_names(desk: Desk) -> list[str]:
    names = {op.name for op in operations(desk.session.module.operation)}
    return sorted(names - {"builtin.module", "func.func", "func.return"})


class WeftCompleter(Completer):
    """`candidates` as a prompt_toolkit completer."""

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
