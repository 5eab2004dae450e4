"""Reading the examples out of a page of `docs/`, running them, and comparing what they print.

A fenced block after a line that ends in `` `name.ext`: `` is that file. What a block is stands in its tag:

| tag | what is done with it |
|---|---|
| `weft` | a whole file: formatted and checked; applied if it names a payload |
| `mlir` | a file, used by other blocks |
| `console` | lines after `$` are run; what stands below each is what it prints, `…` for anything |
| `python` | executed; `python gpu`: where there is one |

A name that exists in the repository makes the block an excerpt of that file, `…` for what is left out.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from executors import alone

from weft import cli

_NAME = re.compile(r"`([\w./-]+\.\w+)`:$")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it starts, its tag, its text, and the file it is, if it is one."""

    page: Path
    line: int
    tag: str
    text: str
    name: str | None

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


@dataclass(frozen=True)
class Section:
    """What stands below one heading of the second level."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Command:
    """A command line of a `console` block, and what the page says it prints."""

    place: str
    line: str
    output: str


def sections(page: Path) -> list[Section]:
    """The page's sections that have examples."""
    title, named = page.stem, None
    blocks: dict[str, list[Block]] = {}
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if line.startswith("## "):
            title = line.removeprefix("## ")
        elif line.startswith("```"):
            body: list[str] = []
            for _, inner in lines:
                if inner.startswith("```"):
                    break
                body.append(inner)
            text = "".join(f"{b}\n" for b in body)
            blocks.setdefault(title, []).append(Block(page, number, line[3:].strip(), text, named))
            named = None
        elif line:
            found = _NAME.search(line)
            named = found[1] if found else None
    return [Section(title, tuple(found)) for title, found in blocks.items()]


def commands(block: Block) -> list[Command]:
    """The command lines of a `console` block. A line that ends in a backslash goes on in the next."""
    found: list[Command] = []
    continued = False
    for number, line in enumerate(block.text.splitlines(), block.line + 1):
        if continued:
            last = found.pop()
            line = f"$ {last.line.removesuffix(chr(92))}{line.strip()}"
        if line.startswith("$ "):
            continued = line.endswith("\\")
            found.append(Command(f"{block.page.name}:{number}", line.removeprefix("$ "), ""))
        else:
            if not found:
                raise ValueError(f"{block.place}: a console block starts with `$ `")
            last = found.pop()
            found.append(Command(last.place, last.line, f"{last.output}{line}\n"))
    return found


def run(line: str, folder: Path) -> tuple[int, str]:
    """Run one command line in `folder` (the current directory): its exit code, and both streams together."""
    words = shlex.split(line, comments=True)
    typed = ""
    if words[0] == "printf" and "|" in words:
        typed = words[1].replace("\\n", "\n")
        words = words[words.index("|") + 1 :]
    if words[0] == "weft":
        streams, stdin = io.StringIO(), sys.stdin
        sys.stdin = io.StringIO(typed)
        try:
            with contextlib.redirect_stdout(streams), contextlib.redirect_stderr(streams):
                code = cli.run(words[1:])
        finally:
            sys.stdin = stdin
        return code, streams.getvalue()
    if words[0] == "python":
        words[0] = sys.executable
    elif words[0] not in ("ls", "cat"):
        raise ValueError(f"`{line}`: an example runs weft, python, ls or cat")
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    return done.returncode, done.stdout


def matches(expected: str, printed: str) -> bool:
    """Whether `printed` is what the page shows: `…` is anything within a line; alone in a line, any number of lines."""
    pattern = ""
    for line in expected.rstrip("\n").splitlines():
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part) for part in line.rstrip().split("…")) + r"\n"
    text = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern, text) is not None


def differs(command: Command, printed: str) -> str:
    """What a command prints and the page does not show."""
    shown = difflib.unified_diff(command.output.splitlines(), printed.splitlines(), "the page", "printed now", lineterm="")
    return (
        f"{command.place}: `{command.line}` prints something else than the page shows\n" + "\n".join(shown) + "\n"
        f"if the change is meant, write it into the page below that line, `…` for what may vary{alone()}"
    )
