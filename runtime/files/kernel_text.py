"""Does a kernel's CUDA text take what the plan says it takes? A launch passes raw words: nothing else would notice.

No MLIR here; what is compared is the argument list that `cuda/abi.py` describes.
"""

from __future__ import annotations

import re

from ...dsl.diagnostics import fail
from ..plan.plan import Kernel, Param

CXX = {
    "f64": "double", "f32": "float", "f16": "f16", "bf16": "bf16", "i1": "bool", "i8": "signed char", "i16": "short",
    "i32": "int", "i64": "long long", "index": "long long",
}  # fmt: skip
"""Element types as the text spells them."""

_QUALIFIERS = re.compile(r"\bconst\b|__restrict__")


def check_text(kernel: Kernel, text: str, where: str) -> None:
    """Refuse a kernel that `text` does not have (W0712), or that takes other arguments there (W0713)."""
    declared = declared_types(text, kernel.name)
    if declared is None:
        raise fail("W0712", f"the plan launches `{kernel.name}`, which {where} does not have")
    expected = [type_ for param in kernel.params for type_ in parameter_types(param)]
    if declared != expected:
        raise fail(
            "W0713",
            f"the kernel `{kernel.name}` takes other arguments in {where} than the plan passes",
            notes=(f"in the text: {', '.join(declared) or 'none'}", f"by the plan: {', '.join(expected) or 'none'}"),
            hint="build the bundle anew with `weft build`",
        )


def declared_types(text: str, name: str) -> list[str] | None:
    """The types of the parameters of kernel `name`, without qualifiers; None where the text has no such kernel."""
    written = re.compile(rf"\b{re.escape(name)}\s*+\(([^()]*+)\)")
    for piece in re.split("[;{}]", text):  # what a declaration stays in
        _, kernel, rest = piece.partition("__global__")
        if kernel and (found := written.search(rest)) is not None:
            return [_type(declaration) for declaration in found[1].split(",") if declaration.strip()]
    return None


def _type(declaration: str) -> str:
    words = _QUALIFIERS.sub(" ", declaration).replace("*", " * ").split()
    return " ".join(words[:-1]).replace(" *", "*")


def parameter_types(param: Param) -> list[str]:
    """What the text takes for one parameter of the kernel."""
    own = CXX[param.dtype]
    if param.shape is None:
        return [own]
    open_ = [*param.shape, *(param.strides or ()), param.offset].count(None)
    return [f"{own}*", *["long long"] * open_]
