"""What is built was compared with its payload: kernels that compute something else are refused, by all that builds, at sizes that
show it; what was let through says so wherever it is reported."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from places import GOLDENS, ROOT

import weft
from weft import api, cli
from weft.comparison import comparison
from weft.comparison.comparison import ComparedOnce, compared
from weft.comparison.sizes import open_sizes, shrunk
from weft.comparison.work import work_of
from weft.dsl.diagnostics import WeftError
from weft.goldens.golden import read_golden
from weft.interpreter.ir.cloning import strip_tags
from weft.interpreter.ir.mlir import ir, operations
from weft.payloads.payload import parse_payload
from weft.pipeline import Applied, Choice, Planned, applied, planned
from weft.recipes import schedules
from weft.runtime.files.bundle import read_bundle
from weft.runtime.host.functions import signature
from weft.runtime.plan.dtypes import narrow
from weft.runtime.plan.signature import Argument, FunctionSignature
from weft.runtime.run.compare import compare

DOCS = ROOT / "docs"
SOAK = "WEFT_SOAK" in os.environ
Settings = dict[str, str]
Mutation = Callable[[ir.Module], None]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was compared before."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))


def made(name: str, **settings: object) -> Planned:
    return planned(applied(api.load(name, settings={key: str(value) for key, value in settings.items()})))


# ---- kernels that compute something else -------------------------------------------------------------------------------


def kernel_ops(module: ir.Module, *names: str) -> list[ir.Operation]:
    return [op for kernel in operations(module.operation, "gpu.func") for op in operations(kernel, *names)]


def replaced(op: ir.Operation) -> None:
    """The op's first operand, in the place of what it makes."""
    op.results[0].replace_all_uses_with(op.operands[0])


def combine_dropped(module: ir.Module) -> None:
    """A lane gets its own part again, not that of another."""
    replaced(kernel_ops(module, "gpu.shuffle")[0])


def participants_widened(module: ir.Module) -> None:
    """A part is that of a lane whose part is in the result already."""
    first, second = kernel_ops(module, "gpu.shuffle")[:2]
    first.operands[1] = second.operands[1]


def identity_exchanged(module: ir.Module) -> None:
    """Sums begin with 1."""
    for op in kernel_ops(module, "arith.constant"):
        if isinstance(value := op.attributes["value"], ir.FloatAttr) and value.value == 0.0:
            op.attributes["value"] = ir.FloatAttr.get(value.type, 1.0, loc=op.location)


def loop_ends_early(module: ir.Module) -> None:
    """The last iteration of the longest loop is left out."""
    loops = [op for op in kernel_ops(module, "scf.for") if ends(op) is not None]
    loop = max(loops, key=lambda op: ends(op) or 0)
    with ir.InsertionPoint(loop), loop.location:
        less = ir.IntegerAttr.get(ir.IndexType.get(), (ends(loop) or 0) - 1)
        loop.operands[1] = ir.Operation.create("arith.constant", [ir.IndexType.get()], attributes={"value": less}).results[0]


def ends(loop: ir.Operation) -> int | None:
    owner = loop.operands[1].owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    return ir.IntegerAttr(owner.operation.attributes["value"]).value


def epilogue_dropped(module: ir.Module) -> None:
    """What is stored is not what was computed last."""
    for op in kernel_ops(module, "arith.maximumf"):
        replaced(op)


MUTATIONS: dict[str, tuple[str, Settings, Mutation]] = {
    "a combine dropped": ("argmax", {"m": "5", "n": "70"}, combine_dropped),
    "participants widened": ("layernorm", {"m": "3", "n": "100"}, participants_widened),
    "an identity exchanged": ("simt", {"m": "65", "n": "33", "k": "20"}, identity_exchanged),
    "a loop that ends early": ("naive", {"m": "17", "n": "16", "k": "19"}, loop_ends_early),
    "an epilogue dropped": ("igemm_bias_relu", {"h": "5", "w": "6", "c": "4", "k": "9"}, epilogue_dropped),
    "an identity exchanged, sizes open": ("shared", {"m": "?", "n": "?", "k": "?"}, identity_exchanged),
    "an identity exchanged, a smaller payload": ("shared", {"m": "4096", "n": "2048", "k": "1024"}, identity_exchanged),
}


