"""Goldens: a text pinned in a file, with a readable diff when it changes and one flag to write it anew."""

from __future__ import annotations

import difflib
from pathlib import Path


def pinned(path: Path, text: str, update: bool) -> None:
    """Assert that `path` holds `text`; with `update`, make it so."""
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return
    assert path.exists(), f"{path} is missing: `pytest --update` writes it"
    old = path.read_text()
    if old != text:
        diff = difflib.unified_diff(old.splitlines(), text.splitlines(), "pinned", "now", lineterm="")
        raise AssertionError(f"{path} changed (`pytest --update` accepts it):\n" + "\n".join(diff))
