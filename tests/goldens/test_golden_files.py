"""`weft golden`: what is written beside a schedule, what is compared, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_samples import CHECKS, PAYLOAD, SCALE, write_samples

from weft import cli
from weft.dsl.diagnostics import Source, WeftError
from weft.goldens.checks import directives
from weft.goldens.golden import read_golden
from weft.goldens.judging import FOLDED, GoldenChange, bound, fits


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_samples(tmp_path)
    return tmp_path


@pytest.fixture
def golden(capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str, exit_code: int = 0) -> str:
        capsys.readouterr()
        code = cli.run(["golden", *arguments])
        out, err = capsys.readouterr()
        assert code == exit_code, err
        return out + err

    return run


MADE = {
    (): "scale.golden.mlir",
    ("--cuda",): "scale.golden.cu",
    ("--after", "map tiles"): "scale.after-map-tiles.golden.mlir",
    ("--name", "narrow", "--set", "width=4"): "scale.narrow.golden.mlir",
    ("--name", "narrow", "--cuda", "--set", "width=4"): "scale.narrow.golden.cu",
}


def test_every_kind_is_written_found_and_renewed(golden, here: Path) -> None:
    for options, name in MADE.items():
        assert f"{name}: written, new" in golden("scale.weft", "--update", *options)
    (here / "scale.check").write_text(CHECKS)
    assert "6 goldens: 6 right" in golden() and golden() == golden(".") == golden("scale.weft")
    assert "map tiles" in (here / "scale.after-map-tiles.golden.mlir").read_text().split("\n")[0]
    assert "gpu.launch" not in (here / "scale.after-map-tiles.golden.mlir").read_text()
    assert "__launch_bounds__(4)" in (here / "scale.narrow.golden.cu").read_text()
    (here / "scale.weft").write_text(SCALE.replace("int = 8", "int = 4"))
    said = golden(exit_code=1)
    assert said.count("W0903") == 3 and "W0907" in said and "2 right, 4 wrong" in said
    said = golden("--update", exit_code=1)
    assert "3 written" in said and "scale.golden.cu: written, +" in said and "+extern" in said
    assert (here / "scale.check").read_text() == CHECKS, "checks are written by hand"
    (here / "scale.weft").write_text(SCALE)
    assert "unchanged" in golden("--update", "scale.narrow.golden.cu")


def test_a_golden_of_a_layer(golden, here: Path) -> None:
    (here / "layer.weft").write_text("payload conv2d()\n\nschedule layer() {\n  let conv = match linalg.conv_2d_nhwc_hwcf\n}\n")
    words = ("--name", "small", "--layer", "resnet50.layer4.0.conv2", "--set", "n=2")
    assert "layer.small.golden.mlir: written, new" in golden("layer.weft", "--update", *words)
    first, *rest = (here / "layer.small.golden.mlir").read_text().split("\n")
    assert first == "// weft golden layer.weft --layer resnet50.layer4.0.conv2 --set n=2" and "tensor<2x" in "".join(rest)
    assert "the same" in golden("layer.weft")
    assert "W0491" in golden("layer.weft", "--update", "--name", "x", "--layer", "resnet50.nothing", exit_code=1)


def test_line_ends_and_places_do_not_matter(golden, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden("scale.weft", "--update", "--payload", str(here / "scale.mlir"))
    path = here / "scale.golden.mlir"
    assert path.read_text().startswith("// weft golden scale.weft --payload scale.mlir\n") and str(here) not in path.read_text()
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    golden()
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    golden("../scale.weft")
    golden("..")


def test_generated_and_foreign_files_are_left_alone(golden, here: Path) -> None:
    golden("scale.weft", "--update")
    for folder in ("build", ".hidden"):
        (here / folder).mkdir()
        (here / folder / "scale.golden.mlir").write_text("// weft golden scale.weft\nnonsense\n")
    (here / "other.check").write_text("of another tool\n")
    golden()


def test_show_prints_what_is_made_now(golden, here: Path) -> None:
    (here / "scale.check").write_text(CHECKS)
    assert "__global__" in golden("scale.check", "--show")


REFUSED = {
    "// weft golden scale.weft --after width\n": ("W0905", "has no step `width`"),
    "// weft golden scale.weft --after map\n": ("W0905", "names 2 steps"),
    "// weft golden scale.weft --after 'map #3'\n": ("W0905", "not 3"),
    "// weft golden scale.weft --set w=4\n": ("W0482", "no parameter `w`"),
    "// weft golden scale.weft --sat w=4\n": ("W0902", "`--sat` does not belong here"),
    "// weft golden scale.weft --set w\n": ("W0902", "not of the form name=value"),
    "// weft golden scale.weft --cuda\n": ("W0902", "`--cuda` does not belong here"),
    "// weft golden 'scale.weft\n": ("W0902", "No closing quotation"),
    "// weft golden ../scale.weft\n": ("W0902", "neither a schedule in this folder nor a recipe"),
    "// weft golden gone.weft\n": ("W0902", "a golden of `gone.weft` is named `gone."),
    "// weft golden shared\n": ("W0902", "a golden of `shared` is named `shared."),
    "module {}\n": ("W0902", "does not begin with the command that makes it"),
    "": ("W0902", "does not begin with the command that makes it"),
}


@pytest.mark.parametrize("first", REFUSED)
def test_a_golden_that_is_none(first: str, golden, here: Path) -> None:
    code, message = REFUSED[first]
    (here / "scale.golden.mlir").write_text(first)
    for named in ("scale.golden.mlir", "scale.weft", "."):
        said = golden(named, exit_code=1)
        assert code in said and message in said


def test_a_golden_whose_schedule_is_gone(golden, here: Path) -> None:
    golden("scale.weft", "--update")
    (here / "scale.weft").unlink()
    assert "W0904" in golden(exit_code=1)


def test_nothing_to_compare_is_no_success(golden) -> None:
    assert "W0901" in golden(exit_code=1) and "W0901" in golden("scale.weft", exit_code=1)


@pytest.mark.parametrize("words", [("--cuda",), ("--update", "--cuda"), ("scale.weft", "--update", "--cuda", "--after", "op"),
                                   ("scale.weft", "--update", "--show"), (".", "--update", "--name", "x")])  # fmt: skip
def test_options_that_do_not_go_together(words: tuple[str, ...], golden) -> None:
    golden(*words, exit_code=2)


def test_a_schedule_that_fails_says_so(golden, here: Path) -> None:
    golden("scale.weft", "--update")
    (here / "scale.weft").write_text(SCALE.replace("linalg.generic", "linalg.matmul"))
    said = golden(exit_code=1)
    assert "scale.golden.mlir: failed" in said and "error[W0" in said and "Traceback" not in said


def test_without_a_launch_there_is_no_text(golden, here: Path) -> None:
    (here / "scale.weft").write_text(SCALE.replace("  launch tiles\n", ""))
    assert "W0908" in golden("scale.weft", "--update", "--cuda", exit_code=1)


# ---- the prelude ---------------------------------------------------------------------------------------------------------

PIECES = "// prelude: round_to_odd, bf16\n"


@pytest.fixture
def narrow(golden, here: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """A golden of a text that needs device functions; returns it as it was before goldens named them: with their texts."""
    (here / "scale.mlir").write_text(PAYLOAD.replace("f32", "bf16"))
    golden("scale.weft", "--update", "--cuda")
    first, second, *_ = (here / "scale.golden.cu").read_text().split("\n")
    assert cli.run(["emit", "scale.weft"]) == 0
    whole = capsys.readouterr().out
    assert second == PIECES.strip() and "struct bf16" in whole
    return f"{first}\n{whole.rstrip()}\n"


def test_a_text_names_the_pieces_of_the_prelude(narrow: str, golden, here: Path) -> None:
    path = here / "scale.golden.cu"
    text = path.read_text()
    assert "struct bf16" not in text and text.partition("extern")[2] == narrow.partition("extern")[2]
    assert golden("scale.golden.cu", "--show") in (text.partition("\n")[2], narrow.partition("\n")[2])
    path.write_text(text.replace(PIECES, "// prelude: bf16\n"))
    assert f"-// prelude: bf16\n+{PIECES}" in golden("scale.golden.cu", exit_code=1)
    path.write_text(text.replace(PIECES, ""))
    assert f"\n+{PIECES}" in golden("scale.golden.cu", exit_code=1)
    (here / "scale.check").write_text("// weft golden scale.weft --cuda\n// CHECK: struct bf16\n")
    golden("scale.check")


def test_a_golden_with_the_texts_of_the_prelude_is_right_until_it_is_renewed(narrow: str, golden, here: Path) -> None:
    path = here / "scale.golden.cu"
    named = path.read_text()
    path.write_text(narrow)
    assert "the same" in golden("scale.golden.cu")
    (here / "scale.weft").write_text(SCALE.replace("int = 8", "int = 4"))
    differs = golden("scale.golden.cu", exit_code=1)
    assert "+extern" in differs and "struct bf16" not in differs and "weft golden scale.golden.cu --update" in differs
    (here / "scale.weft").write_text(SCALE)
    path.write_text(narrow.replace("struct bf16", "class bf16"))  # the prelude of another version of Weft
    differs = golden("scale.golden.cu", exit_code=1)
    assert "-class bf16" in differs and "weft golden scale.golden.cu --update" in differs
    golden("scale.golden.cu", "--update")
    assert path.read_text() == named


# ---- recipes -------------------------------------------------------------------------------------------------------------

SMALL = ("--set", "m=8", "--set", "n=8", "--set", "k=8")


def test_a_golden_of_a_recipe(golden, here: Path) -> None:
    assert "`weft golden naive --update` writes `naive.golden.mlir`" in golden("naive", exit_code=1)
    assert "naive.small.golden.cu: written, new" in golden("naive", "--update", "--cuda", "--name", "small", *SMALL)
    path = here / "naive.small.golden.cu"
    assert path.read_text().startswith("// weft golden naive --set m=8 --set n=8 --set k=8\n")
    assert golden("naive") == golden() == golden("naive.small.golden.cu") == "naive.small.golden.cu: the same\n"
    (here / "naive").mkdir()
    assert "W0901" in golden("naive", exit_code=1)
    golden("naive.small.golden.cu")
    renamed = path.rename(here / "naiv.small.golden.cu")
    renamed.write_text(renamed.read_text().replace("naive", "naiv", 1))
    said = golden("naiv.small.golden.cu", exit_code=1)
    assert "W0904" in said and "did you mean `naive`?" in said


def test_a_golden_of_another_schedule_is_not_written_over(golden, here: Path) -> None:
    (here / "naive.weft").write_text(SCALE)
    golden("naive.weft", "--update")
    kept = (here / "naive.golden.mlir").read_text()
    said = golden("naive", "--update", *SMALL, exit_code=1)
    assert "W0902" in said and "is a golden of `naive.weft`" in said and "--name NAME" in said
    assert (here / "naive.golden.mlir").read_text() == kept


def test_a_schedule_that_no_golden_can_name(golden, here: Path) -> None:
    (here / "scale.weft").rename(here / "scale")
    said = golden("scale", "--update", exit_code=1)
    assert "W0902" in said and "rename it: `scale.weft`" in said


# ---- steps ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "words", "expected"), [
    ("let (a, copy) = promote-to-shared x.lhs", "copy", True),
    ("let (a, copy) = promote-to-shared x.lhs", "promote-to-shared", True),
    ("let (a, copy) = promote-to-shared x.lhs", "promote-to-shared x", False),
    ("let (a, copy) = promote-to-shared x.lhs", "x.lhs", False),
    ("let (_, k) = tile op [_, 4]", "_", False),
    ("map copy to threads(*)", "map copy", True),
    ("map copy to threads(*)", "copy", False),
    ("map copy to threads(*)", "", False),
])  # fmt: skip
def test_which_steps_words_name(text: str, words: str, expected: bool) -> None:
    assert fits(text, words) is expected


def test_what_a_let_binds() -> None:
    assert bound("let (a, _) = tile x [n == 1, 2]") == (("a",), "tile x [n == 1, 2]")
    assert bound("launch x") == ((), "launch x")


# ---- checks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "code"), [
    ("// CHECK: const int", None),
    ("// CHECK-DAG: result0\n// CHECK-DAG: threadIdx", None),
    ("// CHECK-COUNT-2: const int", None),
    ("// CHECK{LITERAL}: [", None),
    ("// CHECK: zebra", "W0907"),
    ("// CHECK-NOT: float", "W0907"),
    ("// CHECK: __global__\n// CHECK-NEXT: __global__", "W0907"),
    ("// CHECK-COUNT-9: threadIdx", "W0907"),
    ("// CHECK: [[unknown]]", "W0906"),
    ("// CHECK: __global__ {{.*}} [[unknown]] float", "W0906"),
    ("// CHECK: {{[}}", "W0906"),
    ("// CHECK: [[x:", "W0906"),
    ("// CHECK: [[#x+1]]", "W0906"),
    ("// CHECK-NXT: float", "W0906"),
    ("// CHECK-COUNT: float", "W0906"),
    ("// CHECK float", "W0906"),
    ("// check: float", "W0906"),
    ("// CHECK:", "W0906"),
    ("// CHECK-NEXT: float", "W0906"),
    ("float", "W0906"),
    ("// nothing", "W0906"),
])  # fmt: skip
def test_check_lines(line: str, code: str | None, golden, here: Path) -> None:
    (here / "scale.check").write_text(f"// weft golden scale.weft --cuda\n{line}\n")
    said = golden("scale.check", exit_code=1 if code else 0)
    assert code is None or (code in said and "--> scale.check:" in said)
    assert "DiscontigousRange" not in said


def test_checks_know_their_places() -> None:
    first, second = directives(Source("x.check", "// a comment\n  // CHECK: a\n// CHECK-NOT: b"))
    assert (first.span.line, first.span.column, first.kind, first.what) == (2, 6, "", "a")
    assert (second.span.line, second.kind, second.what) == (3, "-NOT", "b")


# ---- diffs ---------------------------------------------------------------------------------------------------------------


def test_a_long_diff_is_folded_and_colors_are_for_terminals() -> None:
    change = GoldenChange.between("x", "\n".join(map(str, range(200))), "\n".join(f"{n}\x1b" for n in range(200)))
    assert change.summary == "+200 −200 lines"
    assert len(change.shown(False)) == FOLDED + 1 and len(change.shown(False, folded=False)) > 400
    assert "\x1b" not in "".join(change.shown(False)) and "\x1b[32m+" in "".join(change.shown(True, folded=False))


def test_a_header_reads_as_it_was_written(here: Path) -> None:
    header = "// weft golden scale.weft --after 'map tiles' --payload scale.mlir --set width=4"
    (here / "scale.x.golden.mlir").write_text(f"{header}\n")
    assert read_golden(here / "scale.x.golden.mlir").header == header
    (here / "scale.check").write_text("// weft golden scale.weft --cuda --after op\n")
    with pytest.raises(WeftError, match="W0902"):
        read_golden(here / "scale.check")
