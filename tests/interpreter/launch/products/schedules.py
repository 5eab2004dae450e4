"""Schedules of products by warp groups, and what their launch makes."""

from __future__ import annotations

from dataclasses import dataclass

from weft.dsl.checker import check
from weft.dsl.diagnostics import Source, WeftError
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_text
from weft.interpreter.ir.cloning import strip_tags
from weft.interpreter.ir.mlir import ir
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures
from weft.payloads.payload import parse_payload

PAYLOAD = """
func.func @matmul(%A: tensor<{m}x{k}x{type}>, %B: tensor<{b}x{type}>) -> tensor<{m}x{n}x{sum}> {{
  %zero = arith.constant {start} : {sum}
  %empty = tensor.empty() : tensor<{m}x{n}x{sum}>
  %init = linalg.fill ins(%zero : {sum}) outs(%empty : tensor<{m}x{n}x{sum}>) -> tensor<{m}x{n}x{sum}>
  %C = linalg.matmul {maps} ins(%A, %B : tensor<{m}x{k}x{type}>, tensor<{b}x{type}>) outs(%init : tensor<{m}x{n}x{sum}>)
       -> tensor<{m}x{n}x{sum}>
  return %C : tensor<{m}x{n}x{sum}>
}}
"""
"""A product; `maps` say whether the right operand's rows are columns of it."""
_ALONG = (
    "indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]"
)


@dataclass(frozen=True)
class Case:
    """A product of m x n x k, in tiles of bm x bn x bk, rows of which go to groups of `own`."""

    m: int = 256
    n: int = 256
    k: int = 128
    bm: int = 128
    bn: int = 128
    bk: int = 64
    own: int = 64
    kind: str = "bf16"
    sum: str = "f32"
    start: str = ""
    along: bool = False
    copy: str = "tma"
    pipeline: str = ""
    barriers: str = ""
    shape: str = ""
    tiles: str = "blocks(y, x)"
    cluster: int = 1
    most: int = 0
    swizzles: tuple[int, int] = (128, 128)

    @property
    def payload(self) -> str:
        total = "i32" if self.kind == "i8" else self.sum
        return PAYLOAD.format(
            m=self.m, n=self.n, k=self.k, type=self.kind, sum=total, start=self.start or ("0" if total == "i32" else "0.0"),
            b=f"{self.n}x{self.k}" if self.along else f"{self.k}x{self.n}", maps=_ALONG if self.along else "",
        )  # fmt: skip

    @property
    def schedule(self) -> str:
        most = f"max-registers {self.most}" if self.most else ""
        return f"""
        payload "x.mlir"
        schedule product() {{
          let gemm = match linalg.matmul
          let init = match? linalg.fill
          let (tiles, tile_mm) = tile gemm [{self.bm}, {self.bn}]
          fuse init into tiles
          {f'map tiles to {self.tiles}' if self.tiles else ''}
          let (k, step) = tile tile_mm [_, _, {self.bk}]
          let (a, copy_a) = promote-to-shared step.lhs swizzle {self.swizzles[0]}
          let (b, copy_b) = promote-to-shared step.rhs swizzle {self.swizzles[1]}
          map copy_a to {self.copy}
          map copy_b to {self.copy}
          let (groups, group_mm) = tile step [{self.own}, _]
          map groups to warpgroups(y)
          let one = mma group_mm {self.shape or f"[64, {self.bn}, 16]"}
          promote-to-registers one.acc across k
          {self.pipeline}
          {self.barriers}
          launch tiles{f' cluster({self.cluster})' if self.cluster > 1 else ''} {most} {'' if self.barriers else 'unproven'}
        }}"""


def launched(case: Case) -> ir.Module:
    """The module behind the schedule. Raises WeftError."""
    file = parse_text(case.schedule, "case.weft")
    found = check(file, signatures())
    if any(d.severity == "error" for d in found):
        raise WeftError(*found)
    session = Session(parse_payload(Source("x.mlir", case.payload)), file, bind_parameters(file.main, {}))
    session.run()
    return strip_tags(session.module)
