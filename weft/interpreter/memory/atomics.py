"""Atomic updates that GPUs have an instruction for: what a `memref.atomic_rmw` does, and to which types of elements."""

from __future__ import annotations

from ..ir.mlir import ir

_WHOLE = ("i32", "i64")

FORMS = {
    "addf": ("f32", "f64"), "addi": _WHOLE, "maxs": _WHOLE, "mins": _WHOLE, "maxu": _WHOLE, "minu": _WHOLE, "andi": _WHOLE,
    "ori": _WHOLE, "xori": _WHOLE, "assign": ("i32", "f32"),
}  # fmt: skip
"""As CUDA has them. It has no others of floats in their own precision: an extreme is none of the bits, which order NaN
and -0.0 in another way, and an addition in f16 or bf16 would round once per update."""


def has_form(word: str, kind: ir.Type) -> bool:
    """Whether an element of this type is updated by one instruction."""
    return str(kind) in FORMS.get(word, ())


def forms() -> str:
    """What there is, for hints: `addf` on f32 and f64, …"""
    by: dict[tuple[str, ...], list[str]] = {}
    for word, kinds in FORMS.items():
        if word != "assign":
            by.setdefault(kinds, []).append(f"`{word}`")
    return "; ".join(f"{', '.join(words)} on {' and '.join(kinds)}" for kinds, words in by.items())
