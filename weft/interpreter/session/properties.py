"""The properties of ops that a running schedule reads: `conv.rank`, `gemm.lhs.0`, `A.1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dsl import tree
from ...dsl.diagnostics import Diagnostic, WeftError
from ...dsl.expressions import Read
from ...dsl.scopes import Gone
from ..focus.carving import Version
from ..ir.functions import name_of
from ..ir.mlir import ir
from ..ir.refusing import describe
from ..ir.structured import shape_of
from ..matching.properties import CHOOSE, NoValueError, property_of
from .environment import Environment, single


def reader(version: Version, env: Environment, dead: Mapping[int, Gone]) -> Read:
    """A function that reads properties of the ops in a module, by the handles in scope."""

    def read(asked: tree.Property) -> Any:
        """Raises W0310 for an op that is gone, and W0408 for a property that it does not have."""
        op: ir.Operation | None = None
        try:
            if asked.name not in env:
                return _size_of_argument(version, asked)
            handle, fields = single(tree.HandleRef(asked.span, asked.name, asked.fields), env, dead)
            if handle.absent:
                raise NoValueError(f"the op is absent, which `if {asked.name} {{ … }}` tests")
            op = version.tagged(handle.tag)
            if op is None:
                raise WeftError(Diagnostic("W0310", "the op of this handle is gone: a rewrite removed it", asked.span))
            return property_of(op, fields)
        except NoValueError as error:
            reason, *hints = error.args
            hint, where = next(iter(hints), None), None if op is None else describe(op)
            message = f"`{asked.spelling}` has no value: {reason}"
            raise WeftError(Diagnostic("W0408", message, asked.span, hint=hint, payload=where)) from error

    return read


def _size_of_argument(version: Version, asked: tree.Property) -> int:
    """The size of the payload's arguments of a name along an axis. Raises `NoValueError`."""
    axis = int(asked.fields[0])
    arguments = [value for f in version.functions for value in f.regions[0].blocks[0].arguments]
    shapes = [shape_of(value) for value in arguments if name_of(value) == asked.name]
    if not any(axis < len(shape) for shape in shapes):
        raise NoValueError(f"the payload has no argument `{asked.name}` with an axis {axis}")
    sizes = {shape[axis] for shape in shapes if axis < len(shape)}
    if len(sizes) > 1 or None in sizes:
        raise NoValueError(
            *(("it is known only at run time", CHOOSE) if None in sizes else ("functions differ in it",))
        )
    return sizes.pop() or 0
