"""`krnl.global`, the constant of ONNX's dialect, as a `memref.global` with the same elements.

The dialect is not registered here, so that its op is parsed as data: a name, a shape, a value. What would have to be guessed
is refused: a value that is not there, elements that were left out of the text, a constant that the program writes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Diagnostic, Source, WeftError
from .naming import span_of

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir

NAME, ENTRY = "krnl.global", "krnl.entry_point"
_RESOURCE = re.compile(r"dense_resource<([\w$.-]+|\"[^\"]*\")>")
_ALIGNMENT_BYTES = 4
"""A blob in the text begins with its alignment, 32 bits."""


def read_constants(module: ir.Module, source: Source) -> None:
    """Replace every `krnl.global` of a module, in place, and take out `krnl.entry_point`, which computes nothing: it tells ONNX's
    own runtime which function to call.

    Raises:
        WeftError: W0410 for one without a value, W0411 for a value that is not of the constant's type, W0412 for elements that
            are not in the text, W0413 for a constant that is written to.
    """
    from ..interpreter.ir import mlir
    from ..interpreter.session.rewriter import describe

    constants = list(mlir.operations(module.operation, NAME))
    globals_ = _Globals(module) if constants else None
    for op in constants:
        assert globals_ is not None
        try:
            with module.context, op.location:
                _replace(op, globals_, source)
        except _Refusal as refusal:
            span, message = span_of(op.location, source), f"`{NAME}`: {refusal.message}"
            raise WeftError(
                Diagnostic(refusal.code, message, span, hint=refusal.hint, payload=describe(op))
            ) from refusal
    for op in mlir.operations(module.operation, ENTRY):
        if not len(op.results):
            op.operation.erase()


class _Refusal(Exception):
    """What is wrong with a constant; the caller knows where it stands."""

    def __init__(self, code: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


def _replace(op: ir.Operation, globals_: _Globals, source: Source) -> None:
    """A global, and a `memref.get_global` in the constant's place."""
    from ..interpreter.ir.mlir import ir, memref
    from ..runtime.host.functions import is_written

    type_ = _type(op)
    value = _value(op, type_, source)
    if is_written(op.results[0]):
        raise _Refusal("W0413", "this constant is written to", "copy it into an allocation, and write there")
    symbol = globals_.symbol(op, value, type_)
    with ir.InsertionPoint(op):
        got = memref.GetGlobalOp(type_, ir.FlatSymbolRefAttr.get(symbol))
    op.results[0].replace_all_uses_with(got.result)
    op.operation.erase()


def _type(op: ir.Operation) -> ir.MemRefType:
    """The constant's type: a static memref of plain layout, as its `shape` says."""
    from ..interpreter.ir.mlir import ir

    shown = op.results[0].type if len(op.results) == 1 and not len(op.operands) else None
    type_ = ir.MemRefType(shown) if isinstance(shown, ir.MemRefType) else None
    if type_ is None or not type_.has_static_shape:
        raise _Refusal("W0411", "this constant is not one memref of static shape")
    sizes = list(type_.shape)
    if type_ != ir.MemRefType.get(sizes, type_.element_type, None, type_.memory_space):
        raise _Refusal("W0411", f"the layout of {type_} is not the plain one", "print the constant row-major")
    shape = op.attributes.get("shape", None)
    if isinstance(shape, ir.ArrayAttr) and [str(n).split(" ")[0] for n in shape] != [str(n) for n in sizes]:
        raise _Refusal("W0411", f"its shape is {shape}, and its type {type_}")
    if op.parent is None or not _directly_in_module(op):
        raise _Refusal("W0411", "this constant stands in a kernel or a module inside the module")
    return type_


def _directly_in_module(op: ir.Operation) -> bool:
    """Whether the symbol table around the op is the payload's module: a global there can be named."""
    parent = op.parent
    while parent is not None and parent.operation.name not in ("builtin.module", "gpu.module"):
        parent = parent.operation.parent
    return parent is not None and parent.operation.name == "builtin.module" and parent.operation.parent is None


