"""A kernel as a custom operator of PyTorch, so that `torch.compile` and `torch.export` accept it.

Source: PyTorch, "Custom Python Operators" (`torch.library.custom_op`, `register_fake`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ...dsl.diagnostics import fail
from ..plan.plan import DimOf, ScalarOf
from ..plan.resolve import OPERATIONS
from ..plan.signature import Argument
from .arrays import torch_type
from .kernel import Kernel


def torch_op(kernel: Kernel, name: str) -> Callable[..., Any]:
    """Registers `kernel` as the operator `name` (`"namespace::name"`), with a function for the
    shapes of its results.

    Arrays that the kernel writes are declared as mutated. The operator has no gradient.

    Errors: W0747 (PyTorch is not installed; a name without a namespace).
    """
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise fail("W0747", "PyTorch is not installed", "`pip install torch`") from None
    if name.count("::") != 1 or not all(part.isidentifier() for part in name.split("::")):
        raise fail("W0747", f"`{name}` does not name an operator", "write a namespace and a name: `mine::matmul`")

    def run(*args: Any) -> Any:
        with torch.no_grad():
            return kernel(*args)

    def fake(*args: Any) -> Any:
        given = dict(zip((a.name for a in kernel.signature.arguments), args, strict=True))
        shapes = {b.name: b.shape for b in kernel.plan.buffers}
        like = next((value for value in args if isinstance(value, torch.Tensor)), None)
        device = "cpu" if like is None else like.device
        made = tuple(
            torch.empty([_size(size, given) for size in shapes[r.name]], dtype=torch_type(r.dtype), device=device)
            for r in kernel.signature.results
        )
        return made[0] if len(made) == 1 else made or None

    mutated = [a.name for a in kernel.signature.arguments if a.role == "inout"]
    operator = torch.library.custom_op(name, run, mutates_args=mutated, schema=_schema(kernel))
    operator.register_fake(fake)
    return operator


def _schema(kernel: Kernel) -> str:
    """The operator's schema, in PyTorch's syntax."""
    letters = iter("abcdefghijklmnopqrstuvwxyz")

    def typed(argument: Argument) -> str:
        if argument.shape is None:
            kind = "bool" if argument.dtype == "i1" else "int" if argument.dtype.startswith("i") else "float"
            return f"{kind} {argument.name}"
        return f"Tensor({next(letters)}!) {argument.name}" if argument.role == "inout" else f"Tensor {argument.name}"

    results = ", ".join("Tensor" for _ in kernel.signature.results)
    several = f"({results})" if len(kernel.signature.results) != 1 else results
    return f"({', '.join(map(typed, kernel.signature.arguments))}) -> {several}"


def _size(size: Any, given: dict[str, Any]) -> Any:
    """A size of the plan, evaluated for tensors with dimensions that may be symbols."""
    if isinstance(size, int):
        return size
    if isinstance(size, DimOf):
        return given[size.buffer].shape[size.axis]
    if isinstance(size, ScalarOf):
        return given[size.name]
    return OPERATIONS[size.operator](_size(size.left, given), _size(size.right, given))
