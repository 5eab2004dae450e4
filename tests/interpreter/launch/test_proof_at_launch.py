"""`launch` builds what is proven: a racy kernel is refused, or let through and called so, and no edit leaves a stale proof."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT, TESTS
from scheduled import run_schedule

from weft import api, cli
from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir import mlir
from weft.interpreter.proof.races import proof
from weft.pipeline import Choice, applied
from weft.recipes import schedules
from weft.runtime.run.execution import RunOptions
from weft.verify import verify_source

SOAK = "WEFT_SOAK" in os.environ
PROGRAMS = TESTS / "programs"
TUTORIAL = ROOT / "docs" / "tutorial"

SHARED = """payload matmul(m = 32, n = 32, k = 32, type = f32)
schedule shared() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (tiles, tile_mm) = tile gemm [16, 16]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 16]
  let (a, copy_a) = promote-to-shared step.lhs
  let (b, copy_b) = promote-to-shared step.rhs
  map copy_a to threads(*) cyclic
  map copy_b to threads(*) cyclic
  let (lanes, one) = tile step [1, 1]
  map lanes to threads(y: 16, x: 16)
  promote-to-registers one.acc across k
  END
}
"""
NARROWED = """transform {
    %barriers = transform.structured.match ops{["gpu.barrier"]} in %root : (!transform.any_op) -> !transform.any_op
    %made = transform.structured.replace %barriers { gpu.barrier memfence [] } : (!transform.any_op) -> !transform.any_op
  }"""
ENDS = {
    # what stands at the end: what is said, and at which statement
    "barriers": ("insert-barriers\n  launch tiles", "", ""),
    "no barriers": ("launch tiles", "W0601", "launch tiles"),
    "verified": ("insert-barriers\n  verify-sync\n  launch tiles", "", ""),
    "fences taken away before": (f"insert-barriers\n  {NARROWED}\n  launch tiles", "W0601", "launch tiles"),
    "fences taken away, and put back": (f"insert-barriers\n  {NARROWED}\n  insert-barriers\n  launch tiles", "", ""),
    "fences taken away behind": (f"insert-barriers\n  launch tiles\n  {NARROWED}", "W0601", "transform"),
    "a pass before": ('insert-barriers\n  run-pass "cse"\n  launch tiles', "", ""),
    "a pass behind": ('insert-barriers\n  launch tiles\n  run-pass "canonicalize"', "", ""),
    "vectorized behind the proof": ("insert-barriers\n  vectorize one\n  launch tiles", "", ""),
    "unrolled behind the proof": ("insert-barriers\n  unroll k by 2\n  launch tiles", "", ""),
    "let through": ("launch tiles unproven", "", ""),
    "let through with registers": ("launch tiles unproven max-registers 64", "", ""),
}


def written(folder: Path, end: str, text: str = SHARED) -> str:
    (folder / "s.weft").write_text(text.replace("END", end))
    return str(folder / "s.weft")


@pytest.mark.few(4)
@pytest.mark.parametrize("end", ENDS)
def test_what_is_proven(end: str, tmp_path: Path) -> None:
    text, code, at = ENDS[end]
    name = written(tmp_path, text)
    if not code:
        done = applied(Choice(name).open())
        assert bool(done.unproven) == (" unproven" in text)
        assert "weft.proven" not in done.text
        return
    with pytest.raises(WeftError) as caught:
        applied(Choice(name).open())
    first, last = caught.value.diagnostics[0], caught.value.diagnostics[-1]
    assert first.code == code and first.statement == at.split()[0] and first.span is not None
    assert first.span.source.line(first.span.line).strip().startswith(at)
    assert any("A_shared" in note for note in first.notes), "the witness names the element"
    assert "insert-barriers" in (first.hint or "") and "--unproven" in (last.hint or "")


@pytest.mark.parametrize(
    ("end", "times"),
    [("insert-barriers\n  launch tiles", 0), ("verify-sync\n  launch tiles", 0), ("vectorize one\n  launch tiles", 1)],
    ids=["as it was", "verified", "changed"],
)
def test_what_was_proven_is_not_proven_again(end: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[object] = []
    judge = proof.judge
    monkeypatch.setattr(proof, "judge", lambda *given, **named: (judged.append(given), judge(*given, **named))[1])
    applied(Choice(written(tmp_path, f"insert-barriers\n  {end}")).open())
    assert len(judged) == times


def test_verify_sync_proves_what_is_not_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[object] = []
    made = proof.Findings
    monkeypatch.setattr(proof, "Findings", lambda *given, **named: (judged.append(given), made(*given, **named))[1])
    for end, times in (("insert-barriers\n  verify-sync", 0), ("insert-barriers\n  unroll k by 2\n  verify-sync", 1)):
        judged.clear()
        applied(Choice(written(tmp_path, f"{end}\n  launch tiles unproven")).open())
        assert len(judged) == times


@pytest.mark.few(5)
@pytest.mark.parametrize("recipe", schedules())
def test_what_a_launch_proves_is_what_stands_behind_it(recipe: str) -> None:
    """Nothing that ends a statement changes the kernel that its launch has judged: else it is judged again at the end."""
    session = applied(Choice(recipe).open()).session
    assert not proof.changed_kernels(session.module, ())


def test_where_constants_stand_is_no_part_of_a_proof() -> None:
    """`cse` takes one out of a loop when a launch before it has put its like into the host."""
    module = mlir.parse(
        """func.func @f(%a: memref<8xf32>) {
          scf.forall (%i) in (8) {
            %one = arith.constant 1.0 : f32
            %two = arith.constant 2.0 : f32
            %sum = arith.addf %one, %two : f32
            memref.store %sum, %a[%i] : memref<8xf32>
          } {weft.map = {space = "blocks", axes = ["x"], counts = array<i64: -1>}}
          return
        }""",
        mlir.context(),
    )
    (root,) = mlir.operations(module.operation, "scf.forall")
    proof.state_proof(module, root)
    one, two = mlir.operations(module.operation, "arith.constant")
    two.move_before(root)
    assert proof.still_proven(module, root)
    one.attributes["value"] = two.attributes["value"]
    assert not proof.still_proven(module, root)


def test_a_kernel_that_is_not_proven_is_called_so_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = written(tmp_path, "launch tiles")
    with pytest.raises(WeftError):
        api.run(name, target="sim")
    report = api.run(name, target="sim", unproven=True)
    (kernel,) = report.kernels
    assert kernel.unproven is not None and kernel.unproven.startswith("two threads conflict: RAW on shared memory")
    assert report.races, "the simulator is the second witness"
    assert report.to_json()["kernels"][0]["unproven"] == kernel.unproven
    bundle = api.build(name, tmp_path / "bundle", unproven=True)
    plan = json.loads((bundle / "plan.json").read_text())
    assert [k["unproven"] for k in plan["kernels"]] == [kernel.unproven]
    assert "weft.unproven" in (bundle / "module.mlir").read_text()
    assert api.run(bundle, target="sim").kernels[0].unproven == kernel.unproven
    said = f"@matmul is not proven race-free: {kernel.unproven}"
    for command in (["apply", name], ["build", name, "-o", str(tmp_path / "other")]):
        assert cli.run(command) == 1 and "W0601" in capsys.readouterr().err
        assert not (tmp_path / "other").exists()
        assert cli.run([*command, "--unproven"]) == 0 and said in capsys.readouterr().err
    proven = api.build(written(tmp_path, "insert-barriers\n  launch tiles"), tmp_path / "proven")
    assert "unproven" not in (proven / "plan.json").read_text() + (proven / "module.mlir").read_text()


def test_a_kernel_changed_behind_its_launch_may_be_let_through(tmp_path: Path) -> None:
    done = applied(Choice(written(tmp_path, ENDS["fences taken away behind"][0]), unproven=True).open())
    assert len(done.unproven) == 1 and "two threads conflict" in done.unproven[0]
    assert any("not proven race-free" in remark for remark in done.session.steps[-1].remarks)


def test_kernels_of_the_payload_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text("""func.func @f(%x: memref<32xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %z = arith.constant 0.0 : f32
  gpu.launch blocks(%a, %b, %c) in (%g = %c1, %h = %c1, %i = %c1) threads(%d, %e, %f) in (%j = %c32, %k = %c1, %l = %c1) {
    memref.store %z, %x[%a] : memref<32xf32>
    gpu.terminator
  }
  return
}
""")
    (tmp_path / "s.weft").write_text('payload "p.mlir"\nschedule s() {\n  run-pass "gpu-kernel-outlining"\n}\n')
    assert not applied(Choice(str(tmp_path / "s.weft")).open()).unproven


def test_kernels_that_upstream_makes_are_proven(tmp_path: Path) -> None:
    """A schedule's kernel is one whoever made it: here every thread of a block reads its neighbour."""
    (tmp_path / "p.mlir").write_text("""func.func @f(%x: memref<33xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%i) = (%c0) to (%c32) step (%c1) {
    %n = arith.addi %i, %c1 : index
    %v = memref.load %x[%n] : memref<33xf32>
    memref.store %v, %x[%i] : memref<33xf32>
    scf.reduce
  } {mapping = [#gpu.loop_dim_map<processor = thread_x, map = (d0) -> (d0), bound = (d0) -> (d0)>]}
  return
}
""")
    (tmp_path / "s.weft").write_text('payload "p.mlir"\nschedule s() {\n  run-pass "func.func(convert-parallel-loops-to-gpu)"\n}\n')
    with pytest.raises(WeftError) as caught:
        applied(Choice(str(tmp_path / "s.weft")).open())
    assert caught.value.diagnostics[0].code == "W0601" and caught.value.diagnostics[0].statement == "run-pass"


