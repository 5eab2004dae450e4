"""Pages on a ladder of schedules, each of which differs from the one before in a few lines: what their pieces are made of.

A page is a template of prose; a line of it that starts with `@` is replaced by what the tool gives.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kept_predictions import predicted
from rung import ROOT, Settings, scheduled

from weft.output.changes import change
from weft.pipeline import Planned
from weft.runtime.predict.chips import CHIPS
from weft.runtime.predict.prediction import Prediction

WIDTH = 118
H200 = CHIPS["h200"]

Cell = Callable[[int], str]
"""What a table says of a rung."""


@cache
def timed(path: Path, settings: Settings) -> Prediction:
    return predicted(scheduled(path, settings), H200.name)


@dataclass(frozen=True)
class Ladder:
    """The rungs of a page, `docs/NAME/N-….weft`, and the sizes they are shown at (those of the rungs themselves, where empty)."""

    name: str
    settings: Settings = ()

    @property
    def rungs(self) -> tuple[Path, ...]:
        return tuple(sorted((ROOT / "docs" / self.name).glob("*.weft")))

    def path(self, number: int) -> Path:
        return self.rungs[number - 1]

    def made(self, number: int) -> Planned:
        return scheduled(self.path(number), self.settings)

    def predicted(self, number: int) -> Prediction:
        """The time of a rung's launches on an H200."""
        return timed(self.path(number), self.settings)

    def schedule(self, number: int, whole: bool = False) -> list[str]:
        """The schedule; or else its lines that differ from the rung before where there is one of the same payload. `whole`: where
        most differ, too."""
        path = self.path(number)
        lines = path.read_text().splitlines()
        before = self.path(number - 1).read_text().splitlines() if number > 1 else []
        changed = [line for line in difflib.unified_diff(before, lines, lineterm="", n=0) if line[:2] not in ("--", "++", "@@")]
        kept = [line for line in changed if line[1:].strip() and not line[1:].startswith(("//", "schedule "))]
        if _payload(before) != _payload(lines) or (whole and 2 * len(kept) > len(lines)):
            return ["```weft", *lines, "```"]
        return [f"[`{path.name}`]({self.name}/{path.name}) changes", "", "```diff", *kept, "```"]

    def ir_change(self, number: int, start: str, pattern: str | None = None) -> list[str]:
        """A step's report, and its difference. Raises ValueError where no step, or no line, is meant."""
        session = self.made(number).applied.session
        steps = [i for i, step in enumerate(session.steps) if step.text.startswith(start)]
        if not steps:
            raise ValueError(f"rung {number} has no step `{start}`")
        step = session.steps[steps[0]]
        before = session.steps[steps[0] - 1].module
        lines = change(before, step.module).lines
        shown = [(line.kind, line.text) if line is not None else (" ", "⋯") for line in lines]
        if pattern is not None:
            shown = [one if one[0] != " " and re.search(pattern, one[1]) else (" ", "⋯") for one in shown]
        if not any(kind != " " for kind, _ in shown):
            raise ValueError(f"rung {number}, `{start}`: nothing matches `{pattern}`")
        indent = min(len(text) - len(text.lstrip()) for _, text in shown if text != "⋯")
        rows = [f"{kind} {text if text == '⋯' else text[indent:]}" for kind, text in shown]
        rows = [row for i, row in enumerate(rows) if not (row == "  ⋯" and i and rows[i - 1] == "  ⋯")]
        rows = rows[rows[0] == "  ⋯" : len(rows) - (rows[-1] == "  ⋯")]
        return ["```diff", f"// {step.text}", *(f"//   {remark}" for remark in step.remarks), *map(_short, rows), "```"]

    def excerpt(self, number: int, pattern: str, count: int) -> list[str]:
        """Lines of the rung's text."""
        return excerpt(self.made(number).cuda, pattern, count)


def _payload(lines: Sequence[str]) -> str | None:
    return next((line for line in lines if line.startswith("payload ")), None)


def _short(row: str) -> str:
    """One line of the page: what upstream prints by default, and then the end of the types, is left out where it is too long."""
    if len(row) > WIDTH:
        row = re.sub(r"cast = #linalg.type_fn<cast_signed>(, )?", "", row).replace(" {}", "")
    return row if len(row) <= WIDTH else f"{row[: WIDTH - 1].rstrip()}…"


def excerpt(text: str, pattern: str, count: int) -> list[str]:
    """So many lines of a CUDA text, from the first that the pattern finds, moved to the left. Raises ValueError: it finds none."""
    lines = text.splitlines()
    at = next((i for i, line in enumerate(lines) if re.search(pattern, line)), None)
    if at is None:
        raise ValueError(f"nothing in the text matches `{pattern}`")
    part = lines[at : at + count]
    indent = min(len(line) - len(line.lstrip()) for line in part if line)
    return ["```cuda", *(line[indent:] for line in part), "```"]


def effect(rows: Mapping[str, Cell], numbers: Sequence[int]) -> list[str]:
    """The counts of rungs beside each other: those that differ, and what is printed bold; of one rung, all."""
    cells = [(name, *map(cell, numbers)) for name, cell in rows.items()]
    shown = [row for row in cells if len(row) == 2 or len(set(row[1:])) > 1 or "**" in row[0]]
    return table(("", *(f"rung {number}" for number in numbers)), shown)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|---|{'---:|' * (len(head) - 1)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


def page(template: Path, expanded: Callable[[str], Iterable[str]]) -> str:
    """The page that a template makes, with an empty line around everything that was put in. `expanded`: what a line becomes."""
    lines: list[str] = []
    for line in template.read_text().splitlines():
        after_table = bool(lines) and lines[-1].startswith("|") and not line.startswith("|")
        after_block = bool(lines) and lines[-1] == "```" and _closed(lines)
        if line and lines and lines[-1] and (line.startswith("@") or after_table or after_block):
            lines.append("")
        lines += expanded(line)
    return "".join(f"{line}\n" for line in lines)


def _closed(lines: Sequence[str]) -> bool:
    """Whether no code block is open at the end."""
    return sum(line.startswith("```") for line in lines) % 2 == 0
