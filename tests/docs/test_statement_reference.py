"""`docs/statements.md` is made from the statements' docstrings; `pytest --update` of this file writes it anew."""

from __future__ import annotations

import inspect

from pinned import pinned
from places import ROOT

from weft.dsl.usage import written
from weft.explain import titled
from weft.interpreter.session.statement import signatures

PAGE = ROOT / "docs" / "statements.md"
HEAD = """# Statements

One section per statement, made from its docstring. `weft statements NAME` prints the same in the terminal.
"""
SECTIONS = ("Args:", "Returns:", "Errors:", "Source:", "Example:")


def section(keyword: str) -> str:
    """The docstring as Markdown: prose, then each part as a list or a code block."""
    lines = titled(inspect.cleandoc(signatures()[keyword].doc)).splitlines()
    out = [f"## `{keyword}`", "", "```", *written(keyword).splitlines(), "```", ""]
    part = ""
    for line in lines:
        if line.startswith(SECTIONS):
            if part == "Example:":
                out += ["```"]
            part = line.split(" ", 1)[0]
            rest = line[len(part) :].strip()
            out += [f"**{part.rstrip(':')}** {rest}".rstrip(), ""]
            if part == "Example:":
                out += ["```"]
        elif part in ("Args:", "Returns:", "Errors:"):
            text = line.strip()
            starts = line.startswith("    ") and not line.startswith("     ")
            out.append(f"- {text}" if starts and text else f"  {text}" if text else "")
        elif part == "Example:":
            out.append(line.removeprefix("    "))
        else:
            out.append(line)
    if part == "Example:":
        out += ["```"]
    return "\n".join(out) + "\n"


def test_reference(update: bool) -> None:
    pinned(PAGE, HEAD + "\n" + "\n".join(section(k) for k in signatures()), update)
