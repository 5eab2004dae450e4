"""From a realised kernel to what the runtime reads: no linalg, views folded, the shared buffers as attributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ...dsl.diagnostics import fail
from ..indices.forms import DELINEARIZE, LINEARIZE
from ..indices.indices import share_indices
from ..ir.mlir import ir, linalg, operations, run_passes
from ..memory.shared import bytes_of
from ..memory.spaces import is_shared
from ..session.rewriter import describe, upstream_messages
from .kernel import TO_LOOPS, Outlined
from .offsets import settle_offsets
from .registers import fix_trip_counts
from .reshapes import keep_reshapes
from .transposes import fold_transposes, sink_transposes

MAX_STATIC_SHARED = 48 * 1024
_ALIGNMENT = 16
_STAND_IN = "weft.barrier"
_FOLD_VIEWS = "fold-memref-alias-ops"
_CLEAN_UP = "canonicalize,cse,loop-invariant-code-motion,canonicalize,cse"


def lower(kernel: Outlined) -> int:
    """Lower the kernel in place; its static shared memory in bytes. Raises W0355 or W0358."""
    copies_to_linalg(kernel.function)
    with _barriers_hidden(kernel.function):
        try:
            with kernel.function.context:
                keep_reshapes(kernel.function)
                settle_offsets(kernel.function)
            sink_transposes(kernel.function)
            fold_transposes(kernel.function)
            _run(kernel, TO_LOOPS)
            while fold_transposes(kernel.function):
                _run(kernel, _FOLD_VIEWS)
            with kernel.function.context:
                fix_trip_counts(kernel.function)
            _take_apart(kernel)
            _run(kernel, _CLEAN_UP)
            with kernel.function.context:
                share_indices(kernel.function)
            _run(kernel, "cse")
        except ir.MLIRError as error:
            raise fail("W0358", "the kernel cannot be lowered to loops", notes=upstream_messages(error)) from error
    left = [op for op in operations(kernel.function) if op.name.startswith("linalg.")]
    if left:
        raise fail(
            "W0358",
            f"{describe(left[0])} has no lowering to loops",
            hint="decompose it before the launch (`run-pass`, `transform`)",
        )
    return _attribute_shared(kernel)


def _take_apart(kernel: Outlined) -> None:
    """Indices that are taken apart become divisions, in front of the loops that do not change them; others become sums.

    Digits counted along with a loop, in place of divisions by constants, made the machine's loops no shorter, and took registers.
    """
    if not any(True for _ in operations(kernel.function, DELINEARIZE, LINEARIZE)):
        return
    _run(kernel, "affine-expand-index-ops-as-affine,cse,loop-invariant-code-motion")


def _run(kernel: Outlined, passes: str) -> None:
    run_passes(kernel.module, f"gpu.module(gpu.func({passes}))")


def copies_to_linalg(root: ir.Operation) -> None:
    """`memref.copy` → `linalg.copy`, which has a lowering to loops."""
    for copy in operations(root, "memref.copy"):
        with ir.InsertionPoint(copy), copy.location:
            made = linalg.copy(copy.operands[0], outs=[copy.operands[1]])
        written = made.operation if hasattr(made, "operation") else made.owner.operation
        for named in copy.attributes:
            written.attributes[named] = copy.attributes[named]
        copy.erase()


@contextmanager
def _barriers_hidden(function: ir.Operation) -> Iterator[None]:
    """Keep `canonicalize` from merging neighbouring barriers that bear marks: it would drop the second one's.

    An op of an unknown dialect may have any effect, so nothing moves across it either.
    """
    for barrier in operations(function, "gpu.barrier"):
        if any(name.startswith("weft.") for name in barrier.attributes):
            _replace(barrier, _STAND_IN)
    yield
    for stand_in in operations(function, _STAND_IN):
        _replace(stand_in, "gpu.barrier")


def _replace(op: ir.Operation, name: str) -> None:
    attributes = {key: op.attributes[key] for key in op.attributes}
    with ir.InsertionPoint(op):
        ir.Operation.create(name, operands=list(op.operands), attributes=attributes, loc=op.location)
    op.erase()


def _attribute_shared(kernel: Outlined) -> int:
    """Allocations in workgroup memory become `workgroup(…)` attributions of the `gpu.func`."""
    total = 0
    names: list[str | None] = []
    for alloc in operations(kernel.function, "memref.alloc"):
        kind = alloc.results[0].type
        if not is_shared(kind):
            raise fail(
                "W0355",
                f"{describe(alloc)} would allocate global memory in every block",
                hint="promote it to shared memory",
            )
        total = -(-total // _ALIGNMENT) * _ALIGNMENT + bytes_of(kind)
        argument = kernel.entry.add_argument(kind, alloc.location)
        alloc.results[0].replace_all_uses_with(argument)
        names.append(_shared_name(alloc))
        alloc.erase()
    for dealloc in operations(kernel.function, "memref.dealloc"):
        dealloc.erase()
    if total > MAX_STATIC_SHARED:
        raise fail(
            "W0355",
            f"the block's shared buffers take {total} bytes, and static shared memory has {MAX_STATIC_SHARED}",
            hint="take smaller tiles (dynamic shared memory, up to 227 KB on newer chips, is not supported yet)",
        )
    if names:
        i64 = ir.IntegerType.get_signless(64)
        kernel.function.attributes["workgroup_attributions"] = ir.IntegerAttr.get(i64, len(names))
        kernel.function.attributes["workgroup_attrib_attrs"] = _name_attributes(names)
    return total


def _shared_name(alloc: ir.Operation) -> str | None:
    return ir.StringAttr(alloc.attributes["weft.name"]).value if "weft.name" in alloc.attributes else None


def _name_attributes(names: Sequence[str | None]) -> ir.Attribute:
    """A dictionary per attribution: `{weft.name = "A_shared"}`, each name once; empty for a buffer that nobody named."""
    taken: set[str] = set()
    entries: list[ir.Attribute] = []
    for name in names:
        if name is None:
            entries.append(ir.DictAttr.get({}))
            continue
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        taken.add(unique)
        entries.append(ir.DictAttr.get({"weft.name": ir.StringAttr.get(unique)}))
    return ir.ArrayAttr.get(entries)
