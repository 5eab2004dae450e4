"""Reads a payload's text as a module: parsed, verified, with names for its ops and values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Diagnostic, Source, Span, WeftError, fail
from ..interpreter.hardware.ampere.fragments import AS_TYPE, MMA, SPLITS
from ..interpreter.hardware.hopper.tensor_maps import WINDOW, window_from
from ..interpreter.hardware.hopper.warpgroups import MMA as PRODUCT
from ..interpreter.ir import mlir
from ..interpreter.ir.functions import (
    AGREEMENTS,
    ASSUMED,
    ATTRIBUTIONS,
    COMBINER,
    MOST,
    MOST_BLOCKS,
    MULTIPLES,
    PARTICIPANTS,
    VERSION_OF,
    attributes_of,
    workgroup_buffers,
)
from ..interpreter.ir.mlir import ir, operations
from ..interpreter.ir.strings import undecodable
from ..interpreter.matching.kinds import kind_of
from ..interpreter.memory.names import name_buffers
from .naming import WrittenNames, span_of

if TYPE_CHECKING:
    from .edits import Older


def parse_payload(source: Source) -> ir.Module:
    """Parses and verifies a payload in a new context. Locations of ops name `source`; arguments and
    results of functions get a `weft.name`. Raises W0487 with the parser's messages, line and
    column."""
    module = parse_module(source)
    if not any(mlir.operations(module.operation, "func.func")):
        raise fail("W0488", f"payload `{source.name}` has no function", hint="wrap the program in a `func.func`")
    written = WrittenNames(source)
    _name_values(module, written)
    name_buffers(module, written.at)
    return module


def parse_module(source: Source) -> ir.Module:
    """Parses and verifies any module in a new context. Locations of ops name `source`.

    Text of older MLIR versions is rewritten where possible. Raises W0487, W0625 … W0628, W0410 …
    W0413.
    """
    from .foreign_constants import read_constants
    from .llvm_ops import in_plain_ops
    from .older_mlir import REJECTED, rewritten
    from .refusals import expect_iterators, expect_known_holders, expect_order

    older: Older | None = None
    if (at := undecodable(source.text)) is not None:
        raise fail("W0487", "the payload does not parse: a string that is not UTF-8", span=source.span(at, 1))
    context = mlir.context()
    expect_known_holders(source, context)
    expect_iterators(source)
    symbols = False
    while True:
        try:
            module = mlir.parse(source.text if older is None else older.source.text, context)
            break
        except mlir.ir.MLIRError as error:
            tried, symbols = older, symbols or any(REJECTED in found.message for found in error.error_diagnostics)
            older = rewritten(source, symbols=symbols)
            if older is None or (tried is not None and tried.source.text == older.source.text):
                raise WeftError(*_parse_diagnostics(source, error, older)) from error
            context = mlir.context()
    # the parser names text in memory `-`; diagnostics show the file's name, and places in the user's text if the text
    # was rewritten
    with module.context:
        for op in mlir.operations(module.operation):
            location = op.location
            if isinstance(location, mlir.ir.FileLineColLoc) and location.filename == "-":
                place = location.start_line, location.start_col
                op.location = mlir.ir.Location.file(source.name, *(older.place(*place) if older else place))
            elif isinstance(location, mlir.ir.UnknownLoc) and op.parent is not None:  # the body of a named op
                op.location = op.parent.location
    _expect_no_marks(module)
    expect_order(module, source)
    if "llvm." in source.text:
        in_plain_ops(module)
    if "ml_program." in source.text:
        _drop_unused_globals(module)
    read_constants(module, source)
    for op in mlir.operations(module.operation, "linalg.generic"):
        if kind_of(op) == "fill":  # its constant is one outside of its body, as that of `linalg.fill`
            for inner in mlir.operations(op, "arith.constant"):
                inner.move_before(op)
    return module


def _drop_unused_globals(module: ir.Module) -> None:
    """Erases unused private globals of `ml_program`: torch-mlir declares the state of a random
    generator in every module."""
    declared = [op for op in module.body.operations if op.operation.name == "ml_program.global"]
    for op in declared:
        name, visible = (op.attributes[key] for key in ("sym_name", "sym_visibility"))
        named = re.compile(rf"@{re.escape(ir.StringAttr(name).value)}(?![\w$.-])")
        others = (other for other in module.body.operations if other.operation != op.operation)
        if ir.StringAttr(visible).value == "private" and not any(named.search(str(other)) for other in others):
            op.operation.erase()


def _parse_diagnostics(source: Source, error: ir.MLIRError, older: Older | None = None) -> Iterator[Diagnostic]:
    from .refusals import SAYS, in_our_words

    for found in error.error_diagnostics[:3]:  # messages after the first few only repeat them
        span = span_of(found.location, source) or Span(source, 1, 1, 1, 2)
        if older is not None:
            line, column = older.place(span.line, span.column)
            span = Span(source, line, column, line, column + 1)
        notes = tuple(str(note.message) for note in found.notes)
        yield in_our_words(Diagnostic("W0487", SAYS + found.message, span, notes=notes))
    if not error.error_diagnostics:
        yield Diagnostic("W0487", f"{SAYS}{error}", Span(source, 1, 1, 1, 2))


_OF_FINISHED_MODULES = {
    "weft.name": "a text",
    "weft.unroll": "a unit attribute, or a number of iterations",
    "weft.max_registers": "a number",
    "weft.streams": "a number",
    "weft.unproven": "a text",
    VERSION_OF: "a text",
    AGREEMENTS: "texts",
    MULTIPLES: "a number for each axis",
    MOST: "a number for each axis",
    MOST_BLOCKS: "three numbers",
    ASSUMED: "a text for each axis",
    AS_TYPE: f"one of {', '.join(SPLITS)}",
    PARTICIPANTS: "a set of threads, by their three ids, for one of three ids",
    COMBINER: "a text",
    WINDOW: "`lower`, `upper` and `steps` of a window of images with one to three axes",
}
"""Attributes of a scheduled module that the emitter and the host plan read, with their kinds. A
scheduled module may be read again, for example by `weft verify`, which proves kernels without
regard to `weft.unproven`."""

_OF_ARGUMENTS = ("arg_attrs", "res_attrs", *ATTRIBUTIONS)


def _expect_no_marks(module: ir.Module) -> None:
    """Refuses payloads with attributes that Weft uses itself, and with unknown `weft.` attributes:
    they would be misread. Raises W0489."""
    from ..interpreter.ir.refusing import describe

    for op in operations(module.operation):
        for name, value, rank in _marks(op):
            if name not in _OF_FINISHED_MODULES or (name == AS_TYPE and op.name not in (MMA, PRODUCT)):
                wrong = f"`{name}`, an attribute that only statements set"
                hint = " of the payload; `weft.name` on arguments is fine"
            elif not _has_kind(name, value, rank):
                wrong = f"`{name}` = {value}, and it has to be {_OF_FINISHED_MODULES[name]}"
                hint = ": Weft does not need it"
            else:
                continue
            raise fail("W0489", f"{describe(op)} bears {wrong}", hint=f"delete `{name}`{hint}")


def _marks(op: ir.Operation) -> Iterator[tuple[str, ir.Attribute, int]]:
    """The `weft.` attributes on an op and, for names and sizes, on its arguments and results, each
    with the value's rank."""
    for name in op.attributes:
        if name.startswith("weft."):
            yield name, op.attributes[name], 0
        elif name in _OF_ARGUMENTS and isinstance(entries := op.attributes[name], ir.ArrayAttr):
            body = [argument.type for region in op.regions for block in region.blocks for argument in block.arguments]
            for number, entry in enumerate(entries):
                kind = body[number] if name == "arg_attrs" and number < len(body) else None
                rank = 0 if kind is None or not isinstance(kind, ir.RankedTensorType | ir.MemRefType) else kind.rank
                keys = ("weft.name", MULTIPLES, MOST, ASSUMED, WINDOW)
                known = (key for key in keys if isinstance(entry, ir.DictAttr) and key in entry)
                yield from ((key, entry[key], rank) for key in known)


