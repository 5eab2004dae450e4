"""The commands save and quit; and what was done, as a schedule that does it again: what was typed included, what was undone not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from ..dsl import tree
from ..dsl.checker import expect_right
from ..dsl.diagnostics import Source, fail
from ..dsl.expressions import show
from ..dsl.formatter import format_text
from ..dsl.parser import parse_text
from ..dsl.wording import count
from ..interpreter.session.statement import signatures
from ..pipeline import TYPED
from ..runtime.files.writing import Output, expect_apart, write_file
from .command import Desk, Misuse, command
from .workbench import Workbench


@command("save FILE [--overwrite]", "write what was done as a schedule", "file")
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
            raise ValueError("it has no letter in it, or one that cannot be printed")
    except (OSError, RuntimeError, ValueError) as error:  # no such user, no name in it, too long, a null byte
        raise fail("W0066", f"`{names[0]}` is no name for a file: {error}", hint="`save mine.weft`") from None
    own = Path(desk.bench.recipe.file.source.name)
    expect_apart([Output("save", path, ".weft")], {p: name for p, name in desk.bench.recipe.reads.items() if p != own})
    written = saved_text(desk.bench, path)
    if there and "--overwrite" not in words:
        raise fail("W0064", f"`{path}` is there already", hint=f"`save {path} --overwrite` replaces it")
    write_file(path, written.encode())
    launched = any(step.keyword == "launch" for step in desk.bench.session.steps)
    does = f"`weft run {path}` runs it" if launched else f"nothing is launched yet: `weft apply {path}` shows the module"
    aside = f": {count(desk.bench.position, 'statement')}; {does}"
    desk.say(Text.assemble("saved ", (str(path), "bold"), (aside, "dim")))


@command("quit", "leave; Ctrl-D does, too")
def leave(desk: Desk, text: str) -> None:
    desk.done = True


def saved_text(bench: Workbench, path: Path) -> str:
    """The formatted text of a schedule at `path` that does what was done. Raises W0063 where no schedule can say it."""
    text = format_text("\n".join(_lines(bench, path.parent)) + "\n", str(path))
    expect_right(parse_text(text, str(path)), signatures())
    return text


def _lines(bench: Workbench, folder: Path) -> Iterator[str]:
    """The file that goes into `folder`: paths in it are relative to that; paths on other drives stay whole."""
    file, payload = bench.recipe.file, bench.recipe.file.payload
    main, home = file.main, Path(file.source.name).parent

    def beside(target: Path) -> str:
        try:
            return Path(os.path.relpath(target, folder)).as_posix()
        except ValueError:
            return target.resolve().as_posix()

    if file.source.name != TYPED:
        yield from _leading(file.source, payload.span.line if payload else main.span.line)
    yield from (f'include "{beside(home / include.path)}"' for include in file.includes)
    if bench.choice.payload is not None:
        yield f'payload "{beside(bench.choice.payload)}"'
    elif payload is not None and payload.path is not None:
        yield f'payload "{beside(home / payload.path)}"'
    elif payload is not None:
        values = ", ".join(f"{name} = {value}" for name, value in bench.recipe.payload_values.items())
        yield f"payload {payload.builder}({values})"
    for schedule in file.schedules:
        if schedule.span.source != file.source:
            continue
        yield ""
        if schedule is not main:
            yield schedule.span.text
            continue
        if payload is not None and main.span.source.name != TYPED:
            yield from _leading(main.span.source, main.span.line)
        parameters = [_parameter(bench, p) for p in main.parameters]
        whole = f"schedule {main.name}({', '.join(parameters)}) {{"
        yield whole if len(whole) <= 120 else "\n".join([f"schedule {main.name}(", ",\n".join(parameters), ") {"])
        yield from _body(bench)
        yield "}"


def _parameter(bench: Workbench, parameter: tree.Parameter) -> str:
    """With the value that it has here as its default, where that was set."""
    text = f"{parameter.name}: {parameter.type}"
    if parameter.name in bench.choice.settings:
        value = bench.recipe.values[parameter.name]
        text += f" = {_literal(value) if parameter.type == 'str' else show(value)}"
    elif parameter.default is not None:
        text += f" = {parameter.default.span.text}"
    return text + (f" in {parameter.domain.span.text}" if parameter.domain is not None else "")


def _body(bench: Workbench) -> Iterator[str]:
    frames = bench.session.state.frames
    done = frames[0].items[: frames[0].index]
    if len(frames) > 1:
        item = done[-1]
        value = item.value if isinstance(item, tree.Let) else item
        what = f"the call of `{value.schedule}`" if isinstance(value, tree.Call) else "a block"
        message = f"this is the middle of {what} that began in line {item.span.line}: no file can say that"
        raise fail("W0063", message, span=item.span, hint="`step` to its end, or `undo` to before it")
    before = 0
    for span in (item.span for item in done):
        if span.source.name == TYPED:
            yield span.text
            continue
        yield from _leading(span.source, span.line, after=before)
        comment = re.match(r"\s*//.*", span.source.line(span.end_line)[span.end_column - 1 :])
        yield span.text + (comment[0] if comment else "")
        before = span.end_line


def _leading(source: Source, line: int, after: int = 0) -> Iterator[str]:
    """The comments and empty lines directly above `line`, down from `after`."""
    above: list[str] = []
    for number in range(line - 1, after, -1):
        text = source.line(number).strip()
        if text and not text.startswith("//"):
            break
        above.append(text)
    yield from reversed(above)


def _literal(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{text}"'
