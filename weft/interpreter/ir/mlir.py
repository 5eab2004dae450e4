"""The MLIR bindings (PyPI `torch-mlir`: upstream MLIR's own; torch is not needed), imported only
here; and walks over ops."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from torch_mlir import ir, passmanager
    from torch_mlir.dialects import affine, arith, func, gpu, llvm, memref, nvgpu, scf, tensor, vector
    from torch_mlir.dialects.transform import interpreter as _transform

    linalg: Any  # a compiled module of the bindings, without a stub in the wheel
else:

    class _Late(ModuleType):
        """A module of the bindings that is imported on first use: `weft check` needs the
        statements' signatures and no MLIR, and the bindings take longer to import than everything
        else together. After that it is an ordinary module, whose attributes Python finds ten times
        as fast."""

        def __init__(self, *names: str) -> None:
            super().__init__(names[0])
            self._all = names

        def __getattr__(self, name: str) -> Any:
            for each in self._all[::-1]:
                self.__dict__.update(importlib.import_module(each).__dict__)
            self.__class__ = ModuleType
            return getattr(self, name)

    ir, passmanager = (_Late(f"torch_mlir.{name}") for name in ("ir", "passmanager"))
    _names = (
        "affine",
        "arith",
        "func",
        "gpu",
        "llvm",
        "memref",
        "nvgpu",
        "scf",
        "tensor",
        "vector",
        "transform.interpreter",
    )
    affine, arith, func, gpu, llvm, memref, nvgpu, scf, tensor, vector, _transform = (
        _Late(f"torch_mlir.dialects.{name}") for name in _names
    )
    linalg = _Late("torch_mlir.dialects._linalg_ops_gen", "torch_mlir._mlir_libs._mlirDialectsLinalg")
    # the dialect's own module executes the definitions of all named ops in Python: a tenth of a start

DYNAMIC = -(2**63)
"""`ShapedType::kDynamic`: a size, an offset or a stride that is not static."""


def load() -> None:
    """Imports the bindings now, so that the time is charged to the caller and not to the first
    statement."""
    for module in (ir, passmanager, affine, arith, func, gpu, linalg, memref, scf, tensor, vector, _transform):
        _ = module.__file__


_prepared = False


def _prepare(first: ir.Context) -> None:
    """Completes the bindings, in the first context that is created.

    The dialect of `GAP` has no Python module, and the bindings would search for one on disk at each
    such op. The module of linalg executes the definitions of all named ops when it is imported, a
    tenth of a start: the classes of its ops suffice, and a later import finds the module. And dense
    elements that are neither integers nor floats, arrays of other integers than the bindings expect
    (`array<ui32: 1>`), and locations as attributes (`{a = loc("x")}`) raise a `TypeError` when they
    are read or copied, and abort the process when compiled code reads them.
    """
    name = f"torch_mlir.dialects.{GAP.split('.')[0]}"
    sys.modules.setdefault(name, ModuleType(name))
    name = "torch_mlir.dialects.linalg"
    if name not in sys.modules:
        sys.modules[name] = ModuleType(name)
        with first, ir.Location.unknown():
            _ = ir.Operation.create(linalg.YieldOp.OPERATION_NAME).opview
        del sys.modules[name]
    with first, ir.Location.unknown() as nowhere:
        here = ir.Location.name("")
        places = [
            nowhere,
            here,
            ir.Location.file("", 1, 1),
            ir.Location.fused([here, nowhere]),
            ir.Location.callsite(here, [here]),
        ]
        cast = {place.attr: partial(_place, type(place)) for place in places}
        cast |= {ir.Attribute.parse("dense<0> : tensor<1xi8>"): _dense, ir.Attribute.parse("array<i8>"): _array}
    register = importlib.import_module("torch_mlir._mlir_libs._mlir").register_type_caster
    for attribute, caster in cast.items():
        register(attribute.typeid, replace=True)(caster)


def _place(kind: type[ir.Location], attribute: ir.Attribute | ir.Location) -> ir.Attribute | ir.Location:
    return kind(attribute) if isinstance(attribute, ir.Location) else attribute


def _array(attribute: ir.Attribute) -> ir.Attribute:
    for kind in _array_kinds():
        try:
            return kind(attribute)
        except ValueError:  # of other numbers
            continue
    return attribute


@cache
def _array_kinds() -> list[type]:
    """Array attributes, the most frequent first. (Not at import, which needs no bindings.)"""
    return [getattr(ir, f"Dense{of}ArrayAttr") for of in ("I64", "I32", "Bool", "I8", "I16", "F32", "F64")]


def _dense(attribute: ir.Attribute) -> ir.Attribute:
    element = ir.ShapedType(attribute.type).element_type
    if isinstance(element, ir.IntegerType | ir.IndexType):
        return ir.DenseIntElementsAttr(attribute)
    return ir.DenseFPElementsAttr(attribute) if isinstance(element, ir.FloatType) else attribute


_BUILT = """
affine arith bufferization cf complex func gpu index linalg llvm math memref nvgpu nvvm scf tensor ub vector
"""
"""The dialects that ops are built of. A text or a pass loads others when it has them; to load all
takes longer than to apply a small schedule's statements but one."""


