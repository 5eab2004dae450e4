"""What values depend on: the thread, the block, the iterations of loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..ir.mlir import ancestors, ir, maker
from ..memory.effects import ALLOCATIONS, STORED, only_computes
from ..memory.views import terminator
from .algebra import Algebra, LaunchShape
from .linear import NOTHING, THREAD, Depends, Linear

WARP = 32
_KERNELS = ("gpu.func", "gpu.launch")
HARDWARE = {
    "gpu.thread_id", "gpu.block_id", "gpu.block_dim", "gpu.grid_dim", "gpu.lane_id", "gpu.subgroup_id",
    "gpu.global_id", "gpu.subgroup_size", "gpu.num_subgroups",
}  # fmt: skip
_UNIFORM = {"gpu.cluster_dim", "gpu.cluster_dim_blocks"}
_OF_BLOCKS = {"gpu.cluster_id", "gpu.cluster_block_id"}
_OPEN = {"ub.poison", "tensor.empty", "memref.extract_aligned_pointer_as_index"}
"""Each thread may find something else: nothing says what is in there; private memory has an address for each thread."""


class Dependence(Algebra):
    """Follows values to what they are made of, without evaluating them.

    Args:
        shape: block and grid sizes, as far as they are known.
        load_depends: what a loaded value depends on (memory the kernel never writes is a function of its address).
    """

    def __init__(self, shape: LaunchShape, load_depends: Callable[[ir.Operation], Depends]) -> None:
        super().__init__(shape)
        self._load_depends = load_depends
        self._depends: dict[ir.Value, Depends] = {}

    def depends(self, value: ir.Value) -> Depends:
        """On what the value depends. Block arguments nobody bound (carried values) may differ from thread to thread."""
        known = self._depends.get(value)
        if known is None:
            known = self._depends[value] = self._find_depends(value)
        return known

    def depends_on(self, values: Iterable[ir.Value]) -> Depends:
        """On what any of the values depends."""
        out = NOTHING
        for value in values:
            out = out | self.depends(value)
        return out

    def settle(
        self, arguments: Sequence[ir.Value], entering: Sequence[ir.Value], yields: Sequence[ir.Value], loop: int
    ) -> None:
        """Bind what the carried values of a loop depend on: on all that what enters and what is yielded depends on.

        First they are taken to depend on what enters alone; if what is yielded then depends on more, they do too, and one
        round is enough because a union only grows by what the first round found.
        """
        out = Depends(loops=frozenset({loop})) | self.depends_on(entering)
        before = dict(self._depends)
        self._depends.update(dict.fromkeys(arguments, out))
        out = out | self.depends_on(yields)
        self._depends = before | dict.fromkeys(arguments, out)

    def _find_depends(self, value: ir.Value) -> Depends:
        owner = maker(value)
        if owner.name not in _KERNELS and not in_kernel(owner):
            return NOTHING  # the host computes it once for all threads
        if isinstance(value.owner, ir.Block):
            entry = owner.name == "gpu.func" and value.owner == owner.regions[0].blocks[0]
            return NOTHING if entry else THREAD  # all threads get the same arguments, and so the same sizes of buffers
        op = value.owner.operation
        if op.name in HARDWARE:
            return self.hardware_op(op).depends()
        if op.name in ("memref.load", "affine.load", "vector.load"):
            return self._load_depends(op)
        if op.name in _UNIFORM:
            return NOTHING
        if op.name in _OF_BLOCKS:
            return Depends(block=True)
        if op.name in _OPEN:
            return THREAD
        plain = op.name in ALLOCATIONS or op.name in STORED or op.name == "scf.if"
        if not plain and (op.name.startswith("gpu.") or not only_computes(op)):
            return THREAD  # of another thread, of memory, or in a way that is not known
        out = self.depends_on(op.operands)
        if len(op.regions) and op.name != "scf.if":
            return out | THREAD
        return out | self.depends_on(v for region in op.regions for block in region.blocks for v in terminator(block).operands)

    def hardware_op(self, op: ir.Operation) -> Linear:
        what = op.name.removeprefix("gpu.")
        if what in ("thread_id", "block_id", "block_dim", "grid_dim"):
            return self.hardware(what, _axis(op))
        if what == "subgroup_size":
            return Linear.of(WARP)
        threads = self.shape.threads
        if what == "global_id":
            axis = _axis(op)
            size = self.hardware("block_dim", axis)
            return self.product(self.hardware("block_id", axis), size) + self.hardware("thread_id", axis)
        if threads is None:
            return self.opaque(NOTHING if what == "num_subgroups" else THREAD, 0)
        if what == "num_subgroups":
            return Linear.of(-(-threads // WARP))
        linear = self.shape.linear_id(self.thread_ids())
        return linear.modulo(WARP) if what == "lane_id" else linear.floordiv(WARP)


def _axis(op: ir.Operation) -> str:
    return str(op.attributes["dimension"])[-2]


def in_kernel(op: ir.Operation) -> bool:
    """Whether the op stands in the body of a kernel, not on the host."""
    return any(around.name in _KERNELS for around in ancestors(op))
