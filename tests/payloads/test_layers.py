"""`--layer`: sizes of a payload by name, which settings win over them, what is listed, what is refused."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

import weft
from weft import cli
from weft.cli.commands import bench
from weft.dsl.diagnostics import Diagnostic, WeftError
from weft.dsl.parser import parse_text
from weft.payloads.settings import builder_of, builder_values, distribute, find_layer
from weft.recipes import builders
from weft.recipes.builder import Misfit, Value

SCHEDULE = """\
payload conv2d(c = 2, h = 6, w = 6, k = 4, pad = 0)

schedule conv(rows: int = 4 in [2, 4]) {
  let conv = match linalg.conv_2d_nhwc_hwcf
  let init = match linalg.fill
  let (tiles, one) = tile conv [1, rows, 4, 4]
  fuse init into tiles
  map init to threads(*) cyclic
  let tiles = coalesce tiles
  map tiles to blocks(x)
  let (lanes, element) = tile one [_, _, _, 1]
  map lanes to threads(x: 32) cyclic
  insert-barriers
  launch tiles
}
"""
LAYER = "resnet50.layer4.1.conv1"
"""1×1, 2,048 channels to 512, images of 7×7."""
SMALL = ("--set", "c=8", "--set", "k=8")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "conv.weft").write_text(SCHEDULE)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str, exit_code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    code = cli.run(arguments)
    out, err = capsys.readouterr()
    assert code == exit_code, err
    return out, err


def values(text: str, settings: dict[str, str] | None = None, layer: str | None = None) -> dict[str, Value]:
    """What the builder of `payload conv2d(TEXT)` is given."""
    file = parse_text(f"payload conv2d({text})\nschedule s() {{}}\n", "s.weft")
    builder = builder_of(file, None)
    assert builder is not None and file.payload is not None
    mine = distribute(settings or {}, file.main, builder, layer)
    return builder_values(builder, file.payload, mine.payload, mine.layer)


def refused(call: object, *arguments: object, **named: object) -> Diagnostic:
    assert callable(call)
    with pytest.raises(WeftError) as caught:
        call(*arguments, **named)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


# ---- which value wins --------------------------------------------------------------------------------------------------------


def test_settings_win_over_the_layer_the_layer_over_the_schedule_and_that_over_defaults() -> None:
    plain = values("n = 2, c = 3, h = 9")
    assert (plain["n"], plain["c"], plain["h"], plain["w"]) == (2, 3, 9, 16)
    layer = values("n = 2, c = 3, h = 9", layer=LAYER)
    assert layer == plain | builders()["conv2d"].layers[LAYER] and layer["n"] == 2 and layer["c"] == 2048
    both = values("n = 2, c = 3", {"c": "5", "n": "8"}, LAYER)
    assert both == layer | {"c": 5, "n": 8}


def test_a_layer_is_the_payloads_alone() -> None:
    file = parse_text("payload conv2d()\nschedule s(stride: int = 4) {}\n", "s.weft")
    mine = distribute({"stride": "3"}, file.main, builder_of(file, None), "resnet50.conv1")
    assert mine.schedule == {"stride": "3"} and mine.payload == {"stride": 3}
    assert distribute({}, file.main, builder_of(file, None), "resnet50.conv1").schedule == {}


# ---- every command that takes settings takes a layer --------------------------------------------------------------------------


def test_run_and_build(capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(run(capsys, "run", "conv.weft", "--layer", LAYER, *SMALL, "--target", "sim", "--json")[0])
    assert report["ok"] and report["outputs"][0]["shape"] == [1, 7, 7, 8]
    run(capsys, "build", "conv.weft", "--layer", LAYER, *SMALL, "--set", "n=2", "-o", "bundle", "--with-data")
    report = json.loads(run(capsys, "run", "bundle", "--target", "sim", "--json")[0])
    assert report["ok"] and report["outputs"][0]["shape"] == [2, 7, 7, 8]


def test_apply_and_show_map(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "apply", "conv.weft", "--layer", LAYER, "--set", "n=3")
    assert "memref<3x7x7x2048xf32" in out and "memref<1x1x2048x512xf32" in out
    assert "scf.forall" in run(capsys, "show-map", "conv.weft", "--layer", LAYER, *SMALL, "tiles")[0]


def test_the_repl(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("params\nset n=3\nir\nset c=9\nparams\nsave mine.weft\n"))
    out, _ = run(capsys, "repl", "conv.weft", "--layer", LAYER, *SMALL)
    first, second = out.split("set n=3", 1)
    rows = {line.split()[0]: line.split() for line in first.splitlines() if "conv2d" in line and line[0].isalpha()}
    assert rows["n"][2] == "1" and rows["n"][-2] == "payload"
    assert rows["h"][2] == "7" and rows["h"][-2] == "layer"
    assert rows["c"][2] == "8" and rows["c"][-2] == "set"
    assert "tensor<3x7x7x8xf32>" in second, "the layer stays when something else is set"
    assert "payload conv2d(n = 3, c = 9, h = 7, w = 7, k = 8, r = 1" in Path("mine.weft").read_text()


def test_from_python() -> None:
    assert weft.load("conv.weft", layer=LAYER, settings={"n": 2}).payload_values["c"] == 2048
    assert "7x7x8xf32" in weft.apply("conv.weft", layer=LAYER, settings={"c": 8, "k": 8}).text
    assert weft.run("conv.weft", layer=LAYER, settings={"c": 8, "k": 8}, target="sim").ok
    assert weft.build("conv.weft", "bundle", layer=LAYER, settings={"c": 8, "k": 8}).is_dir()


# ---- what is listed ----------------------------------------------------------------------------------------------------------


def test_payloads_lists_what_ships_and_what_each_takes(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "payloads")
    assert [line.split()[0] for line in out.splitlines()] == list(builders())
    for builder in builders().values():
        out, _ = run(capsys, "payloads", builder.name)
        rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
        assert all(rows[p.name][1:3] == [p.type, str(p.default)] for p in builder.parameters)
        assert ("--layer" in out) == bool(builder.layers)
        for name, layer in builder.layers.items():
            assert dict(zip(rows["name"][1:], map(int, rows[name][1:]), strict=True)) == layer


# ---- what is refused ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "first", "hint"),
    [
        ("conv1", "resnet50.conv1", "did you mean `resnet50.conv1`?"),
        ("resnet50.layer2.0.downsample", "resnet50.layer2.0.downsample.0", "did you mean `resnet50.layer2.0.downsample.0`?"),
        ("resnet50.layer5.0.conv9", "resnet50.layer", "did you mean `resnet50.layer"),
        ("vgg", "resnet50.conv1, resnet50.layer1.0.conv1", "`weft payloads conv2d` lists them with their sizes"),
        ("", "resnet50.conv1, resnet50.layer1.0.conv1", "`weft payloads conv2d` lists them with their sizes"),
        ("x" * 100_000, "resnet50.conv1", "`weft payloads conv2d` lists them with their sizes"),
    ],
)  # fmt: skip
def test_an_unknown_layer_lists_all_the_closest_first(name: str, first: str, hint: str) -> None:
    found = refused(find_layer, name, builders()["conv2d"])
    assert found.code == "W0491" and found.hint is not None and found.hint.startswith(hint)
    (note,) = found.notes
    assert note.startswith(f"its layers: {first}")
    assert sorted(note.removeprefix("its layers: ").split(", ")) == sorted(builders()["conv2d"].layers)


def test_payloads_without_layers() -> None:
    for builder in (builders()["matmul"], None):
        found = refused(find_layer, "resnet50.conv1", builder)
        assert found.code == "W0492" and "conv2d, conv2d_nchw, conv2d_bias_relu" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "settings", "layer", "code", "message", "place"),
    [
        ("", {"r": "19"}, None, "W0483", "`--set r=19` does not fit: the filter has 19 rows", None),
        ("h = 4, w = 4", {"pad": "0", "s": "5"}, None, "W0483", "`--set s=5` does not fit: the filter has 5 columns", None),
        ("", {"dilation": "9", "n": "3"}, None, "W0483", "`--set dilation=9` does not fit: the filter has 3 rows, 9 apart", None),
        ("pad = 0", {"w": "2"}, None, "W0483", "`--set w=2` does not fit: the filter has 3 columns; the image has 2", None),
        ("", {"h": "0"}, None, "W0483", "`h=0` is not a legal value", None),
        ("", {"dilation": "100"}, "resnet50.conv1", "W0483", "`--set dilation=100` does not fit: the filter has 7 rows", None),
        ("n = 1, h = 2, pad = 0", {}, None, "W0486", "`h = 2` does not fit: the filter has 3 rows; the image has 2", (27, 28)),
        ("1, 1, 2, 9, pad = 0", {}, None, "W0486", "`h = 2` does not fit", (22, 23)),
        ("s = 4 * 5", {"n": "2"}, None, "W0486", "`s = 20` does not fit: the filter has 20 columns", (20, 25)),
    ],
)  # fmt: skip
def test_who_is_to_blame(
    text: str, settings: dict[str, str], layer: str | None, code: str, message: str, place: tuple[int, int] | None
) -> None:
    """A setting if there is one that takes part, then the layer, then what the schedule writes, at its place."""
    found = refused(values, text, settings, layer)
    assert found.code == code and found.message.startswith(message), found
    assert place is None or (found.span is not None and (found.span.column, found.span.end_column) == place)


def test_what_fits_with_a_layer_alone() -> None:
    assert values("h = 1", {"w": "1"}, "resnet50.conv1")["h"] == 224
    assert values("", {"h": "1", "w": "1"}, "resnet50.conv1")["h"] == 1
    assert values("r = 99", {"h": "1", "w": "1"}, LAYER)["r"] == 1


def test_a_layer_to_blame() -> None:
    """No layer that ships has sizes that don't fit; one of another builder could."""
    builder = replace(
        builders()["conv2d"],
        misfit=lambda **values: Misfit(("n", "c"), "too many", "fewer") if values["n"] * values["c"] > 9 else None,
        layers={"wide": {"c": 5}},
    )
    payload = parse_text("payload conv2d(n = 2)\nschedule s() {}\n", "s.weft").payload
    assert payload is not None
    found = refused(builder_values, builder, payload, {}, find_layer("wide", builder))
    assert (found.code, found.message) == ("W0483", "`--layer wide` does not fit: too many")
    assert found.notes == ("n = 2 (the schedule), c = 5 (--layer)",)


