"""The pipe that executes an instruction, and the clocks for which it is occupied; register banks."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ...interpreter.hardware.limits import WARP
from .chips import Gpu
from .sass import MachineInstruction

SCHEDULERS = 4

_EXECUTED = {
    "fma": "FFMA FMUL FADD IMAD HFMA2 HADD2 HMUL2 FFMA2 FADD2 FMUL2",
    "tensor": "HMMA IMMA DMMA HGMMA IGMMA QGMMA",
    "fp64": "DFMA DMUL DADD DSETP",
    "special": "MUFU I2F F2I F2F I2FP POPC FLO BREV FRND",
    "alu": "IADD3 VIADD LOP3 SHF LEA ISETP FSETP SEL FSEL PRMT MOV IABS FMNMX IMNMX VIMNMX PLOP3 SGXT BMSK",
    "shared": "LDS STS LDSM STSM ATOMS SHFL",
    "global": "LDG STG LD ST RED ATOMG ATOM LDL STL LDGSTS",
    "boxes": "UTMALDG UTMASTG",
}
_PIPES = {name: pipe for pipe, names in _EXECUTED.items() for name in names.split()}
_PIPES |= {"SYNCS": "signal", "WARPGROUP": "products", "UCGABAR_ARV": "arrival", "UCGABAR_WAIT": "meeting"}
_PIPES |= {"MEMBAR": "fence", "BAR": "barrier", "DEPBAR": "wait", "LDGDEPBAR": "group"}

_DONE = {1: "FMUL FADD DMUL DADD", 2: "FFMA DFMA HADD2 HMUL2 FADD2 FMUL2", 4: "HFMA2 FFMA2"}
FLOPS = {name: count for count, names in _DONE.items() for name in names.split()}
"""Mnemonic → floating-point operations per thread."""
_PRODUCTS = {"884": 256, "1684": 512, "1688": 1024, "8816": 1024, "16816": 2048, "16832": 4096}


def pipe_of(one: MachineInstruction) -> str:
    """The pipe that executes an instruction; empty if the model does not need it."""
    return _PIPES.get(one.mnemonic, "")


def is_of_group(one: MachineInstruction) -> bool:
    """Whether an instruction is a warp-group product: each of four warps executes a quarter,
    asynchronously."""
    return one.mnemonic.endswith("GMMA")


def flops(one: MachineInstruction) -> int:
    """Floating-point operations of an instruction, for a whole warp."""
    if pipe_of(one) == "tensor":
        spelled = (math.prod(map(int, m.split("x"))) for m in one.modifiers if re.fullmatch(r"\d+x\d+x\d+", m))
        done = 2 * next((_PRODUCTS[m] for m in one.modifiers if m in _PRODUCTS), next(spelled, 0))
        return done // 4 if is_of_group(one) else done
    if one.mnemonic == "HFMA2" and one.arguments[1].lstrip("-") == "RZ":  # loads a constant
        return 0
    return FLOPS.get(one.mnemonic, 0) * WARP


def multiplied(one: MachineInstruction) -> str:
    """The operand type of a tensor-core instruction."""
    by_mnemonic = {"DMMA": "f64", "IMMA": "i8", "IGMMA": "i8", "QGMMA": "f8"}
    return by_mnemonic.get(one.mnemonic) or (
        "tf32" if "TF32" in one.modifiers else "bf16" if "BF16" in one.modifiers else "f16"
    )


def interval(one: MachineInstruction, chip: Gpu) -> float:
    """Clocks for which an instruction occupies its scheduler's part of a pipe."""
    match pipe_of(one):
        case "tensor":
            share = chip.group_share if is_of_group(one) else chip.tensor_share
            return flops(one) / 2 * SCHEDULERS / (chip.tensor[multiplied(one)] * share)
        case "fma":
            return SCHEDULERS * WARP / chip.fp32
        case "fp64":
            return SCHEDULERS * WARP / chip.fp64
        case "alu":
            return 2
        case "special":
            return 8
    return 0


def bank_conflicts(instructions: Sequence[MachineInstruction]) -> list[bool]:
    """For each instruction, whether register-bank conflicts cost an additional clock.

    Each bank (even and odd register numbers) supplies two registers per clock; an operand in the
    reuse cache, left by the instruction before, is not read again.
    """
    found: list[bool] = []
    held: dict[int, str] = {}
    for one in instructions:
        conflict = False
        if one.mnemonic == "FFMA":
            names = [re.match(r"-?\|?(R\d+)", text) for text in one.arguments[1:4]]
            registers = {slot: name[1] for slot, name in enumerate(names) if name is not None}
            need = {name for slot, name in registers.items() if held.get(slot) != name}
            odd = sum(int(name[1:]) % 2 for name in need)
            conflict = odd > 2 or len(need) - odd > 2
            held = {slot: name for slot, name in registers.items() if one.control.reuse >> slot & 1}
        elif one.control.reuse:
            held = {}
        found.append(conflict)
    return found
