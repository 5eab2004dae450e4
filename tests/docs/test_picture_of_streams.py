"""The picture in `docs/running.md` is what the page's command draws. Steps are counted there, so no clock is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pinned import pinned
from places import ROOT

from weft import cli

DOCS = ROOT / "docs"


def test_the_picture_is_what_the_tool_draws(update: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = re.search(r"^\$ weft (run [^\n]*) --trace overlap\.json$.*?^!\[.*?\]\((running/\w+\.svg)\)$", page(), re.M | re.S)
    assert shown is not None
    monkeypatch.chdir(tmp_path)
    assert cli.run([*shown[1].split(), "--trace", "overlap.json"]) == 0
    pinned(DOCS / shown[2], Path("overlap.svg").read_text(), update)


def page() -> str:
    return (DOCS / "running.md").read_text()
