"""Each launch beside its part of the payload: an error that a later launch hides is found, and named by the launch that makes it;
and what a kernel computes in another way, or only in part, is not taken for one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from weft.comparison.comparison import compared
from weft.dsl.diagnostics import Diagnostic, WeftError
from weft.interpreter.ir import cloning
from weft.interpreter.ir.mlir import ir, operations
from weft.pipeline import Choice, Planned, applied, planned


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was compared before."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))


def made(folder: Path, payload: str, schedule: str) -> Planned:
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{schedule}}}\n')
    return planned(applied(Choice(str(folder / "s.weft")).open()))


def refused(made: Planned) -> Diagnostic:
    with pytest.raises(WeftError) as error:
        compared(made, None)
    (found,) = error.value.diagnostics
    assert found.code == "W0080", found
    return found


# ---- kernels of which one is wrong -------------------------------------------------------------------------------------


Mutation = Callable[[ir.Operation], None]


def wrong_numbers(kernel: ir.Operation) -> None:
    """Other constants of floats."""
    for op in operations(kernel, "arith.constant"):
        if isinstance(value := op.attributes["value"], ir.FloatAttr):
            op.attributes["value"] = ir.FloatAttr.get(value.type, value.value + 3.0, loc=op.location)


def wrong_arithmetic(kernel: ir.Operation) -> None:
    """A product is its first factor, a sum its first term."""
    for op in operations(kernel, "arith.mulf", "arith.addf"):
        op.results[0].replace_all_uses_with(op.operands[0])


def loop_ends_early(kernel: ir.Operation) -> None:
    """The last iteration of the first loop is left out."""
    loop = next(iter(operations(kernel, "scf.for")))
    end = ir.IntegerAttr(loop.operands[1].owner.operation.attributes["value"]).value
    with ir.InsertionPoint(loop), loop.location:
        less = ir.IntegerAttr.get(ir.IndexType.get(), end - 1)
        loop.operands[1] = ir.Operation.create("arith.constant", [ir.IndexType.get()], attributes={"value": less}).results[0]


@pytest.fixture
def wrongly(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Mutation], None]:
    """Have a kernel of every scheduled module changed, by its number."""

    def have(number: int, mutation: Mutation) -> None:
        right = cloning.strip_tags

        def wrong(module: ir.Module) -> ir.Module:
            stripped = right(module)
            mutation(list(operations(stripped.operation, "gpu.func"))[number])
            return stripped

        monkeypatch.setattr(cloning, "strip_tags", wrong)

    return have


def tensors(body: str, *, constant: str = "0.0", kind: str = "f32") -> str:
    """P = A·B (40x24 by 24x16), and R of each element `%x` of it."""
    return f"""
#id = affine_map<(i, j) -> (i, j)>
func.func @f(%A: tensor<40x24x{kind}>, %B: tensor<24x16x{kind}>) -> tensor<40x16x{kind}> {{
  %z = arith.constant 0.0 : {kind}
  %c = arith.constant {constant} : {kind}
  %e = tensor.empty() : tensor<40x16x{kind}>
  %init = linalg.fill ins(%z : {kind}) outs(%e : tensor<40x16x{kind}>) -> tensor<40x16x{kind}>
  %P = linalg.matmul ins(%A, %B : tensor<40x24x{kind}>, tensor<24x16x{kind}>) outs(%init : tensor<40x16x{kind}>)
    -> tensor<40x16x{kind}>
  %R = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%P : tensor<40x16x{kind}>) outs(%e : tensor<40x16x{kind}>) {{
  ^bb0(%x: {kind}, %o: {kind}):
    {body}
    linalg.yield %y : {kind}
  }} -> tensor<40x16x{kind}>
  return %R : tensor<40x16x{kind}>
}}
"""


PRODUCT_THEN_REST = """
  let gemm = match linalg.matmul
  let init = match linalg.fill
  let rest = match linalg.generic
  let (tiles, one) = tile gemm [8, 8]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (each, element) = tile one [1, 1]
  fuse init into each
  map each to threads(y, x)
  let (rows, row) = tile rest [8, 16]
  map rows to blocks(y, x)
  map row to threads(y, x)
  insert-barriers
  launch tiles
  launch rows
