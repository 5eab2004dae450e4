"""The machine code of a kernel: nvdisasm's text parsed into instructions, their control words, and
loops."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..cuda.nvrtc import INSTALL

_LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z0-9_a-z.]+)\s*(.*?)\s*;\s+/\* 0x[0-9a-f]+ \*/")
_CONTROL = re.compile(r"^\s+/\* 0x([0-9a-f]+) \*/")
_LABEL = re.compile(r"^(\.L_x_\d+):")
_TARGET = re.compile(r"`\((\.L_x_\d+)\)")
_SECTION = re.compile(r"^\.text\.(\w+):")


@record
class Control:
    """The control word of an instruction: the compiler's scheduling information for the hardware.

    Args:
        stall: clocks until the warp's next instruction.
        sets: the scoreboard that the completion of the result signals; 7: none.
        frees: the scoreboard that the completed read of the operands signals; 7: none.
        waits: mask of the scoreboards that the instruction waits for.
        reuse: mask of the operands kept in the reuse cache for the next instruction.
    """

    stall: int = 1
    sets: int = 7
    frees: int = 7
    waits: int = 0
    reuse: int = 0

    @classmethod
    def of(cls, word: int) -> Control:
        bits = word >> 41
        return cls(bits & 15, bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63, bits >> 17 & 15)


@record
class MachineInstruction:
    """One instruction: `@P0 LDS.128 R4, [R2+0x10]` has the mnemonic `LDS` and the modifiers
    `("128",)`."""

    address: int
    mnemonic: str
    modifiers: tuple[str, ...]
    operands: str
    predicate: str | None = None
    control: Control = Control()

    @property
    def bits(self) -> int:
        """The width of a memory access, in bits per thread."""
        for modifier in self.modifiers:
            if modifier in ("64", "128"):
                return int(modifier)
            if modifier in ("U8", "S8", "U16", "S16"):
                return int(modifier[1:])
        return 32

    @cached_property
    def arguments(self) -> list[str]:
        """The operands, without marks that do not affect their values."""
        return [part.strip().replace(".reuse", "") for part in self.operands.split(",")] if self.operands else []

    @property
    def target(self) -> str | None:
        """The label that the instruction names; None without one."""
        named = _TARGET.search(self.operands)
        return named[1] if named is not None else None


@record
class Disassembly:
    """The instructions of one kernel, and its labels: name → index of the next instruction."""

    instructions: tuple[MachineInstruction, ...]
    labels: dict[str, int]
    name: str = ""

    def loops(self) -> list[range]:
        """The bodies of all loops, as ranges of indices: from the target of a backward branch to
        the branch."""
        found: dict[int, int] = {}
        for at, one in enumerate(self.instructions):
            named = one.target if one.mnemonic == "BRA" else None
            target = self.labels.get(named) if named is not None else None
            if target is not None and target < at:  # `BRA .` after the end branches to itself
                found[target] = max(at, found.get(target, 0))
        return [range(start, end + 1) for start, end in sorted(found.items())]

    def innermost(self) -> list[range]:
        """The loops that contain no other loop."""
        loops = self.loops()
        return [a for a in loops if not any(b != a and b.start >= a.start and b.stop <= a.stop for b in loops)]


def disassembled(cubin: bytes) -> dict[str, Disassembly]:
    """The kernels of a cubin, by name. Raises W0780 if the disassembler is missing or fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([_nvdisasm(), "-hex", "-c", "-ndf", str(path)], capture_output=True, text=True)
    if done.returncode:
        raise fail("W0780", "nvdisasm fails", notes=tuple(done.stderr.splitlines()[:20]))
    return parsed(done.stdout)


def parsed(text: str) -> dict[str, Disassembly]:
    """Parses the text of a disassembly: kernel name → kernel."""
    found: dict[str, tuple[list[MachineInstruction], dict[str, int]]] = {}
    here: tuple[list[MachineInstruction], dict[str, int]] = ([], {})
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if section := _SECTION.match(line):
            here = found.setdefault(section[1], ([], {}))
        elif label := _LABEL.match(line):
            here[1][label[1]] = len(here[0])
        elif one := _LINE.match(line):
            word = _CONTROL.match(lines[number + 1])
            mnemonic, *modifiers = one[3].split(".")
            control = Control.of(int(word[1], 16)) if word is not None else Control()
            here[0].append(MachineInstruction(int(one[1], 16), mnemonic, tuple(modifiers), one[4], one[2], control))
    return {name: Disassembly(tuple(instructions), labels, name) for name, (instructions, labels) in found.items()}


@cache
def _nvdisasm() -> str:
    """The path of the disassembler of the wheel `nvidia-cuda-nvdisasm`. Raises W0780 if it is not
    installed."""
    places = [p for entry in sys.path for p in sorted(Path(entry or ".").glob("nvidia/cu*/bin/nvdisasm*"))]
    if not places:
        raise fail("W0780", "nvdisasm is not installed, which shows a kernel's machine code", hint=INSTALL)
    return str(places[0])


INFO = ".nv.info."
SIZED = 4
"""The format of attributes followed by their bytes."""
CTA_PER_CLUSTER = 0x3D
"""The attribute with a cluster's blocks along x, y, z."""


def clusters(cubin: bytes) -> dict[str, tuple[int, int, int]]:
    """Name of each kernel that runs in clusters → blocks of a cluster along x, y, z."""
    found: dict[str, tuple[int, int, int]] = {}
    for name, content in _sections(cubin):
        for attribute, value in _attributes(content) if name.startswith(INFO) else ():
            if attribute == CTA_PER_CLUSTER:
                x, y, z = struct.unpack("<III", value)
                found[name.removeprefix(INFO)] = x, y, z
    return found


def _sections(elf: bytes) -> Iterator[tuple[str, bytes]]:
    (start,), (each, count, named) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HHH", elf, 0x3A)
    places: list[tuple[int, int, int]] = []
    for number in range(count):
        name, _, _, _, offset, size = struct.unpack_from("<IIQQQQ", elf, start + number * each)
        places.append((name, offset, size))
    for name, offset, size in places:
        at = places[named][1] + name
        yield elf[at : elf.index(b"\0", at)].decode(), elf[offset : offset + size]


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(content):
        kind, attribute, size = struct.unpack_from("<BBH", content, at)
        at += 4
        if kind == SIZED:
            yield attribute, content[at : at + size]
            at += size
