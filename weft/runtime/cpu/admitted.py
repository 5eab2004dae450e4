"""What may be compiled natively and run: lists of the ops, attributes and types of kernels and of payloads.

What is on none of them is refused, wherever it comes from. Upstream lowers more: `llvm.inline_asm`, a pointer made of
an integer, the call of a function that the module only declares would run as they are.

The lists keep foreign *code* out. Whether an index is inside of its buffer only the simulator tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from ...interpreter.hardware.hopper import mbarriers, warpgroups
from ...interpreter.ir.element_sizes import element_bytes
from ...interpreter.ir.functions import symbol
from ...interpreter.ir.mlir import ancestors, ir, llvm, memref, operations
from ...interpreter.proof.hosts.windows import OWN
from ..form.kernel_form import FORM, named
from ..form.kernel_lowering import LOWERED
from ..form.rounding import own_rounding
from ..host import arithmetic, kernels, memory  # noqa: F401 - they fill the table of rules
from ..host.program import RULES
from .limits import KNOWN_GPU_OPS, NotLoopsError

_GPU_ALONE = frozenset((mbarriers.POINTER, warpgroups.SAME))
"""Of the normal form: pointers and types exchanged, which take part in instructions of GPUs alone."""

KERNEL_OPS = (
    named(**FORM) - _GPU_ALONE
    | LOWERED
    | KNOWN_GPU_OPS
    | named(gpu="return", scf="yield condition", affine="yield", vector="yield", ub="poison", memref="view")
)
"""The ops of kernels: the normal form, what is lowered to it, terminators, views of dynamic shared memory."""

_UPSTREAM = "affine arith bufferization cf complex func index linalg math memref scf shape tensor tosa ub vector"
_DIALECTS = frozenset(_UPSTREAM.split())
"""Upstream's dialects that a payload may be written in: they say what is computed, and nothing of the machine."""

_NOT = named(memref="extract_aligned_pointer_as_index dma_start dma_wait", vector="print")
"""Of these what gives addresses away, or calls a runtime of its own."""

_OF_NUMBERS = (
    "abs acos asin atan atan2 bitreverse bswap ceil copysign cos cosh ctlz ctpop cttz exp exp10 exp2 fabs floor fma"
    " fmuladd fshl fshr is.fpclass ldexp log log10 log2 maximum maxnum minimum minnum nearbyint pow powi rint round"
    " roundeven"
    " sadd.sat sin sinh smax smin sqrt sshl.sat ssub.sat tan tanh trunc uadd.sat umax umin ushl.sat usub.sat"
)
_OF_VECTORS = "add and fadd fmax fmaximum fmin fminimum fmul mul or smax smin umax umin xor"
INTRINSICS = named(**{"llvm.intr": _OF_NUMBERS, "llvm.intr.vector.reduce": _OF_VECTORS})
"""Of the LLVM dialect: functions of numbers, which touch no memory."""

_HOST_OPS = (
    frozenset(RULES)
    | INTRINSICS
    | named(
        gpu="launch launch_func terminator module func alloc dealloc memcpy memset wait host_register host_unregister"
        " set_default_device",
        builtin="module",
    )
)
"""What a host function does: what plans know, launches and the memory of devices."""

_OF_LLVM = named(
    llvm="align data_layout dereferenceable emit_c_interface linkage mlir.name noalias nocapture nofree nonnull noundef"
    " readnone readonly signext target_triple writeonly zeroext"
)
"""LLVM's attributes that state something of arguments, or name a function's interface or the machine."""

_FLAGS = {"fastmath": "arith.fastmath", "fastmathFlags": "llvm.fastmath", "overflowFlags": "arith.overflow"}
_NO_FLAGS = {name: f"#{kind}<none>" for name, kind in _FLAGS.items()}
"""Flags of arithmetic, and what they are where they say nothing."""

_OF_NUMBERS, _OF_MEMORY = (
    ("isExact", "nonNeg", "upper_bound"),
    ("alignment", "nontemporal", "invariant", "dereferenceable"),
)
_OF_MACHINES = ("uniform", "cooperative", "no_inline", "targets", "offloadingHandler")
_HINTS = frozenset((*_OF_NUMBERS, *_OF_MEMORY, *_OF_MACHINES))
"""Attributes that ops have, by which a compiler may know more of memory, of indices and numbers, of who executes them,
and of the machine."""

_LINKAGES = frozenset(("external", "internal", "private"))
"""Those with which a function that is defined here is the one that is called."""

_OTHERS = frozenset(("bufferization", "dlti", "func", "gpu", "linalg", "nvgpu", "tensor", "transform", "weft"))
"""Registered dialects whose attributes nothing reads that makes machine code."""

_OF_FUNCTIONS = frozenset(("sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs", "no_inline"))
_OF_EVERY_OP = frozenset(("sym_name", "operandSegmentSizes", "resultSegmentSizes", "all"))
"""`all`: of a group of copies, a mark of `pipeline`."""
_OF_GLOBALS = frozenset(("sym_name", "sym_visibility", "type", "initial_value", "constant", "alignment"))


def expect_kernels(module: ir.Module) -> None:
    """Refuse a module of kernels that says more than kernels, and host functions, do. Raises `NotLoopsError`."""
    _expect(module, "the kernel", lambda op: op.name in KERNEL_OPS or (not _in_kernel(op) and _of_hosts(op.name)))


def expect_finished(module: ir.Module) -> None:
    """Refuse a scheduled module that says more, whichever device it is for. Raises `NotLoopsError`."""
    known = KERNEL_OPS | _GPU_ALONE | {op for op in RULES if op.startswith("nvgpu.")}
    _expect(
        module, "the module", lambda op: op.name in known or (not _in_kernel(op) and _of_hosts(op.name)), pointers=True
    )
    for op in operations(module.operation):
        for name in _freedom(op):
            said = op.attributes[name]
            message = f"the module has `{op.name}` with `{name}` = {said}, of which the text says nothing"
            raise NotLoopsError(op, message)


