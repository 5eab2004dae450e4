"""Random schedules of products whose tiles go through rings of shared buffers, swizzled or not, by asynchronous copies: by
threads or by tensor cores."""

from __future__ import annotations

import random
from dataclasses import dataclass

SCHEDULE = """
payload matmul(m = {m}, n = {n}, k = {k}, type = {type})

schedule ring() {{
  let gemm = match linalg.matmul
  let init = match? linalg.fill
  let (tiles, tile_mm) = tile gemm [{bm}, {bn}]
  fuse init into tiles
  map tiles to blocks(y, x)
  let (k, step) = tile tile_mm [_, _, {bk}]
  let (a, copy_a) = promote-to-shared step.lhs {a}
  let (b, copy_b) = promote-to-shared step.rhs {b}
  map copy_a to threads(*) cyclic vector {va}
  map copy_b to threads(*) cyclic vector {vb}
{inner}
  promote-to-registers one.acc across k
  pipeline k stages {stages} async
  insert-barriers
  launch tiles
}}
"""

THREADS = """\
  let (lanes, one) = tile step [{tm}, {tn}]
  map lanes to threads(y, x)"""

WARPS = """\
  let (kk, part) = tile step [_, _, {ik}]
  let (warps, warp_mm) = tile part [{wm}, {wn}]
  map warps to warps(y, x)
  let one = mma warp_mm [{im}, 8, {ik}]{word}"""

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "f64": 8}


@dataclass(frozen=True)
class RingSchedule:
    """`tensor`: by tensor cores."""

    text: str
    type: str
    tensor: bool


def ring_schedule(seed: int, *, open_sizes: bool = True) -> RingSchedule:
    draw = random.Random(seed)
    type = draw.choice(["f16", "bf16", "f32", "f32", "f64", "i8"])
    size = BYTES[type]
    bm, bn = draw.choice([16, 32]), draw.choice([16, 32])
    bk = draw.choice([32, 64] if type == "i8" else [16, 32])
    spans = [f"swizzle {s}" for s in (32, 64, 128)]
    fits = {side: ["", *(s for s in spans if row * size % int(s.split()[1]) == 0)] for side, row in (("a", bk), ("b", bn))}
    for side in fits.values():
        side += [f"pad {16 // size} {s}" for s in side if s]
    least = max(1, 4 // size)
    widths = [v for v in (1, 2, 4, 8) if least <= v <= 16 // size]
    va, vb = draw.choice(widths), draw.choice(widths)
    k, n = (draw.choice([multiple * draw.randrange(1, 40 // multiple), 64]) for multiple in (max(va, least), max(vb, least)))
    k = draw.choice([k, k, 64 + k, 192])  # fewer turns than stages, and more
    m = draw.choice([draw.randrange(1, 50), 32])
    given = {"m": m, "n": n, "k": k}
    if open_sizes and least == 1 and draw.random() < 0.3:
        given = dict.fromkeys(given, "?")
    tensor = draw.random() < 0.6
    im, ik = min(16, 64 // size), 32 // size
    word = draw.choice(["tf32", "3xtf32", "bf16x3"])
    if word == "bf16x3" and type == "f32":
        ik = draw.choice([8, 16])
    warp = {"wm": draw.choice([16, bm]), "wn": draw.choice([8, 16, bn])}
    inner = WARPS.format(im=im, ik=ik, word=f" as {word}" if type == "f32" else "", **warp)
    if not tensor:
        inner = THREADS.format(tm=draw.choice([1, 2]), tn=draw.choice([1, 2, 4]))
    text = SCHEDULE.format(
        **given, type=type, bm=bm, bn=bn, bk=bk, a=draw.choice(fits["a"]), b=draw.choice(fits["b"]), va=va, vb=vb, inner=inner,
        stages=draw.choice([2, 3, 4, 5]),
    )  # fmt: skip
    return RingSchedule(text, type, tensor)