# ---- `launch`'s proof and `weft verify` say the same ---------------------------------------------------------------------------

SHIPPED = {path.stem: path for folder in (PROGRAMS, TUTORIAL) for path in folder.glob("*.weft")} | schedules()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", sorted(SHIPPED) if SOAK else ["softmax", "pipelined_ragged", "9-pipelined", "igemm_split_k"])
def test_verify_agrees_with_launch(name: str) -> None:
    """Each kernel is proven race-free by both, or assumed by both; and no barrier is one too many."""
    done = applied(Choice(str(SHIPPED[name]), None, {}).open())
    believed = any(proof.BELIEVED in step.remarks for step in done.session.steps)
    report = verify_source(Source("module.mlir", done.text))
    assert not done.unproven and report.kernels
    assert [kernel.superfluous for kernel in report.kernels] == [()] * len(report.kernels)
    if not believed:
        assert report.ok, [d.message for d in report.diagnostics]
    else:
        assert report.diagnostics and all("(assumed)" in d.message for d in report.diagnostics)


# ---- schedules without their barriers, and with maps changed -----------------------------------------------------------------

SMALL = {
    "matmul": {"m": "40", "n": "36", "k": "20"},
    "conv2d": {"n": "1", "h": "6", "w": "5", "c": "3", "k": "5"},
    "concurrency": {"batch": "1", "filters": "3", "size": "4"},
}


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """The schedule without its barriers, and that with one map changed: another distribution, axes the other way round."""
    bare = re.sub(r"^ *(insert-barriers|verify-sync).*\n", "", text, flags=re.MULTILINE)
    if bare != text:
        yield "no barriers", bare
    for line in re.findall(r"^ *map .*$", bare, re.MULTILINE):
        for what, changed in (
            ("block", line.replace(" cyclic", " block")),
            ("turned", re.sub(r"\(y(: \w+)?, x(: \w+)?\)", r"(x\1, y\2)", line)),
        ):
            if changed != line:
                yield f"{what}: {line.strip()}", bare.replace(line, changed)


