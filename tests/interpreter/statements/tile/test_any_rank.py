"""One schedule for ops of any rank: `tile op [1, ...]`, and one axis for all dimensions of a loop."""

from __future__ import annotations

from pathlib import Path

import pytest
from scheduled import run_schedule

from weft import api
from weft.dsl.diagnostics import Source, WeftError
from weft.pipeline import checked_schedule
from weft.runtime.run.execution import RunOptions

SHAPES = [(7,), (3, 5), (2, 3, 4), (2, 3, 2, 3), (2, 1, 3, 2, 2)]


def payload(shapes: list[tuple[int, ...]]) -> str:
    """An exp of each shape, and the sum of its last axis."""
    lines, given, results, types = ["%zero = arith.constant 0.0 : f32"], [], [], []
    for n, shape in enumerate(shapes):
        whole, rows = (f"tensor<{'x'.join([*map(str, each), 'f32'])}>" for each in (shape, shape[:-1]))
        given.append(f"%x{n}: {whole}")
        lines += [
            f"%e{n} = tensor.empty() : {whole}",
            f"%y{n} = linalg.exp ins(%x{n} : {whole}) outs(%e{n} : {whole}) -> {whole}",
        ]
        results, types = [*results, f"%y{n}"], [*types, whole]
        if len(shape) > 1:
            lines += [
                f"%r{n} = tensor.empty() : {rows}",
                f"%i{n} = linalg.fill ins(%zero : f32) outs(%r{n} : {rows}) -> {rows}",
                f"%s{n} = linalg.reduce {{ arith.addf }} ins(%x{n} : {whole}) outs(%i{n} : {rows}) dimensions = [{len(shape) - 1}]",
            ]
            results, types = [*results, f"%s{n}"], [*types, rows]
    body = "\n  ".join([*lines, f"return {', '.join(results)} : {', '.join(types)}"])
    return f"func.func @f({', '.join(given)}) -> ({', '.join(types)}) {{\n  {body}\n}}\n"


@pytest.mark.parametrize("size", [1, 2])
def test_one_schedule_for_all_ranks(tmp_path: Path, size: int) -> None:
    """Also in tiles that do not divide, and where a reduction comes after the parallel dimensions."""
    (tmp_path / "p.mlir").write_text(payload(SHAPES))
    (tmp_path / "s.weft").write_text(f"""
    payload "p.mlir"
    schedule each(op: handle) {{
      let init = match? fill producer of op
      let (tiles, part) = tile op [{size}, ...]
      fuse init into tiles
      map tiles to blocks(x)
      let (lanes, one) = tile part [1, ...]
      fuse init into lanes
      map lanes to threads(x)
      launch tiles
    }}
    schedule s() {{
      let ops = match* elementwise or reduction
      foreach op in ops {{ each(op) }}
    }}
    """)
    done = run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim"))
    assert done.report.ok and len(done.report.kernels) == 2 * len(SHAPES) - 1


def source(sizes: str) -> str:
    return f"schedule s() {{\n  let op = match contraction\n  let (loop, one) = tile op [{sizes}]\n}}\n"


def test_sizes_of_the_last_dimensions() -> None:
    """They tile the reduction of a product, and of a batch of products."""
    for batch, whole in (("", "_, _, 8"), ("2x", "_, _, _, 8")):
        a, b, c = (f"tensor<{batch}{shape}xf32>" for shape in ("6x20", "20x5", "6x5"))
        name = "linalg.batch_matmul" if batch else "linalg.matmul"
        payload = f"func.func @f(%a: {a}, %b: {b}, %c: {c}) -> {c} {{\n"
        payload += f"  %r = {name} ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}\n  return %r : {c}\n}}\n"
        texts = {
            sizes: api.apply(source(sizes), payload=payload).text
            for sizes in ("..., 8", whole)
        }
        assert texts["..., 8"] == texts[whole] and "scf.for" in texts[whole]


@pytest.mark.parametrize("sizes", ["...", "1, ..., 2", "..., 1, ..."])
def test_dots_elsewhere_are_refused(sizes: str) -> None:
    with pytest.raises(WeftError, match=r"W0232: `...` comes after the last size, which it repeats, or before the first"):
        checked_schedule(Source("s.weft", source(sizes)))


def test_one_axis_takes_a_loop_of_the_payload_in_a_row(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text("""
func.func @f(%x: memref<3x4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.parallel (%i, %j, %k) = (0, 0, 0) to (3, 4, 5) {
    affine.store %zero, %x[%i, %j, %k] : memref<3x4x5xf32>
  }
  return
}
""")
    (tmp_path / "s.weft").write_text("""
    payload "p.mlir"
    schedule s() {
      let loop = match affine.parallel
      map loop to grid(x: 16) cyclic
      launch loop
    }
    """)
    done = run_schedule(str(tmp_path / "s.weft"), None, {}, None, RunOptions("sim"))
    assert done.report.ok and "3 × 4 × 5 iterations in a row" in [line for step in done.steps for line in step.remarks]