"""

HIDING = {
    "a product with 0": ("%y = arith.mulf %x, %c : f32", "0.0"),
    "a maximum": ("%y = arith.maximumf %x, %c : f32", "1.0e9"),
    "a comparison": ("%b = arith.cmpf ogt, %x, %c : f32\n    %y = arith.uitofp %b : i1 to f32", "1.0e9"),
    "a function that saturates": ("%y = math.tanh %c : f32\n    %u = arith.addf %x, %x : f32", "1.0e9"),
}


@pytest.mark.parametrize("hiding", HIDING)
def test_an_error_that_a_later_launch_hides(tmp_path: Path, wrongly: Callable[[int, Mutation], None], hiding: str) -> None:
    body, constant = HIDING[hiding]
    payload = tensors(body, constant=constant)
    right = compared(made(tmp_path, payload, PRODUCT_THEN_REST), None)
    assert right.summary is not None and right.summary.endswith("2 of 2 kernels")
    wrongly(0, loop_ends_early)
    found = refused(made(tmp_path, payload, PRODUCT_THEN_REST))
    assert found.message.endswith("`P` differs after the launch of @f")
    assert any("launch 1 of 2, of @f: `P` is not what linalg.matmul at" in note for note in found.notes), found.notes


def test_the_launch_is_named_where_outputs_differ_too(tmp_path: Path, wrongly: Callable[[int, Mutation], None]) -> None:
    payload = tensors("%y = arith.maximumf %x, %c : f32")
    wrongly(0, wrong_arithmetic)
    found = refused(made(tmp_path, payload, PRODUCT_THEN_REST))
    assert found.message.endswith("`result0` differs, and before that `P` after the launch of @f")


def test_a_later_launch_that_is_wrong(tmp_path: Path, wrongly: Callable[[int, Mutation], None]) -> None:
    payload = tensors("%y = arith.mulf %x, %c : f32", constant="2.0")
    wrongly(1, wrong_arithmetic)
    found = refused(made(tmp_path, payload, PRODUCT_THEN_REST))
    assert found.message.endswith("`result0` differs")


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_halves_on_the_way(tmp_path: Path, wrongly: Callable[[int, Mutation], None], kind: str) -> None:
    """A sum of products in halves, of random numbers, since an exponential comes after it; and what is off by that is right."""
    payload = tensors(f"%u = math.exp %x : {kind}\n    %y = arith.mulf %u, %c : {kind}", kind=kind)
    assert compared(made(tmp_path, payload, PRODUCT_THEN_REST), None).equal
    wrongly(0, wrong_numbers)
    assert "after the launch of @f" in refused(made(tmp_path, payload, PRODUCT_THEN_REST)).message


BUFFERS = """
func.func @g(%x: memref<6x32xf32>, %y: memref<6x32xf32>) {
  %c2 = arith.constant 2.0 : f32
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<6x32xf32>
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 32 {
      %a = affine.load %x[%i, %j] : memref<6x32xf32>
      %b = arith.mulf %a, %c2 : f32
      affine.store %b, %t[%i, %j] : memref<6x32xf32>
    }
  }
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 16 {
      %a = affine.load %t[%i, %j] : memref<6x32xf32>
      %b = arith.addf %a, %c2 : f32
      affine.store %b, %t[%i, %j] : memref<6x32xf32>
    }
  }
  affine.for %i = 0 to 6 {
    affine.for %j = 0 to 32 {
      %a = affine.load %t[%i, %j] : memref<6x32xf32>
      %b = arith.mulf %a, %zero : f32
      affine.store %b, %y[%i, %j] : memref<6x32xf32>
    }
  }
  memref.dealloc %t : memref<6x32xf32>
  return
}
"""
LOOPS = """
  let one = match affine.for #0
  let two = match affine.for #2
  let three = match affine.for #4
  map one to blocks(x)
  map two to blocks(x)
  map three to blocks(x)
  launch one
  launch two
  launch three
