"""`pack`: products of copies compute what the payload does, in every order of its operands, at ragged and at open sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from native_device import NativeDevice

from weft.dsl.diagnostics import WeftError
from weft.interpreter.ir.mlir import operations
from weft.pipeline import Choice, Planned, applied, planned
from weft.runtime.cpu.reference import reference
from weft.runtime.files.inputs import random_inputs, sized
from weft.runtime.host.functions import signature
from weft.runtime.run.compare import compare
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice

ORDERS = {
    "A·B": ("(i, j, k) -> (i, k)", "(i, j, k) -> (k, j)"),
    "Aᵀ·B": ("(i, j, k) -> (k, i)", "(i, j, k) -> (k, j)"),
    "A·Bᵀ": ("(i, j, k) -> (i, k)", "(i, j, k) -> (j, k)"),
    "the sum in front": ("(k, i, j) -> (i, k)", "(k, i, j) -> (k, j)"),
}
SUMS = {"f32": "f32", "f16": "f32", "i8": "i32"}
SIZES = {"i": 20, "j": 37, "k": 29}

SCHEDULE = """
payload "product.mlir"

schedule by_rows(copied: handle) {{
  let (rows, row) = tile copied {tile}
  map rows to blocks({axes})
  map row to threads(x: 32) cyclic
  return rows
}}

schedule packed() {{
  let gemm = match linalg.generic
  let init = match linalg.fill
  let (product, lhs, rhs) = pack gemm {as_type} {align}
  let a = by_rows(lhs)
  let b = by_rows(rhs)
  {early}
  let (tiles, tile) = tile product [8, 8]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (elements, one) = tile tile [1, 1]
  map elements to threads(y, x)
  map init to threads(y: 8, x: 8) cyclic
  insert-barriers
  launch tiles
  {late}
}}
"""


def payload_of(order: str, kind: str, *, is_open: bool) -> str:
    """A generic product in that order of dimensions."""
    total, (a, b) = SUMS[kind], ORDERS[order]
    dimensions = a.split(" -> ")[0]

    def axes(along: str) -> list[str]:
        return along.split(" -> ")[1].strip("()").split(", ")

    def tensor(along: str, element: str) -> str:
        sizes = ("?" if is_open else str(SIZES[d]) for d in axes(along))
        return f"tensor<{'x'.join(sizes)}x{element}>"

    of_a, of_b, of_c = tensor(a, kind), tensor(b, kind), tensor(f"{dimensions} -> (i, j)", total)
    extend = {"f32": ("", ""), "i8": ("extsi", "i"), "f16": ("extf", "f")}[kind]
    wide = ("%a", "%b") if kind == total else ("%x", "%y")
    extended = "".join(
        f"    {to} = arith.{extend[0]} {of} : {kind} to {total}\n" for to, of in zip(wide, ("%a", "%b"), strict=True) if to != of
    )
    letter = "i" if total == "i32" else "f"
    iterators = ", ".join(f'"{"reduction" if d == "k" else "parallel"}"' for d in dimensions.strip("()").split(", "))
    dims = "".join(
        f"  %{d}a = arith.constant {axes(along).index(d)} : index\n  %{d}n = tensor.dim {of}, %{d}a : {tensor(along, kind)}\n"
        for d, of, along in (("i", "%A", a), ("j", "%B", b))
    )
    return f"""
func.func @product(%A: {of_a}, %B: {of_b}) -> {of_c} {{
  %zero = arith.constant {"0" if total == "i32" else "0.0"} : {total}
{dims if is_open else ""}  %empty = tensor.empty({"%in, %jn" if is_open else ""}) : {of_c}
  %init = linalg.fill ins(%zero : {total}) outs(%empty : {of_c}) -> {of_c}
  %C = linalg.generic {{indexing_maps = [affine_map<{a}>, affine_map<{b}>, affine_map<{dimensions} -> (i, j)>],
      iterator_types = [{iterators}]}} ins(%A, %B : {of_a}, {of_b}) outs(%init : {of_c}) {{
  ^bb0(%a: {kind}, %b: {kind}, %c: {total}):
{extended}    %p = arith.mul{letter} {wide[0]}, {wide[1]} : {total}
    %s = arith.add{letter} %c, %p : {total}
    linalg.yield %s : {total}
  }} -> {of_c}
  return %C : {of_c}
}}
"""


def packed(
    folder: Path, order: str, kind: str = "f32", as_type: str = "", *, is_open: bool = False, align: str = ""
) -> Planned:
    (folder / "product.mlir").write_text(payload_of(order, kind, is_open=is_open))
    tile, axes = ("[4, 1, 8]", "x, z, y") if as_type else ("[4, 8]", "x, y")
    said = {"as_type": as_type and f"as {as_type}", "align": align, "tile": tile, "axes": axes}
    said |= {"late" if align else "early": "launch a\n  launch b", "early" if align else "late": ""}
    (folder / "packed.weft").write_text(SCHEDULE.format(**said))
    return planned(applied(Choice(str(folder / "packed.weft")).open()))


def error_of(done: Planned, *devices: SimDevice | NativeDevice) -> float:
    """The worst of the devices', which race nowhere."""
    payload = signature(done.applied.payload)
    sizes = {"A.0": "20", "B.1": "37", "A.1": "29"} if done.plan.agreements else {}
    arrays = random_inputs(sized(payload, sizes, done.plan.agreements, None), 1)
    wanted, errors = reference(done.applied.payload, None, dict(arrays)), []
    for device in devices or (SimDevice(),):
        ran = run_plan(done.plan, device, arrays, text=done.cuda if device.wants == "cuda" else done.applied.located_text)
        assert not ran.races and not ran.faults
        errors.append(compare(payload, ran.outputs, wanted, rounded=done.plan.rounded).max_rel_error)
    return max(errors)


