"""What the machine executes: a text compiled for a chip, disassembled, its loops and what stands in them counted.

    inner_loop(text, "matmul", "sm_90a")       # Counts of the innermost loop that multiplies most
    compute_region(text, "matmul", "sm_90a")   # of that loop only what stands between the two barriers with most products
    whole(text, "matmul", "sm_90a")            # of the kernel, with its registers and spills

No GPU is needed: NVRTC and nvdisasm come as wheels.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from weft.runtime.cuda.nvrtc import CompileResult, KernelResources, compile_cubin

CONTROL = frozenset(["BRA", "BSSY", "BSYNC", "EXIT", "NOP", "WARPSYNC", "BREAK", "RET", "YIELD"])
LOOP_ARITHMETIC = frozenset(
    ["IADD3", "UIADD3", "ISETP", "UISETP", "VIADD", "MOV", "UMOV", "IMAD", "PLOP3", "UPLOP3", "LEA", "ULEA", "LOP3", "ULOP3"]
)
"""What a loop's counter, its pointers and its condition take."""

_LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")
_SECTION = re.compile(r"^\.text\.(\w+):")


@dataclass(frozen=True)
class Instruction:
    """One instruction: `@P0 LDS.128 R4, [R2+0x10]` has the mnemonic `LDS` and the modifiers `("128",)`."""

    address: int
    mnemonic: str
    modifiers: tuple[str, ...]
    operands: str
    predicate: str | None = None

    @property
    def bits(self) -> int:
        """How wide a memory access is."""
        for modifier in self.modifiers:
            if modifier in ("64", "128"):
                return int(modifier)
            if modifier in ("U8", "S8", "U16", "S16"):
                return int(modifier[1:])
        return 32


@dataclass(frozen=True)
class Program:
    """The instructions of one kernel and where its labels stand (the index of the next instruction)."""

    instructions: tuple[Instruction, ...]
    labels: dict[str, int]

    def loops(self) -> list[range]:
        """The bodies of all loops, as ranges of indices: from the target of a backward branch to the branch."""
        found: dict[int, int] = {}
        for at, one in enumerate(self.instructions):
            named = _TARGET.search(one.operands) if one.mnemonic == "BRA" else None
            target = self.labels.get(named[1]) if named is not None else None
            if target is not None and target < at:  # `BRA .` after the end goes to itself
                found[target] = max(at, found.get(target, 0))
        return [range(start, end + 1) for start, end in sorted(found.items())]

    def innermost(self) -> list[range]:
        """The loops with no loop inside."""
        loops = self.loops()
        return [a for a in loops if not any(b != a and b.start >= a.start and b.stop <= a.stop for b in loops)]

    def between_barriers(self, loop: range) -> list[list[Instruction]]:
        """The loop's instructions, cut at barriers; what follows the last one goes on with what precedes the first."""
        parts: list[list[Instruction]] = [[]]
        for one in self.instructions[loop.start : loop.stop]:
            if one.mnemonic == "BAR":
                parts.append([])
            else:
                parts[-1].append(one)
        return [parts[-1] + parts[0], *parts[1:-1]] if len(parts) > 1 else parts


@dataclass(frozen=True)
class Counts:
    """How often each thing stands in a stretch of a kernel.

    Args:
        by_mnemonic: all instructions.
        shared_loads, shared_stores, global_loads, global_stores: accesses by their width in bits.
        divisions: sequences that divide or take a remainder by what is not constant: calls of the division routine, reciprocals
            of integers.
    """

    by_mnemonic: Counter[str]
    shared_loads: Counter[int]
    shared_stores: Counter[int]
    global_loads: Counter[int]
    global_stores: Counter[int]
    divisions: int

    @classmethod
    def of(cls, instructions: Sequence[Instruction]) -> Counts:
        def widths(mnemonic: str) -> Counter[int]:
            return Counter(one.bits for one in instructions if one.mnemonic == mnemonic)

        return cls(Counter(one.mnemonic for one in instructions), widths("LDS"), widths("STS"), widths("LDG"), widths("STG"),
                   sum(_divides(one) for one in instructions))  # fmt: skip

    @property
    def ffma(self) -> int:
        return self.by_mnemonic["FFMA"]

    @property
    def dfma(self) -> int:
        return self.by_mnemonic["DFMA"]

    @property
    def local(self) -> int:
        """Accesses of local memory: spills, or arrays that are not in registers."""
        return self.by_mnemonic["LDL"] + self.by_mnemonic["STL"]

    @property
    def barriers(self) -> int:
        return self.by_mnemonic["BAR"]

    @property
    def products_per_load(self) -> float:
        """FFMA (or DFMA) to one shared load."""
        loads = sum(self.shared_loads.values())
        return (self.ffma + self.dfma) / loads if loads else float("inf")

    def besides(self, *mnemonics: str) -> dict[str, int]:
        """What else there is, loop control left out: nothing, in an inner loop as it should be."""
        expected = {*mnemonics, *CONTROL, *LOOP_ARITHMETIC}
        return {m: n for m, n in sorted(self.by_mnemonic.items()) if m not in expected}

    @property
    def integer(self) -> int:
        """Integer instructions: indices and loop control."""
        return sum(n for m, n in self.by_mnemonic.items() if m in LOOP_ARITHMETIC | {"SHF", "USHF", "IABS", "SEL", "USEL"})


