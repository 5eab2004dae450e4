"""`fuse` through `linalg.broadcast` and `linalg.transpose`: the loop reads the source; `bufferize` lets loops read arguments so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from judged import codes, program, refusal

Move = tuple[str, list[int]]


def tensor(shape: Sequence[int | str]) -> str:
    return f"tensor<{''.join(f'{n}x' for n in shape)}f32>"


def payload(shape: list[int | str], moves: Sequence[Move], last: list[int | str], *, made: bool = True) -> str:
    """`p`, of the first shape, is an argument's square root (or the argument), broadcast and transposed, and added to `b`."""
    lines, value, old = [], "%a", shape

    def empty(name: str, kind: list[int | str]) -> str:
        axis = "".join("%n" for n in kind if n == "?")
        return f"{name} = tensor.empty({axis}) : {tensor(kind)}"

    if made:
        lines += [empty("%e", shape), f"%p = linalg.sqrt ins(%a : {tensor(shape)}) outs(%e : {tensor(shape)}) -> {tensor(shape)}"]
        value = "%p"
    for n, (name, axes) in enumerate(moves):
        if name == "transpose":
            new, word = [old[a] for a in axes], "permutation"
        else:
            kept = [a for a in range(len(old) + len(axes)) if a not in axes]
            new = [old[kept.index(a)] if a in kept else last[a] for a in range(len(kept) + len(axes))]
            word = "dimensions"
        lines += [empty(f"%e{n}", new)]
        lines += [f"%m{n} = linalg.{name} ins({value} : {tensor(old)}) outs(%e{n} : {tensor(new)}) {word} = {axes}"]
        value, old = f"%m{n}", new
    assert old == last
    kind = tensor(last)
    lines += [empty("%o", last), f"%s = linalg.add ins({value}, %b : {kind}, {kind}) outs(%o : {kind}) -> {kind}"]
    body = "\n  ".join(lines)
    return f"""\
func.func @f(%a: {tensor(shape)}, %b: {kind}) -> {kind} {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %b, %c0 : {kind}
  {body}
  return %s : {kind}
}}
"""


def schedule(sizes: str, axes: str, *, made: bool = True, lines: str = "") -> str:
    fused = "fuse p into t\nmap p to threads(*) cyclic\n" if made else ""
    return (
        ("let p = match linalg.sqrt\n" if made else "") + f"let s = match linalg.add\nlet (t, o) = tile s [{sizes}]\n{lines}{fused}"
        f"map t to blocks({axes})\nmap o to threads(x: 8) cyclic\ninsert-barriers\nlaunch t"
    )


ROW, COLUMN, TURNED = ("broadcast", [0]), ("broadcast", [1]), ("transpose", [1, 0])
CASES: dict[str, tuple[list[int | str], list[Move], list[int | str], str]] = {
    "a row": ([24], [ROW], [16, 24], "4, 8"),
    "a column": ([16], [COLUMN], [16, 24], "4, 8"),
    "a column, ragged": ([16], [COLUMN], [16, 24], "5, 7"),
    "transposed": ([24, 16], [TURNED], [16, 24], "4, 8"),
    "transposed, ragged": ([24, 16], [TURNED], [16, 24], "5, 7"),
    "repeated, then transposed": ([6, 4], [("transpose", [1, 0]), ("broadcast", [2])], [4, 6, 8], "2, 3, 4"),
    "three axes in another order": ([4, 6, 8], [("transpose", [2, 0, 1])], [8, 4, 6], "2, 2, 3"),
    "repeated along two axes": ([6], [("broadcast", [0, 2])], [4, 6, 8], "2, 3, 4"),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("case", CASES)
def test_a_producer_that_is_moved(case: str, tmp_path: Path) -> None:
    shape, moves, last, sizes = CASES[case]
    axes = ", ".join("zyx"[-len(last) :])
    done = program(tmp_path, payload(shape, moves, last), schedule(sizes, axes))
    assert not done.wrong()
    assert any(remark.startswith("through linalg.") for remark in done.remarks)
    assert len(done.ready.plan.steps) == 1, "one launch, and no buffer for what is in between"


@pytest.mark.parametrize("case", ["a row", "a column, ragged", "repeated along two axes"])
def test_an_argument_that_is_repeated(case: str, tmp_path: Path) -> None:
    shape, moves, last, sizes = CASES[case]
    axes = ", ".join("zyx"[-len(last) :])
    done = program(tmp_path, payload(shape, moves, last, made=False), schedule(sizes, axes, made=False))
    assert not done.wrong()
    assert any(remark.startswith("reads through linalg.broadcast") for remark in done.remarks)
    assert len(done.ready.plan.steps) == 1


def test_an_op_with_a_handle_stays(tmp_path: Path) -> None:
    """A schedule that names the op that moves elements decides where it is computed."""
    text = payload([16], [COLUMN], [16, 24])
    said = refusal(tmp_path, text, "let b = match linalg.broadcast\n" + schedule("4, 8", "y, x"))
    assert codes(said) == ["W0326"] and "its result is read by linalg.broadcast" in said
    assert "hint: `fuse` linalg.broadcast at payload.mlir:" in said and "into the loop first: it reads this op" in said
    own = "let (l, one) = tile b [1, 1]\nmap l to grid(y, x)\nlaunch l\n"
    done = program(
        tmp_path, payload([16], [COLUMN], [16, 24], made=False),
        "let b = match linalg.broadcast\n" + own + schedule("4, 8", "y, x", made=False),
    )  # fmt: skip
    assert not done.wrong() and len(done.ready.plan.steps) > 1


def test_an_argument_that_is_transposed_is_a_launch_of_its_own(tmp_path: Path) -> None:
    """What exchanges axes is not read through at once: the accesses would not be coalesced any more."""
    text = payload([24, 16], [TURNED], [16, 24], made=False)
    said = refusal(tmp_path, text, schedule("4, 8", "y, x", made=False))
    assert codes(said) == ["W0730"] or "linalg.transpose" in said
