"""Sizes of elements and arrays in bytes."""

from __future__ import annotations

from math import prod

from ...dsl.diagnostics import fail
from .mlir import ir


def known_bytes(kind: ir.Type) -> int | None:
    """The bytes of an element in memory; None for a type of unknown size."""
    if isinstance(kind, ir.IndexType):
        return 8
    if isinstance(kind, ir.VectorType):
        inner = known_bytes(kind.element_type)
        return None if inner is None else inner * prod(kind.shape)
    if isinstance(kind, ir.FloatTF32Type):
        return 4
    width = getattr(kind, "width", None)
    return None if width is None else -(-width // 8)


def element_bytes(kind: ir.Type) -> int:
    """Bytes of one element in memory, at least 1."""
    return known_bytes(kind) or 1


MOST_REGISTERS = 255
"""The registers that an instruction can name, and so the maximum of a thread."""


def registers_of(kind: ir.Type) -> int:
    """The 4-byte registers that a thread's private array occupies."""
    return -(-bytes_of(kind) // 4)


def bytes_of(kind: ir.Type) -> int:
    """The size of a static memref. Raises W0355 for a dynamic one."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape:
        message = f"a buffer of type {kind} has no size that is known when the kernel is built"
        hint = "`tile` by numbers; write the payload's own `memref.alloc` before the loop that is launched"
        raise fail("W0355", message, hint)
    return prod(kind.shape) * element_bytes(kind.element_type)
