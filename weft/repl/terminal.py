"""The prompt on a terminal: editing, history, completion, colors, and what comes next in grey."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.keys import Keys
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from ..dsl.highlighter import WeftLexer
from . import colors
from .command import COMMANDS, Desk
from .completion import WeftCompleter
from .reading import incomplete, state_folder


def prompter(desk: Desk, coming: Callable[[], str], shown: Callable[[], None]) -> Callable[[str], str]:
    """A function that shows a prompt and gives what was typed. It raises `KeyboardInterrupt` and `EOFError`.

    Args:
        coming: what stands in grey where nothing is typed yet.
        shown: is called when a prompt is on the screen.
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
        key_bindings=_bindings(),
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
    """The colors of `colors.py` in the words of prompt_toolkit."""
    out = {"prompt": "bold", "placeholder": "ansibrightblack italic"}
    for kind, style in colors.STYLES.items():
        words = ["ansibrightblack" if w == "dim" else w if w == "bold" else f"ansi{w}" for w in style.split()]
        out[f"pygments.{kind.lower()}"] = " ".join(words)
    return out


def _history() -> History:
    """What was typed in earlier sessions, kept in the user's state folder; in memory where nothing can be written."""
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
            except OSError:  # the disk is full, the folder is gone: the history goes on in memory
                return

    return Kept(str(path))


def _bindings() -> KeyBindings:
    keys = KeyBindings()

    @keys.add(Keys.Enter)
    def _(event: Any) -> None:
        """Enter ends an input that is whole, and else begins a new line. On an empty line it ends a block for good."""
        buffer = event.current_buffer
        text = buffer.text
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
            return
        blank = text.endswith("\n") and not text.rpartition("\n")[0].endswith("{")
        if blank or not incomplete(text, COMMANDS):
            buffer.validate_and_handle()
            return
        depth = text.count("{") - text.count("}")
        buffer.insert_text("\n" + "  " * max(depth, 0))

    return keys
