"""What each step of a schedule did to the module: whole snapshots, or the lines that changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from ..pipeline import Applied
from .report import duration

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show_steps(done: Applied, console: Console, *, snapshots: bool, diffs: bool) -> None:
    """Print every step with its remarks, and the module after it or what changed in it."""
    before = str(done.payload)
    for number, step in enumerate(done.session.steps, 1):
        console.print(Text(f"// {number}: {step.text}  ({duration(step.seconds)})", "bold"), soft_wrap=True)
        for remark in step.remarks:
            console.print(Text(f"//   {remark}", "dim"), soft_wrap=True)
        for text in step.shown:
            console.print(Text("\n".join(f"//   {line}" for line in text.splitlines())), soft_wrap=True)
        after = step.ir
        if snapshots:
            console.print(Text(after.rstrip()), soft_wrap=True)
        if diffs:
            for line in diff(before, after):
                console.print(Text(line, _STYLES.get(line[:1], "")), soft_wrap=True)
        before = after


def diff(before: str, after: str) -> Iterator[str]:
    """A unified diff of two modules, without the file names that a schedule's steps do not have."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    yield from (line for line in lines if not line.startswith(("---", "+++")))