def context() -> ir.Context:
    """A fresh context: every upstream dialect known, unregistered ones allowed (older payloads have
    some)."""
    global _prepared
    made = ir.Context([])
    for name in _BUILT.split():
        made.get_dialect_descriptor(name)  # `Context` itself would import the Python module of each
    made.enable_multithreading(False)  # passes over small modules take a third of the time that they take with threads
    made.allow_unregistered_dialects = True
    if not _prepared:
        _prepare(made)
        _prepared = True
    return made


def has_dialect(context: ir.Context, name: str) -> bool:
    """Whether there is a dialect of that name; loads it."""
    try:
        context.dialects[name]
    except (IndexError, KeyError, RuntimeError, ValueError):
        return False
    return True


def parse(text: str, ctx: ir.Context) -> ir.Module:
    """Parses `text`. Raises `ir.MLIRError`, with diagnostics that have line and column."""
    with ctx, ir.Location.unknown():
        return ir.Module.parse(text)


def merge_equal(module: ir.Module) -> None:
    """Merges common subexpressions, and erases unused ops. Not verified afterwards: a valid module
    stays valid, and verification takes longer than all else."""
    run_passes(module, "cse", verify=False)


def run_passes(module: ir.Module, pipeline: str, *, verify: bool = True) -> None:
    """Runs `builtin.module(<pipeline>)` on the module in place. Raises `ir.MLIRError`. `verify`:
    after each pass."""
    with module.context, ir.Location.unknown():
        known = _pipelines.setdefault(module.context, {})
        passes = known.get(pipeline) or passmanager.PassManager.parse(f"builtin.module({pipeline})")
        if pipeline not in known and _FORGETFUL.issuperset(re.findall(r"[\w.-]+", re.sub(r"\{.*?\}", "", pipeline))):
            known[pipeline] = passes
        passes.enable_verifier(verify)
        passes.run(module.operation)


_pipelines: WeakKeyDictionary[ir.Context, dict[str, passmanager.PassManager]] = WeakKeyDictionary()
"""Pipelines by their text: `canonicalize` takes longer to gather its patterns than to rewrite a
small module."""

_FORGETFUL = frozenset(
    {"gpu.module", "gpu.func", "canonicalize", "cse", "trivial-dce", "loop-invariant-code-motion"}
    | {"eliminate-empty-tensors", "one-shot-bufferize", "buffer-results-to-out-params"}
)
"""Passes that may be run again. Others keep ops of an earlier module: `convert-math-to-funcs` then
reads freed memory."""


class TransformError(Exception):
    """Transform ops that upstream refuses to apply; `messages` are its own, the most general first."""

    def __init__(self, text: str) -> None:
        parts = re.split(r"(?:^|\n)(?:Diagnostic message )?at loc\([^\n]*?\): ", text)[1:] or [text]
        self.messages = tuple(part.split("\n", 1)[0] for part in parts)
        super().__init__("; ".join(self.messages))