def without_freedom(module: ir.Module) -> None:
    """Take out what a payload lets compilers assume: texts, and so a bundle's module, say nothing of it."""
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
    """Attributes that let a compiler assume more than the text says: of arithmetic, of functions and their arguments,
    of memory, of the machine; and those that an op has not."""
    own = type(op.opview)
    for name in op.attributes:
        said, has = op.attributes[name], hasattr(own, name) or hasattr(own, f"{name}_")
        if name in _NO_FLAGS and has:
            index = name == "overflowFlags" and isinstance(
                op.results[0].type, ir.IndexType
            )  # upstream's lowering says so of these
            if not index and "none" not in str(said):
                yield name
        elif name.endswith("_attrs") and has:
            if not all(_is_known(op, named.name) for entry in said for named in ir.DictAttr(entry)):
                yield name
        elif "." in name:
            if not _is_known(op, name):
                yield name
        elif not (has or name in _OF_EVERY_OP) or (
            name in _HINTS and not (name == "alignment" and _is_natural(op, said))
        ):
            yield name


def _is_natural(op: ir.Operation, alignment: ir.Attribute) -> bool:
    """Whether an alignment is no more than that of the elements that are accessed."""
    kinds = [value.type for value in (*op.operands, *op.results) if isinstance(value.type, ir.MemRefType)]
    return bool(kinds) and ir.IntegerAttr(alignment).value <= element_bytes(kinds[0].element_type)


def _is_known(op: ir.Operation, name: str) -> bool:
    """Whether a finished module may have an attribute of a dialect, of an op or of an argument: text and plan follow
    from it, or it says what every module with kernels does."""
    return name.startswith("weft.") or name == "gpu.container_module" or (op.name == "func.func" and name in OWN)


def expect_payload(module: ir.Module) -> None:
    """Refuse a payload that says more than what is computed, and on which launches. Raises `NotLoopsError`."""
    _expect(module, "the payload", lambda op: op.name in KERNEL_OPS or _of_hosts(op.name))
    for function in operations(module.operation, "func.func"):
        for name in [name for name in function.attributes if name not in _OF_FUNCTIONS and "." not in name]:
            del function.attributes[name]  # LLVM's function would take it for its own


def _of_hosts(name: str) -> bool:
    """Whether functions of the host may have it: a payload's compute with it, a scheduled one's plan knows it."""
    return name in _HOST_OPS or (name.partition(".")[0] in _DIALECTS and name not in _NOT)


def _in_kernel(op: ir.Operation) -> bool:
    return any(around.name == "gpu.func" for around in ancestors(op))


def _expect(module: ir.Module, what: str, known: Callable[[ir.Operation], bool], *, pointers: bool = False) -> None:
    plain: set[ir.Type] = set()
    for op in operations(module.operation):
        if op.name == "func.func" and not op.regions[0].blocks:
            raise NotLoopsError(op, f"{what} calls @{symbol(op)}, which has no body")
        if not module.context.is_registered_operation(op.name):  # upstream's passes may crash on such ops
            raise NotLoopsError(op, f"{what} has `{op.name}`, an op of a dialect that is not upstream's")
        if own_rounding(op) is not None:  # LLVM would take it that the processor rounds so already
            raise NotLoopsError(
                op, f"{what} has `{op.name}` that rounds {own_rounding(op)}; on the CPU ops round to nearest"
            )
        if not known(op):
            raise NotLoopsError(op, f"{what} has `{op.name}`, and {_LISTED}", _WITHOUT)
        for name in op.attributes:
            if (unknown := _unknown(op, name)) is not None:
                raise NotLoopsError(op, f"{what} has {unknown}, and {_LISTED}", f"take it out, or {_WITHOUT}")
        if isinstance(op.opview, memref.GlobalOp) and "initial_value" not in op.attributes:
            message = f"{what} declares @{symbol(op)} and gives it no values: it would be memory of this process"
            raise NotLoopsError(op, message, "give it its values, `dense<…>`, or `uninitialized`")
        for value in (*op.results, *(v for region in op.regions for block in region.blocks for v in block.arguments)):
            if value.type not in plain:
                if "!llvm." in str(value.type) and not pointers:
                    raise NotLoopsError(op, f"{what} has a value of type {value.type}, and {_LISTED}", _WITHOUT)
                plain.add(value.type)


_LISTED = "only what is known to compute, and nothing else, is compiled for this machine"
_WITHOUT = "write it in arith, math, linalg, scf, memref, vector or gpu ops: `docs/running.md` lists them"


def _unknown(op: ir.Operation, name: str) -> str | None:
    """What to call an attribute that is on no list; None where it is on one."""
    if "." not in name:
        if isinstance(op.opview, memref.GlobalOp) and name not in _OF_GLOBALS:
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
    """Whether an attribute in a dialect's name says something to what makes machine code: registered ones may."""
    dialect, _, rest = name.partition(".")
    if not rest or dialect in _OTHERS or name in _OF_LLVM:
        return False
    return dialect == "llvm" or _is_registered(dialect, op.context)


def _is_registered(dialect: str, context: ir.Context) -> bool:
    try:
        context.dialects[dialect]
    except (IndexError, KeyError, RuntimeError, ValueError):
        return False
    return True


@cache
def _of_llvm_functions() -> frozenset[str]:
    """Names that mean something to LLVM's functions: a `func.func` that is lowered hands its attributes on to one."""
    return frozenset(dir(llvm.LLVMFuncOp))
