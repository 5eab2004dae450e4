"""Reading and writing: one diagnostic each, and nothing half written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from weft.dsl.diagnostics import WeftError
from weft.pipeline import resolve_schedule
from weft.runtime.files import writing


def code(caught: pytest.ExceptionInfo[WeftError]) -> str:
    return caught.value.diagnostics[0].code


def test_a_write_replaces_the_file_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.mlir"
    path.write_text("old")
    path.chmod(0o640)
    writing.write_file(path, b"new")
    assert path.read_bytes() == b"new" and path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    writing.write_file(tmp_path / "link", b"new")
    assert (tmp_path / "real").read_bytes() == b"new" and (tmp_path / "link").is_symlink()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.mlir"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(WeftError) as caught:
        writing.write_file(path, b"new")
    assert code(caught) == "W0054" and "no space left" in caught.value.diagnostics[0].message
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["", "missing/out.mlir", "file/out.mlir"])
def test_outputs_are_refused_early(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WeftError) as caught:
        writing.expect_place(tmp_path / name)
    assert code(caught) == "W0054"


def test_a_device_that_is_full(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():  # only Linux has it; elsewhere the failed replacement above covers the message
        return
    with pytest.raises(WeftError) as caught:
        writing.write_file(full, b"new")
    assert code(caught) == "W0054"


def test_a_recipe_is_found_by_name_and_a_wrong_name_gets_a_hint(tmp_path: Path) -> None:
    assert resolve_schedule("shared").name == "shared.weft"
    with pytest.raises(WeftError) as caught:
        resolve_schedule("shraed")
    assert caught.value.diagnostics[0].hint == "did you mean `shared`?"
