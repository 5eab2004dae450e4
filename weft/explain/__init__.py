"""Pages of diagnostics: `W0405.md` has a title, what happened and why, examples that a test runs, and the way out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

FOLDER = os.path.dirname(__file__)


@dataclass(frozen=True)
class Page:
    """The page of a code.

    Args:
        title: the line after `# `.
        text: Markdown below the title.
        aliases: codes that were merged into this one (`Also: W0392.` below the title).
    """

    code: str
    title: str
    text: str

    @property
    def aliases(self) -> tuple[str, ...]:
        first = re.match(r"Also: (.+)\.\n", self.text)
        return tuple(first[1].split(", ")) if first else ()

    def __str__(self) -> str:
        return f"{self.code}: {self.title}\n\n{self.text.rstrip()}"


def pages() -> Iterator[Page]:
    """All pages, by code."""
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".md"):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                head, _, text = file.read().partition("\n\n")
            yield Page(name[:-3], head.removeprefix("# "), text)


def all_codes() -> dict[str, Page]:
    """The page of each code."""
    return {page.code: page for page in pages()}


def page_of(code: str) -> Page | None:
    """The page of a code, of the number of one (`405`), or of one that was merged into another."""
    wanted = f"W{int(code):04}" if code.isdecimal() and len(code) < 9 else code.upper()
    return next((page for page in pages() if wanted in (page.code, *page.aliases)), None)


def titled(text: str) -> str:
    """A statement's docstring with its list of codes as lines: each code with the title of its page."""
    titles = all_codes()

    def lines(listed: re.Match[str]) -> str:
        indent, codes = listed[1], re.findall(r"W\d{4}", listed[0])
        return "\n".join([f"{indent}Errors:", *(f"{indent}    {code}: {titles[code].title}." for code in codes)])

    return re.sub(r"^( *)Errors: (?:W\d{4},\s+)*W\d{4}\.$", lines, text, count=1, flags=re.MULTILINE)
