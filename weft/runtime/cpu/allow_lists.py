"""Allow-lists: the ops, attributes and types of kernels and payloads that may be compiled for the
CPU and run.

Everything else is refused, whatever its source. Upstream would lower more: `llvm.inline_asm`, a
pointer made from an integer, or a call of a function that the module only declares would run
unchecked.

The lists keep foreign *code* out. They do not check indices: in kernels, only the simulator finds
indices outside of their buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from ...interpreter.hardware.hopper import mbarriers, warpgroups
from ...interpreter.ir.element_sizes import element_bytes
from ...interpreter.ir.functions import symbol
from ...interpreter.ir.mlir import ancestors, has_dialect, ir, llvm, memref, operations
from ...interpreter.proof.hosts.windows import OWN
from ..form.kernel_form import FORM, named
from ..form.kernel_lowering import LOWERED
from ..form.rounding import own_rounding
from ..host import arithmetic, kernels, memory  # noqa: F401 - they fill the table of rules
from ..host.program import RULES
from .limits import KNOWN_GPU_OPS, NotLoopsError

_GPU_ALONE = frozenset((mbarriers.POINTER, warpgroups.SAME))
"""Ops of the normal form for pointers and exchanged types: operands of GPU-only instructions."""

KERNEL_OPS = (
    named(**FORM) - _GPU_ALONE
    | LOWERED
    | KNOWN_GPU_OPS
    | named(gpu="return", scf="yield condition", affine="yield", vector="yield", ub="poison", memref="view")
)
"""Ops allowed in kernels: the normal form, ops that are lowered to it, terminators, and views of
dynamic shared memory."""

_UPSTREAM = "affine arith bufferization cf complex func index linalg math memref scf shape tensor tosa ub vector"
_DIALECTS = frozenset(_UPSTREAM.split())
"""Upstream dialects allowed in payloads: they describe the computation, independently of the
machine."""

_NOT = named(memref="extract_aligned_pointer_as_index dma_start dma_wait", vector="print")
"""Excluded ops of the dialects above: they expose addresses or call a runtime of their own."""

_OF_NUMBERS = (
    "abs acos asin atan atan2 bitreverse bswap ceil copysign cos cosh ctlz ctpop cttz exp exp10 exp2 fabs floor fma"
    " fmuladd fshl fshr is.fpclass ldexp log log10 log2 maximum maxnum minimum minnum nearbyint pow powi rint round"
    " roundeven"
    " sadd.sat sin sinh smax smin sqrt sshl.sat ssub.sat tan tanh trunc uadd.sat umax umin ushl.sat usub.sat"
)
_OF_VECTORS = "add and fadd fmax fmaximum fmin fminimum fmul mul or smax smin umax umin xor"
INTRINSICS = named(**{"llvm.intr": _OF_NUMBERS, "llvm.intr.vector.reduce": _OF_VECTORS})
"""Allowed ops of the LLVM dialect: numeric functions that access no memory."""

_HOST_OPS = (
    frozenset(RULES)
    | INTRINSICS
    | named(
        gpu="launch launch_func terminator module func alloc dealloc memcpy memset wait host_register host_unregister"
        " set_default_device",
        builtin="module",
    )
)
"""Ops allowed in host functions: those of plans, numeric intrinsics, launches, and management of
device memory."""

_OF_LLVM = named(
    llvm="align data_layout dereferenceable emit_c_interface linkage mlir.name noalias nocapture nofree nonnull noundef"
    " readnone readonly signext target_triple writeonly zeroext"
)
"""LLVM attributes that describe arguments, or a function's interface, or the machine."""

_FLAGS = {"fastmath": "arith.fastmath", "fastmathFlags": "llvm.fastmath", "overflowFlags": "arith.overflow"}
_NO_FLAGS = {name: f"#{kind}<none>" for name, kind in _FLAGS.items()}
"""Flags of arithmetic ops, each with the attribute value that grants no freedom."""

_OF_NUMBERS, _OF_MEMORY = (
    ("isExact", "nonNeg", "upper_bound"),
    ("alignment", "nontemporal", "invariant", "dereferenceable"),
)
_OF_MACHINES = ("uniform", "cooperative", "no_inline", "targets", "offloadingHandler")
_HINTS = frozenset((*_OF_NUMBERS, *_OF_MEMORY, *_OF_MACHINES))
"""Op attributes that give the compiler additional assumptions: about memory, indices and numbers,
the executing threads, or the machine."""

_LINKAGES = frozenset(("external", "internal", "private"))
"""Linkages under which a call reaches the definition in this module."""

