"""Schedules over many convolution layers: on parts the same as on the whole, and each launch no dearer in a longer program."""

from __future__ import annotations

from itertools import pairwise

import pytest
from work import lines_run

from weft.dsl.diagnostics import Source
from weft.interpreter.focus import sections
from weft.interpreter.session.session import Session
from weft.pipeline import Choice, opened
from weft.runtime.cuda.module import emit

BEFORE_THE_FIRST = """schedule layers() {
  foreach conv in match* convolution {
    let init = match? producer of conv.acc
    assume conv.lhs.3 % 4 == 0
    let gemm = as-gemm conv
    let (tiles, tile) = tile gemm [64, 32]
    fuse init into tiles
    map tiles to blocks(y, x)
  }
}
"""


def program(count: int, *, different: bool, relu: bool = False) -> Source:
    """Convolutions in a chain, each into a tensor of zeros, and each with a maximum after it where `relu`."""
    widths = [4 * (1 + (3 * n % 7 if different else 1)) for n in range(count + 1)]
    images = [f"tensor<1x8x8x{width}xf32>" for width in widths]
    filters = [f"tensor<1x1x{c}x{f}xf32>" for c, f in pairwise(widths)]
    lines, last = ["%zero = arith.constant 0.0 : f32"], "%x"
    for n, (image, made, weights) in enumerate(zip(images, images[1:], filters, strict=False)):
        lines.append(f"%e{n} = tensor.empty() : {made}")
        lines.append(f"%i{n} = linalg.fill ins(%zero : f32) outs(%e{n} : {made}) -> {made}")
        lines.append(
            f"%c{n} = linalg.conv_2d_nhwc_hwcf ins({last}, %w{n} : {image}, {weights}) outs(%i{n} : {made}) -> {made}"
        )
        last = f"%c{n}"
        if relu:
            lines.append(f"%r{n} = linalg.max ins({last}, %i{n} : {made}, {made}) outs(%e{n} : {made}) -> {made}")
            last = f"%r{n}"
    given = ", ".join((f"%x: {images[0]}", *(f"%w{n}: {kind}" for n, kind in enumerate(filters))))
    body = "\n".join((*lines, f"return {last} : {images[-1]}"))
    return Source("layers.mlir", f"func.func @layers({given}) -> {images[-1]} {{\n{body}\n}}\n")


def choice(text: str, payload: Source) -> Choice:
    return (
        Choice("", text=Source("layers.weft", text), program=payload)
        if text
        else Choice("", program=payload).of_program()
    )


def session(text: str, payload: Source) -> Session:
    return opened(choice(text, payload).open()).session


def result(text: str, payload: Source) -> tuple[list[tuple[str, ...]], list[str], str]:
    """The remarks of each step, the lines of the module, with constants in any order, and the text of its kernels."""
    done = opened(choice(text, payload).open())
    done.session.run()
    return [step.remarks for step in done.session.steps], sorted(done.text.splitlines()), emit(done.module)


IGEMM = """include "weft:conv2d/igemm"
schedule layers() {
  foreach conv in match* convolution {
    let init = match? fill of conv.acc
    igemm(conv = conv, init = init)
  }
}
"""
SCHEDULES = {"rest": "", "igemm": IGEMM, "before the first launch": BEFORE_THE_FIRST}


@pytest.mark.few(3)
@pytest.mark.parametrize("different", [False, True])
@pytest.mark.parametrize(
    ("schedule", "relu"),
    [
        ("rest", False),
        ("rest", True),
        ("igemm", False),
        ("before the first launch", False),
        ("before the first launch", True),
    ],
)
def test_layers_in_parts_become_what_the_whole_becomes(
    schedule: str, relu: bool, different: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    payload = program(3, different=different, relu=relu)
    whole = result(SCHEDULES[schedule], payload)
    monkeypatch.setattr(sections, "LARGE", 0)
    assert result(SCHEDULES[schedule], payload) == whole


def test_a_launch_costs_the_same_in_a_longer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of Python for each launch, in programs of 10 and of 40 layers."""
    monkeypatch.setattr(sections, "LARGE", 0)
    lines = []
    for count in (1, 10, 40):  # the first loads what is loaded late
        lines.append(lines_run(session("", program(count, different=True)).run)[1] / count)
    assert lines[2] < 1.15 * lines[1], lines


def test_statements_on_a_layer_cost_the_same_in_a_longer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of Python for the statements after the third `as-gemm`, up to the fourth: in programs of 10 and of 40 layers."""
    monkeypatch.setattr(sections, "LARGE", 0)
    lines = []
    for count in (10, 40):
        made, total = session(IGEMM, program(count, different=True)), 0
        while (made_products := sum(step.keyword == "as-gemm" for step in made.steps)) < 4:
            if made_products == 3:
                total += lines_run(made.step)[1]
            else:
                made.step()
        lines.append(total)
    assert lines[1] < 1.15 * lines[0], lines
