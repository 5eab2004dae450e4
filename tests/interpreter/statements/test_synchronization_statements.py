"""`insert-barriers` and `verify-sync` on loops that are mapped: which barriers stay, which come, which go, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.dsl.diagnostics import WeftError
from weft.interpreter.hardware.lanes import BARRIERS
from weft.interpreter.ir.mlir import operations
from weft.interpreter.session.session import Session
from weft.pipeline import Choice, applied

SHARED = "#gpu.address_space<workgroup>"
TILE = f"memref<64xf32, {SHARED}>"
DOUBLE = f"memref<2x64xf32, {SHARED}>"
HALF = f"memref<32xf32, strided<[1], offset: {{}}>, {SHARED}>"
ROWS = "memref<64x64xf32>"
FENCE = f"gpu.barrier memfence [{SHARED}]"


def session(body: str, folder: Path, extra: str = "insert-barriers", blocks: int = 1, maps: int = 2) -> Session:
    """A loop over blocks with loops over threads in it (`maps` of them), mapped, then `extra` and `launch`."""
    payload = f"""func.func @f(%A: {ROWS}, %B: {ROWS}, %flags: memref<64xi1>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  scf.forall (%b) in ({blocks}) {{
    %S = memref.alloc() : {TILE}
    %D = memref.alloc() : {DOUBLE}
    {body}
  }}
  return
}}
"""
    lines = ["let tiles = match scf.forall #0", "map tiles to blocks(x)"]
    for number in range(1, maps + 1):
        lines += [f"let l{number} = match scf.forall #{number}", f"map l{number} to threads(x: 64)"]
    text = "\n  ".join([*lines, *extra.split("\n"), "launch tiles"])
    (folder / "p.mlir").write_text(payload)
    (folder / "s.weft").write_text(f'payload "p.mlir"\nschedule s() {{\n  {text}\n}}\n')
    return applied(Choice(str(folder / "s.weft")).open()).session


def each(index: str, *body: str) -> str:
    """A loop over the threads: `%i`, and `%o` = 63 - i."""
    inner = "\n      ".join(body)
    return f"""scf.forall ({index}) in (64) {{
      %o = affine.apply affine_map<(i) -> (63 - i)>({index})
      {inner}
    }}"""


def lines(*parts: str) -> str:
    return "\n    ".join(parts)


FILL = each("%i", f"memref.store %z, %S[%i] : {TILE}")
TURN = each("%i", f"%v = memref.load %S[%o] : {TILE}", f"memref.store %v, %B[%b, %i] : {ROWS}")
SAME = each("%i", f"%v = memref.load %S[%i] : {TILE}", f"memref.store %v, %B[%b, %i] : {ROWS}")


def in_k(*body: str) -> str:
    return lines("scf.for %k = %c0 to %c8 step %c1 {", *body, "}")


SLOT = "%slot = affine.apply affine_map<(k) -> (k mod 2)>(%k)"
DOUBLE_FILL = each("%i", f"memref.store %z, %D[%slot, %i] : {DOUBLE}")
DOUBLE_TURN = each("%i", f"%v = memref.load %D[%slot, %o] : {DOUBLE}", f"memref.store %v, %B[%b, %i] : {ROWS}")


def halves(second: int) -> str:
    """32 threads fill both halves of a buffer, the lower through a view of it, and read through a view that starts at `second`."""
    left, right = HALF.format(0), HALF.format(second)
    only = lines("%bound = arith.constant 32 : index", "%low = arith.cmpi ult, %i, %bound : index")
    upper = "%u = affine.apply affine_map<(i) -> (i + 32)>(%i)"
    fill = f"scf.if %low {{ memref.store %z, %U[%i] : {left}\n{upper}\nmemref.store %z, %S[%u] : {TILE} }}"
    use = f"scf.if %low {{ %v = memref.load %W[%i] : {right}\nmemref.store %v, %B[%b, %i] : {ROWS} }}"
    return lines(
        f"%U = memref.subview %S[0] [32] [1] : {TILE} to {left}",
        f"%W = memref.subview %S[{second}] [32] [1] : {TILE} to {right}",
        each("%i", only, fill),
        each("%i", only, use),
    )


@pytest.mark.parametrize(
    ("name", "body", "barriers", "remark"),
    [
        ("needed", lines(FILL, TURN), 1, "1 barrier: before"),
        ("not needed", lines(FILL, SAME), 0, "no barrier needed: proven"),
        ("there already", lines(FILL, "gpu.barrier", TURN), 1, "was there"),
        ("there, and useless", lines(FILL, "gpu.barrier", SAME, "gpu.barrier"), 0, "removed 2 that separated nothing"),
        ("one too many", lines("gpu.barrier", FILL, "gpu.barrier", TURN), 1, "removed 1 that separated nothing"),
        (
            "there, with a fence that leaves the memory out",
            lines(FILL, "gpu.barrier memfence [#gpu.address_space<global>]", TURN), 1, "removed 1 that separated nothing",
        ),
        ("there, with an empty fence", lines(FILL, "gpu.barrier memfence []", TURN), 1, "removed 1"),
        ("carried by a loop", in_k(FILL, TURN), 2, "2 barriers"),
        ("two buffers in turn", in_k(SLOT, DOUBLE_FILL, DOUBLE_TURN), 1, "1 barrier"),
        ("two buffers, and two barriers for them", in_k(SLOT, DOUBLE_FILL, "gpu.barrier", DOUBLE_TURN, "gpu.barrier"), 1,
         "removed 1 that separated nothing"),
        ("subviews that overlap", halves(16), 1, "1 warp barrier"),
        ("subviews that do not", halves(32), 0, "no barrier needed"),
    ],
)  # fmt: skip
def test_barriers(name: str, body: str, barriers: int, remark: str, tmp_path: Path) -> None:
    done = session(body, tmp_path, "insert-barriers\nverify-sync")
    remarks = "\n".join(line for step in done.steps for line in step.remarks)
    assert len(list(operations(done.module.operation, *BARRIERS))) == barriers, remarks
    assert remark in remarks
    assert f"race-free, {barriers} barrier" in remarks


@pytest.mark.parametrize(
    ("name", "body", "extra", "blocks", "maps", "code", "parts"),
    [
        (
            "blocks write one place", lines(FILL, each("%i", f"memref.store %z, %B[%c0, %i] : {ROWS}")), "insert-barriers", 4, 2,
            "W0343", ["depend on each other", "writes B[0, 0]", "map a loop whose iterations are independent"],
        ),
        (
            "all threads write one place", each("%i", f"memref.store %z, %S[%c0] : {TILE}"), "insert-barriers", 1, 1,
            "W0343", ["depend on each other", "iteration 0", "iteration 1"],
        ),
        (
            "a barrier demanded inside divergent code",
            each("%i", "%odd = memref.load %flags[%i] : memref<64xi1>", "scf.if %odd { gpu.barrier }",
                 f"memref.store %z, %S[%i] : {TILE}"),
            "insert-barriers", 1, 1, "W0362", ["is not reached by all threads", "move the `gpu.barrier` between the loops"],
        ),
        (
            "no barrier, and none demanded", lines(FILL, TURN), "verify-sync", 1, 2,
            "W0601", ["two threads conflict: RAW on shared memory", "thread (0, 0, 0)", "thread (63, 0, 0)", "p.mlir:"],
        ),
        (
            "a fence that leaves the memory out",
            lines(FILL, "gpu.barrier memfence [#gpu.address_space<global>]", TURN), "verify-sync", 1, 2,
            "W0601", ["RAW on shared memory"],
        ),
        (
            "two buffers, no barrier", in_k(SLOT, DOUBLE_FILL, DOUBLE_TURN), "verify-sync", 1, 2,
            "W0601", ["RAW on shared memory"],
        ),
    ],
)  # fmt: skip
def test_refused(
    name: str, body: str, extra: str, blocks: int, maps: int, code: str, parts: list[str], tmp_path: Path
) -> None:
    with pytest.raises(WeftError) as caught:
        session(body, tmp_path, extra, blocks, maps)
    found = caught.value.diagnostics[0]
    said = "\n".join([found.message, *found.notes, found.hint or ""])
    assert found.code == code, said
    assert all(part in said for part in parts), said
