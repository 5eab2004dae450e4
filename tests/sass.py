"""What the machine executes: a text compiled for a chip, disassembled, its loops and what stands in them counted.

    inner_loop(text, "matmul", "sm_90a")       # Counts of the innermost loop that multiplies most
    compute_region(text, "matmul", "sm_90a")   # of that loop only what stands between the two barriers with most products
    whole(text, "matmul", "sm_90a")            # of the kernel, with its registers and spills

No GPU is needed: NVRTC and nvdisasm come as wheels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from thinning import SOAK

from weft.runtime.cuda.nvrtc import ARCHITECTURES, CompileResult, KernelResources, compile_cubin
from weft.runtime.predict.pipes import flops
from weft.runtime.predict.sass import Disassembly, MachineInstruction, disassembled

COMPILED_FOR = ARCHITECTURES if SOAK else ("sm_80", "sm_90a")
"""The chips that a recipe's kernels are compiled for: `recipes/test_spills.py` takes all by turns."""
CONTROL = frozenset(["BRA", "BSSY", "BSYNC", "EXIT", "NOP", "WARPSYNC", "BREAK", "RET", "YIELD"])
LOOP_ARITHMETIC = frozenset(
    ["IADD3", "UIADD3", "ISETP", "UISETP", "VIADD", "MOV", "UMOV", "IMAD", "PLOP3", "UPLOP3", "LEA", "ULEA", "LOP3", "ULOP3"]
)
"""What a loop's counter, its pointers and its condition take."""

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
    def of(cls, instructions: Sequence[MachineInstruction]) -> Counts:
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


def _divides(one: MachineInstruction) -> bool:
    far_jump = one.target is not None  # a label of the kernel itself, too far for a branch
    return (one.mnemonic == "CALL" and not far_jump) or (one.mnemonic in ("I2F", "I2FP") and "RP" in one.modifiers)


@cache
def compiled(text: str, chip: str) -> CompileResult:
    return compile_cubin(text, chip)


@cache
def program(text: str, kernel: str, chip: str) -> Disassembly:
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
    loop = _loop_of_products(text, kernel, chip)
    return Counts.of(program(text, kernel, chip).instructions[loop.start : loop.stop])


def _loop_of_products(text: str, kernel: str, chip: str) -> range:
    made = program(text, kernel, chip)
    counts = {loop: _products(made.instructions[loop.start : loop.stop]) for loop in made.loops()}
    most = max(counts.values())
    return min((loop for loop, count in counts.items() if count > most / 2), key=len)


def compute_region(text: str, kernel: str, chip: str) -> Counts:
    """What stands between those two barriers that have most products between them, of the smallest loop that has most of all:
    copies beside it may be loops, too."""
    loop = _loop_of_products(text, kernel, chip)
    parts: list[list[MachineInstruction]] = [[]]
    for one in program(text, kernel, chip).instructions[loop.start : loop.stop]:
        if one.mnemonic == "BAR":
            parts.append([])
        else:
            parts[-1].append(one)
    if len(parts) > 1:  # the part after the last barrier is joined with the part before the first
        parts = [parts[-1] + parts[0], *parts[1:-1]]
    return Counts.of(max(parts, key=_products))


def _products(instructions: Sequence[MachineInstruction]) -> int:
    """How much is multiplied; integers count least, as indices are multiplied, too."""
    return sum(flops(one) or one.mnemonic == "IMAD" for one in instructions)


@cache
def _programs(text: str, chip: str) -> dict[str, Disassembly]:
    return disassembled(compiled(text, chip).cubin)