def _divides(one: Instruction) -> bool:
    far_jump = _TARGET.search(one.operands) is not None  # a label of the kernel itself, too far for a branch
    return (one.mnemonic == "CALL" and not far_jump) or (one.mnemonic in ("I2F", "I2FP") and "RP" in one.modifiers)


@cache
def compiled(text: str, chip: str) -> CompileResult:
    return compile_cubin(text, chip)


@cache
def program(text: str, kernel: str, chip: str) -> Program:
    """The disassembly of one kernel of a text. Raises KeyError where the text has no such kernel."""
    return _programs(text, chip)[kernel]


def whole(text: str, kernel: str, chip: str) -> Counts:
    return Counts.of(program(text, kernel, chip).instructions)


def resources(text: str, kernel: str, chip: str) -> KernelResources:
    """Registers, spills, stack and shared memory of a kernel, as ptxas says."""
    return compiled(text, chip).kernels[kernel]


def hottest_loop(text: str, kernel: str, chip: str) -> range:
    """The innermost loop with most multiplications. Raises ValueError for a kernel without a loop."""
    found = program(text, kernel, chip)
    return max(found.innermost(), key=lambda loop: _products(found.instructions[loop.start : loop.stop]))


def inner_loop(text: str, kernel: str, chip: str) -> Counts:
    """What stands in the hottest loop."""
    loop = hottest_loop(text, kernel, chip)
    return Counts.of(program(text, kernel, chip).instructions[loop.start : loop.stop])


def product_loop(text: str, kernel: str, chip: str) -> Counts:
    """What stands in the smallest loop that has most of the kernel's products, those in loops within it included."""
    made = program(text, kernel, chip)
    bodies = [made.instructions[loop.start : loop.stop] for loop in made.loops()]
    most = max(map(_products, bodies))
    return Counts.of(min((body for body in bodies if _products(body) > most / 2), key=len))


def compute_region(text: str, kernel: str, chip: str) -> Counts:
    """What stands between those two barriers of the hottest loop that have most products between them."""
    parts = program(text, kernel, chip).between_barriers(hottest_loop(text, kernel, chip))
    return Counts.of(max(parts, key=_products))


def _products(instructions: Sequence[Instruction]) -> int:
    return sum(one.mnemonic in ("FFMA", "DFMA", "FMUL", "DMUL", "HMMA", "IMAD") for one in instructions)


@cache
def _programs(text: str, chip: str) -> dict[str, Program]:
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernels.cubin"
        cubin.write_bytes(compiled(text, chip).cubin)
        done = subprocess.run([_nvdisasm(), "-c", "-ndf", str(cubin)], capture_output=True, text=True, check=True)
    found: dict[str, tuple[list[Instruction], dict[str, int]]] = {}
    here: tuple[list[Instruction], dict[str, int]] = ([], {})
    for line in done.stdout.splitlines():
        if section := _SECTION.match(line):
            here = found.setdefault(section[1], ([], {}))
        elif label := _LABEL.match(line):
            here[1][label[1]] = len(here[0])
        elif one := _LINE.match(line):
            mnemonic, *modifiers = one[3].split(".")
            here[0].append(Instruction(int(one[1], 16), mnemonic, tuple(modifiers), one[4], one[2]))
    return {name: Program(tuple(instructions), labels) for name, (instructions, labels) in found.items()}


@cache
def _nvdisasm() -> str:
    """The disassembler of the wheel `nvidia-cuda-nvdisasm`."""
    places = [p for entry in sys.path for p in sorted(Path(entry or ".").glob("nvidia/cu*/bin/nvdisasm*"))]
    if not places:
        raise FileNotFoundError("nvdisasm is not installed: pip install nvidia-cuda-nvdisasm")
    return str(places[0])
