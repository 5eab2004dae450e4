"""The only place that imports the MLIR bindings (PyPI `torch-mlir`: upstream MLIR's own, no torch needed)."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from torch_mlir import ir, passmanager
    from torch_mlir.dialects import affine, arith, func, gpu, memref, scf, tensor, vector
    from torch_mlir.dialects.transform import interpreter as _transform

    linalg: Any  # half of it is compiled, and the wheel has no stub for that
else:

    class _Late(ModuleType):
        """A module of the bindings that is imported when it is first used: `weft check` needs the statements'
        signatures and no MLIR, and the bindings take longer to import than everything else together."""

        def __getattr__(self, name: str) -> Any:
            real = importlib.import_module(self.__name__)
            self.__dict__.update(real.__dict__)
            return getattr(real, name)

    ir, passmanager = (_Late(f"torch_mlir.{name}") for name in ("ir", "passmanager"))
    affine, arith, func, gpu, linalg, memref, scf, tensor, vector, _transform = (
        _Late(f"torch_mlir.dialects.{name}")
        for name in (
            "affine",
            "arith",
            "func",
            "gpu",
            "linalg",
            "memref",
            "scf",
            "tensor",
            "vector",
            "transform.interpreter",
        )
    )

DYNAMIC = -(2**63)
"""`ShapedType::kDynamic`: stands for a size, an offset or a stride that is not static."""

__all__ = [
    "DYNAMIC", "GAP", "LOOPS", "TENSORS", "JitError", "NotLocalError", "TransformError", "affine", "arith", "context",
    "execution_engine", "func", "gpu", "ir", "linalg", "load", "load_jit", "made_by", "memref", "operations", "parse",
    "passmanager", "producer", "run_passes", "run_transform", "scf", "tensor", "vector", "walk",
]  # fmt: skip


def load() -> None:
    """Import the bindings now, so that the time goes to whoever asks and not to the first statement."""
    for module in (ir, passmanager, affine, arith, func, gpu, linalg, memref, scf, tensor, vector, _transform):
        _ = module.__file__


@cache
def _prepare() -> None:
    """Tell the bindings two things that they do not know by themselves.

    The dialect of `GAP` has no Python module: they look for one on disk each time they meet the op. And dense elements that are
    neither integers nor floats are attributes, too: they raise a `TypeError` for whoever reads or copies one.
    """
    name = f"torch_mlir.dialects.{GAP.split('.')[0]}"
    sys.modules.setdefault(name, ModuleType(name))
    with ir.Context():
        kind = ir.Attribute.parse("dense<0> : tensor<1xi8>").typeid
    importlib.import_module("torch_mlir._mlir_libs._mlir").register_type_caster(kind, replace=True)(_dense)


def _dense(attribute: ir.Attribute) -> ir.Attribute:
    element = ir.ShapedType(attribute.type).element_type
    if isinstance(element, ir.IntegerType | ir.IndexType):
        return ir.DenseIntElementsAttr(attribute)
    return ir.DenseFPElementsAttr(attribute) if isinstance(element, ir.FloatType) else attribute


def context() -> ir.Context:
    """A fresh context: every upstream dialect loaded, unregistered ones allowed (older payloads have some)."""
    _prepare()
    made = ir.Context()
    made.allow_unregistered_dialects = True
    return made


def parse(text: str, ctx: ir.Context) -> ir.Module:
    """Parse `text`. Raises `ir.MLIRError`, whose diagnostics have line and column."""
    with ctx, ir.Location.unknown():
        return ir.Module.parse(text)


def run_passes(module: ir.Module, pipeline: str) -> None:
    """Run `builtin.module(<pipeline>)` on the module in place. Raises `ir.MLIRError`."""
    with module.context, ir.Location.unknown():
        known = _pipelines.setdefault(module.context, {})
        passes = known.get(pipeline) or passmanager.PassManager.parse(f"builtin.module({pipeline})")
        if _FORGETFUL.issuperset(re.findall(r"[\w.-]+", pipeline)):
            known[pipeline] = passes
        passes.run(module.operation)


_pipelines: WeakKeyDictionary[ir.Context, dict[str, passmanager.PassManager]] = WeakKeyDictionary()
"""Pipelines that have run before: `canonicalize` takes longer to gather its patterns than to rewrite a small module."""

_FORGETFUL = frozenset({"gpu.module", "gpu.func", "canonicalize", "cse", "loop-invariant-code-motion"})
"""What may run again. Others keep ops of the module before: `convert-math-to-funcs` then reads what is freed."""


class TransformError(Exception):
    """Transform ops that upstream refuses to apply; `messages` are its own, the most general first."""

    def __init__(self, text: str) -> None:
        parts = re.split(r"(?:^|\n)(?:Diagnostic message )?at loc\([^\n]*?\): ", text)[1:] or [text]
        self.messages = tuple(part.split("\n", 1)[0] for part in parts)
        super().__init__("; ".join(self.messages))


def run_transform(module: ir.Module, body: str) -> None:
    """Apply transform-dialect ops to the module in place; `%root` is the module.

    Python `Operation`s held across this call must not be touched afterwards: they may be dead (segfault).
    A failed sequence leaves the module half rewritten: work on a clone. Raises `ir.MLIRError` where `body` does not parse, and
    `TransformError` where upstream refuses it.
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
        except ValueError as error:  # the bindings' word for a transform op that fails
            raise TransformError(str(error)) from error


