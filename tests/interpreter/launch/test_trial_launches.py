"""What `insert-barriers` has tried is what `launch` makes where nothing has changed: the kernel that it would have made anyway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weft.dsl.diagnostics import WeftError
from weft.dsl.parser import parse_items
from weft.interpreter.hardware.lanes import BARRIERS
from weft.interpreter.ir import mlir
from weft.interpreter.launch import launch, templates
from weft.pipeline import Applied, Choice, applied

RAGGED = {"m": "70", "n": "50", "k": "37"}
CONVOLUTION = {"n": "1", "h": "10", "w": "9", "c": "8", "filters": "24"}
RECIPES = {
    # settings; how many kernels there are; how often one is materialized: once each, and once more where the launch of the first
    # changes what the host has of constants
    "shared": (RAGGED, 1, 1),
    "simt": (RAGGED, 1, 1),
    "simt_pipelined": ({}, 1, 1),
    "simt_split_k": ({}, 2, 3),
    "tensor": ({}, 1, 1),
    "tensor_split_k": (RAGGED, 2, 3),
    "hopper": ({"m": "128", "n": "256", "k": "64"}, 1, 2),
    "igemm": ({}, 1, 1),
    "igemm_bias_relu": ({}, 1, 1),
    "naive": (RAGGED, 1, 1),
}
CHAIN = """
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.add ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.mul ins(%t, %t : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""
WARPS = """
  fuse sum into tiles
  map tiles to blocks(y, x)
  let (warps, part) = tile one [4, 32]
  map warps to warps(y, x)
  fuse sum into warps
  map sum to lanes cyclic
  map part to LANES
"""
THREADS = """
  fuse sum into tiles
  map tiles to BLOCKS
  map sum to threads(x: 64) cyclic
  map one to THREADS
"""
CHAINS = {
    # what stands between `tile` and `insert-barriers`; how many barriers there are; how often a kernel is materialized
    "lanes of a warp": (WARPS.replace("LANES", "lanes cyclic"), 0, 2),
    "lanes of a warp, in another way": (WARPS.replace("LANES", "lanes block"), 1, 2),
    "threads": (THREADS.replace("THREADS", "threads(x: 64) cyclic").replace("BLOCKS", "blocks(y, x)"), 0, 1),
    "threads, in another way": (THREADS.replace("THREADS", "threads(x: 64) block").replace("BLOCKS", "blocks(y, x)"), 1, 1),
    "surplus blocks": (THREADS.replace("THREADS", "threads(x: 64) block").replace("BLOCKS", "blocks(y: 5, x: 3) cyclic"), 1, 1),
    "a guard, and nothing to order": (
        THREADS.replace("THREADS", "threads(x: 64) cyclic").replace("BLOCKS", "blocks(y: 5, x: 3) cyclic"), 0, 2,
    ),
}  # fmt: skip


def made(choice: Choice, monkeypatch: pytest.MonkeyPatch, *, afresh: bool = False) -> tuple[Applied, int]:
    """The schedule, applied; and how often a kernel was materialized. `afresh`: nothing that was tried is used."""
    count = 0
    materialize = launch.materialize

    def counted(*given: Any) -> templates.Materialized:
        nonlocal count
        count += 1
        return materialize(*given)

    with monkeypatch.context() as patched:
        patched.setattr(launch, "materialize", counted)
        if afresh:
            patched.setattr(templates, "keep", lambda *given: None)
        return applied(choice.open()), count


def seen(done: Applied) -> tuple[str, list[tuple[str, ...]]]:
    """The module with the places of its ops, and the remarks."""
    return done.located_text, [step.remarks for step in done.session.steps]


@pytest.mark.few(3)
@pytest.mark.parametrize("name", RECIPES)
def test_recipes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, kernels, times = RECIPES[name]
    tried, count = made(Choice(name, settings=settings), monkeypatch)
    assert len(list(mlir.operations(tried.module.operation, "gpu.func"))) == kernels
    afresh, more = made(Choice(name, settings=settings), monkeypatch, afresh=True)
    assert seen(tried) == seen(afresh)
    barriers = any(step.keyword == "insert-barriers" for step in tried.session.steps)
    assert (count, more) == (times, kernels * (1 + barriers))


@pytest.mark.parametrize("name", CHAINS)
def test_what_barriers_that_are_not_kept_have_changed_is_made_anew(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They split loops over warps, and stand in what guards all that a block does; barriers of warps have come in their place."""
    body, barriers, times = CHAINS[name]
    choice = written(tmp_path, body + "insert-barriers\nlaunch tiles")
    tried, count = made(choice, monkeypatch)
    assert sum(map(tried.text.count, BARRIERS)) == barriers
    assert count == times
    assert seen(tried) == seen(made(choice, monkeypatch, afresh=True)[0])


def written(folder: Path, body: str) -> Choice:
    (folder / "p.mlir").write_text(CHAIN)
    head = "let sum = match linalg.add\nlet mul = match linalg.mul\nlet (tiles, one) = tile mul [16, 32]\n"
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n{head}{body}\n}}\n')
    return Choice(str(folder / "s.weft"))


# ---- statements between -----------------------------------------------------------------------------------------------------

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
  insert-barriers
  BETWEEN
  launch tiles END
}
"""
REPLACED = """transform {
    %found = transform.structured.match ops{["OP"]} in %root : (!transform.any_op) -> !transform.any_op
    %made = transform.structured.replace %found { NEW } : (!transform.any_op) -> !transform.any_op
  }"""
MARKED = """transform {
    %found = transform.structured.match ops{["OP"]} in %root : (!transform.any_op) -> !transform.any_op
    %value = transform.param.constant VALUE -> !transform.any_param
    transform.annotate %found "NAME" = %value : !transform.any_op, !transform.any_param
  }"""
BETWEEN = {
    # a statement; what is in the text of the kernel behind it that was not there, or is gone; whether it is proven again
    "unroll k by 2": ("weft.unroll = 2", True),
    "vectorize one": ("", True),
    'run-pass "cse"': ("", False),
    REPLACED.replace("OP", "gpu.barrier").replace("NEW", "gpu.barrier"): ("gpu.barrier\n", True),
    MARKED.replace("OP", "memref.alloc").replace("VALUE", "32 : i64").replace("NAME", "weft.swizzle"): ("", True),
    MARKED.replace("OP", "memref.alloc").replace("VALUE", '"Q"').replace("NAME", "weft.name"): ('weft.name = "Q"', True),
}


@pytest.mark.parametrize("between", BETWEEN)
def test_a_statement_between(between: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it changes is in the kernel, as if nothing had been tried."""
    said, changes = BETWEEN[between]
    plain, _ = made(shared(tmp_path, ""), monkeypatch)
    choice = shared(tmp_path, between)
    tried, count = made(choice, monkeypatch)
    afresh, _ = made(choice, monkeypatch, afresh=True)
    assert tried.located_text == afresh.located_text
    assert count == 1 + changes
    assert said in tried.text
    assert not said or said not in plain.text


def test_a_barrier_that_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stands for it: the kernel has none, and is refused."""
    narrowed = REPLACED.replace("OP", "gpu.barrier").replace("NEW", "gpu.barrier memfence []")
    with pytest.raises(WeftError) as caught:
        made(shared(tmp_path, narrowed), monkeypatch)
    assert caught.value.diagnostics[0].code == "W0601"
    let, _ = made(shared(tmp_path, narrowed, "unproven"), monkeypatch)
    assert let.text.count("gpu.barrier memfence []") == 2 and let.unproven


def test_options_of_the_launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are of the kernel at hand, and not of the one that is remembered."""
    plain, once = made(shared(tmp_path, ""), monkeypatch)
    capped, again = made(shared(tmp_path, "", "max-registers 64"), monkeypatch)
    assert (once, again) == (1, 1)
    assert "weft.max_registers = 64" in capped.text and "weft.max_registers" not in plain.text


def test_back_and_forth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undone, changed, and done again: each time the kernel of what stands there."""
    other = "unroll k by 2"
    texts = {between: made(shared(tmp_path, between), monkeypatch)[0].session.ir for between in ("", other)}
    session = made(shared(tmp_path, ""), monkeypatch)[0].session
    session.undo()
    for change in (other, "", other):
        fork = session.fork()
        if change:
            fork.do(parse_items(change, "typed"))
        fork.run()
        assert fork.ir == texts[change]
    session.goto(0)
    session.run()
    assert session.ir == texts[""]


def shared(folder: Path, between: str, end: str = "") -> Choice:
    (folder / "s.weft").write_text(SHARED.replace("BETWEEN", between).replace("END", end))
    return Choice(str(folder / "s.weft"))