def _has_kind(name: str, value: ir.Attribute, rank: int) -> bool:
    """Whether the value of a `weft.` attribute has the attribute's kind."""
    if name in (MULTIPLES, MOST, MOST_BLOCKS):
        count, least = 3 if name == MOST_BLOCKS else rank, 1 if name == MULTIPLES else -1
        return isinstance(value, ir.DenseI64ArrayAttr) and len(value) == count and all(n >= least for n in value)
    if name == PARTICIPANTS:
        return str(value).startswith("affine_set<(d0, d1, d2)[s0, s1, s2] : ") and ">=" not in str(value)
    if name == ASSUMED:
        return (
            isinstance(value, ir.ArrayAttr)
            and len(value) == rank
            and all(isinstance(text, ir.StringAttr) for text in value)
        )
    if name == AGREEMENTS:
        return isinstance(value, ir.ArrayAttr) and all(isinstance(text, ir.StringAttr) for text in value)
    if name == WINDOW:
        return (window := window_from(value)) is not None and window.wrong(1) is None
    if name == AS_TYPE:
        return isinstance(value, ir.StringAttr) and value.value in SPLITS
    if _OF_FINISHED_MODULES[name] == "a text":
        return isinstance(value, ir.StringAttr)
    number = isinstance(value, ir.IntegerAttr) and isinstance(value.type, ir.IntegerType) and value.value > 0
    return number or (name == "weft.unroll" and isinstance(value, ir.UnitAttr))


