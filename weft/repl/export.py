"""The commands `save` and `quit`, and the schedule that repeats the statements executed in a
session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from ..dsl import tree
from ..dsl.checker import expect_right
from ..dsl.diagnostics import Span, count, fail
from ..dsl.expressions import show
from ..dsl.formatter import format_text
from ..dsl.parameters import matched
from ..dsl.parser import SHIPPED, parse_text
from ..dsl.syntax import BRACES
from ..interpreter.session.state import SKIP
from ..interpreter.session.statement import signatures
from ..payloads.sources import payload_path
from ..pipeline import TYPED
from ..runtime.files.writing import Output, expect_apart, write_file
from .command import Desk, Misuse, command
from .workbench import Workbench


@command("save FILE [--overwrite]", "write the executed statements as a schedule", "file")
def save(desk: Desk, text: str) -> None:
    words = text.split()
    names = [word for word in words if word != "--overwrite"]
    if len(names) != 1:
        raise Misuse("`save` needs the name of one file")
    try:
        path = Path(names[0]).expanduser()
        if path.suffix != ".weft":
            path = path.with_name(path.name + ".weft")
        there = path.exists()
        if not path.stem.strip(".") or not path.name.isprintable():
            raise ValueError("it is empty or has a character that cannot be printed")
    except (OSError, RuntimeError, ValueError) as error:  # unknown user, empty name, name too long, null byte
        raise fail("W0066", f"`{names[0]}` is not a name for a file: {error}", hint="`save mine.weft`") from None
    own = Path(desk.bench.recipe.file.source.name)
    expect_apart([Output("save", path, ".weft")], {p: name for p, name in desk.bench.recipe.reads.items() if p != own})
    written = saved_text(desk.bench, path)
    if there and "--overwrite" not in words:
        raise fail("W0064", f"`{path}` exists already", hint=f"`save {path} --overwrite` replaces it")
    write_file(path, written.encode())
    launched = any(step.keyword == "launch" for step in desk.session.steps)
    shows = f"nothing is launched yet: `weft apply {path}` shows the module"
    does = f"`weft run {path}` runs it" if launched else shows
    kept = sum(step.keyword != SKIP for step in desk.session.steps)
    aside = f": {count(kept, 'statement')}; {does}"
    desk.say(Text.assemble("saved ", (str(path), "bold"), (aside, "dim")))


@command("quit", "leave; so does Ctrl-D")
def leave(desk: Desk, text: str) -> None:
    desk.done = True


def saved_text(bench: Workbench, path: Path) -> str:
    """The formatted text of a schedule at `path` that repeats the executed statements. Raises W0063
    if no schedule can express them."""
    text = format_text(_spliced(bench, path.parent), str(path))
    expect_right(parse_text(text, str(path)), signatures())
    return text


def _spliced(bench: Workbench, folder: Path) -> str:
    """The schedule's own text with the session's differences: the executed statements, the values
    that were set, and paths relative to `folder`. Paths on other drives become absolute."""
    file, payload, main = bench.recipe.file, bench.recipe.file.payload, bench.recipe.file.main
    source, home = file.source, Path(file.source.name).parent
    own = [schedule for schedule in file.schedules if schedule.span.source == source]

    def beside(target: Path) -> str:
        try:
            return f'"{Path(os.path.relpath(target, folder)).as_posix()}"'
        except ValueError:
            return f'"{target.resolve().as_posix()}"'

    begin = source.offset(main.span.line, main.span.column)
    end = source.offset(main.span.end_line, main.span.end_column)
    brace = next(found.end() for found in BRACES.finditer(source.text, begin) if found.group() == "{")
    edits: list[tuple[Span | tuple[int, int], str]] = [((brace, end - 1), "\n".join(["", *_body(bench), ""]))]
    relative = [include for include in file.includes if not include.path.startswith(f"{SHIPPED}:")]
    edits += [(include.span, f"include {beside(home / include.path)}") for include in relative]
    for p in main.parameters:
        if p.name in bench.choice.settings:  # the value that was set becomes the default
            value = bench.recipe.values[p.name]
            text = f"{p.name}: {p.type} = {_literal(value) if p.type == 'str' else show(value)}"
            edits.append((p.span, text + (f" in {p.domain.span.text}" if p.domain is not None else "")))
    if (program := payload_path(file, bench.choice.payload)) is not None:
        words = f"payload {beside(program)}"
    else:
        values = ", ".join(f"{name} = {value}" for name, value in bench.recipe.payload_values.items())
        words = f"payload {payload.builder}({values})" if payload is not None else ""
    first = source.offset(own[0].span.line, own[0].span.column)
    edits.append((payload.span, words) if payload is not None else ((first, first), f"{words}\n\n"))
    return source.edited(edits)


def _body(bench: Workbench) -> Iterator[str]:
    frames = bench.session.state.frames
    done = frames[0].items[len(matched(bench.recipe.file.main, ())) : frames[0].index]
    if len(frames) > 1:
        item = done[-1]
        value = item.value if isinstance(item, tree.Let) else item
        what = f"the call of `{value.schedule}`" if isinstance(value, tree.Call) else "a block"
        message = f"this is the middle of {what} that began in line {item.span.line}: no file can express that"
        raise fail("W0063", message, span=item.span, hint="`step` to its end, or `undo` to before it")
    before = 0
    for span in (item.span for item in done):
        if span.source.name == TYPED:
            yield span.text
            continue
        # The comments and empty lines directly above `line`, down from `before`.
        above: list[str] = []
        for number in range(span.line - 1, before, -1):
            text = span.source.line(number).strip()
            if text and not text.startswith("//"):
                break
            above.append(text)
        yield from reversed(above)
        comment = re.match(r"\s*//.*", span.source.line(span.end_line)[span.end_column - 1 :])
        yield span.text + (comment[0] if comment else "")
        before = span.end_line


def _literal(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{text}"'