class JitError(Exception):
    """LLVM cannot translate or link a module; the text says why."""


def load_jit() -> None:
    """Import what makes a JIT, too."""
    load()
    importlib.import_module("torch_mlir.execution_engine")
    descriptors()


def descriptors() -> Any:
    """Upstream's ways between NumPy arrays and the structs that LLVM takes for memrefs."""
    return importlib.import_module("torch_mlir.runtime.np_to_memref")


def execution_engine(module: ir.Module) -> Any:
    """A JIT of `module`, which is in the LLVM dialect. Raises `JitError` where LLVM cannot make it."""
    from torch_mlir.execution_engine import ExecutionEngine

    messages: list[str] = []

    def note(diagnostic: ir.Diagnostic) -> bool:
        messages.append(diagnostic.message)
        return True

    handler = module.context.attach_diagnostic_handler(note)
    try:
        return ExecutionEngine(module, opt_level=3)
    except RuntimeError as error:
        raise JitError("; ".join(messages) or str(error)) from error
    finally:
        handler.detach()


def constraints(integer_set: ir.Attribute) -> tuple[ir.AffineMap, list[bool]]:
    """The forms of an integer set that are to be zero (True) or not negative, as the results of a map.

    The bindings do not open such a set; its text, with the constraints as a map's results, they do.
    """
    head, _, body = str(integer_set).removeprefix("affine_set<").removesuffix(">").partition(":")
    parts = [part.strip() for part in body.strip()[1:-1].split(",") if part.strip()]
    forms = ", ".join(re.sub(r"\s*(>=|==)\s*0$", "", part) for part in parts)
    made = ir.AffineMapAttr.parse(f"affine_map<{head.strip()} -> ({forms})>", integer_set.context)
    return made.value, ["==" in part for part in parts]


def walk(root: ir.Operation | ir.OpView, visit: Callable[[ir.Operation], None]) -> None:
    """Call `visit` on every op below and including `root`, in pre-order. `visit` must not erase ops."""

    advance = ir.WalkResult.ADVANCE

    def step(op: ir.Operation) -> ir.WalkResult:
        visit(op)
        return advance

    root.operation.walk(step, ir.WalkOrder.PRE_ORDER)


FUNCTIONS = frozenset({"func.func", "gpu.func"})
"""Ops that hold bodies, and are in none."""


def operations(root: ir.Operation | ir.OpView, *names: str) -> Iterator[ir.Operation]:
    """The ops below `root` (all, or those with one of `names`), in pre-order, collected before the first is yielded."""
    found: list[ir.Operation] = []
    note, advance = found.append, ir.WalkResult.ADVANCE
    behind = ir.WalkResult.SKIP if FUNCTIONS.issuperset(names) else advance

    def any_op(op: ir.Operation) -> ir.WalkResult:
        note(op)
        return advance

    def named(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name in names:
            note(op)
        return behind if name in FUNCTIONS else advance

    root.operation.walk(named if names else any_op, ir.WalkOrder.PRE_ORDER)
    return iter(found)


GAP = "weft.gap"
"""What stands for ops that a statement does not see (`focus`), while it works on a part of the module. It may do anything."""


TENSORS, LOOPS = "tensors", "loops"
"""On a `GAP`: there are tensors, and loops or launches, among what it stands for."""


class NotLocalError(Exception):
    """What is asked for depends on more of the module than the part that is there: the statement has to see all of it."""


def producer(value: ir.Value) -> ir.Operation | None:
    """The op whose result `value` is; None for a block argument. Raises `NotLocalError` where it is one that could be looked
    through and is not there."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    op = owner.operation
    if op.name == GAP and "unseen" in op.attributes:
        hidden = list(ir.DenseI64ArrayAttr(op.attributes["unseen"]))
        if ir.OpResult(value).result_number in hidden:
            raise NotLocalError
    return op


def i64(number: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    """The op of one of these names whose result `value` is; None where something else makes it."""
    op = producer(value)
    return op if op is not None and op.name in names else None
