"""The command line's contract: what goes to stdout, what to stderr, which exit code."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from executors import expect_report
from places import ROOT, TESTS

from weft import api, cli
from weft.dsl.formatter import format_text
from weft.dsl.parser import parse_file
from weft.explain import all_codes
from weft.recipes import schedules

SMALL = ("--set", "m=20", "--set", "n=18", "--set", "k=9")
WEFT = (sys.executable, "-m", "weft")
PATIENCE = 600
"""Seconds until a process is given up that hangs; how long one takes is not a test."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def weft(capsys: pytest.CaptureFixture[str], *arguments: str, exit_code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    code = cli.run(arguments)
    out, err = capsys.readouterr()
    assert code == exit_code, err
    return out, err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("cuda", "emit"), ("emitt", "emit"), ("predict", "run --predict"), ("hopper", "run hopper"), ("mine.weft", "run mine.weft")],
)
def test_a_command_that_is_called_otherwise(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"No such command '{typed}'. Did you mean 'weft {meant}'?" in weft(capsys, typed, "hopper", exit_code=2)[1]
    meanings = {words.split()[0] for words in cli.MEANT.values()}
    assert cli.COMMANDS.keys().isdisjoint(cli.MEANT) and meanings <= {"--help", *cli.COMMANDS}


def test_an_option_of_other_commands(capsys: pytest.CaptureFixture[str]) -> None:
    """It is said which take it; of one that none takes, nothing."""
    assert "It is one of `weft run`, `weft apply`" in " ".join(weft(capsys, "check", "--payload", "p.mlir", exit_code=2)[1].split())
    assert "It is one of" not in weft(capsys, "check", "--pay", exit_code=2)[1]


def test_run_json_is_one_object_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = weft(capsys, "run", "naive", *SMALL, "--target", "sim", "--json")
    result = json.loads(out)
    assert result["ok"] is True and result["target"] == "sim" and result["races"] == [] and result["faults"] == []
    assert result["max_rel_error"] <= 1e-5
    assert [o["name"] for o in result["outputs"]] == ["C"]
    (kernel,) = result["kernels"]
    assert kernel["grid"] == [2, 2, 1] and kernel["block"] == [16, 16, 1] and kernel["shared_bytes"] == 0
    assert result["streams_created"] == result["streams_destroyed"] > 0
    assert {"parse", "schedule", "run", "reference"} <= set(result["seconds"])


def test_the_report_goes_to_stderr_alone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out, err = weft(capsys, "run", "naive", *SMALL, "--target", "sim")
    assert out == ""
    for expected in ("gemm: handle = match contraction", "__global__", "2 × 2", "16 × 16", "races", "none", "✓ right"):
        assert expected in err
    assert max(map(len, err.splitlines())) <= 80


def test_apply_prints_a_module_and_writes_the_same(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    out, err = weft(capsys, "apply", "naive", *SMALL)
    assert out.rstrip().endswith("}") and "gpu.launch_func" in out and "weft.h" not in out and err == ""
    quiet, _ = weft(capsys, "apply", "naive", *SMALL, "-o", "out.mlir")
    assert quiet == "" and (here / "out.mlir").read_text() == out


def test_every_step_can_be_seen(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = weft(capsys, "apply", "naive", *SMALL, "--print-ir-after-all")
    assert "gpu.launch_func" in out and err.count("func.func @matmul") == 9 and "// 1: gemm: handle = match contraction" in err
    _, err = weft(capsys, "apply", "naive", *SMALL, "--diff")
    assert "+     gpu.launch_func" in err and "--- " not in err


def test_settings_reach_the_schedule_and_the_payload(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = weft(capsys, "apply", "naive", *SMALL, "--set", "bm=8", "--set", "type=f64")
    assert "known_block_size = array<i32: 16, 8, 1>" in out and "memref<20x9xf64>" in out


def test_inputs_and_outputs_as_files(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    a, b = np.ones((20, 9), np.float32), np.full((9, 18), 2, np.float32)
    np.savez(here / "x.npz", A=a, B=b)
    weft(capsys, "run", "naive", *SMALL, "--target", "sim", "--inputs", "x.npz", "--save", "y.npz")
    with np.load(here / "y.npz", allow_pickle=False) as saved:
        assert np.array_equal(saved["C"], a @ b)


def test_without_a_reference_nothing_is_claimed(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = weft(capsys, "run", "naive", *SMALL, "--target", "sim", "--reference", "none", "--json")
    assert json.loads(out)["ok"] is None and json.loads(out)["max_rel_error"] is None


def test_a_bundle_runs_and_knows_its_expected_outputs(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    weft(capsys, "build", "naive", *SMALL, "-o", "plain")
    assert {p.name for p in (here / "plain").iterdir()} == {"kernels.cu", "module.mlir", "plan.json"}
    out, _ = weft(capsys, "run", "plain", "--target", "sim", "--json")
    assert json.loads(out)["ok"] is None and json.loads(out)["races"] == []
    weft(capsys, "build", "naive", *SMALL, "-o", "full", "--with-data")
    out, _ = weft(capsys, "run", "full", "--target", "sim", "--json")
    assert json.loads(out)["ok"] is True


def test_wrong_expected_outputs_are_an_exit_code(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    weft(capsys, "build", "naive", *SMALL, "-o", "full", "--with-data")
    np.savez(here / "full" / "expected.npz", C=np.zeros((20, 18), np.float32))
    out, _ = weft(capsys, "run", "full", "--target", "sim", "--json", exit_code=1)
    assert json.loads(out)["ok"] is False
    _, err = weft(capsys, "run", "full", "--target", "sim", exit_code=1)
    assert "✗ wrong" in err and "C differs" in err


def test_goldens_are_written_compared_and_renewed(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    text = Path(cli.__file__).parents[1].joinpath("recipes", "matmul", "naive.weft").read_text()
    (here / "g.weft").write_text(text)
    weft(capsys, "golden", "g.weft", "--update", *SMALL)
    weft(capsys, "golden", "g.weft", "--update", "--name", "f64", *SMALL, "--set", "type=f64")
    assert (here / "g.golden.mlir").read_text().startswith("// weft golden g.weft --set m=20 --set n=18 --set k=9\n")
    _, err = weft(capsys, "golden", "g.weft")
    assert err.count("the same") == 2
    weft(capsys, "golden", "g.f64.golden.mlir")
    (here / "g.weft").write_text(text.replace("bm: int = 16", "bm: int = 8"))
    _, err = weft(capsys, "golden", "g.weft", "--full", exit_code=1)
    assert err.count("W0903") == 2 and "known_block_size = array<i32: 16, 8, 1>" in err
    weft(capsys, "golden", "g.weft", "--update")
    weft(capsys, "golden", "g.weft")


def test_fmt_changes_files_and_check_does_not(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "f.weft").write_text("schedule f( ) {\nlet  g=match linalg.matmul // keep\n}\n")
    before = (here / "f.weft").read_text()
    weft(capsys, "fmt", "--check", "f.weft", exit_code=1)
    assert (here / "f.weft").read_text() == before
    weft(capsys, "fmt", "f.weft")
    weft(capsys, "fmt", "--check", "f.weft")
    assert "// keep" in (here / "f.weft").read_text()


def test_every_recipe_that_ships_is_formatted_and_checks_out_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    weft(capsys, "fmt", "--check", *schedules())
    weft(capsys, "check", *schedules())


def test_every_statement_and_every_code_can_be_looked_up(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = weft(capsys, "statements")
    for line in out.splitlines():
        name = line.split()[0]
        assert name in weft(capsys, "statements", name)[0]
    out, _ = weft(capsys, "explain")
    assert len(out.splitlines()) == len(all_codes()) > 100
    some = [code for code in all_codes() if code.startswith("W04")]
    for code in some:
        assert all_codes()[code].title in weft(capsys, "explain", code.lower())[0]
    several, _ = weft(capsys, "explain", *some[:3])
    assert [line[:5] for line in several.splitlines() if line[:5] in some and line[5] == ":"] == some[:3]


# ---- whole processes ---------------------------------------------------------------------------------------------------


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WEFT, *arguments], capture_output=True, text=True, timeout=PATIENCE, **options)  # type: ignore[call-overload]


def modules_of(*arguments: str) -> set[str]:
    """What a command has imported when it is done."""
    code = f"import sys; from weft import cli; cli.run({list(arguments)!r}); print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("check", "naive"), ("statements",)], ids=" ".join)
def test_start_up_imports_no_bindings(arguments: tuple[str, ...]) -> None:
    assert not {"torch_mlir", "numpy", "islpy"} & modules_of(*arguments)


def test_no_color_is_honoured_and_nothing_else_is_colored_off_a_terminal() -> None:
    done = process("run", "naive", *SMALL, "--target", "sim", env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == 0 and "\x1b[" not in done.stderr + done.stdout


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = f"{shlex.join(WEFT)} apply naive | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stderr == "" and len(done.stdout.splitlines()) == 1


FULL = {
    "a module": (("apply", "naive", *SMALL), None),
    "a table": (("statements",), None),
    "help": (("--help",), None),
    "a session": (("repl", "naive", *SMALL), "step\n"),
}


@pytest.mark.few()
@pytest.mark.parametrize("buffered", [True, False], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("name", FULL)
def test_a_full_disk_is_a_diagnostic(name: str, buffered: bool) -> None:
    """Whether the write fails or the flush, and whatever Python holds back until it ends."""
    arguments, typed = FULL[name]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | ({} if buffered else {"PYTHONUNBUFFERED": "1"})
    with open("/dev/full", "w") as full:
        done = subprocess.run([*WEFT, *arguments], input=typed, stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=PATIENCE, env=environment)  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("W0054") == 1 and "Traceback" not in done.stderr, done.stderr


@pytest.mark.few(2)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_as_good_as_none(closed: str, here: Path) -> None:
    command = f"{shlex.join(WEFT)} fmt --help {closed} && {shlex.join(WEFT)} build naive {shlex.join(SMALL)} -o b {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert (here / "b" / "plan.json").is_file()


# ---- emit, recipes, completion -------------------------------------------------------------------------------------------


def test_emit_prints_the_text_that_a_bundle_has(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    weft(capsys, "build", "concurrent_convs", "-o", "bundle")
    whole, err = weft(capsys, "emit", "concurrent_convs")
    assert whole == (here / "bundle" / "kernels.cu").read_text() and err == ""
    one, _ = weft(capsys, "emit", "concurrent_convs", "--kernel", "test_parallel_1")
    assert one.count("__global__") == 1 and "test_parallel_1(" in one and one in whole
    out, err = weft(capsys, "emit", "concurrent_convs", "--kernel", "test_paralel_1", exit_code=1)
    assert out == "" and "W0509" in err and "did you mean `test_parallel_1`" in err


def test_one_kernel_brings_the_functions_that_it_uses_and_no_others(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    programs = TESTS / "programs"
    whole, _ = weft(capsys, "emit", str(programs / "softmax.weft"))
    one, _ = weft(capsys, "emit", str(programs / "softmax.weft"), "--kernel", "softmax")
    assert one == whole and "float maximum(" in one


def test_recipes_are_listed_printed_and_copied(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    listed, _ = weft(capsys, "recipes")
    (bm,) = (line for line in listed.partition("\nattention_tensor:")[0].splitlines() if line.startswith("  bm: int"))
    assert bm.endswith("in [32, 64, 128]  // 128"), "a default that is computed has its value beside it"
    assert "  bk: int = 16 in [8, 16, 32]\n" in listed
    assert [line.partition(":")[0] for line in listed.splitlines() if line and line[0] != " "] == list(schedules())
    assert "  bm: int = 16 in [8, 16, 32]" in listed and "  payload matmul(m = 512, n = 512, k = 512, type = f32)" in listed
    text = schedules()["shared"].read_text()
    assert weft(capsys, "recipes", "shared") == (text, "")
    weft(capsys, "recipes", "shared", "--copy", "mine.weft")
    assert (here / "mine.weft").read_text() == text
    weft(capsys, "run", "mine.weft", *SMALL, "--target", "sim")
    (here / "mine.weft").write_text("// mine")
    _, err = weft(capsys, "recipes", "shared", "--copy", "mine.weft", exit_code=1)
    assert "W0064" in err and (here / "mine.weft").read_text() == "// mine"
    weft(capsys, "recipes", "shared", "--copy", "mine.weft", "--overwrite")
    assert (here / "mine.weft").read_text() == text
    (here / "folder").mkdir()
    weft(capsys, "recipes", "naive", "--copy", "folder")
    assert (here / "folder" / "naive.weft").exists()
    assert "W0050" in weft(capsys, "recipes", "shraed", exit_code=1)[1]
    weft(capsys, "recipes", "--copy", "mine.weft", exit_code=2)


@pytest.mark.parametrize("recipe", ["tensor", "hopper", "igemm_tensor", "igemm_hopper"])
def test_a_copy_needs_no_other_file(capsys: pytest.CaptureFixture[str], here: Path, recipe: str) -> None:
    """What a recipe includes lies beside it, and not beside the copy."""
    weft(capsys, "recipes", recipe, "--copy", "mine.weft")
    copy, shipped = (here / "mine.weft").read_text(), parse_file(schedules()[recipe])
    assert weft(capsys, "recipes", recipe) == (copy, "") and format_text(copy, "mine.weft") == copy
    mine = parse_file("mine.weft")
    assert not mine.includes and mine.payload and shipped.payload and mine.payload.span.text == shipped.payload.span.text
    assert [one.span.text for one in mine.schedules] == [one.span.text for one in shipped.schedules]
    assert mine.source.line(1) == shipped.source.line(1) != ""
    weft(capsys, "check", "mine.weft")


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("rec", ["recipes"]),
        ("run sim", ["simt", "simt_pipelined", "simt_split_k"]),
        ("emit igemm_t", ["igemm_tensor", "igemm_tensor_nchw"]),
        ("recipes na", ["naive"]),
        ("run shared --set bm=", ["bm=8", "bm=16", "bm=32"]),
        ("run shared --set m", ["m=512"]),
        ("apply igemm --layer resnet50.conv", ["resnet50.conv1"]),
        ("explain w048", [code for code in all_codes() if code.startswith("W048")]),
        ("statements pro", ["promote-to-registers", "promote-to-shared"]),
        ("payloads conv2d_", ["conv2d_nchw", "conv2d_bias_relu"]),
        ("run nosuch --set b", []),
        ("run tests/ --layer x", []),
    ],
)
def test_a_shell_completes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str, wanted: list[str]
) -> None:
    monkeypatch.setenv("_WEFT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"weft {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split())))
    with pytest.raises(SystemExit) as end:
        cli.run([])
    found = [row.partition(",") for row in capsys.readouterr().out.splitlines()]
    assert end.value.code == 0 and [name for kind, _, name in found if kind == "plain"] == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_line_that_turns_completion_on_is_said_and_works(shell: str) -> None:
    page = (ROOT / "docs" / "running.md").read_text()
    assert f"_WEFT_COMPLETE={shell}_source weft" in page
    done = process(env={**os.environ, "_WEFT_COMPLETE": f"{shell}_source"})
    assert done.returncode == 0 and f"_WEFT_COMPLETE={shell}_complete" in done.stdout and done.stderr == ""


# ---- inputs --------------------------------------------------------------------------------------------------------------

GATHER = """
func.func @embed(%table: tensor<50x8xf32>, %ids: tensor<16xi32>) -> tensor<16x8xf32> {
  %e = tensor.empty() : tensor<16x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<16xi32>) outs(%e : tensor<16x8xf32>) {
    ^bb0(%id: i32, %o: f32):
      %row = arith.index_cast %id : i32 to index
      %j = linalg.index 1 : index
      %v = tensor.extract %table[%row, %j] : tensor<50x8xf32>
      linalg.yield %v : f32
  } -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
"""
EMBED = 'payload "gather.mlir"\nschedule embed() {\n  let g = match linalg.generic\n  map g to grid(y, x)\n  launch g unproven\n}\n'


def test_a_gather_runs_on_indices_in_its_range(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    (here / "gather.mlir").write_text(GATHER)
    (here / "embed.weft").write_text(EMBED)
    _, err = weft(capsys, "run", "embed.weft", "--target", "sim", exit_code=1)
    assert "out-of-bounds read" in err
    weft(capsys, "run", "embed.weft", "--target", "sim", "--input", "ids=0:50", "--input", "table=2.5", "--save", "y.npz")
    assert (np.load(here / "y.npz")["result0"] == 2.5).all()
    weft(capsys, "build", "embed.weft", "-o", "b", "--with-data", "--input", "ids=0:50")
    ids = np.load(here / "b" / "inputs.npz")["ids"]
    assert ids.min() >= 0 and 8 < ids.max() < 50
    weft(capsys, "run", "b", "--target", "sim")
    np.save(here / "ids.npy", ids)
    _, err = weft(capsys, "run", "b", "--target", "sim", "--input", "ids=ids.npy", "--save", "ids.npy", exit_code=1)
    assert "W0714" in err and np.array_equal(np.load(here / "ids.npy"), ids)
    report = api.run("embed.weft", inputs={"ids": ids}, target="sim")
    expect_report(report)
    (output,) = report.outputs
    assert output.array is not None and output.array.shape == (16, 8)
    assert "array" not in json.dumps(report.to_json())
    weft(capsys, "build", "embed.weft", "-o", "c", "--input", "ids=0:50", exit_code=2)
    assert "W0481" in weft(capsys, "run", "embed.weft", "--input", "ids=0", "--input", "ids=1", exit_code=2)[1]


def test_a_schedule_is_no_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.weft").write_text("schedule s() {\n}\n")
    assert cli.run(["verify", str(tmp_path / "s.weft")]) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "is a schedule, and `weft verify` takes modules" in shown and "weft apply" in shown
