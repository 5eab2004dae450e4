"""What a command writes is never what it reads: nothing of the user's is lost, however its path is spelled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from weft import api
from weft.cli import run
from weft.dsl.diagnostics import WeftError

PAYLOAD = """\
func.func @twice(%x: tensor<16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.add ins(%x, %x : tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}
"""
PART = "schedule part(op: handle) {\n  let (tiles, one) = tile op [1]\n  map tiles to threads(x)\n}\n"
SCHEDULE = """\
include "part.weft"
payload "p.mlir"

schedule twice() {
  let op = match linalg.add
  let (blocks, tile) = tile op [8]
  map blocks to blocks(x)
  part(tile)
  launch blocks
}
"""
RUN = ("run", "s.weft", "--target", "sim", "--reference", "none")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("NO_COLOR", "1")
    for name, text in (("s.weft", SCHEDULE), ("part.weft", PART), ("p.mlir", PAYLOAD), ("other.weft", PART), ("q.mlir", PAYLOAD)):
        Path(name).write_text(text)
    np.savez("x.npz", x=np.ones(16, np.float32))
    Path("link.mlir").symlink_to("s.weft")
    os.link("p.mlir", "hard.mlir")
    (tmp_path / "elsewhere").symlink_to(place)
    return place


def kept() -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in Path().iterdir() if p.is_file()}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("apply", "s.weft", "-o", "s.weft"), "-o would overwrite `s.weft`, which is the schedule"),
        (("apply", "s.weft", "-o", "./../here/s.weft"), "-o would overwrite `../here/s.weft`, which is the schedule"),
        (("apply", "s.weft", "-o", "../elsewhere/s.weft"), "-o would overwrite `../elsewhere/s.weft`, which is the schedule"),
        (("apply", "s.weft", "-o", "link.mlir"), "-o would overwrite `link.mlir`, which is the schedule"),
        (("apply", "s.weft", "-o", "part.weft"), "-o would overwrite `part.weft`, which is a file that the schedule includes"),
        (("apply", "s.weft", "-o", "p.mlir"), "-o would overwrite `p.mlir`, which is the payload"),
        (("apply", "s.weft", "-o", "hard.mlir"), "-o would overwrite `hard.mlir`, which is the payload"),
        (("apply", "s.weft", "--payload", "q.mlir", "-o", "q.mlir"), "-o would overwrite `q.mlir`, which is the payload"),
        (("apply", "s.weft", "-o", "other.weft"), "-o writes .mlir, and would overwrite `other.weft`"),
        (("apply", "s.weft", "-o", "x.npz"), "-o writes .mlir, and would overwrite `x.npz`"),
        (("show-map", "s.weft", "-o", "s.weft"), "-o would overwrite `s.weft`, which is the schedule"),
        (("show-map", "s.weft", "-o", "q.mlir"), "-o writes .svg, and would overwrite `q.mlir`"),
        ((*RUN, "--save", "s.weft"), "--save would overwrite `s.weft`, which is the schedule"),
        ((*RUN, "--save", "other.weft"), "--save writes .npz, and would overwrite `other.weft`"),
        ((*RUN, "--save", "q.mlir"), "--save writes .npz, and would overwrite `q.mlir`"),
        ((*RUN, "--inputs", "x.npz", "--save", "x.npz"), "--save would overwrite `x.npz`, which is --inputs"),
        ((*RUN, "--trace", "q.mlir"), "--trace writes .json, and would overwrite `q.mlir`"),
        ((*RUN, "--trace", "x.npz", "--inputs", "x.npz"), "--trace would overwrite `x.npz`, which is --inputs"),
    ],
)
def test_inputs_and_files_of_other_kinds_stay(
    command: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = kept()
    assert run(command) == 1
    told = capsys.readouterr()
    assert told.err.startswith(f"error[W0714]: {message}\n") and "= hint: name another" in told.err and told.out == ""
    assert kept() == before


@pytest.mark.parametrize(
    ("command", "written"),
    [
        (("apply", "s.weft", "-o", "q.mlir"), "q.mlir"),
        (("apply", "s.weft", "--payload", "q.mlir", "-o", "p.mlir"), "p.mlir"),
        (("show-map", "s.weft", "-o", "map.svg"), "map.svg"),
        ((*RUN, "--save", "y"), "y"),
        (("apply", "s.weft", "-o", "/dev/null"), ""),
        ((*RUN, "--save", "/dev/null"), ""),
    ],
)
def test_everything_else_is_written(command: tuple[str, ...], written: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = kept()
    assert run(command) == 0, capsys.readouterr().err
    now = kept()
    assert {name for name in now if now[name] != before.get(name)} == ({written} if written else set())
    assert not Path("/dev/null").is_file()


def test_saved_outputs_go_through_a_link() -> None:
    Path("y.npz").symlink_to("real.npz")
    assert run((*RUN, "--save", "y.npz")) == 0
    assert Path("y.npz").is_symlink() and np.load("real.npz")["result0"].shape == (16,)


def test_a_bundle_is_not_built_over_what_it_is_made_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("build", "s.weft", "-o", "b")) == 0
    Path("b/module.mlir").write_text(PAYLOAD)
    Path("from_bundle.mlir").symlink_to("b/module.mlir")
    for payload in ("b/module.mlir", "from_bundle.mlir"):
        capsys.readouterr()
        assert run(("build", "s.weft", "--payload", payload, "-o", "../elsewhere/b")) == 1
        assert f"error[W0714]: -o would overwrite `{payload}`, which is the payload" in capsys.readouterr().err
    assert Path("b/module.mlir").read_text() == PAYLOAD
    assert run(("build", "s.weft", "-o", "b")) == 0 and Path("b/module.mlir").read_text() != PAYLOAD


def test_a_folder_that_is_no_bundle_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d").mkdir()
    Path("d/inputs.npz").write_bytes(Path("x.npz").read_bytes())
    assert run(("build", "s.weft", "-o", "d")) == 1
    assert "error[W0711]" in capsys.readouterr().err and [p.name for p in Path("d").iterdir()] == ["inputs.npz"]


@pytest.mark.parametrize("option", ["--save", "--trace"])
def test_a_bundle_stays_as_it_was_built(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("build", "s.weft", "--with-data", "-o", "b")) == 0
    before = {p.name: p.read_bytes() for p in Path("b").iterdir()}
    for name in ("inputs.npz", "plan.json", "new.npz"):
        assert run(("run", "b", "--target", "sim", option, f"b/{name}")) == 1
    assert capsys.readouterr().err.count("error[W0714]") == 3
    assert {p.name: p.read_bytes() for p in Path("b").iterdir()} == before


def _golden_of_its_payload() -> tuple[str, ...]:
    Path("s.golden.mlir").write_text(PAYLOAD)
    return ("golden", "s.weft", "--update", "--payload", "s.golden.mlir")


def _linked_golden() -> tuple[str, ...]:
    Path("s.golden.mlir").symlink_to("p.mlir")
    return ("golden", "s.weft", "--update", "--payload", "p.mlir")


@pytest.mark.parametrize("command", [_golden_of_its_payload, _linked_golden])
def test_a_golden_is_not_its_own_payload(command: Callable[[], tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = command()
    before = kept()
    assert run(arguments) == 1
    assert "error[W0714]: --update would overwrite `s.golden.mlir`, which is the payload" in capsys.readouterr().err
    assert kept() == before


def test_what_is_no_golden_is_not_made_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s.even.golden.mlir").write_text(PAYLOAD)
    before = kept()
    assert run(("golden", "s.weft", "--update", "--name", "even")) == 1
    assert "error[W0902]" in capsys.readouterr().err and kept() == before


def test_a_session_is_not_saved_over_what_it_reads() -> None:
    Path("p2.weft").symlink_to("p.mlir")
    before = kept()
    for name in ("part", "p2"):
        done = subprocess.run(
            [sys.executable, "-m", "weft", "repl", "s.weft"], input=f"step 2\nsave {name} --overwrite\n",
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 1 and f"error[W0714]: save would overwrite `{name}.weft`" in done.stdout + done.stderr
    assert kept() == before


def test_the_api_refuses_the_same() -> None:
    before = kept()
    for call in (
        lambda: api.run("s.weft", target="sim", save="s.weft"),
        lambda: api.run("s.weft", target="sim", inputs="x.npz", save="x.npz"),
    ):
        with pytest.raises(WeftError) as caught:
            call()
        assert caught.value.diagnostics[0].code == "W0714"
    assert kept() == before
