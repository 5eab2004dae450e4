"""Which memory a memref type names, however it is spelled."""

from __future__ import annotations

import re
from typing import Literal

from ...dsl.diagnostics import fail
from ..ir.mlir import ir

Space = Literal["workgroup", "global", "private"]

_SPELLINGS: dict[str, Space] = {
    "#gpu.address_space<global>": "global",
    "#gpu.address_space<constant>": "global",
    "#gpu.address_space<workgroup>": "workgroup",
    "#gpu.address_space<private>": "private",
    "#nvvm.memory_space<generic>": "global",
    "#nvvm.memory_space<global>": "global",
    "#nvvm.memory_space<constant>": "global",
    "#nvvm.memory_space<shared>": "workgroup",
    "#nvvm.memory_space<local>": "private",
    "#ptr.generic_space": "global",
    "#amdgpu.address_space<fat_raw_buffer>": "global",
    "#spirv.storage_class<CrossWorkgroup>": "global",
    "#spirv.storage_class<StorageBuffer>": "global",
    "#spirv.storage_class<Uniform>": "global",
    "#spirv.storage_class<UniformConstant>": "global",
    "#spirv.storage_class<Generic>": "global",
    "#spirv.storage_class<Workgroup>": "workgroup",
    "#spirv.storage_class<Private>": "private",
    "#spirv.storage_class<Function>": "private",
}
_NUMBERS: dict[int, Space] = {0: "global", 1: "global", 3: "workgroup", 4: "global", 5: "private"}
"""LLVM's address spaces, which NVPTX and AMDGPU number alike."""


def space_of(kind: ir.MemRefType | ir.UnrankedMemRefType) -> Space | None:
    """The memory that a memref type names; None where it names one that is not known (of clusters, of tensor cores, of others)."""
    attribute = kind.memory_space
    if attribute is None:
        return "global"
    text = str(attribute)
    number = re.fullmatch(r"(?:#llvm\.address_space<)?(\d+)(?:>| : \w+)?", text)
    return _NUMBERS.get(int(number[1])) if number is not None else _SPELLINGS.get(text)


def memory_space(kind: ir.MemRefType | ir.UnrankedMemRefType) -> Space:
    """The memory that a memref type names.

    Raises:
        WeftError: W0641 for a memory space that is not known.
    """
    space = space_of(kind)
    if space is None:
        raise fail(
            "W0641",
            f"the memory space {kind.memory_space} is not known: {kind}",
            hint="name global, shared (workgroup) or private memory, in the spelling of gpu, nvvm, spirv, or LLVM's numbers",
        )
    return space


def is_shared(kind: ir.Type) -> bool:
    """Whether a type names the memory that the threads of a block share."""
    return isinstance(kind, ir.MemRefType | ir.UnrankedMemRefType) and space_of(kind) == "workgroup"