FAST = ("accumulate", "conv1d", "pipelined_short", "stencil")
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.weft")) if SOAK else FAST


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
def test_mutated_programs_are_refused_or_race_free(name: str, tmp_path: Path) -> None:
    text = (PROGRAMS / f"{name}.weft").read_text()
    for path in PROGRAMS.glob("*.mlir"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "library").symlink_to(PROGRAMS / "library")
    for what, changed in mutants(text):
        (tmp_path / "s.weft").write_text(changed)
        _judge(str(tmp_path / "s.weft"), {}, f"{name}, {what}")


@pytest.mark.parametrize("name", sorted(schedules()) if SOAK else ["shared"])
def test_mutated_recipes_are_refused_or_race_free(name: str, tmp_path: Path) -> None:
    path = schedules()[name]
    for what, changed in mutants(path.read_text()):
        (tmp_path / "s.weft").write_text(changed)
        _judge(str(tmp_path / "s.weft"), SMALL[path.parent.name], f"{name}, {what}")


def _judge(schedule: str, settings: dict[str, str], what: str) -> None:
    """Taken: the simulator finds no race. Refused for a race: the simulator finds one."""
    try:
        report = run_schedule(schedule, None, settings, None, RunOptions("sim", 0, reference="none")).report
        assert report.races == () and report.faults == (), what
    except WeftError as error:
        if any(d.code in ("W0601", "W0602") and "(assumed)" not in d.message for d in error.diagnostics):
            report = run_schedule(schedule, None, settings, None, RunOptions("sim", 0, reference="none"), unproven=True).report
            assert report.races, what


SCATTER = """func.func @f(%p: memref<64xindex>, %x: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %j = memref.load %p[%INDEX] : memref<64xindex>
    memref.store %z, %x[%WHERE] : memref<64xf32>
    scf.reduce
  }
  return
}
"""


@pytest.mark.parametrize("space", ["threads(x)", "blocks(x)"])
@pytest.mark.parametrize(("where", "known"), [("j", False), ("i", True)])
def test_what_is_believed_of_the_payload_is_called_assumed(space: str, where: str, known: bool, tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(SCATTER.replace("INDEX", "i").replace("WHERE", where))
    text = 'payload "p.mlir"\nschedule s() {{\n  let l = match scf.parallel\n  map l to {}\n  {}\n  launch l\n}}\n'
    for statement in ("insert-barriers", "verify-sync", ""):
        (tmp_path / "s.weft").write_text(text.format(space, statement))
        steps = applied(Choice(str(tmp_path / "s.weft")).open()).session.steps
        remarks = [remark for step in steps for remark in step.remarks]
        assert (proof.BELIEVED in remarks) is not known, (statement, remarks)
        if statement == "insert-barriers":
            assert f"no barrier needed: {'proven' if known else 'assumed'}" in remarks
    (tmp_path / "s.weft").write_text(text.format(space, "insert-barriers\n  verify-sync"))
    *_, verified, _ = applied(Choice(str(tmp_path / "s.weft")).open()).session.steps
    assert (proof.BELIEVED in verified.remarks) is not known, "what a statement before has assumed is not proven by it"