def _value(op: ir.Operation, type_: ir.MemRefType, source: Source) -> ir.Attribute:
    """The elements, as a dense attribute of the memref's shape and element type."""
    from ..interpreter.ir.mlir import ir

    value = op.attributes.get("value", None)
    if value is None:
        raise _Refusal("W0410", "this constant has no value", "print it with its elements: `value = dense<…>`")
    resource = _RESOURCE.match(str(value))
    wanted = ir.RankedTensorType.get(list(type_.shape), type_.element_type)
    if resource is None and not isinstance(value, ir.DenseElementsAttr):
        raise _Refusal("W0410", f"the value is no list of elements: {_short(value)}", "print it as `dense<…>`")
    found = ir.ShapedType(getattr(value, "type"))  # noqa: B009  (an Attribute by its static type)
    if found != wanted:
        raise _Refusal("W0411", f"the value is a {found}, and the constant a {type_}")
    return _blob(op, resource[1].strip('"'), wanted, source) if resource is not None else value


def _blob(op: ir.Operation, key: str, type_: ir.RankedTensorType, source: Source) -> ir.Attribute:
    """The elements of a `dense_resource<key>`, from the hex digits at the end of the text (the bindings don't show them)."""
    from ..interpreter.ir.mlir import ir

    digits = _resources(source.text).get(key)
    if digits is None:
        raise _Refusal(
            "W0412", f"the elements of `{key}` are not in the text", "print the module without eliding its constants"
        )
    data = bytes.fromhex(digits)[_ALIGNMENT_BYTES:] if len(digits) % 2 == 0 else b""
    attribute = f'dense<"0x{data.hex()}"> : {type_}'
    try:
        return ir.Attribute.parse(attribute, op.context)
    except ir.MLIRError as error:
        raise _Refusal("W0412", f"`{key}` has {len(data)} bytes, and they are not the elements of a {type_}") from error


_ENTRY = re.compile(r'^[ \t]*+(?:"([^"\n]*+)"|([\w$.-]++))[ \t]*+:[ \t]*+"0x([0-9A-Fa-f]*+)"', re.MULTILINE)


@lru_cache(maxsize=1)
def _resources(text: str) -> dict[str, str]:
    """The hex digits of each blob, by its key: from the last `{-#` of the text on."""
    start = text.rfind("{-#")
    if start < 0:
        return {}
    return {found[1] if found[2] is None else found[2]: found[3] for found in reversed(list(_ENTRY.finditer(text, start)))}


class _Globals:
    """The globals of a module that are made of constants; the names that are taken, looked up once."""

    def __init__(self, module: ir.Module) -> None:
        from ..interpreter.ir.mlir import ir, operations

        ops = list(operations(module.operation))
        self._taken = {ir.StringAttr(op.attributes["sym_name"]).value for op in ops if "sym_name" in op.attributes}
        self._first = next(o for o in module.body.operations if o.operation.name != "memref.global")  # a function, at least
        self._made: dict[tuple[str, ir.Attribute, ir.Type], str] = {}
        self._tried: dict[str, int] = {}

    def symbol(self, op: ir.Operation, value: ir.Attribute, type_: ir.MemRefType) -> str:
        """The name of a global with this value; a constant that is named twice is one global."""
        from ..interpreter.ir.mlir import ir

        given = op.attributes.get("name", None)
        plain = re.sub(r"\W", "_", given.value, flags=re.ASCII) if isinstance(given, ir.StringAttr) else ""
        key = (plain or "constant", value, type_)
        if key in self._made:
            return self._made[key]
        name = self._free(key[0])
        attributes: dict[str, ir.Attribute] = {
            "sym_name": ir.StringAttr.get(name),
            "sym_visibility": ir.StringAttr.get("private"),
            "type": ir.TypeAttr.get(type_),
            "initial_value": value,
            "constant": ir.UnitAttr.get(),
        }
        if "alignment" in op.attributes:
            attributes["alignment"] = op.attributes["alignment"]
        with ir.InsertionPoint(self._first):
            ir.Operation.create("memref.global", attributes=attributes)
        self._made[key] = name
        return name

    def _free(self, plain: str) -> str:
        """`plain`, `plain_0`, `plain_1`, …: the first that is not taken, which is taken then."""
        name, number = plain, self._tried.get(plain, 0)
        while name in self._taken:
            name, number = f"{plain}_{number}", number + 1
        self._tried[plain] = number
        self._taken.add(name)
        return name


def _short(value: ir.Attribute) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "…"
