"""What is piped into `weft repl`: done line by line, echoed, and judged by the exit code."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from places import ROOT

from weft import cli
from weft.dsl.formatter import format_text

SMALL = ("--set", "m=40", "--set", "n=36", "--set", "k=20")
HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def repl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, *arguments: str, code: int = 0
) -> str:
    """What a session writes; everything goes to stdout, so that the transcript keeps its order."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    capsys.readouterr()
    got = cli.run(("repl", *arguments))
    out, err = capsys.readouterr()
    assert got == code, out + err
    assert err == ""
    return out


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run(text: str, *arguments: str, code: int = 0) -> str:
        return repl(monkeypatch, capsys, text, "shared", *SMALL, *arguments, code=code)

    return run


TRANSCRIPTS = {
    "looking": "step 3\nundo\nhandles\nquit\n",
    "a-step": "step 2\nstep\ndiff 2 3\nshow tile_mm\nir 0\nparams\n",
    "typing": "let gemm = match linalg.matmul\nprint gemm\nundo\nredo\nforeach n in [8, 16] {\n  print gemm\n}\nhandles\n",
    "mistakes": (
        "frobnicate\nstep two\nshow gemm\nmatch linalg.conv\nstep\nlet gemm = match linalg.fill\nundo 3\ncuda\nrun\nsync\n"
        "set bm=12\nset zz=1\ndiff 0 9\ngoto 99\nhelp tiel\nsave\n"
    ),
    "sync": "goto 13\nsync\ngoto 14\nsync\ngoto 15\nsync\n",
}


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcripts(shared, name: str, update: bool) -> None:
    code = 1 if name == "mistakes" else 0
    out = timeless(shared(TRANSCRIPTS[name], code=code))
    ours = [line for line in out.splitlines() if not re.match(r"error\[|   =| *\d* \| ", line)]
    assert max(map(len, ours)) <= 80, "diagnostics are as wide as everywhere"
    assert "\x1b" not in out and "Traceback" not in out
    golden = HERE / "golden" / f"{name}.txt"
    if update:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(out)
    assert out == golden.read_text()


COMPOSED = """payload matmul(m = 32, n = 32, k = 32)

schedule composed(gemm: handle = match linalg.matmul, init: handle = match? linalg.fill, wide: bool = false, width: int = none) {
  schedule begin(size: int) {
    schedule spread(loop: handle) {
      fuse init into loop
      map loop to blocks(y, x: width)
    }
    let (tiles, one) = tile gemm [size, size]
    spread(tiles)
    return (tiles, one)
  }
  if wide {
    let (tiles, one) = begin(16)
  } else {
    let (tiles, one) = begin(8)
  }
  alternatives {
    let (lanes, _) = tile one [1, 1]
    map lanes to threads(z, y, x)
  } else {
    let (lanes, _) = tile one [1, 1]
    map lanes to threads(y, x)
  }
  fuse init into lanes
  launch tiles
}
"""


def test_nested_schedules_and_blocks_are_stepped_through(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], here: Path, update: bool
) -> None:
    """Each step says where it is; a block that is refused is left, and `undo` leads to before the `alternatives`."""
    (here / "composed.weft").write_text(COMPOSED)
    typed = "params\nstep 2\nstep 3\nstep\nstep 2\nstep 2\nhandles\nundo 2\nstep 5\nsave done.weft\n"
    out = timeless(repl(monkeypatch, capsys, typed, "composed.weft"))
    assert "`else` of the `if` in line 13, `begin` in line 16, `spread` in line 10" in out
    golden = HERE / "golden" / "composed.txt"
    if update:
        golden.write_text(out)
    assert out == golden.read_text()
    assert (here / "done.weft").read_text().split() == COMPOSED.replace("(m = 32, n = 32, k = 32)", "(m = 32, n = 32, k = 32, "
        "type = f32, rounded = 0)").split()  # fmt: skip


