"""Payloads whose sizes are left open: by settings, by a schedule; runs at given sizes, sweeps, bundles with data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_any_size import PRODUCT

import weft
from weft import cli
from weft.dsl.diagnostics import Source, WeftError
from weft.payloads.payload import parse_payload
from weft.recipes import builders
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs
from weft.runtime.host.functions import signature
from weft.runtime.host.size_conditions import agreements
from weft.runtime.plan.plan import Apply


@pytest.mark.parametrize("open_", ["m", "n", "k", "mn", "mk", "nk", "mnk"])
def test_sizes_that_a_builder_leaves_open(open_: str) -> None:
    settings = {"m": 20, "n": 9, "k": 7} | dict.fromkeys(open_, "?")
    sizes = {name: {"m": 20, "n": 9, "k": 7}[name] for name in open_}
    done = weft.run("naive", settings=settings, target="sim", sizes=sizes)
    assert done.ok and done.outputs[0].shape == (20, 9)
    with pytest.raises(WeftError, match="W0719"):
        weft.run("naive", settings=settings, target="sim")


@pytest.mark.parametrize("builder", ["conv2d", "conv2d_nchw", "conv2d_bias_relu"])
def test_convolutions_whose_sizes_are_open(builder: str) -> None:
    """The payload means the same as the one of static sizes, and says what it wants of an image."""
    made, values = builders()[builder], {p.name: p.default for p in builders()[builder].parameters}
    values |= {"stride": 2, "dilation": 2, "h": 9, "n": 2, "c": 3, "k": 5}
    for open_ in ("n", "h", "k", "whc", "nchwk"):
        texts = [made.build(**values), made.build(**values | dict.fromkeys(open_, "?"))]
        static, dynamic = (parse_payload(Source("c.mlir", text)) for text in texts)
        arrays = random_inputs(signature(static))
        expected, found = (reference(module, None, dict(arrays)) for module in (static, dynamic))
        assert all(np.array_equal(found[name], expected[name]) for name in expected), open_
        assert made.open_axes(values | dict.fromkeys(open_, "?")).keys() == set(open_)
    rows = [a for a in agreements(dynamic, None) if a.op == "tensor.empty" and isinstance(a.left, Apply)]
    assert len(rows) == 2, "an image that is smaller than the filters' span gives no rows or columns, and is refused"


def test_a_schedule_leaves_a_size_open(tmp_path: Path) -> None:
    text = "payload matmul(?, n = ?, k = 4)\nschedule s() {\n  let op = match linalg.matmul\n}\n"
    (tmp_path / "s.weft").write_text(text)
    assert weft.load(str(tmp_path / "s.weft")).open_axes == {"m": "A.0", "n": "B.1"}
    assert cli.run(["fmt", "--check", str(tmp_path / "s.weft")]) == 0
    (tmp_path / "s.weft").write_text(text.replace("4)", "4, type = ?)"))
    with pytest.raises(WeftError, match=r"W0486: `type = \?` is not a legal argument"):
        weft.load(str(tmp_path / "s.weft"))


def test_a_size_that_is_not_an_arguments_cannot_be_open() -> None:
    with pytest.raises(WeftError, match=r"W0483: `stride=\?` is not a legal value: only the size of an argument may be"):
        weft.load("igemm", settings={"stride": "?"})


def test_a_sweep_says_of_each_size_what_came_out(capsys: pytest.CaptureFixture[str]) -> None:
    open_ = ("--set", "m=?", "--set", "n=?", "--target", "sim", "--size", "n=3", "--json")
    assert cli.run(["run", "naive", "--set", "k=4", *open_, "--sizes", "0:9:8,5"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["size"], one["ok"], one["outputs"][0]["shape"]) for one in found] == [(n, True, [n, 3]) for n in (0, 8, 5)]
    for wrong in ("1:", "x", "1:9:0", "-1", "1:2:3:4", ""):
        assert cli.run(["run", "naive", "--set", "k=4", *open_, "--sizes", wrong]) == 1
        assert "W0718" in capsys.readouterr().err, wrong


def test_data_of_a_bundle_has_sizes_that_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mlir").write_text(PRODUCT)
    build = ["build", "naive", "--payload", str(tmp_path / "p.mlir"), "--with-data", "-o", str(tmp_path / "made")]
    assert cli.run([*build, "--size", "A.0=5", "--size", "A.1=3", "--size", "B.1=2"]) == 0
    assert cli.run(["run", str(tmp_path / "made"), "--target", "sim"]) == 0
    np.savez(tmp_path / "x.npz", A=np.ones((4, 5), np.float32), B=np.ones((9, 7), np.float32))
    assert cli.run([*build, "--inputs", str(tmp_path / "x.npz")]) == 1
    assert "they are one dimension of linalg.matmul" in capsys.readouterr().err
    assert cli.run(["bench", "matmul", "--set", "m=?"]) == 1
    assert "a size to be timed has to be known" in capsys.readouterr().err
