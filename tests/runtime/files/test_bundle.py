"""Bundles are written whole or not at all, and read with suspicion."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runtime_programs import two_stream_plan

from weft.dsl.diagnostics import WeftError
from weft.runtime.files import bundle as bundles
from weft.runtime.files.bundle import comparable, read_bundle, write_bundle
from weft.runtime.plan.plan import Buffer, Plan

CUDA = 'extern "C" __global__ void __launch_bounds__(8) scale(const float* x, float* y, float f) { }\n'
INPUTS = {"x": np.arange(8, dtype=np.float32), "factor": np.array(3, np.float32)}
EXPECTED = {"y": 3 * INPUTS["x"]}


def write(path: Path, **more: dict[str, np.ndarray]) -> Path:
    return write_bundle(path, two_stream_plan(), CUDA, "module {}\n", **more)


def test_round_trip(tmp_path: Path) -> None:
    write(tmp_path / "b", inputs=INPUTS, expected=EXPECTED)
    read = read_bundle(tmp_path / "b")
    assert (read.plan, read.cuda, read.module) == (two_stream_plan(), CUDA, "module {}\n")
    assert read.inputs is not None and read.expected is not None
    assert all(np.array_equal(read.inputs[n], INPUTS[n]) for n in INPUTS)
    assert np.array_equal(read.expected["y"], EXPECTED["y"])
    assert sorted(os.listdir(tmp_path / "b")) == sorted(set(bundles.FILES) - {bundles.OWN})
    assert os.listdir(tmp_path) == ["b"]


def test_an_older_bundle_is_replaced_whole(tmp_path: Path) -> None:
    write(tmp_path / "b", inputs=INPUTS)
    write(tmp_path / "b")
    assert read_bundle(tmp_path / "b").inputs is None
    assert os.listdir(tmp_path) == ["b"]


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    write(tmp_path / "empty")
    assert read_bundle(tmp_path / "empty").plan == two_stream_plan()


def test_missing_parents_are_not_made(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match=r"W0711.*the folder `.*a/b` does not exist"):
        write(tmp_path / "a" / "b" / "c")
    assert list(tmp_path.iterdir()) == []


def test_other_things_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("")
    for name, message in (("thesis", r"holds other things \(thesis.tex\)"), ("file", "a file of that name")):
        with pytest.raises(WeftError, match=f"W0711.*{message}"):
            write(tmp_path / name)
    assert (tmp_path / "thesis" / "thesis.tex").read_text() == "years of work"


def test_a_file_where_a_parent_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WeftError, match="W0711"):
        write(tmp_path / "file" / "b")


@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("broken", ["dump", "write_npz", "_replace"])
def test_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, existing: bool) -> None:
    if existing:
        write(tmp_path / "b")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bundles, broken, full)
    with pytest.raises(WeftError, match=r"W0711: .*no space left on device"):
        write(tmp_path / "b", inputs=INPUTS)
    assert os.listdir(tmp_path) == (["b"] if existing else [])
    if existing:
        assert read_bundle(tmp_path / "b").inputs is None


def test_the_old_bundle_comes_back_if_the_new_one_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "b")
    real = os.rename

    def rename(source: Path, target: Path) -> None:
        if target == tmp_path / "b" and ".old." not in str(source):
            raise OSError(5, "Input/output error")
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(WeftError, match="W0711"):
        write(tmp_path / "b", inputs=INPUTS)
    assert os.listdir(tmp_path) == ["b"]
    assert read_bundle(tmp_path / "b").inputs is None


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def edit(bundle: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the first kernel of the plan."""
    plan = json.loads((bundle / "plan.json").read_text())
    change(plan["kernels"][0])
    (bundle / "plan.json").write_text(json.dumps(plan))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no plan": (lambda b: (b / "plan.json").unlink(), "W0710: .*plan.json.*no such file"),
    "no text": (lambda b: (b / "kernels.cu").unlink(), "W0710: .*kernels.cu"),
    "no module": (lambda b: (b / "module.mlir").unlink(), "W0710: .*module.mlir"),
    "a folder for a file": (lambda b: ((b / "kernels.cu").unlink(), (b / "kernels.cu").mkdir()), "W0710"),
    "binary": (lambda b: (b / "kernels.cu").write_bytes(b"\xff\xfe\x00"), "W0710: .*is not text"),
    "half a plan": (lambda b: truncate(b / "plan.json"), "W0700"),
    "a kernel that is not there": (lambda b: (b / "kernels.cu").write_text("void scale() {}"), "W0712: .*`scale`"),
    "half of another name": (
        lambda b: (b / "kernels.cu").write_text('extern "C" __global__ void rescale(float* x) {}'),
        "W0712",
    ),
    "a parameter more": (lambda b: edit(b, lambda p: p["params"].append({"name": "n", "dtype": "i64"})), "W0705|W0713"),
    "an open size": (lambda b: edit(b, lambda p: p["params"][0].update(shape=[None])), "W0713: .*`scale`"),
    "an open stride": (lambda b: edit(b, lambda p: p["params"][1].update(strides=[None])), "W0713"),
    "an open offset": (lambda b: edit(b, lambda p: p["params"][1].update(offset=None)), "W0713"),
    "half of the shared memory": (lambda b: edit(b, lambda p: p.update(dynamic_shared_bytes=64)), "W0704"),
    "a text of another type": (
        lambda b: (b / "kernels.cu").write_text(CUDA.replace("float f", "double f")),
        "W0713",
    ),
    "inputs of another function": (lambda b: np.savez(b / "inputs.npz", z=np.zeros(3)), "W0716"),
    "pickled inputs": (
        lambda b: np.savez(b / "inputs.npz", allow_pickle=True, x=np.array([{}], dtype=object)),
        "W0715: .*pickled",
    ),
    "half the expected": (lambda b: (b / "expected.npz").write_bytes(b"PK"), "W0715"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_bundles(tmp_path: Path, case: str) -> None:
    damage, message = BROKEN[case]
    damage(write(tmp_path / "b"))
    with pytest.raises(WeftError, match=message):
        read_bundle(tmp_path / "b")


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WeftError, match=r"W0710: .*there is no such folder"):
        read_bundle(tmp_path / "missing")
    with pytest.raises(WeftError, match=r"W0710: .*it is a file"):
        read_bundle(tmp_path / "file")