_OTHERS = frozenset(("bufferization", "dlti", "func", "gpu", "linalg", "nvgpu", "tensor", "transform", "weft"))
"""Registered dialects with attributes that no pass on the way to machine code reads."""

_OF_FUNCTIONS = frozenset(("sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs", "no_inline"))
_OF_EVERY_OP = frozenset(("sym_name", "operandSegmentSizes", "resultSegmentSizes", "all"))
"""Attributes allowed on every op. `all` is a mark that `pipeline` sets on a group of copies."""
_OF_GLOBALS = frozenset(("sym_name", "sym_visibility", "type", "initial_value", "constant", "alignment"))


def expect_kernels(module: ir.Module) -> None:
    """Checks that kernels and host functions contain only listed ops and attributes. Raises
    `NotLoopsError`."""
    _expect(module, "the kernel", lambda op: op.name in KERNEL_OPS or (not _in_kernel(op) and _of_hosts(op.name)))


def expect_finished(module: ir.Module) -> None:
    """Checks a scheduled module for any device: it contains only listed ops and attributes, and
    none that gives compilers more freedom than the CUDA text. Raises `NotLoopsError`."""
    known = KERNEL_OPS | _GPU_ALONE | {op for op in RULES if op.startswith("nvgpu.")}
    _expect(
        module, "the module", lambda op: op.name in known or (not _in_kernel(op) and _of_hosts(op.name)), pointers=True
    )
    for op in operations(module.operation):
        for name in _freedom(op):
            value = op.attributes[name]
            message = f"the module has `{op.name}` with `{name}` = {value}, which the text does not express"
            raise NotLoopsError(op, message)


def without_promises(module: ir.Module) -> None:
    """Removes flags that promise something about operands or results (`exact`, `nsw`, `nneg`,
    `fastmath`). CUDA text and the simulator ignore them. If a payload breaks such a promise,
    machine code that relies on it would differ from the GPU."""
    for op in operations(module.operation):
        for name in {"isExact", "nonNeg", *_NO_FLAGS} & set(op.attributes):
            if name not in _NO_FLAGS:
                del op.attributes[name]
            elif not isinstance(op.results[0].type, ir.IndexType):
                op.attributes[name] = ir.Attribute.parse(_NO_FLAGS[name], op.context)


def without_freedom(module: ir.Module) -> None:
    """Removes attributes and flags that give compilers more freedom than the CUDA text, which does
    not express them, and so neither should the module in a bundle."""
    for op in operations(module.operation):
        for name in list(_freedom(op)):
            if name.endswith("_attrs"):
                entries = (
                    [named for named in ir.DictAttr(entry) if _is_known(op, named.name)]
                    for entry in op.attributes[name]
                )
                with op.context:
                    kept = [ir.DictAttr.get({named.name: named.attr for named in entry}) for entry in entries]
                    op.attributes[name] = ir.ArrayAttr.get(kept)
            elif name in _NO_FLAGS:
                op.attributes[name] = ir.Attribute.parse(_NO_FLAGS[name], op.context)
            else:
                del op.attributes[name]


def _freedom(op: ir.Operation) -> Iterator[str]:
    """Attributes of `op` that allow a compiler to assume more than the CUDA text states: flags of
    arithmetic; attributes of functions, arguments, memory and the machine; and attributes that are
    not part of the op's definition."""
    own = type(op.opview)
    for name in op.attributes:
        value, has = op.attributes[name], hasattr(own, name) or hasattr(own, f"{name}_")
        if name in _NO_FLAGS and has:
            index = name == "overflowFlags" and isinstance(
                op.results[0].type, ir.IndexType
            )  # upstream's lowering sets them on index arithmetic
            if not index and "none" not in str(value):
                yield name
        elif name.endswith("_attrs") and has:
            if not all(_is_known(op, named.name) for entry in value for named in ir.DictAttr(entry)):
                yield name
        elif "." in name:
            if not _is_known(op, name):
                yield name
        elif not (has or name in _OF_EVERY_OP) or (
            name in _HINTS and not (name == "alignment" and _is_natural(op, value))
        ):
            yield name


def _is_natural(op: ir.Operation, alignment: ir.Attribute) -> bool:
    """Whether an alignment is at most the size of the accessed elements."""
    kinds = [value.type for value in (*op.operands, *op.results) if isinstance(value.type, ir.MemRefType)]
    return bool(kinds) and ir.IntegerAttr(alignment).value <= element_bytes(kinds[0].element_type)


def _is_known(op: ir.Operation, name: str) -> bool:
    """Whether a scheduled module may have this dialect attribute on an op or an argument: CUDA text
    and plan are derived from it, or all modules with kernels have it."""
    return name.startswith("weft.") or name == "gpu.container_module" or (op.name == "func.func" and name in OWN)


