"""`weft show-map`: what it prints, what it draws, what it refuses."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from pathlib import Path

import numpy as np
import pytest
from places import TESTS

from weft import cli
from weft.maps.drawing import cells

SVG = "{http://www.w3.org/2000/svg}"
SMALL = ("--set", "m=64", "--set", "n=64", "--set", "k=64")
RUN_TIME = """func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.exp ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""


def show_map(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.run(["show-map", *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)


def test_all_maps_are_shown_within_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = show_map(capsys, "shared", *SMALL)
    assert code == 0 and err == "" and "\x1b" not in out
    for name, spelled in (("tiles", "blocks(y, x)"), ("copy_a", "threads(*) cyclic"), ("lanes", "threads(y: 16, x: 16)")):
        assert f"\n{name}  {spelled}  on " in f"\n{out}"
    rows = [line for line in out.splitlines() if line[:1] == " "]
    assert rows and max(len(row) for row in rows) <= 80
    assert "\n   1   16  17  18  19 " in out


@pytest.mark.parametrize(("columns", "warps"), [("80", "0 1 2 3 4 5 6 7"), ("60", "0 1 2 3 4 … 7"), ("30", "0 … 7")])
def test_the_legend_fits(columns: str, warps: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves out the warps in the middle, only where there is no room for all."""
    monkeypatch.setenv("COLUMNS", columns)
    code, out, _ = show_map(capsys, "shared", "copy_a")
    legend = next(line for line in out.splitlines() if "warp 0" in line)
    assert code == 0 and legend.split() == [part for name in warps.split() for part in (["…"] if name == "…" else ["warp", name])]
    assert len(legend.rstrip()) <= int(columns)


def test_colour_and_no_colour(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    _, coloured, _ = show_map(capsys, "shared", "lanes", *SMALL)
    monkeypatch.setenv("NO_COLOR", "1")
    _, plain, _ = show_map(capsys, "shared", "lanes", *SMALL)
    assert ";48;" in coloured and ";48;" not in plain


LAYER = TESTS / "interpreter" / "launch" / "products" / "layer" / "layer.weft"


@pytest.mark.parametrize(("handle", "text"), [
    ("of_groups", "2 iterations, 2 warp groups, 1 each"),
    ("quarters", "8 iterations, 8 warps, 1 each"),
    ("lanes", "1,0,3,0,0,0,0  248 249 250 251 252 253 254 255"),
])  # fmt: skip
def test_warp_groups(handle: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = show_map(capsys, str(LAYER), handle)
    assert code == 0 and err == "" and text in out


def test_one_thread_and_banks(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = show_map(capsys, "shared", "copy_a", "--thread", "18", "--banks", *SMALL)
    assert "thread 18 owns 1: [1, 2]\n" in out and "banks of shared memory" in out


@pytest.mark.parametrize(("words", "text"), [
    (("tiles", "--thread", "99"), "there is no number 99: `tiles` is mapped to 16 blocks, numbered from 0"),
    (("lanes", "copy_a", "--thread", "256"), "`lanes` is mapped to 256 threads, `copy_a` is mapped to 256 threads"),
    (("lanes", "--banks"), "--banks shows copies into shared memory"),
])  # fmt: skip
def test_what_is_not_there_is_not_asked_for(words: tuple[str, ...], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = show_map(capsys, "shared", *words, *SMALL)
    assert (code, out) == (2, "") and text in " ".join(err.replace("│", " ").split())


def test_the_picture_stands_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_map(capsys, "shared", "copy_a", "lanes", *SMALL, "--banks", "-o", "map.svg")[0] == 0
    root = xml.parse("map.svg").getroot()
    texts = [(text.text or "").replace("\xa0", " ").strip() for text in root.iter(f"{SVG}text")]
    assert {"copy_a", "threads(*) cyclic", "warp 7", "banks of shared memory, where each element begins"} <= {*texts}
    assert sum(text == "255" for text in texts) == 2  # in the copy, and in the loop
    assert not [node for node in root.iter() if any("href" in key for key in node.attrib)]


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("shared", "lane", *SMALL), "W0065", "the schedule has no handle `lane`"),
        (("shared", "gemm", *SMALL), "W0971", "`gemm` is distributed by no map"),
        (("nothing.weft",), "W0972", "the schedule maps nothing"),
        (("open.weft",), "W0973", "known only at run time"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], code: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("open.mlir").write_text(RUN_TIME)
    body = "  let op = match linalg.exp\n"
    Path("nothing.weft").write_text(f'payload "open.mlir"\n\nschedule nothing() {{\n{body}}}\n')
    mapped = f"{body}  let (tiles, tile) = tile op [32]\n  map tiles to blocks(x)\n  map tile to threads(x: 32)\n  launch tiles\n"
    Path("open.weft").write_text(f'payload "open.mlir"\n\nschedule open() {{\n{mapped}}}\n')
    exit_code, _, err = show_map(capsys, *words)
    assert exit_code == 1 and f"error[{code}]" in err and text in err


def test_cells_merge_and_fold() -> None:
    table = cells(np.arange(6).repeat(4).reshape(2, 12).repeat(3, axis=0))
    assert table.size == (3, 4) and table.numbers.tolist() == [[0, 1, 2], [3, 4, 5]]
    long = cells(np.tile(np.arange(80).reshape(40, 2), (2, 1)))
    assert long.numbers.shape == (40, 2) and long.folded == (True, False)
    deep = cells(np.arange(24).reshape(2, 3, 4))
    assert [deep.row_label(row) for row in range(6)] == ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]