def test_only_what_is_expected_is_compared(tmp_path: Path) -> None:
    clobbered = Plan("f", (Buffer("x", "f32", (2,), "inout"), Buffer("y", "f32", (2,), "output")), (), (), ())
    write_bundle(tmp_path / "b", clobbered, "", "", expected={"y": np.zeros(2, np.float32)})
    assert [o.name for o in comparable(read_bundle(tmp_path / "b")).outputs] == ["y"]
    write_bundle(tmp_path / "c", clobbered, "", "", expected={"q": np.zeros(2, np.float32)})
    with pytest.raises(WeftError, match=r"W0716: .*`q`, which is not an output"):
        comparable(read_bundle(tmp_path / "c"))


def test_what_was_edited_is_said(tmp_path: Path) -> None:
    """A barrier less in one of the two texts: what holds for the one does not hold for the other."""
    bundle = write(tmp_path / "b")
    assert read_bundle(bundle).edited == () and read_bundle(bundle).warnings == ()
    for name in ("kernels.cu", "module.mlir"):
        before = (bundle / name).read_text()
        (bundle / name).write_text(before + "\n// edited\n")
        found = read_bundle(bundle)
        assert found.edited == (name,) and [(d.code, d.severity) for d in found.warnings] == [("W0738", "warning")]
        (bundle / name).write_text(before)
    edit(bundle, lambda _: None)
    plan = json.loads((bundle / "plan.json").read_text())
    del plan["texts"]
    (bundle / "plan.json").write_text(json.dumps(plan))
    assert read_bundle(bundle).edited is None, "an older bundle does not say"


@pytest.mark.parametrize("name", ["plan.json", "kernels.cu", "module.mlir", "inputs.npz", "expected.npz"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path, name: str, kind: str) -> None:
    bundle = write(tmp_path / "b", inputs=INPUTS, expected=EXPECTED)
    (bundle / name).unlink()
    if kind == "pipe":
        os.mkfifo(bundle / name)
    elif kind == "device":
        (bundle / name).symlink_to("/dev/zero")
    else:
        (bundle / name).mkdir()
    with pytest.raises(WeftError, match="is a directory" if kind == "folder" else "it is not a regular file"):
        read_bundle(bundle)
