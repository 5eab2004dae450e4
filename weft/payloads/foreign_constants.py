"""Reads `krnl.global`, the constant of ONNX's dialect, as a `memref.global` with the same elements.

The dialect is not registered, so that its op is parsed as an unregistered op with a name, a shape
and a value. Constants that would have to be guessed are refused: a value that is missing, elements
that are elided in the text, a constant that the program writes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..dsl.diagnostics import Diagnostic, Source, WeftError
from ..dsl.records import record
from ..interpreter.ir.mlir import ir, memref, operations
from ..interpreter.ir.refusing import describe
from .naming import span_of

NAME, ENTRY = "krnl.global", "krnl.entry_point"
_RESOURCE = re.compile(r"dense_resource<([\w$.-]+|\"[^\"]*\")>")
_ENTRY = re.compile(r'^[ \t]*+(?:"([^"\n]*+)"|([\w$.-]++))[ \t]*+:[ \t]*+"0x([0-9A-Fa-f]*+)"', re.MULTILINE)
_ALIGNMENT_BYTES = 4
"""The size of the alignment with which a blob in the text begins."""


def read_constants(module: ir.Module, source: Source) -> None:
    """Replaces every `krnl.global` of a module in place, and erases `krnl.entry_point`, which
    computes nothing: it names the entry function for ONNX's own runtime. Equal names make one
    global.

    Raises:
        WeftError: W0410 for a constant without a value, W0411 for a value that does not have the
            constant's type, W0412 for elements that are not in the text, W0413 for a constant that
            is written.
    """
    constants = [_Constant(op, source) for op in operations(module.operation, NAME)]
    if constants:
        symbols, made = ir.SymbolTable(module.operation), dict[tuple[ir.Attribute, ...], ir.StringAttr]()
        first = next(o for o in module.body.operations if o.operation.name != "memref.global")  # at least a function
    for constant in constants:
        op = constant.op
        with module.context, op.location:
            attributes = constant.attributes()
            key = tuple(attributes[name] for name in ("sym_name", "initial_value", "type"))
            if key not in made:
                place = ir.InsertionPoint(first)
                made[key] = symbols.insert(ir.Operation.create("memref.global", attributes=attributes, ip=place))
            with ir.InsertionPoint(op):
                got = memref.GetGlobalOp(op.results[0].type, ir.FlatSymbolRefAttr.get(made[key].value))
        op.results[0].replace_all_uses_with(got.result)
        op.operation.erase()
    for op in operations(module.operation, ENTRY):
        if not len(op.results):
            op.operation.erase()


@record
class _Constant:
    """A `krnl.global` of a text."""

    op: ir.Operation
    source: Source

    def refusal(self, code: str, message: str, hint: str | None = None) -> WeftError:
        place = span_of(self.op.location, self.source)
        return WeftError(Diagnostic(code, f"`{NAME}`: {message}", place, hint=hint, payload=describe(self.op)))

    def attributes(self) -> dict[str, ir.Attribute]:
        """The attributes of a `memref.global` with the same elements."""
        type_ = self.type()
        value = self.value(type_)
        from ..runtime.host.functions import is_written

        if is_written(self.op.results[0]):
            raise self.refusal("W0413", "this constant is written to", "copy it into a `memref.alloc`, and write there")
        given = self.op.attributes.get("name", None)
        plain = re.sub(r"\W", "_", given.value, flags=re.ASCII) if isinstance(given, ir.StringAttr) else ""
        alignment = {"alignment": self.op.attributes["alignment"]} if "alignment" in self.op.attributes else {}
        return {
            "sym_name": ir.StringAttr.get(plain or "constant"),
            "sym_visibility": ir.StringAttr.get("private"),
            "type": ir.TypeAttr.get(type_),
            "initial_value": value,
            "constant": ir.UnitAttr.get(),
            **alignment,
        }

    def type(self) -> ir.MemRefType:
        """The type of the constant: a static memref with the identity layout and the constant's
        `shape`."""
        op = self.op
        shown = op.results[0].type if len(op.results) == 1 and not len(op.operands) else None
        if not isinstance(shown, ir.MemRefType) or not (type_ := ir.MemRefType(shown)).has_static_shape:
            raise self.refusal("W0411", "this constant is not one memref of static shape")
        sizes = list(type_.shape)
        if type_ != ir.MemRefType.get(sizes, type_.element_type, None, type_.memory_space):
            raise self.refusal(
                "W0411",
                f"the layout of {type_} is not the identity",
                "print the constant row-major, without a layout: `memref<4x8xf32>`",
            )
        shape = op.attributes.get("shape", None)
        if isinstance(shape, ir.ArrayAttr) and [str(n).split(" ")[0] for n in shape] != [str(n) for n in sizes]:
            raise self.refusal("W0411", f"its shape is {shape}, and its type {type_}")
        holder = op.parent
        while holder is not None and holder.operation.name not in ("builtin.module", "gpu.module"):
            holder = holder.operation.parent
        if holder is None or holder.operation.name == "gpu.module" or holder.operation.parent is not None:
            raise self.refusal("W0411", "this constant is in a kernel or a module inside the module")
        return type_

    def value(self, type_: ir.MemRefType) -> ir.Attribute:
        """The elements as a dense attribute with the memref's shape and element type."""
        value = self.op.attributes.get("value", None)
        if value is None:
            raise self.refusal("W0410", "this constant has no value", "print it with its elements: `value = dense<…>`")
        resource = _RESOURCE.match(str(value))
        wanted = ir.RankedTensorType.get(list(type_.shape), type_.element_type)
        if resource is None and not isinstance(value, ir.DenseElementsAttr):
            text = str(value)
            short = text if len(text) <= 60 else text[:57] + "…"
            raise self.refusal("W0410", f"the value is not a list of elements: {short}", "print it as `dense<…>`")
        found = ir.ShapedType(getattr(value, "type"))  # noqa: B009  (an Attribute by its static type)
        if found != wanted:
            raise self.refusal("W0411", f"the value is a {found}, and the constant a {type_}")
        return value if resource is None else self.blob(resource[1].strip('"'), wanted)

    def blob(self, key: str, type_: ir.RankedTensorType) -> ir.Attribute:
        """The elements of a `dense_resource<key>`, from the hexadecimal digits at the end of the
        text."""
        digits = _resources(self.source.text).get(key)
        if digits is None:
            hint = "print the module without `--mlir-elide-elementsattrs-if-larger`"
            raise self.refusal("W0412", f"the elements of `{key}` are not in the text", hint)
        data = bytes.fromhex(digits)[_ALIGNMENT_BYTES:] if len(digits) % 2 == 0 else b""
        try:
            return ir.Attribute.parse(f'dense<"0x{data.hex()}"> : {type_}', self.op.context)
        except ir.MLIRError as error:
            message = f"`{key}` has {len(data)} bytes, and they are not the elements of a {type_}"
            raise self.refusal("W0412", message) from error


@lru_cache(maxsize=1)
def _resources(text: str) -> dict[str, str]:
    """Key → hexadecimal digits, for each blob in the text after the last `{-#`."""
    start = text.rfind("{-#")
    if start < 0:
        return {}
    entries = reversed(list(_ENTRY.finditer(text, start)))
    return {found[1] if found[2] is None else found[2]: found[3] for found in entries}