def run_transform(module: ir.Module, body: str) -> None:
    """Applies transform-dialect ops to the module in place; `%root` is the module.

    Python `Operation`s held across this call must not be used afterwards: they may be dead
    (segfault). A failed sequence leaves the module half rewritten: work on a clone. Raises
    `ir.MLIRError` if `body` does not parse, and `TransformError` if upstream refuses it.
    """
    text = (
        "module attributes {transform.with_named_sequence} {\n"
        "transform.named_sequence @__transform_main(%root: !transform.any_op) {\n"
        f"{body}\ntransform.yield\n}}\n}}"
    )
    with module.context, ir.Location.unknown():
        script = ir.Module.parse(text)
        try:
            _transform.apply_named_sequence(module.operation, script.body.operations[0], script)
        except ValueError as error:  # the bindings' message for a transform op that fails
            raise TransformError(str(error)) from error


class JitError(Exception):
    """LLVM cannot translate or link a module; the text gives the reason."""


def load_jit() -> None:
    """Imports the modules that a JIT needs, too."""
    load()
    importlib.import_module("torch_mlir.execution_engine")
    descriptors()


def descriptors() -> Any:
    """Upstream's conversions between NumPy arrays and LLVM's memref descriptors."""
    return importlib.import_module("torch_mlir.runtime.np_to_memref")


def execution_engine(module: ir.Module, effort: int = 3) -> Any:
    """A JIT of `module`, which is in the LLVM dialect; `effort`: LLVM's optimization level, 0 to 3.
    Raises `JitError` if LLVM cannot compile it."""
    from torch_mlir.execution_engine import ExecutionEngine

    messages: list[str] = []

    def note(diagnostic: ir.Diagnostic) -> bool:
        messages.append(diagnostic.message)
        return True

    handler = module.context.attach_diagnostic_handler(note)
    try:
        return ExecutionEngine(module, opt_level=effort)
    except RuntimeError as error:
        raise JitError("; ".join(messages) or str(error)) from error
    finally:
        handler.detach()


def walk(root: ir.Operation | ir.OpView, visit: Callable[[ir.Operation], None]) -> None:
    """Calls `visit` on every op in `root`, and on `root`, in pre-order. `visit` must not erase ops."""

    advance = ir.WalkResult.ADVANCE

    def step(op: ir.Operation) -> ir.WalkResult:
        visit(op)
        return advance

    root.operation.walk(step, ir.WalkOrder.PRE_ORDER)


FUNCTIONS = frozenset({"func.func", "gpu.func"})
"""Ops with bodies that are in no other body."""


