"""The picture in `docs/maps.md` is what the page's command draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from places import ROOT

from weft import cli

DOCS = ROOT / "docs"


def test_the_picture_is_what_the_tool_draws(update: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r"^`staged\.weft`:\n\n```weft\n(.*?)^```", (DOCS / "maps.md").read_text(), re.M | re.S)
    assert found is not None
    (tmp_path / "staged.weft").write_text(found[1])
    monkeypatch.chdir(tmp_path)
    assert cli.run(["show-map", "staged.weft", "copy_a", "--banks", "-o", "copy_a.svg"]) == 0
    drawn, kept = Path("copy_a.svg").read_text(), DOCS / "maps" / "copy_a.svg"
    if update:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(drawn)
    assert drawn == kept.read_text()