def test_the_note_says_where_each_number_comes_from() -> None:
    found = refused(values, "pad = 1", {"r": "300", "dilation": "2"}, "resnet50.conv1")
    assert found.notes == ("r = 300 (--set), dilation = 2 (--set), h = 224 (--layer), pad = 3 (--layer)",)
    found = refused(values, "h = 1, pad = 0")
    assert found.notes == ("r = 3 (default), h = 1 (the schedule), pad = 0 (the schedule)",)


def test_check_reads_the_payload_line(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "conv.weft").write_text(SCHEDULE.replace("h = 6", "h = 2"))
    _, err = run(capsys, "check", "conv.weft", exit_code=1)
    assert "error[W0486]" in err and "conv.weft:1:27" in err


# ---- weft bench --------------------------------------------------------------------------------------------------------------


def test_what_is_timed() -> None:
    conv, matmul = builders()["conv2d"], builders()["matmul"]
    sizes = ("64", "128")
    every = bench.cases(conv, {"n": "8"}, (), sizes, gpu=True)
    assert [case.layer for case in every] == list(conv.layers) and all(case.settings == {"n": "8"} for case in every)
    assert bench.cases(conv, {"n": "8"}, (), sizes, gpu=False) == [bench.Case({"n": "8"})]
    assert bench.cases(conv, {"c": "8"}, (), sizes, gpu=True) == [bench.Case({"c": "8"})]
    assert bench.cases(conv, {"c": "8"}, (LAYER, LAYER), sizes, gpu=False) == [bench.Case({"c": "8"}, LAYER, LAYER)]
    assert [case.settings["m"] for case in bench.cases(matmul, {"n": "8"}, (), sizes, gpu=True)] == ["64", "128"]
    assert refused(bench.cases, matmul, {}, (LAYER,), sizes, gpu=True).code == "W0492"
    assert refused(bench.cases, conv, {}, ("conv1",), sizes, gpu=True).code == "W0491"
    for builder in builders().values():
        values = {parameter.name: parameter for parameter in builder.parameters}
        for case in bench.cases(builder, {}, (), sizes, gpu=False):
            assert not [n for n, size in case.settings.items() if values[n].objection(int(size))], "a switch is no size"