def operations(root: ir.Operation | ir.OpView, *names: str) -> Iterator[ir.Operation]:
    """The ops below `root` (all, or those with one of `names`), in pre-order, collected before the
    first is yielded."""
    found: list[ir.Operation] = []
    note, advance, behind = found.append, ir.WalkResult.ADVANCE, ir.WalkResult.SKIP
    outside = names and FUNCTIONS.issuperset(names)

    def any_op(op: ir.Operation) -> ir.WalkResult:
        note(op)
        return advance

    def named(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name in names:
            note(op)
        return behind if outside and name in FUNCTIONS else advance

    root.operation.walk(named if names else any_op, ir.WalkOrder.PRE_ORDER)
    return iter(found)


GAP = "weft.gap"
"""Replaces ops outside the part of the module that a statement works on (`focus`). It may have any
effect."""


TENSORS, LOOPS = "tensors", "loops"
"""On a `GAP`: whether the replaced ops include tensors, and loops or launches."""


class NotLocalError(Exception):
    """The result depends on ops outside the part of the module that is present: the statement must
    be run on all of it."""


def producer(value: ir.Value) -> ir.Operation | None:
    """The op that defines `value`; None for a block argument. Raises `NotLocalError` if the op is
    outside the part of the module that is present."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    if op.name == GAP and "unseen" in op.attributes:
        hidden = list(ir.DenseI64ArrayAttr(op.attributes["unseen"]))
        if ir.OpResult(value).result_number in hidden:
            raise NotLocalError
    return op


def attributes(op: ir.Operation | ir.OpView) -> dict[str, ir.Attribute]:
    """All of an op's attributes by name."""
    given = op.operation.attributes
    return {name: given[name] for name in given}


def entries(attribute: Any) -> list[Any]:
    """The entries of an array or a dictionary attribute, by index: the bindings' iterators end with
    a C++ exception, which takes longer than the iteration."""
    return [attribute[n] for n in range(len(attribute))]


def i64(number: int) -> ir.IntegerAttr:
    """An attribute of type i64."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def is_tensor(value: ir.Value) -> bool:
    """Whether the value is a tensor, ranked or not. By the name of its class: a negative
    `isinstance` is slow."""
    return type(value.type).__name__ in ("RankedTensorType", "UnrankedTensorType")


def made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    """The op that defines `value`, if it has one of these names; else None."""
    op = producer(value)
    return op if op is not None and op.name in names else None


def constant_of(value: ir.Value) -> int | None:
    """The number of an `arith.constant`."""
    owner = made_by(value, "arith.constant")
    return None if owner is None else ir.IntegerAttr(owner.attributes["value"]).value


def maker(value: ir.Value) -> ir.Operation:
    """The op that defines a value, or that owns the block of which the value is an argument."""
    return (value.owner.owner if isinstance(value.owner, ir.Block) else value.owner).operation


# ---- which op stands in which ----------------------------------------------------------------------------------------


def ancestors(op: ir.Operation | ir.OpView) -> Iterator[ir.Operation]:
    """The ancestors of `op`, innermost first."""
    while (parent := op.operation.parent) is not None:
        op = parent.operation
        yield op


def in_block(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The op, or the ancestor of it, that is in a block, as upstream's `findAncestorOpInBlock`; None if
    there is none. The module is in no block, and reading its block crashes."""
    return next((one for one in (op, *ancestors(op)) if one.parent is not None and one.block == block), None)


def has_parent(op: ir.Operation, *names: str) -> bool:
    """Whether the parent of `op` has one of these names."""
    return any(around.name in names for around in list(ancestors(op))[:1])


def users(value: ir.Value) -> list[ir.Operation]:
    """The ops that use a value, once per use."""
    return [use.owner.operation for use in value.uses]


def is_used(*values: ir.Value) -> bool:
    """Whether any op uses one of the values."""
    return any(True for value in values for _ in value.uses)


def regions_of(op: ir.Operation) -> Sequence[ir.Region]:
    """The regions of an op; for an op without any, they are not requested one by one."""
    return list(op.regions) if len(op.regions) else ()


def ops_of(block: ir.Block) -> list[ir.Operation]:
    """The ops of a block, in program order."""
    return [inner.operation for inner in block.operations]


def children(op: ir.Operation) -> list[ir.Operation]:
    """The ops directly inside an op, in program order."""
    return [inner for region in op.regions for block in region.blocks for inner in ops_of(block)]


def child_of(outer: ir.Operation, op: ir.Operation) -> ir.Operation | None:
    """The op directly in the body of `outer` that is `op` or contains it."""
    chain = [op, *ancestors(op)]
    return chain[chain.index(outer) - 1] if outer in chain[1:] else None


def is_within(op: ir.Operation, ancestor: ir.Operation) -> bool:
    """Whether `op` is nested in `ancestor` (or is it)."""
    return op == ancestor or ancestor in ancestors(op)


def made_within(value: ir.Value, ancestor: ir.Operation) -> bool:
    """Whether an op in `ancestor`, or a block of it, defines `value`."""
    return is_within(maker(value), ancestor)


def move_in_front(value: ir.Value, loop: ir.Operation) -> None:
    """Hoists the (pure) computation of a value before the loop that contains it; does nothing if it
    is outside."""
    op = producer(value)
    if op is None or op == loop or not is_within(op, loop):
        return
    for operand in op.operands:
        move_in_front(operand, loop)
    op.move_before(loop)


@contextmanager
def ahead_of(op: ir.Operation) -> Iterator[None]:
    """Ops created inside are inserted before `op`, with its location in the payload."""
    with ir.InsertionPoint(op), op.location:
        yield
