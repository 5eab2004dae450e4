"""What was done, as a schedule that does it again: statements typed by hand included, undone ones not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..dsl import tree
from ..dsl.diagnostics import Source, WeftError, fail
from ..dsl.expressions import show
from .workbench import TYPED

if TYPE_CHECKING:
    from .workbench import Workbench


def saved_text(bench: Workbench, path: Path) -> str:
    """The formatted text of a schedule at `path` that does what was done. Raises W0063 where no schedule can say it."""
    from ..dsl.checker import check
    from ..dsl.formatter import format_text
    from ..dsl.parser import parse_text
    from ..interpreter.session.statement import signatures

    text = format_text("\n".join(_Writer(bench, path.parent).lines()) + "\n", str(path))
    wrong = [d for d in check(parse_text(text, str(path)), signatures()) if d.severity == "error"]
    if wrong:
        raise WeftError(*wrong)
    return text


@dataclass(frozen=True)
class _Writer:
    """Writes the file that goes into `folder`: paths in it are relative to that."""

    bench: Workbench
    folder: Path

    def lines(self) -> Iterator[str]:
        file = self.bench.recipe.file
        main = file.main
        if file.source.name != TYPED:
            yield from _leading(file.source, file.payload.span.line if file.payload else main.span.line)
        for include in file.includes:
            yield f'include "{self._beside(Path(file.source.name).parent / include.path)}"'
        if (payload := self._payload()) is not None:
            yield payload
        for schedule in file.schedules:
            if schedule.span.source == file.source:
                yield ""
                if schedule is main:
                    yield from self._main(main)
                else:
                    yield _slice(schedule)

    def _payload(self) -> str | None:
        bench = self.bench
        payload = bench.recipe.file.payload
        if bench.override is not None:
            return f'payload "{self._beside(bench.override)}"'
        if payload is None:
            return None
        if payload.path is not None:
            return f'payload "{self._beside(Path(bench.recipe.file.source.name).parent / payload.path)}"'
        values = ", ".join(f"{name} = {value}" for name, value in bench.recipe.payload_values.items())
        return f"payload {payload.builder}({values})"

    def _main(self, main: tree.Schedule) -> Iterator[str]:
        if self.bench.recipe.file.payload is not None and main.span.source.name != TYPED:
            yield from _leading(main.span.source, main.span.line)
        parameters = ", ".join(self._parameter(p) for p in main.parameters)
        whole = f"schedule {main.name}({parameters}) {{"
        if len(whole) > 120:
            yield f"schedule {main.name}("
            yield ",\n".join(self._parameter(p) for p in main.parameters)
            yield ") {"
        else:
            yield whole
        yield from self._body()
        yield "}"

    def _parameter(self, parameter: tree.Parameter) -> str:
        """With the value that it has here as its default, where that was set."""
        text = f"{parameter.name}: {parameter.type}"
        if parameter.name in self.bench.settings:
            value = self.bench.recipe.values[parameter.name]
            text += f" = {_literal(value) if parameter.type == 'str' else show(value)}"
        elif parameter.default is not None:
            text += f" = {_slice(parameter.default)}"
        return text + (f" in {_slice(parameter.domain)}" if parameter.domain is not None else "")

    def _body(self) -> Iterator[str]:
        frames = self.bench.state.frames
        done = frames[0].items[: frames[0].index]
        if len(frames) > 1:
            item = done[-1]
            what = f"the call of `{_called(item)}`" if _called(item) else "a block"
            raise fail(
                "W0063",
                f"this is the middle of {what} that began in line {item.span.line}: no file can say that",
                span=item.span,
                hint="`step` to its end, or `undo` to before it",
            )
        before = 0
        for item in done:
            source = item.span.source
            if source.name == TYPED:
                yield _slice(item)
                continue
            yield from _leading(source, item.span.line, after=before)
            yield _slice(item) + _trailing(source, item.span.end_line, item.span.end_column)
            before = item.span.end_line

    def _beside(self, target: Path) -> str:
        """A path from the saved file's folder; paths on other drives stay whole."""
        try:
            return Path(os.path.relpath(target, self.folder)).as_posix()
        except ValueError:
            return target.resolve().as_posix()


def _called(item: tree.Item) -> str | None:
    value = item.value if isinstance(item, tree.Let) else item
    return value.schedule if isinstance(value, tree.Call) else None


def _leading(source: Source, line: int, after: int = 0) -> Iterator[str]:
    """The comments and empty lines directly above `line`, down from `after`."""
    above: list[str] = []
    for number in range(line - 1, after, -1):
        text = source.line(number).strip()
        if text and not text.startswith("//"):
            break
        above.append(text)
    yield from reversed(above)


def _trailing(source: Source, line: int, column: int) -> str:
    """The comment behind an item."""
    rest = source.line(line)[column - 1 :]
    return rest if re.match(r"\s*//", rest) else ""


def _slice(node: tree.Node) -> str:
    """The text of a node as its writer put it."""
    span = node.span
    lines = [span.source.line(n) for n in range(span.line, span.end_line + 1)]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def _literal(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{text}"'