def test_next_tries_every_statement(shared) -> None:
    """What it calls legal is done when it is typed, what it refuses is refused; nothing is changed by asking."""
    out = shared("step 4\nnext\nnext tile_mm\nnext tiles\nir\n")
    assert "the next statement is  map tiles to blocks(y, x)" in out
    for legal in (r"tile +tile tile_mm \[16, 16, _\]", r"promote-to-shared +promote-to-shared tile_mm\.lhs"):
        assert re.search(f"✓ {legal}", out)
    assert re.search(r"✓ map +map tiles to blocks\(y, x\)", out) and re.search(r"✗ coalesce .*\(?W0363|W0363", out)
    legal = re.findall(r"^✓ [\w-]+ +(\S.*)$", out, re.MULTILINE)
    assert len(legal) > 6
    for text in legal:
        done = shared(f"step 4\n{text}\n")
        assert "[5/" not in done and "error[" not in done, text
    assert "weft.map" not in out.rpartition("[4/15] ir")[2]


RUNG = ROOT / "docs" / "warpgroups" / "3-producer.weft"


def test_next_knows_warp_groups(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Boxes, warp groups, their products, and pipelines that are legal with a word more alone."""
    asked = "step 8\nnext copy_a\nstep 3\nnext groups\nstep 1\nnext group_mm\nstep\nnext k\n"
    out = repl(monkeypatch, capsys, asked, str(RUNG), "--set", "m=256", "--set", "n=256", "--set", "k=256")
    found = {" ".join(line.removeprefix("✓").split()) for line in out.splitlines()}
    assert found >= {
        "map map copy_a to tma", "map groups to warpgroups(y)", "mma mma group_mm [64, 128, 16]",
        "pipeline pipeline k stages 2 async", "pipeline k stages 2 producer",
    }  # fmt: skip
    assert "unproven" not in out


def timeless(text: str) -> str:
    """Without the time that a step took."""
    return re.sub(r", [\d.]+ (µs|ms|s)$", "", text, flags=re.MULTILINE)


def test_a_saved_session_runs(shared, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was typed is in it, what was undone or left out is not, and what was set is its default."""
    text = (
        "set bm=8 type=f64\nstep 6\nstep\nundo\nprint tiles  // by hand\nstep 10\nstep 20\n"
        "save mine\nsave mine\nsave mine --overwrite\n"
    )
    out = shared(text, code=1)
    assert out.count("saved mine.weft") == 2 and "error[W0064]: `mine.weft` exists already" in out
    saved = (here / "mine.weft").read_text()
    assert saved == format_text(saved, "mine.weft")
    assert (
        "print tiles" in saved and "bm: int = 8 in [8, 16, 32]" in saved and "m = 40" in saved and "type = f64" in saved
    )
    assert "// one block tile of the result per iteration" in saved, "comments stay"
    assert cli.run(("run", "mine.weft", "--target", "sim")) == 0, capsys.readouterr().err


def test_what_was_left_out_is_not_counted(shared, here: Path) -> None:
    assert "saved rest.weft: 3 statements;" in shared("step 3\nskip\nsave rest\n")


def test_a_position_is_called_one(shared) -> None:
    assert "error[W0061]: `-2` is not a position" in shared("goto -2\n", code=1)


def test_a_misspelled_command_is_known(shared) -> None:
    assert "hint: did you mean `step`?" in shared("stpe\n", code=1)
    assert "hint: did you mean `handles`?" in shared("handels\n", code=1)


def test_half_a_schedule_is_saved(shared, here: Path) -> None:
    shared("step 3\nundo\nlet (other, mm) = tile gemm [8, 8]\nsave half.weft\n")
    saved = (here / "half.weft").read_text()
    assert "let (other, mm) = tile gemm [8, 8]" in saved and "tile_mm" not in saved and "fuse" not in saved
    assert cli.run(("check", "half.weft")) == 0


def test_set_does_again_what_was_done(shared) -> None:
    out = shared("step 2\nprint gemm\nskip\nset m=33\nhandles\nparams\nir\nset bm=12\nparams\n", code=1)
    assert "set m=33; 4 statements done again with it" in out
    assert "tensor<33x20xf32>" in out.partition("set m=33")[2]
    assert "W0211" in out and re.search(r"bm +int +16", out.rpartition("params")[2]), "a bad value changes nothing"


PARTS = "let (q, w) = tile gemm [8, 8]"


@pytest.mark.parametrize(
    ("lines", "typed"),
    [
        (f"step 2\n{PARTS}\nundo\ngoto 4\n", 0),
        (f"step 2\n{PARTS}\nundo\ngoto 9\ngoto 0\ngoto 9\n", 0),
        (f"step 2\nprint gemm\n{PARTS}\nundo\ngoto 5\n", 0),
        ("step 2\nskip\nundo\ngoto 4\n", 0),
        (f"step 2\n{PARTS}\nundo\nredo\ngoto 0\ngoto 3\n", 2),
        (f"step 2\n{PARTS}\ngoto 1\ngoto 3\n", 2),
        (f"step 2\n{PARTS}\nundo\ngoto 1\nredo 2\n", 2),
    ],
)
def test_goto_does_not_bring_back_what_was_undone(shared, lines: str, typed: int) -> None:
    out = shared(lines + "handles\n")
    assert out.rpartition("handles")[2].count("tile, typed 1 ") == typed


def test_run_and_cuda(shared) -> None:
    out = shared("goto 14\ncuda\nrun sim\ngoto 15\ncuda\nrun sim\n", code=1)
    first, second = out.split("[14/15] goto 15")
    assert "this is what `launch tiles` would make" in first and "__global__" in first and "W0062" in first
    assert "nothing is launched yet" not in second and "✓ right on simulator" in second


def test_a_race_is_shown_and_what_separates_it(shared) -> None:
    out = shared("goto 13\nsync\n")
    assert "not race-free" in out and "error[W0601]" in out and "`insert-barriers` would place 2 barriers" in out


def test_a_payload_alone(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "p.mlir").write_text(
        "func.func @fill(%x: tensor<64xf32>) -> tensor<64xf32> {\n  %c = arith.constant 1.0 : f32\n"
        "  %r = linalg.fill ins(%c : f32) outs(%x : tensor<64xf32>) -> tensor<64xf32>\n  return %r : tensor<64xf32>\n}\n"
    )
    text = "let f = match linalg.fill\nmap f to grid(x)\nlaunch f\nhandles\nrun sim\nsave sub.weft\n"
    (here / "folder").mkdir()
    out = repl(monkeypatch, capsys, text.replace("sub.weft", "folder/sub.weft"), "--payload", "p.mlir")
    assert "[0/0] let f" in out and "✓ right on simulator" in out and "consumed by launch, typed 3" in out
    assert 'payload "../p.mlir"' in (here / "folder" / "sub.weft").read_text()
    assert cli.run(("run", "folder/sub.weft", "--target", "sim")) == 0


CALLS = """\
schedule spread(op: handle, width: int = 8) {
  let (tiles, tile) = tile op [width]
  map tiles to blocks(x)
  return (tiles, tile)
}

payload "p.mlir"

schedule main(width: int = 16) {
  let op = match linalg.fill
  if width > 8 {
    print op
  }
  let (outer, inner) = spread(op, width)  // called
  map inner to threads(x: 16)
  launch outer
}
"""


def test_the_middle_of_a_call(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Positions count what is done inside; no file can say half a call, and what is typed there stays there."""
    (here / "p.mlir").write_text(
        "func.func @fill(%x: tensor<64xf32>) -> tensor<64xf32> {\n  %c = arith.constant 1.0 : f32\n"
        "  %r = linalg.fill ins(%c : f32) outs(%x : tensor<64xf32>) -> tensor<64xf32>\n  return %r : tensor<64xf32>\n}\n"
    )
    (here / "main.weft").write_text(CALLS)
    text = "step 3\nsave a.weft\nstep\nhandles\nsave a.weft\nstep 9\nsave b.weft\nrun sim\n"
    out = repl(monkeypatch, capsys, text, "main.weft", code=1)
    assert "[0/6]" in out and "[6/6]" in out
    assert out.count("W0063") == 1 and "the middle of the call of `spread`" in out
    assert "✓ right on simulator" in out
    saved = (here / "b.weft").read_text()
    assert "let (outer, inner) = spread(op, width)  // called" in saved and "schedule spread(" in saved
    assert cli.run(("run", "b.weft", "--target", "sim")) == 0


def test_a_typed_block_is_all_or_nothing(shared) -> None:
    out = shared("step\nforeach n in [8, 0] {\n  require n > 4\n  print gemm\n}\nhandles\n", code=1)
    assert "W0240" in out and "[1/17]" not in out and out.count("[1/15]") == 2, "the first round was taken back"


def test_a_typed_list_of_handles(shared) -> None:
    """Each round is a step, and undo goes back by one; a list with a handle that is not there changes nothing."""
    typed = "foreach op in [init, gem] { print op }\nforeach op in [init, gemm] { print op }\nundo\nhandles\n"
    out = shared(f"step 2\n{typed}", code=1)
    assert "W0220" in out and "did you mean `gemm`?" in out, out
    assert [m[1] for m in re.finditer(r"^\[(\d+/\d+)\]", out, re.MULTILINE)] == ["0/15", "2/15", "2/15", "4/17", "3/17"], out
    out = shared("step 2\nforeach op in [init, gemm] {\n  let (l, one) = tile op [4]\n}\nlet (l, one) = tile gemm [4]\n", code=1)
    assert "W0223" in out and "`gemm` was consumed by `tile`" in out, out


def test_a_typed_schedule_ends_with_its_input(shared) -> None:
    look = "schedule look(op: handle) { print op }"
    out = shared(f"step 2\n{look}\nlook(gemm)\nif true {{\n  {look}\n  look(gemm)\n}}\nhandles\n", code=1)
    assert "the schedule ends with this input: type it and its calls in one block" in " ".join(out.split())
    assert out.count("error[W0203]") == 1 and "[3/16] handles" in out


def test_an_iteration_names_its_element(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    """The op as it was found, also where a statement of the iteration has consumed it."""
    (here / "each.weft").write_text("""payload matmul(m = 32, n = 32, k = 32)

schedule each(wide: bool = true) {
  foreach op in match* linalg.fill or linalg.matmul {
    let (tiles, one) = tile op [8, 8]
    print [tiles, one]
  }
  foreach n in [8, 16] { if wide { print } }
}
""")
    out = repl(monkeypatch, capsys, "step 9\n", "each.weft")
    places = [line.strip() for line in re.findall(r"^    (iteration .*)", out.replace(",\n      ", ", "), re.MULTILINE)]
    fill, product = "(`op`: linalg.fill at matmul.mlir:4:11)", "(`op`: linalg.matmul at matmul.mlir:5:8)"
    assert places[:3] == [
        f"iteration 1 of 2 in line 4 {fill}",
        f"iteration 1 of 2 in line 4 {fill}, iteration 1 of 2 in line 6 (`tiles`)",
        f"iteration 1 of 2 in line 4 {fill}, iteration 2 of 2 in line 6 (`one`)",
    ]
    assert places[3] == f"iteration 2 of 2 in line 4 {product}"
    assert places[-2:] == [f"iteration {n} of 2 in line 8 (`n`: {8 * n}), `if` in line 8" for n in (1, 2)]
    assert "wide=true" in out


@pytest.mark.parametrize("bad", [b"\xff\xfe\n", b"step\x00\n"])
def test_bytes_that_are_no_text(here: Path, bad: bytes) -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "weft", "repl", "shared"], input=bad, capture_output=True, cwd=here, timeout=600
    )
    assert done.returncode == 1 and b"Traceback" not in done.stderr + done.stdout
    assert b"error[W" in done.stdout + done.stderr


@pytest.mark.parametrize("name", [".", "..", "/", "~nobody-of-that-name/f", "x" * 300, "a\x00b"])
def test_no_name_for_a_file(shared, name: str) -> None:
    out = shared(f"step\nsave {name}\nhandles\n", code=1)
    assert "error[W0066]" in out and "gemm" in out.rpartition("handles")[2], "and the session goes on"
