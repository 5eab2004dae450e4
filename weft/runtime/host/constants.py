"""The elements of dense constants."""

from __future__ import annotations

import re

import numpy as np

from ...interpreter.ir.mlir import ir
from ..plan.dtypes import narrow, widen

RAW = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')
NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+]?[0-9][0-9.]*(?:[eE][-+]?[0-9]+)?")


def constant_array(attribute: ir.Attribute | None, dtype: str) -> np.ndarray | None:
    """The elements of a dense attribute as NumPy's type of `dtype`, in its shape; None if they are not known."""
    if attribute is None or not isinstance(attribute, ir.DenseFPElementsAttr | ir.DenseIntElementsAttr):
        return None
    if attribute.type.element_type != ir.BF16Type.get(attribute.context):
        return narrow(np.array(attribute), dtype)
    shape = [attribute.type.get_dim_size(i) for i in range(attribute.type.rank)]
    if attribute.is_splat:
        return narrow(np.full(shape, ir.FloatAttr(attribute.get_splat_value()).value), dtype)
    return narrow(_bf16(str(attribute)).reshape(shape), dtype)


def _bf16(text: str) -> np.ndarray:
    """The numbers of a printed bf16 attribute (the bindings give no access to them): all bytes in hex, or one by one."""
    raw = RAW.match(text)
    if raw is not None:
        return widen(np.frombuffer(bytes.fromhex(raw[1]), "<u2"), "bf16")
    spelled = NUMBER.findall(text[: text.rindex(":")].removeprefix("dense"))
    bits = [int(n, 16) if n.startswith("0x") else None for n in spelled]
    decimals = np.array([float(n) if b is None else 0.0 for n, b in zip(spelled, bits, strict=True)], np.float32)
    rounded = widen(narrow(decimals, "bf16"), "bf16")  # six digits are printed: enough to tell one bf16 from another
    special = widen(np.array([b or 0 for b in bits], np.uint16), "bf16")
    return np.where([b is not None for b in bits], special, rounded)