@pytest.mark.few()
@pytest.mark.parametrize("kind", SUMS)
@pytest.mark.parametrize("order", ORDERS)
def test_transposed(order: str, kind: str, tmp_path: Path) -> None:
    done = packed(tmp_path, order, kind)
    assert error_of(done) <= (0 if kind == "i8" else 1e-6)
    copies = len(done.plan.launches) - 1
    assert copies == {"A·B": 1, "Aᵀ·B": 2, "A·Bᵀ": 0, "the sum in front": 1}[order]


@pytest.mark.few(3)
@pytest.mark.parametrize(("as_type", "most"), [("bf16x3", 2e-5), ("3xtf32", 1e-6)])
@pytest.mark.parametrize("order", ORDERS)
def test_in_parts(order: str, as_type: str, most: float, tmp_path: Path) -> None:
    assert error_of(packed(tmp_path, order, "f32", as_type), SimDevice(), NativeDevice()) <= most


@pytest.mark.parametrize("as_type", ["", "bf16x3", "3xtf32"])
def test_open_sizes(as_type: str, tmp_path: Path) -> None:
    assert error_of(packed(tmp_path, "A·B", "f32", as_type, is_open=True)) <= 2e-5


@pytest.mark.parametrize(("as_type", "hint"), [("f16", "`mma … as f16`"), ("f64", "None")])
def test_other_types(as_type: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(WeftError, match=f"W0478: operands are not copied `as {as_type}`") as refused:
        packed(tmp_path, "A·B", "f32", as_type)
    assert hint in str(refused.value.diagnostics[0].hint)


BOXES = """
payload matmul(m = 64, n = 64, k = 6)

schedule boxes() {
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let (product, lhs, rhs) = pack gemm as bf16x3
  let (tiles, tile_mm) = tile product [64, 64]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, 64]
  let (a, copy_a) = promote-to-shared step.lhs swizzle 128
  let (b, copy_b) = promote-to-shared step.rhs swizzle 128
  map copy_a to tma
  map copy_b to tma
  let (groups, group_mm) = tile step [64, _]
  map groups to warpgroups(y)
  let one = mma group_mm [64, 64, 16]
  promote-to-registers one.acc across k
  insert-barriers
}
"""


def test_rows_that_tensor_maps_have(tmp_path: Path) -> None:
    """The copies' rows of 36 bytes take up 48, and nothing behind the 36 is read: the maps end there."""
    (tmp_path / "boxes.weft").write_text(BOXES.replace("bf16x3", "bf16x3 align 16"))
    module = applied(Choice(str(tmp_path / "boxes.weft")).open()).module
    held = {str(op.results[0].type) for op in operations(module.operation, "memref.alloc")}
    assert {"memref<64x24xbf16>"} <= held, held


@pytest.mark.few()
@pytest.mark.parametrize("as_type", ["", "bf16x3", "3xtf32"])
@pytest.mark.parametrize(("order", "is_open"), [*((order, False) for order in ORDERS), ("A·B", True)])
def test_aligned(order: str, is_open: bool, as_type: str, tmp_path: Path) -> None:
    """Rows of 29 elements, whose copies begin at multiples of 16 bytes; an operand that lies right is copied, too, unless its rows
    do so."""
    done = packed(tmp_path, order, "f32", as_type, is_open=is_open, align="align 16")
    assert error_of(done, SimDevice(), NativeDevice()) <= 2e-5
    assert {name for name in ("A", "B") if f"{name}_packed" in done.cuda} == {"A", "B"}


def test_what_is_aligned_is_left_alone(tmp_path: Path) -> None:
    done = packed(tmp_path, "A·Bᵀ", "f32", align="align 4")
    assert "_packed" not in done.cuda


def test_an_alignment_of_parts_of_elements(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match="W0476: `align 6` ends within an element: those of f32 have 4 bytes"):
        packed(tmp_path, "A·B", "f32", align="align 6")


def test_rows_of_copies_that_no_tensor_map_has(tmp_path: Path) -> None:
    (tmp_path / "boxes.weft").write_text(BOXES)
    with pytest.raises(WeftError, match="W0405: the copy reads `A_packed` with rows 36 bytes apart"):
        applied(Choice(str(tmp_path / "boxes.weft")).open())
