"""Goldens: a text pinned in a file, with a readable diff when it changes and one flag to write it anew."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from places import ROOT


def pinned(path: Path, text: str, update: bool) -> None:
    """Assert that `path` holds `text`; with `update`, make it so."""
    __tracebackhide__ = True
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    assert path.exists(), f"{name} is missing: `{command()}` writes it"
    old = path.read_text()
    if old != text:
        diff = difflib.unified_diff(old.splitlines(), text.splitlines(), f"{name} (kept)", f"{name} (made now)", lineterm="")
        raise AssertionError(f"{name} is not what is made now; if the change is meant: `{command()}`\n" + "\n".join(diff))


def command() -> str:
    """What writes the file that the running test is about."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    return f"pytest --update '{test}'" if "[" in test else f"pytest --update {test}".rstrip()
