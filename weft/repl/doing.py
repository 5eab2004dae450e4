"""The commands that reach outside: run, save, quit."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from rich.text import Text

from ..dsl.diagnostics import fail
from . import judging
from .command import Command, Desk, expect_nothing, misused

TARGETS = ("auto", "sim", "cuda")


def run(desk: Desk, text: str) -> None:
    from ..cli.report import show_report
    from ..execution import Target

    if text and text not in TARGETS:
        raise misused("run [auto|sim|cuda]", f"there is no target `{text}`")
    done = judging.run(desk.bench, cast(Target, text or "auto"))
    show_report(desk.console, done.report, title=done.title)


def save(desk: Desk, text: str) -> None:
    from ..cli.files import write_atomically
    from ..runtime.files.writing import Output, expect_apart
    from .saving import saved_text

    words = text.split()
    overwrite = "--overwrite" in words
    names = [word for word in words if word != "--overwrite"]
    if len(names) != 1:
        raise misused("save FILE [--overwrite]", "`save` needs the name of one file")
    try:
        path = Path(names[0]).expanduser()
        if path.suffix != ".weft":
            path = path.with_name(path.name + ".weft")
        there = path.exists()
        if not path.stem.strip(".") or not path.name.isprintable():
            raise ValueError("it has no letter in it, or one that cannot be printed")
    except (OSError, RuntimeError, ValueError) as error:  # no such user, no name in it, too long, a null byte
        raise fail("W0066", f"`{names[0]}` is no name for a file: {error}", hint="`save mine.weft`") from None
    own = Path(desk.bench.recipe.file.source.name)
    expect_apart([Output("save", path, ".weft")], {p: name for p, name in desk.bench.recipe.reads.items() if p != own})
    written = saved_text(desk.bench, path)
    if there and not overwrite:
        raise fail("W0064", f"`{path}` is there already", hint=f"`save {path} --overwrite` replaces it")
    write_atomically(path, written.encode())
    count = desk.bench.position
    aside = f": {count} statement{'s' * (count != 1)}; `weft run {path}` runs it"
    desk.say(Text.assemble("saved ", (str(path), "bold"), (aside, "dim")))


def leave(desk: Desk, text: str) -> None:
    expect_nothing(text, "quit")
    desk.done = True


COMMANDS = (
    Command("run", "run [auto|sim|cuda]", "run what is launched so far, and compare with the payload", run, "target"),
    Command("save", "save FILE [--overwrite]", "write what was done as a schedule", save, "file"),
    Command("quit", "quit", "leave; Ctrl-D does, too", leave),
)