def test_a_recipe_that_is_refused_does_not_stop_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of products in half precision `naive` leaves the rounding to nobody, and `hopper` is for one kind of GPU."""
    ours = {name: path for name, path in bench.schedules().items() if name in ("naive", "hopper", "tensor")}
    monkeypatch.setattr(bench, "schedules", lambda: ours)
    small = [word for name in ("m=32", "n=32", "k=32", "type=f16", "rounded=1") for word in ("--set", name)]
    _, err = run(capsys, "bench", "matmul", *small, "--repeat", "1", "--target", "cpu")
    assert "naive is not timed: W0730" in err and "hopper is not timed: W0725" in err
    assert [line.split()[0] for line in err.splitlines() if "type=f16" in line] == ["tensor"]
    monkeypatch.setattr(bench, "schedules", lambda: {"naive": ours["naive"]})
    assert "error[W0730]" in run(capsys, "bench", "matmul", *small, "--target", "cpu", exit_code=1)[1]


@pytest.mark.parametrize(("target", "unit"), [((), "GFLOP/s"), (("--target", "sim"), "simulator")])
def test_layers_are_timed(
    capsys: pytest.CaptureFixture[str], here: Path, monkeypatch: pytest.MonkeyPatch, target: tuple[str, ...], unit: str
) -> None:
    monkeypatch.setattr(bench, "schedules", lambda: {"conv": here / "conv.weft"})
    (here / "conv").write_text(SCHEDULE)
    monkeypatch.setenv("COLUMNS", "160")
    chosen = ("--layer", LAYER, "--layer", "resnet50.layer4.0.conv1", "--set", "n=2", *SMALL, "--repeat", "1")
    _, err = run(capsys, "bench", "conv2d", *chosen, *target)
    assert unit in err
    (one, other) = (line for line in err.splitlines() if line.startswith("conv "))
    assert f"{LAYER} n=2 c=8 k=8 type=f32" in one and "resnet50.layer4.0.conv1 n=2 c=8 k=8 type=f32" in other


@pytest.mark.parametrize(
    ("name", "said"), [("shared", "`weft run shared`"), ("mine.weft", "`weft run mine.weft`"), ("matmull", "`matmul`")]
)
def test_a_bench_of_one_schedule_has_a_way_out(name: str, said: str) -> None:
    with pytest.raises(WeftError) as found:
        bench.bench.main([name], standalone_mode=False)
    (refusal,) = found.value.diagnostics
    assert refusal.code == "W0484" and refusal.hint is not None and said in refusal.hint