"""


@pytest.mark.parametrize("number", [0, 1])
def test_buffers_of_the_payload(tmp_path: Path, wrongly: Callable[[int, Mutation], None], number: int) -> None:
    """A buffer that two launches write: both are compared."""
    right = compared(made(tmp_path, BUFFERS, LOOPS), None)
    assert right.summary is not None and right.summary.endswith("3 of 3 kernels")
    wrongly(number, wrong_arithmetic)
    name = "@g" if number == 0 else "@g_1"
    found = refused(made(tmp_path, BUFFERS, LOOPS))
    assert found.message.endswith(f"`t` differs after the launch of {name}")


# ---- what is no error ----------------------------------------------------------------------------------------------------

SCALED = """
#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
func.func @f(%A: tensor<16x16xf32>) -> {types} {{
  %c = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %P = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%A : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %c : f32
    linalg.yield %y : f32
  }} -> tensor<16x16xf32>
{rest}
}}
"""
PART = SCALED.format(
    types="tensor<8x16xf32>",
    rest="""  %S = tensor.extract_slice %P[8, 0] [8, 16] [1, 1] : tensor<16x16xf32> to tensor<8x16xf32>
  %h = tensor.empty() : tensor<8x16xf32>
  %R = linalg.exp ins(%S : tensor<8x16xf32>) outs(%h : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %R : tensor<8x16xf32>""",
)
TRANSPOSED = SCALED.format(
    types="(tensor<16x16xf32>, tensor<16x16xf32>)",
    rest="""  %T = linalg.generic {indexing_maps = [#id, #swapped], iterator_types = ["parallel", "parallel"]}
      ins(%P : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<16x16xf32>
  %R = linalg.exp ins(%T : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %R, %P : tensor<16x16xf32>, tensor<16x16xf32>""",
)


def launched(*ops: str) -> str:
    """Each of the ops in a launch of its own."""
    lines = [f"  let op{n} = match {op}\n  let (a{n}, b{n}) = tile op{n} [8, 8]\n" for n, op in enumerate(ops)]
    lines += [f"  map a{n} to blocks(y, x)\n  map b{n} to threads(y, x)\n" for n in range(len(ops))]
    return "".join([*lines, "  insert-barriers\n", *(f"  launch a{n}\n" for n in range(len(ops)))])


@pytest.mark.parametrize(
    ("payload", "schedule", "kernels"),
    [
        (PART, launched("linalg.generic", "linalg.exp"), "2 of 2 kernels"),
        (TRANSPOSED, launched("linalg.generic #0", "linalg.generic #1", "linalg.exp"), "3 of 3 kernels"),
    ],
    ids=["a part is used", "transposed"],
)
def test_what_is_right(tmp_path: Path, payload: str, schedule: str, kernels: str) -> None:
    found = compared(made(tmp_path, payload, schedule), None)
    assert found.summary is not None and found.summary.endswith(kernels)


@pytest.mark.parametrize(
    ("name", "settings", "kernels"),
    [
        ("simt_split_k", {"m": "64", "n": "64", "k": "128"}, "1 of 2 kernels alone, the others together with later ones"),
        ("scan", {"n": "200000"}, "2 of 4 kernels alone, the others together with later ones"),
        ("concurrent_convs", {}, "3 of 3 kernels"),
    ],
)
def test_launches_that_share_an_op_are_judged_together(name: str, settings: dict[str, str], kernels: str) -> None:
    """Parts of a sum are no value of the payload."""
    found = compared(planned(applied(Choice(name, settings=settings).open())), None)
    assert found.summary is not None and found.summary.endswith(kernels)