def expect_payload(module: ir.Module) -> None:
    """Checks that a payload contains only computations and launches, and deletes attributes of
    functions that LLVM would interpret. Raises `NotLoopsError`."""
    _expect(module, "the payload", lambda op: op.name in KERNEL_OPS or _of_hosts(op.name))
    for function in operations(module.operation, "func.func"):
        for name in [name for name in function.attributes if name not in _OF_FUNCTIONS and "." not in name]:
            del function.attributes[name]  # LLVM's function op would interpret it as its own attribute


def _of_hosts(name: str) -> bool:
    """Whether host functions may contain the op: it is a computation of a payload, or an op of a
    plan."""
    return name in _HOST_OPS or (name.partition(".")[0] in _DIALECTS and name not in _NOT)


def _in_kernel(op: ir.Operation) -> bool:
    return any(around.name == "gpu.func" for around in ancestors(op))


def _expect(module: ir.Module, what: str, known: Callable[[ir.Operation], bool], *, pointers: bool = False) -> None:
    plain: set[ir.Type] = set()
    for op in operations(module.operation):
        if op.name == "func.func" and not op.regions[0].blocks:
            raise NotLoopsError(op, f"{what} calls @{symbol(op)}, which has no body")
        if not module.context.is_registered_operation(op.name):  # upstream's passes may crash on unregistered ops
            raise NotLoopsError(op, f"{what} has `{op.name}`, an op of a dialect that is not upstream's")
        if own_rounding(op) is not None:  # LLVM would assume that the processor is already in that rounding mode
            raise NotLoopsError(
                op, f"{what} has `{op.name}` that rounds {own_rounding(op)}; on the CPU ops round to nearest"
            )
        if not known(op):
            raise NotLoopsError(op, f"{what} has `{op.name}`, and {_LISTED}", _WITHOUT)
        for name in op.attributes:
            if (unknown := _unknown(op, name)) is not None:
                raise NotLoopsError(op, f"{what} has {unknown}, and {_LISTED}", f"take it out, or {_WITHOUT}")
        if op.name == memref.GlobalOp.OPERATION_NAME and "initial_value" not in op.attributes:
            message = f"{what} declares @{symbol(op)} and gives it no values: it would be memory of this process"
            raise NotLoopsError(op, message, "give it its values, `dense<…>`, or `uninitialized`")
        for value in (*op.results, *(v for region in op.regions for block in region.blocks for v in block.arguments)):
            if value.type not in plain:
                if "!llvm." in str(value.type) and not pointers:
                    raise NotLoopsError(op, f"{what} has a value of type {value.type}, and {_LISTED}", _WITHOUT)
                plain.add(value.type)


_LISTED = "only listed ops and attributes, which are known to compute, are compiled for this machine"
_WITHOUT = "write it in arith, math, linalg, scf, memref, vector or gpu ops: `docs/running.md` lists them"


def _unknown(op: ir.Operation, name: str) -> str | None:
    """A description of an attribute that is on no list; None for a listed attribute."""
    if "." not in name:
        if op.name == memref.GlobalOp.OPERATION_NAME and name not in _OF_GLOBALS:
            return f"the attribute `{name}` of @{symbol(op)}"
        if op.name == "func.func" and name not in _OF_FUNCTIONS and name in _of_llvm_functions():
            return f"the attribute `{name}` of @{symbol(op)}, which LLVM's functions have"
        if name in ("arg_attrs", "res_attrs") and isinstance(entries := op.attributes[name], ir.ArrayAttr):
            keys = (key.name for entry in entries if isinstance(entry, ir.DictAttr) for key in entry)
            return next((f"the attribute `{key}` of an argument" for key in keys if _foreign(op, key)), None)
        return None
    if name == "llvm.linkage":
        linkage = str(op.attributes[name]).partition("<")[2].rstrip(">")
        return None if linkage in _LINKAGES else f"the linkage `{linkage}`"
    return f"the attribute `{name}`" if _foreign(op, name) else None


def _foreign(op: ir.Operation, name: str) -> bool:
    """Whether a dialect attribute may influence code generation, as attributes of registered
    dialects may."""
    dialect, _, rest = name.partition(".")
    if not rest or dialect in _OTHERS or name in _OF_LLVM:
        return False
    return dialect == "llvm" or has_dialect(op.context, dialect)


@cache
def _of_llvm_functions() -> frozenset[str]:
    """The names of a function's attributes that mean something on LLVM functions: the lowering of a
    `func.func` copies its attributes to an LLVM function."""
    return frozenset(dir(llvm.LLVMFuncOp))
