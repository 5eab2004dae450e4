"""Matrix products as an engineer writes them for Hopper: modules of nvgpu, with tensor maps, memory barriers and warp groups.

    Product().together()    all warp groups load and multiply together, in steps
    Product().ring()        a warp group loads, the others multiply, over a ring of stages

`C = A B`, A of m x k and B of k x n row by row; or, where `by_rows` is not, B as n x k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, permutations, product

from weft.interpreter.hardware.limits import registers_at_start
from weft.runtime.simulator.roles.clocks import STARTED, Ranking

BYTES = {"bf16": 2, "f16": 2, "f32": 4, "i8": 1}


@dataclass(frozen=True)
class Product:
    """Sizes of the matrices, of a block's tile, and of the ring.

    Args:
        type, sum: of the operands, and of the result.
        by_rows: B lies in memory row by row.
        consumers: warp groups that multiply.
        open_sizes: the types of the arguments say `?`.
        pending: of the ring, how many products are in flight behind one, whose stages are left that much later.
    """

    m: int = 256
    n: int = 512
    k: int = 256
    bm: int = 128
    bn: int = 256
    bk: int = 64
    stages: int = 4
    consumers: int = 2
    type: str = "bf16"
    sum: str = "f32"
    by_rows: bool = True
    open_sizes: bool = False
    pending: int = 0

    @property
    def panel(self) -> int:
        """Elements of a row that lie side by side in shared memory: 128 bytes, in which pieces are exchanged."""
        return 128 // BYTES[self.type]

    @property
    def own(self) -> int:
        """Rows of a warp group."""
        return self.bm // self.consumers

    def together(self) -> str:
        """Each step: one thread starts the copies, all wait for them, multiply, and meet."""
        steps = f"""
      %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> !acc {{
        scf.if %first {{{self._loads()}
        }}{self._multiply("%group")}
        gpu.barrier
        scf.yield %next : !acc
      }}{self._epilogue("%group")}"""
        return self._module(128 * self.consumers, "", steps)

    def ring(self) -> str:
        """The first warp group waits for empty stages and starts copies; the others wait for full ones and multiply."""
        steps = f"""
      %producer = arith.cmpi eq, %group, %c0 : index
      scf.if %producer {{
        nvvm.setmaxregister decrease 24
        scf.if %first {{
          scf.for %k = %c0 to %steps step %c1 {{{self._phase()}
            %true = arith.constant true
            %other = arith.xori %phase, %true : i1
            nvgpu.mbarrier.try_wait.parity %empty[%s], %other, %ticks : !bars{self._loads()}
          }}
        }}
      }} else {{
        nvvm.setmaxregister increase {self._registers()}
        %mine = arith.subi %group, %c1 : index
        %elected = arith.remui %t, %c128 : index
        %speaks = arith.cmpi eq, %elected, %c0 : index
        %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%acc = %zero) -> !acc {{{self._multiply("%mine")}{self._leave()}
          scf.yield %next : !acc
        }}{self._last()}{self._epilogue("%mine")}
      }}"""
        return self._module(128 * (self.consumers + 1), "empty", steps)

    def _leave(self) -> str:
        """One thread of a warp group says that it has left the stage of the last product that has ended."""
        if not self.pending:
            return """
          scf.if %speaks {
            %token = nvgpu.mbarrier.arrive %empty[%s] : !bars -> !nvgpu.mbarrier.token
          }"""
        return f"""
          %late = arith.constant {self.pending} : index
          %there = arith.cmpi sge, %k, %late : index
          %leaves = arith.andi %there, %speaks : i1
          scf.if %leaves {{
            %round = arith.constant {self.stages - self.pending} : index
            %ended = arith.addi %k, %round : index
            %left = arith.remui %ended, %S : index
            %token = nvgpu.mbarrier.arrive %empty[%left] : !bars -> !nvgpu.mbarrier.token
          }}"""

    def _last(self) -> str:
        return "\n        nvvm.wgmma.wait.group.sync.aligned 0" if self.pending else ""

    def _registers(self) -> int:
        """Of a consumer's thread, where one of the producer keeps 24: as many as there are."""
        threads = 128 * (self.consumers + 1)
        return min(240, (registers_at_start(threads, 240) * threads // 128 - 24) // self.consumers // 8 * 8)

    # ---- parts ---------------------------------------------------------------------------------------------------------

    def _tiles(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Of A and of B: how many panels there are, and the rows and columns of one."""
        left = self.bk // self.panel, self.bm, self.panel
        right = (
            (self.bn // self.panel, self.bk, self.panel)
            if self.by_rows
            else (self.bk // self.panel, self.bn, self.panel)
        )
        return left, right

    def _phase(self) -> str:
        return """
          %s = arith.remui %k, %S : index
          %lap = arith.divui %k, %S : index
          %odd = arith.andi %lap, %c1 : index
          %phase = arith.cmpi ne, %odd, %c0 : index"""

    def _loads(self) -> str:
        """The copies of a step: coordinates stand innermost first."""
        text, number = (
            """
          %to = arith.remui %k, %S : index
          %kk = arith.muli %k, %BK : index
          nvgpu.mbarrier.arrive.expect_tx %full[%to], %bytes : !bars""",
            count(),
        )
        for name, (panels, rows, columns), along_k in zip("AB", self._tiles(), (True, not self.by_rows), strict=True):
            for panel in range(panels):
                i = next(number)
                inner, outer = ("%kk", "%row" if name == "A" else "%col") if along_k else ("%col", "%kk")
                text += f"""
          %o{i} = arith.constant {panel * columns} : index
          %x{i} = arith.addi {inner}, %o{i} : index
          %p{i} = memref.subview %s{name}[%to, {panel}, 0, 0] [1, 1, {rows}, {columns}] [1, 1, 1, 1]
              : !all{name} to !panel{name}
          nvgpu.tma.async.load %m{name}[%x{i}, {outer}], %full[%to] to %p{i} : !map{name}, !bars -> !panel{name}"""
        return text

    def _multiply(self, who: str) -> str:
        kind = "transposeB, " if self.by_rows else ""
        return f"""{self._phase()}
          nvgpu.mbarrier.try_wait.parity %full[%s], %phase, %ticks : !bars
          %a0 = arith.muli {who}, %own : index
          %a = memref.subview %sA[%s, 0, %a0, 0] [1, 1, {self.own}, {self.panel}] [1, 1, 1, 1] : !allA to !ownA
          %b = memref.subview %sB[%s, 0, 0, 0] [1, 1, {self._tiles()[1][1]}, {self.panel}] [1, 1, 1, 1] : !allB to !panelB
          %dA = nvgpu.warpgroup.generate.descriptor %a, %mA : !ownA, !mapA -> !descA
          %dB = nvgpu.warpgroup.generate.descriptor %b, %mB : !panelB, !mapB -> !descB
          %next = nvgpu.warpgroup.mma %dA, %dB, %acc {{{kind}waitGroup = {self.pending} : i64}} : !descA, !descB, !acc -> !acc"""

    def _epilogue(self, who: str) -> str:
        """Of each thread: pieces of 64 rows, of 8 columns, 2 rows 8 apart, 2 columns side by side."""
        held = f"vector<{self.own // 64}x{self.bn // 8}x2x2x{self.sum}>"
        row = f"by * {self.bm} + g * {self.own} + i * 64 + w * 16 + l floordiv 4 + h * 8"
        return f"""
      %v = builtin.unrealized_conversion_cast %sum : !acc to {held}
      %lane = arith.remui %t, %c32 : index
      %w0 = arith.divui %t, %c32 : index
      %warp = arith.remui %w0, %c4 : index
      scf.for %i = %c0 to %pieces step %c1 {{
        scf.for %j = %c0 to %columns step %c1 {{
          scf.for %h = %c0 to %c2 step %c1 {{
            %pair = vector.extract %v[%i, %j, %h] : vector<2x{self.sum}> from {held}
            %r = affine.apply affine_map<(by, g, i, w, l, h) -> ({row})>(%by, {who}, %i, %warp, %lane, %h)
            %c = affine.apply affine_map<(bx, j, l) -> (bx * {self.bn} + j * 8 + (l mod 4) * 2)>(%bx, %j, %lane)
            vector.store %pair, %C[%r, %c] : !C, vector<2x{self.sum}>
          }}
        }}
      }}"""

    def _shape(self, *sizes: int) -> str:
        return "x".join("?" if self.open_sizes else str(size) for size in sizes)

    def _types(self) -> str:
        """The aliases of types."""
        shared, kind = "#gpu.address_space<workgroup>", "tf32" if self.type == "f32" else self.type
        (pa, ra, ca), (pb, rb, cb) = self._tiles()
        right = (self.n, self.k)[:: -1 if self.by_rows else 1]
        text = f"""
!bars = !nvgpu.mbarrier.group<memorySpace = {shared}, num_barriers = {self.stages}>
!acc = !nvgpu.warpgroup.accumulator<fragmented = vector<{self.own}x{self.bn}x{self.sum}>>
!descA = !nvgpu.warpgroup.descriptor<tensor = memref<{self.own}x{self.bk}x{kind}, {shared}>>
!descB = !nvgpu.warpgroup.descriptor<tensor = memref<{self.bk}x{self.bn}x{kind}, {shared}>>
!ownA = memref<{self.own}x{ca}x{self.type}, strided<[{ca}, 1], offset: ?>, {shared}>
!A = memref<{self._shape(self.m, self.k)}x{self.type}>
!B = memref<{self._shape(*right)}x{self.type}>
!C = memref<{self._shape(self.m, self.n)}x{self.sum}>"""
        for name, panels, rows, columns in (("A", pa, ra, ca), ("B", pb, rb, cb)):
            text += f"""
!map{name} = !nvgpu.tensormap.descriptor<tensor = memref<{rows}x{columns}x{self.type}, {shared}>, swizzle = swizzle_128b,
  l2promo = l2promo_128b, oob = zero, interleave = none>
!all{name} = memref<{self.stages}x{panels}x{rows}x{columns}x{self.type}, {shared}>
!panel{name} = memref<{rows}x{columns}x{self.type}, strided<[{columns}, 1], offset: ?>, {shared}>"""
        return text

    def _module(self, threads: int, also: str, body: str) -> str:
        constants = {
            "c0": 0, "c1": 1, "c2": 2, "c4": 4, "c32": 32, "c128": 128, "S": self.stages, "steps": -(-self.k // self.bk),
            "BM": self.bm, "BN": self.bn, "BK": self.bk, "own": self.own, "bytes": (self.bm + self.bn) * self.bk * BYTES[self.type],
            "consumers": self.consumers,
            "ticks": 10_000_000, "pieces": self.own // 64, "columns": self.bn // 8,
        }  # fmt: skip
        numbers = "\n".join(f"      %{name} = arith.constant {value} : index" for name, value in constants.items())
        create = f'%{also} = nvgpu.mbarrier.create {{weft.name = "{also}"}} -> !bars' if also else ""
        init = f"nvgpu.mbarrier.init %{also}[%i], %consumers : !bars" if also else ""
        (_, ra, ca), (_, rb, cb) = self._tiles()
        return f"""{self._types()}
module attributes {{gpu.container_module}} {{
  func.func @product(%A: !A {{weft.name = "A"}}, %B: !B {{weft.name = "B"}}, %C: !C {{weft.name = "C"}}) {{
    %one = arith.constant 1 : index
    %gx = arith.constant {self.n // self.bn} : index
    %gy = arith.constant {self.m // self.bm} : index
    %threads = arith.constant {threads} : index
    %ra = arith.constant {ra} : index
    %ca = arith.constant {ca} : index
    %rb = arith.constant {rb} : index
    %cb = arith.constant {cb} : index
    %uA = memref.cast %A : !A to memref<*x{self.type}>
    %uB = memref.cast %B : !B to memref<*x{self.type}>
    %mA = nvgpu.tma.create.descriptor %uA box[%ra, %ca] : memref<*x{self.type}> -> !mapA
    %mB = nvgpu.tma.create.descriptor %uB box[%rb, %cb] : memref<*x{self.type}> -> !mapB
    gpu.launch_func @kernels::@product blocks in (%gx, %gy, %one) threads in (%threads, %one, %one)
      args(%mA : !mapA, %mB : !mapB, %C : !C)
    return
  }}
  gpu.module @kernels {{
    gpu.func @product(%mA: !mapA {{weft.name = "A_map"}}, %mB: !mapB {{weft.name = "B_map"}}, %C: !C {{weft.name = "C"}})
        workgroup(%sA: !allA {{weft.name = "A_shared"}}, %sB: !allB {{weft.name = "B_shared"}})
        kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>,
          known_grid_size = array<i32: {self.n // self.bn}, {self.m // self.bm}, 1>}} {{
{numbers}
      %t = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %row = arith.muli %by, %BM : index
      %col = arith.muli %bx, %BN : index
      %group = arith.divui %t, %c128 : index
      %full = nvgpu.mbarrier.create {{weft.name = "full"}} -> !bars
      {create}
      %first = arith.cmpi eq, %t, %c0 : index
      scf.if %first {{
        scf.for %i = %c0 to %S step %c1 {{
          nvgpu.mbarrier.init %full[%i], %c1 : !bars
          {init}
        }}
        nvvm.fence.mbarrier.init
      }}
      gpu.barrier
      %zero = nvgpu.warpgroup.mma.init.accumulator -> !acc{body}
      gpu.return
    }}
  }}
}}
"""


def rankings(agents: int, turns: int = 0) -> Iterator[Ranking]:
    """All priority orders of `agents` warp groups, without a dropped turn, and with each single one of `turns`."""
    bases = [Ranking(order, arm) for order, arm in product(permutations((STARTED, *range(agents))), (False, True))]
    yield from bases
    for base, turn in product(bases, range(turns)):
        yield Ranking(base.agents, base.last_arm, (turn,))
