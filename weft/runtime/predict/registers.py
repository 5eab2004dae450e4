"""The registers and predicates that an instruction reads and writes, parsed from its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from .operands import PREDICATE
from .sass import MachineInstruction


def parts(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits operands into results (a register, with predicates around it) and sources."""
    count, registers = 0, 0
    for text in arguments:
        if PREDICATE.match(text) and not text.startswith("!"):
            count += 1
        elif not registers and re.match(r"^U?R(\d+|Z)$", text):
            count += 1
            registers += 1
        else:
            break
    return list(arguments[:count]), list(arguments[count:])


def divided(x: MachineInstruction) -> tuple[list[str], list[str]]:
    """Results and sources of `OP d [, P [, P]], a, b, …`: predicates directly after the first
    register are results."""
    return _divided(x.operands)


@cache
def _divided(operands: str) -> tuple[list[str], list[str]]:
    arguments = [part.strip().replace(".reuse", "") for part in operands.split(",")]
    count = 1
    while count < len(arguments) and PREDICATE.match(arguments[count]) and not arguments[count].startswith("!"):
        count += 1
    return arguments[:count], arguments[count:]


@cache
def read_by(x: MachineInstruction) -> frozenset[str]:
    """The registers and predicates on which the results of an instruction in `COMPUTES` depend."""
    given = x.arguments[2:] if x.mnemonic in ("PLOP3", "UPLOP3") else divided(x)[1]
    if x.mnemonic in ("IMAD", "UIMAD") and ("WIDE" in x.modifiers or "HI" in x.modifiers):
        given = [*given, f"{given[2]}.64"]
    named = named_in(" ".join((*given, x.predicate or "")))
    return named | {f"P{n}" for n in range(7)} if "PR" in given else named


@cache
def named_in(text: str) -> frozenset[str]:
    """The registers and predicates named in a text: `R4.64` names two."""
    found = re.findall(r"\b(U?[RP])(\d+)(\.64)?", text)
    return frozenset(f"{kind}{int(number) + more}" for kind, number, two in found for more in ((0, 1) if two else (0,)))


def unknown_results(one: MachineInstruction) -> dict[str, None]:
    """The registers and predicates written by an instruction with unknown results, each mapped to
    None."""
    arguments = one.arguments
    if not arguments or one.mnemonic in (
        "STS",
        "STG",
        "LDGSTS",
        "RED",
        "ST",
        "STSM",
        "BSSY",
        "BSYNC",
        "DEPBAR",
        "NOP",
        "BAR",
    ):
        return {}
    found: dict[str, None] = {}
    for text in arguments[:2]:
        name = text.strip()
        if name[:1] == "P" or name[:2] == "UP":
            found[name] = None
        elif name[:1] == "R" or name[:2] == "UR":
            kind = "UR" if name.startswith("UR") else "R"
            number = name[len(kind) :].split(".")[0]
            if number.isdigit():
                found |= dict.fromkeys(f"{kind}{int(number) + i}" for i in range(_width(one)))
            break
        else:
            break
    return {name: None for name in found if name not in ("PT", "UPT")}


def _width(one: MachineInstruction) -> int:
    """The number of registers of the result."""
    if one.mnemonic in ("HMMA", "IMMA", "DMMA", "QMMA"):
        return 2 if one.mnemonic == "HMMA" and "F16" in one.modifiers[1:2] else 4
    if one.mnemonic.endswith("GMMA"):
        return next(int(m.split("x")[1]) // 2 for m in one.modifiers if "x" in m)
    if one.mnemonic == "LDSM":
        return int(one.modifiers[-1]) if one.modifiers[-1].isdigit() else 1
    if one.bits > 32:
        return one.bits // 32
    return 2 if one.mnemonic in ("DFMA", "DADD", "DMUL") or "F64" in one.modifiers[:1] else 1