def _name_values(module: ir.Module, written: WrittenNames) -> None:
    """Sets a missing `weft.name` on arguments and results of functions and on buffers that kernels
    declare.

    An argument's name is its SSA name in the text (`%lhs` → `lhs`), or `arg0`, `arg1`, …; the
    results are `result0`, ….
    """
    for op in operations(module.operation, "func.func", "gpu.func"):
        types = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
        counts = {"arg_attrs": len(types.inputs), "res_attrs": len(types.results)}
        if op.name == "gpu.func":
            shared, declared = workgroup_buffers(op), len(op.regions[0].blocks[0].arguments) - len(types.inputs)
            counts = {
                "arg_attrs": len(types.inputs),
                **dict(zip(ATTRIBUTIONS, (shared, declared - shared), strict=True)),
            }
        named = sum(counts.values()) - counts.get("res_attrs", 0)
        names = [re.sub(r"\W", "_", name, flags=re.ASCII) for name in written.arguments(op)]
        if len(set(names)) != named or not op.regions[0].blocks:
            names = [str(i) for i in range(named)]
        names = [f"arg{name}" if name[0].isdigit() else name for name in names]
        names += [f"result{i}" for i in range(counts.get("res_attrs", 0))]
        given = {key: [dict(attributes_of(op, i, key)) for i in range(count)] for key, count in counts.items()}
        every = [attributes for part in given.values() for attributes in part]
        taken = {ir.StringAttr(attributes["weft.name"]).value for attributes in every if "weft.name" in attributes}
        for name, attributes in zip(names, every, strict=True):
            while "weft.name" not in attributes and name in taken:
                name += "_"
            attributes.setdefault("weft.name", ir.StringAttr.get(name, module.context))
            taken.add(name)
        for attributes in given.get("res_attrs", ()):
            # bufferization sets it too, but only if there are no other attributes
            attributes["bufferize.result"] = ir.UnitAttr.get(module.context)
        for key, part in given.items():
            if part:
                entries = [ir.DictAttr.get(d, module.context) for d in part]
                op.attributes[key] = ir.ArrayAttr.get(entries, module.context)