@pytest.fixture
def wrongly(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mutation], None]:
    """Have every scheduled module changed like this."""

    def have(mutation: Mutation) -> None:
        def wrong(done: Applied) -> ir.Module:
            stripped = strip_tags(done.session.module)
            mutation(stripped)
            return stripped

        changed = cached_property(wrong)
        changed.__set_name__(Applied, "module")
        monkeypatch.setattr(Applied, "module", changed)

    return have


@pytest.mark.parametrize("case", MUTATIONS)
def test_what_computes_something_else_is_not_built(
    case: str, tmp_path: Path, wrongly: Callable[[Mutation], None]
) -> None:
    name, settings, mutation = MUTATIONS[case]
    wrongly(mutation)
    with pytest.raises(WeftError) as error:
        api.build(name, tmp_path / "bundle", settings=settings)
    (found,) = error.value.diagnostics
    assert found.code == "W0080" and "differs" in found.message and "--unchecked" in (found.hint or "")
    assert any("the reference has" in note or "elements" in note for note in found.notes)
    assert not (tmp_path / "bundle").exists()


def test_all_that_builds_compares(
    tmp_path: Path, wrongly: Callable[[Mutation], None], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, settings, mutation = MUTATIONS["a loop that ends early"]
    (tmp_path / "mine.weft").write_text(schedules()[name].read_text())
    options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    wrongly(mutation)
    before = set(tmp_path.iterdir())
    for command in (["build", "mine.weft", "-o", "bundle", *options], ["golden", "mine.weft", "--update", *options]):
        assert cli.run(command) == 1 and "W0080" in capsys.readouterr().err
    with pytest.raises(WeftError, match="do not compute"):
        weft.compile("mine.weft", settings=settings, target="cpu")
    assert set(tmp_path.iterdir()) - {tmp_path / "cache"} == before

    # and what is built all the same says so
    assert cli.run(["build", "mine.weft", "-o", "bundle", "--unchecked", *options]) == 0
    assert f"values not compared: {comparison.ASKED}" in capsys.readouterr().err
    assert json.loads((tmp_path / "bundle" / "plan.json").read_text())["unchecked"] == comparison.ASKED
    assert cli.run(["run", "bundle", "--target", "cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unchecked"] == comparison.ASKED
    assert cli.run(["run", "bundle", "--target", "cpu"]) == 0
    assert "values not compared when it was built" in capsys.readouterr().err.replace("\n", " ")
    kernel = weft.compile("mine.weft", settings=settings, target="cpu", unchecked=True)
    assert kernel.report["unchecked"] == comparison.ASKED
    assert cli.run(["golden", "mine.weft", "--update", "--unchecked", *options]) == 0
    golden = tmp_path / "mine.golden.mlir"
    assert read_golden(golden).choice.unchecked and "--unchecked" in golden.read_text().partition("\n")[0]
    assert cli.run(["golden", "mine.weft"]) == 0
    capsys.readouterr()
    with pytest.raises(WeftError, match="do not compute"):  # it was not taken for compared since
        weft.compile("mine.weft", settings=settings, target="cpu")


def test_what_is_compared_says_on_what(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["build", "naive", "--set", "m=17", "--set", "k=9", "--set", "n=5", "-o", str(tmp_path / "b")]) == 0
    summary = "exactly, on integers; A: 17x9xf32, B: 9x5xf32; on the CPU; 1 of 1 kernel"
    assert capsys.readouterr().err.splitlines()[0] == f"values compared: {summary}"
    assert "unchecked" not in (tmp_path / "b" / "plan.json").read_text()
    plan = read_bundle(tmp_path / "b").plan
    assert plan.unchecked is None and plan.compared == summary
    report = api.run(tmp_path / "b", target="cpu").to_json()
    assert report["unchecked"] is None and report["compared"] == summary
    kernel = weft.compile("naive", settings={"m": 17, "k": 9, "n": 5}, target="cpu")
    assert kernel.report["compared"] == summary
    assert cli.run(["audit", str(tmp_path / "b")]) == 0


# ---- once --------------------------------------------------------------------------------------------------------------


def test_it_is_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(one: Planned, entry: str | None) -> ComparedOnce:
        calls.append(one.applied.recipe.name)
        return ComparedOnce(("here",), summary="all of it")

    monkeypatch.setattr(comparison, "_compared", counted)
    for _ in range(2):
        assert compared(made("naive", m=17), None) == ComparedOnce(("here",), summary="all of it")
    assert len(calls) == 1
    assert not comparison.expected(api.load("naive", settings={"m": 17}), None)
    for settings in ({"m": 18}, {"m": 17, "bm": 8}, {"m": 17, "type": "f64"}):
        assert comparison.expected(api.load("naive", settings=settings), None)
        compared(made("naive", **settings), None)
    assert len(calls) == 4
    compared(made("shared", m=17), None)
    assert len(calls) == 5


# ---- sizes -------------------------------------------------------------------------------------------------------------


def test_open_sizes() -> None:
    one = made("simt", m="?", n="?", k="?")
    sizes = open_sizes(one.plan)
    assert {0, 1, 67, 127, 129} <= set(sizes)
    equal = compared(one, None).equal
    assert [line for line in equal if line.startswith(("A: 0x0", "A: 129x129"))]
    assert {line.rpartition(", ")[2] for line in equal} == {"version 1 of 2", "version 2 of 2"}


def test_sizes_that_a_schedule_does_not_assume_are_left_out(tmp_path: Path) -> None:
    text = """payload matmul(m = ?, n = 32, k = 16, type = f32)
schedule s() {
  let gemm = match linalg.matmul
  assume gemm.lhs.0 % 8 == 0
  let init = match linalg.fill
  let (tiles, one) = tile gemm [8, 8]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (each, element) = tile one [1, 1]
  fuse init into each
  map each to threads(y, x)
  insert-barriers
  launch tiles
}
"""
    (tmp_path / "s.weft").write_text(text)
    equal = compared(made(str(tmp_path / "s.weft")), None).equal
    assert equal and all(int(line.split()[1].partition("x")[0]) % 8 == 0 for line in equal)


@pytest.mark.parametrize(("given", "at"), [((4096, 4096, 4096), "A: 32x"), ((2049, 2047, 1000), "A: 33x")])
def test_large_payloads_of_a_builder_are_made_smaller(given: tuple[int, int, int], at: str) -> None:
    one = made("naive", **dict(zip("mnk", given, strict=True)))
    (line,) = compared(one, None).equal
    rows = int(line.removeprefix("A: ").partition("x")[0])
    assert rows < 300 and rows % 16 == given[0] % 16


def test_a_smaller_size_keeps_what_divides_it() -> None:
    assert [shrunk(size, 64) for size in (5, 127, 128, 4096, 4097, 4160, 1000)] == [5, 127, 64, 64, 65, 64, 104]
    assert shrunk("f32", 64) == "f32"


def test_a_long_payload_of_a_file_is_not_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = api.load("naive", settings={"m": 1024, "n": 1024, "k": 1024}).payload.text
    (tmp_path / "long.mlir").write_text(source)
    words = ["build", "naive", "--payload", str(tmp_path / "long.mlir"), "-o", str(tmp_path / "b")]
    assert cli.run(words) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "values not compared: the payload takes about 0.4 s on a CPU, more than 50 ms" in said
    assert "1 op of 2 too long alone: linalg.matmul at" in said
    unchecked = json.loads((tmp_path / "b" / "plan.json").read_text())["unchecked"]
    assert unchecked.startswith("the payload takes about")


def test_another_functions_work_is_none_of_an_entrys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `g` computes, and how long it takes, decides nothing of how `f` is compared."""
    kind, large = "memref<64xf32>", "memref<4096x4096xf32>"
    (tmp_path / "two.mlir").write_text(f"""
func.func @f(%a: {kind} {{llvm.noalias}}, %b: {kind} {{llvm.noalias}}, %c: {kind} {{llvm.noalias}}) {{
  linalg.mul ins(%a, %b : {kind}, {kind}) outs(%c : {kind})
  return
}}
func.func @g(%a: {large}, %b: {large}) {{
  affine.for %k = 0 to 1000 {{ linalg.log ins(%a : {large}) outs(%b : {large}) }}
  return
}}
""")
    schedule = 'payload "two.mlir"\nschedule s() {\n  let x = match linalg.mul\n  map x to grid(x)\n  launch x\n}\n'
    (tmp_path / "s.weft").write_text(schedule)
    assert cli.run(["build", str(tmp_path / "s.weft"), "--entry", "f", "-o", str(tmp_path / "b")]) == 0
    assert "values compared: exactly, on integers" in capsys.readouterr().err


def test_what_cannot_be_compared_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A payload that divides by what may be 0."""
    (tmp_path / "divides.mlir").write_text("""
#id = affine_map<(i) -> (i)>
func.func @f(%a: tensor<64xi32>, %b: tensor<64xi32>) -> tensor<64xi32> {
  %e = tensor.empty() : tensor<64xi32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %q = arith.divsi %x, %y : i32
    linalg.yield %q : i32
  } -> tensor<64xi32>
  return %r : tensor<64xi32>
}
""")
    (tmp_path / "s.weft").write_text("""payload "divides.mlir"
schedule s() {
  let op = match linalg.generic
  let (tiles, one) = tile op [32]
  map tiles to blocks(x)
  map one to threads(x)
  insert-barriers
  launch tiles
}
""")
    words = ["build", str(tmp_path / "s.weft"), "-o", str(tmp_path / "b")]
    assert cli.run(words) == 1
    said = capsys.readouterr().err
    assert "W0081" in said and "--unchecked" in said and not (tmp_path / "b").exists()
    assert cli.run([*words, "--unchecked"]) == 0


# ---- which numbers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "settings", "most"),
    [
        ("simt", {}, 128), ("simt", {"type": "f64"}, 1 << 20), ("tensor", {"type": "bf16"}, 128), ("hopper", {"type": "f8E5M2"}, 2),
        ("argmax", {}, 1 << 20), ("argmax", {"type": "bf16"}, 256), ("sum", {}, 16), ("softmax", {}, None), ("layernorm", {}, None),
        ("histogram", {}, None),
    ],
)  # fmt: skip
def test_integers_whose_sums_are_exact(name: str, settings: Settings, most: int | None) -> None:
    payload = parse_payload(api.load(name, settings=settings).payload)
    assert work_of(payload, signature(payload), 64).most == most


def test_a_unit_is_seen_in_a_large_sum() -> None:
    """As it is not where halves may differ by a hundredth."""
    of = FunctionSignature("f", (), (Argument("y", "bf16", (4,), "output"),), frozenset({"bf16"}))
    right = np.array([100.0, 3.0, 4.0, 5.0], np.float32)
    wrong = narrow(right + np.array([0, 1, 0, 0], np.float32), "bf16")
    assert compare(of, {"y": wrong}, {"y": right}).ok
    assert not compare(of, {"y": wrong}, {"y": right}, exact=True).ok
    assert compare(of, {"y": narrow(right + 1e-3, "bf16")}, {"y": right}, exact=True).ok


# ---- what ships --------------------------------------------------------------------------------------------------------


def _small() -> Iterator[Choice]:
    """Each recipe as its golden of ragged sizes has it."""
    for name, path in schedules().items():
        for golden in sorted((GOLDENS / path.parent.name).glob(f"{name}.*ragged.golden.mlir")):
            yield Choice(str(path), settings=read_golden(golden).choice.settings)


QUICK = ("attention", "scan", "histogram", "igemm_nchw", "layernorm_welford", "hopper", "tensor_split_k")


@pytest.mark.parametrize("choice", [*_small()], ids=lambda one: Path(one.file).stem)
def test_recipes(choice: Choice) -> None:
    if not SOAK and Path(choice.file).stem not in QUICK:
        return
    found = compared(planned(applied(choice.open())), None)
    assert found.equal and found.unchecked is None


RUNGS = sorted(DOCS.glob("**/*.weft"))


@pytest.mark.skipif(not SOAK, reason="all recipes and rungs of the ladders at their defaults")
@pytest.mark.parametrize("file", [*schedules(), *map(str, RUNGS)], ids=lambda file: Path(file).stem)
def test_recipes_and_rungs_as_they_are(file: str) -> None:
    found = compared(planned(applied(Choice(file).open())), None)
    assert found.equal and found.unchecked is None


def test_unproven_kernels_are_compared_too(tmp_path: Path) -> None:
    """That they may race is said already; on a CPU they do not."""
    text = """payload matmul(m = 8, n = 8, k = 8, type = f32)
schedule s() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, one) = tile gemm [8, 8]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (each, element) = tile one [1, 1]
  fuse init into each
  map each to threads(y, x)
  launch tiles unproven
}
"""
    (tmp_path / "s.weft").write_text(text)
    done: Applied = applied(Choice(str(tmp_path / "s.weft")).open())
    assert compared(planned(done), None).equal
