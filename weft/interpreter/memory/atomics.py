"""Atomic updates for which GPUs have an instruction: kinds of `memref.atomic_rmw`, and types of
elements."""

from __future__ import annotations

from ..ir.mlir import ir

_WHOLE = ("i32", "i64")

FORMS = {
    "addf": ("f32", "f64"), "addi": _WHOLE, "maxs": _WHOLE, "mins": _WHOLE, "maxu": _WHOLE, "minu": _WHOLE, "andi": _WHOLE,
    "ori": _WHOLE, "xori": _WHOLE, "assign": ("i32", "f32"),
}  # fmt: skip
"""The forms of CUDA. Others on floats have none in their own precision: an extreme of the bits
would order NaN and -0.0 differently, and an addition in f16 or bf16 would round once per update."""


def has_form(word: str, kind: ir.Type) -> bool:
    """Whether one instruction updates an element of this type."""
    return str(kind) in FORMS.get(word, ())


def forms() -> str:
    """All atomic updates that GPUs have, for hints: `addf` on f32 and f64, …"""
    by: dict[tuple[str, ...], list[str]] = {}
    for word, kinds in FORMS.items():
        if word != "assign":
            by.setdefault(kinds, []).append(f"`{word}`")
    return "; ".join(f"{', '.join(words)} on {' and '.join(kinds)}" for kinds, words in by.items())
