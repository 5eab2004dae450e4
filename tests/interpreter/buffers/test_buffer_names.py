"""One buffer has one name: in remarks, the IR, the CUDA text, the proof's diagnostics and the simulator's races."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from places import GOLDENS, TESTS
from scheduled import payload, run_schedule

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.functions import inputs_of, name_of
from weft.interpreter.ir.mlir import ir, operations
from weft.interpreter.memory.effects import is_memref
from weft.output.console import rendered
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.run.execution import RunOptions

PROGRAMS = TESTS / "programs"

WANTED = [("p", "4x33"), ("s", "4"), ("m", "4")]
"""What they hold: the difference `d` is replaced by its exponential in place, and `y` is stored where it goes."""


def scheduled(schedule: Path, *, unproven: bool = False) -> Planned:
    return planned(applied(Choice(str(schedule), unproven=unproven).open()))


def test_a_softmax_has_the_names_of_its_payload_everywhere(tmp_path: Path) -> None:
    """Two `tensor.empty`s of its text are three shared buffers in the kernel."""
    text = (PROGRAMS / "softmax.weft").read_text()
    (tmp_path / "softmax.mlir").write_text((PROGRAMS / "softmax.mlir").read_text())
    (tmp_path / "right.weft").write_text(text)
    made = scheduled(tmp_path / "right.weft")
    remarks = "\n".join(remark for step in made.applied.session.steps for remark in step.remarks)
    assert re.findall(r"temporary `(\w+)`, ([\dx]+)", remarks) == WANTED
    assert set(re.findall(r"RAW on shared ([\w, ]+)\)", remarks)) == {"m", "p", "s"}
    assert re.findall(r"__shared__ float (\w+)\[", made.cuda) == [name for name, _ in WANTED]

    (tmp_path / "racy.weft").write_text(text.replace("  insert-barriers\n", ""))
    with pytest.raises(WeftError) as refused:
        scheduled(tmp_path / "racy.weft")
    said = rendered(refused.value.diagnostics, False)
    raced = run_schedule(str(tmp_path / "racy.weft"), None, {}, None, RunOptions("sim"), unproven=True).report.races
    assert raced is not None
    simulated = {race.buffer for race in raced}
    assert {"m", "p", "s"} == simulated, simulated
    assert simulated >= set(re.findall(r"element (\w+)\[", said)) > set()


@pytest.mark.parametrize("golden", sorted(GOLDENS.rglob("*.golden.mlir")), ids=lambda path: path.name)
def test_every_buffer_of_every_recipe_has_a_name(golden: Path) -> None:
    """Its kernels' arguments, shared memory and the arrays of its threads; no two in a kernel have the same; the text has all."""
    module = ir.Module.parse(golden.read_text(), payload(PROGRAMS / "axpy.mlir").context)
    for kernel in operations(module.operation, "gpu.func"):
        arguments = list(kernel.regions[0].blocks[0].arguments)
        buffers = [*filter(is_memref, arguments), *(op.results[0] for op in operations(kernel, "memref.alloca"))]
        names = [name_of(buffer) for buffer in buffers]
        assert None not in names
        declared = names[: len(arguments)]
        assert len(set(declared)) == len(declared) >= inputs_of(kernel)
        text = golden.with_suffix(".cu")
        if text.exists():
            words = set(re.findall(r"\w+", text.read_text()))
            assert words.issuperset(declared)


MATRIX = """
func.func @turn(%A: tensor<64x48xf32>) -> tensor<64x48xf32> {{
  {0} = tensor.empty() : tensor<48x64xf32>
  {1} = linalg.transpose ins(%A : tensor<64x48xf32>) outs({0} : tensor<48x64xf32>) permutation = [1, 0]
  %f = tensor.empty() : tensor<64x48xf32>
  {2} = linalg.transpose ins({1} : tensor<48x64xf32>) outs(%f : tensor<64x48xf32>) permutation = [1, 0]
  return {2} : tensor<64x48xf32>
}}
"""

COPIED = """
func.func @copied(%A: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %e = tensor.empty() : tensor<64x48xf32>
  %b = linalg.copy ins(%A : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %y = linalg.exp ins(%b : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %y : tensor<64x48xf32>
}
"""

TWO_KERNELS = """
payload "p.mlir"
schedule turn() {
  let a = match linalg.transpose #0
  let b = match linalg.transpose #1
  map a to grid(y: 48, x: 64)
  map b to grid(y: 64, x: 48)
  launch a
  launch b
}
"""


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (("%e", "%turned", "%y"), "turned"),
        (("%e", "%0", "%1"), "e"),
        (("%0", "%1", "%2"), "temp0"),
        (("%e", "%result0", "%y"), "result0_2"),
    ],
)
def test_what_the_host_allocates_is_one_name_in_both_kernels(tmp_path: Path, values: tuple[str, ...], name: str) -> None:
    """After the last value in it that has a name; an op's numbered results have none."""
    (tmp_path / "p.mlir").write_text(MATRIX.format(*values))
    (tmp_path / "s.weft").write_text(TWO_KERNELS)
    made = scheduled(tmp_path / "s.weft")
    assert [buffer.name for buffer in made.plan.buffers] == ["A", "result0", name]
    assert [[p.name for p in kernel.params] for kernel in made.plan.kernels] == [["A", name], ["result0", name]]
    texts = made.cuda.split("extern")[1:]
    assert [set(re.findall(r"(?<=__restrict__ )\w+", text)) for text in texts] == [{"A", name}, {"result0", name}]


def test_rows_and_columns_are_what_their_names_say(tmp_path: Path) -> None:
    """Of a transposition the row of one matrix is the column of the other: it is neither. A copy has both."""
    (tmp_path / "p.mlir").write_text(MATRIX.format("%e", "%turned", "%y"))
    (tmp_path / "s.weft").write_text(TWO_KERNELS)
    turned = scheduled(tmp_path / "s.weft").cuda
    assert not re.search(r"\b(row|col)", turned) and "idx" in turned
    (tmp_path / "p.mlir").write_text(COPIED)
    text = TWO_KERNELS.replace("transpose #0", "copy").replace("transpose #1", "exp")
    (tmp_path / "s.weft").write_text(text.replace("y: 48, x: 64", "y: 64, x: 48"))
    assert set(re.findall(r"\[(\w+) \* 48 \+ (\w+)\]", scheduled(tmp_path / "s.weft").cuda)) == {("row", "col")}


@pytest.mark.parametrize(
    ("columns", "said"),
    [(128, []), (129, ["temporary `p`, 1x129: each thread keeps all of it, 516 bytes, which registers do not hold"])],
)
def test_an_array_of_a_thread_that_registers_cannot_hold_is_reported(tmp_path: Path, columns: int, said: list[str]) -> None:
    kind = f"tensor<64x{columns}xf32>"
    (tmp_path / "p.mlir").write_text(f"""
    func.func @rows(%x: {kind}) -> {kind} {{
      %e = tensor.empty() : {kind}
      %p = linalg.exp ins(%x : {kind}) outs(%e : {kind}) -> {kind}
      %y = linalg.add ins(%p, %x : {kind}, {kind}) outs(%e : {kind}) -> {kind}
      return %y : {kind}
    }}""")
    (tmp_path / "s.weft").write_text("""
    payload "p.mlir"
    schedule rows() {
      let p = match linalg.exp
      let y = match linalg.add
      let (t, _) = tile y [1, _]
      fuse p into t
      map t to grid(x)
      launch t
    }""")
    *_, launch = scheduled(tmp_path / "s.weft").applied.session.steps
    assert [remark for remark in launch.remarks if remark.startswith("temporary")] == said
