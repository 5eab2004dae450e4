"""The kernels of a complete module, each with the launch that is to be judged, and the sizes it runs with."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ....dsl.diagnostics import fail
from ...ir import mlir
from ...ir.functions import segments, sizes_of, symbol
from ...ir.mlir import ir
from ...ir.nesting import ancestors
from ...session.rewriter import describe
from ..forms.shape import Sizes
from .kernels import Names, kernel_model, stated_sizes
from .model import KernelModel

MOST_THREADS = 1024
_PLACES = ("gpu.block_id", "gpu.grid_dim", "gpu.global_id")
_HOST = {"builtin.module", "func.func", "scf.for", "scf.if", "scf.while", "affine.for", "affine.if", "scf.execute_region"}


@dataclass(frozen=True, eq=False)
class KernelUse:
    """A kernel as one launch uses it. `launch` is None for a kernel that nothing in the module launches."""

    kernel: ir.Operation
    launch: ir.Operation | None

    @property
    def name(self) -> str:
        return "gpu.launch" if self.kernel.name == "gpu.launch" else f"@{symbol(self.kernel)}"

    @property
    def place(self) -> str:
        return describe(self.launch if self.launch is not None else self.kernel)


def kernel_uses(module: ir.Module) -> list[KernelUse]:
    """Every launch in program order, then the kernels that none of them launches. Kernels that are compiled already
    (`gpu.binary`) cannot be looked into: they are left out.

    Raises:
        WeftError: W0611 for a launch of a kernel that is not there; W0640 for a launch in a host op that may run it in parallel.
    """
    kernels = {
        f"@{symbol(holder)}::@{symbol(kernel)}": kernel
        for holder in mlir.operations(module.operation, "gpu.module")
        for kernel in mlir.operations(holder, "gpu.func")
    }
    binaries = {symbol(op) for op in mlir.operations(module.operation, "gpu.binary")}
    out: list[KernelUse] = []
    launched: set[str] = set()
    for op in mlir.operations(module.operation, "gpu.launch", "gpu.launch_func"):
        _expect_sequential(op)
        if op.name == "gpu.launch":
            out.append(KernelUse(op, op))
            continue
        name = str(op.attributes["kernel"])
        if name.split("::")[0].lstrip("@") in binaries:
            continue
        if name not in kernels:
            raise fail("W0611", f"the module has no kernel {name}: {describe(op)}", hint="keep the `gpu.module` beside it")
        launched.add(name)
        out.append(KernelUse(kernels[name], op))
    for name, kernel in kernels.items():
        if name not in launched and ("gpu.kernel" in kernel.attributes or "kernel" in kernel.attributes):
            out.append(KernelUse(kernel, None))
    return out


def model_of(
    use: KernelUse, *, block: Sizes | None = None, grid: Sizes | None = None, names: Names = lambda _: None, may_alias: bool = False
) -> KernelModel:
    """The model of a kernel as its launch uses it. `block` and `grid` fill in what neither launch nor kernel says.

    Raises:
        WeftError: W0612 where the block size is nowhere said, W0613 for sizes that contradict each other or that no launch can
            have; W0640.
    """
    stated: list[tuple[str, Sizes | None, Sizes | None]] = []
    if use.launch is not None:
        stated.append((use.launch.name, *stated_sizes(use.launch)))
    stated.append(
        ("the kernel's attributes", sizes_of(use.kernel, "known_block_size"), sizes_of(use.kernel, "known_grid_size"))
    )
    stated.append(("the command line", block, grid))
    chosen_block = _agreed(use, "block", [(who, b) for who, b, _ in stated])
    chosen_grid = _agreed(use, "grid", [(who, g) for who, _, g in stated])
    if use.launch is None and None in chosen_block:
        raise fail(
            "W0612",
            f"the block size of {use.name} is not known: nothing in the module launches it",
            hint="say it with `--block 16,16,1`, or in the kernel: `known_block_size = array<i32: 16, 16, 1>`",
        )
    if use.launch is None:
        chosen_grid = _along_used_axes(use.kernel, chosen_grid)
    _expect_possible(use, chosen_block, chosen_grid)
    launch = use.launch if use.launch is not None and use.launch.name == "gpu.launch_func" else None
    return kernel_model(
        use.kernel, block=chosen_block, grid=chosen_grid, launch=launch, names=names, may_alias=may_alias
    )


def same_use(use: KernelUse) -> Hashable:
    """What a use's model depends on, but for what the command line says: uses for which it is equal are judged alike.

    They launch one kernel with the very same operands, or with equal constants.
    """
    launch = use.launch
    if launch is None or launch.name != "gpu.launch_func":
        return use
    attributes = tuple((name, launch.attributes[name]) for name in launch.attributes if name != "operandSegmentSizes")
    return attributes, tuple(tuple(map(_same_value, group)) for group in segments(launch)[1:])


def _same_value(value: ir.Value) -> Hashable:
    maker = mlir.producer(value)
    if maker is None or maker.name != "arith.constant":
        return value
    return value.type, maker.attributes["value"]


def _expect_sequential(launch: ir.Operation) -> None:
    for around in ancestors(launch):
        if around.name not in _HOST:
            raise fail("W0640", f"the race analysis does not know the order of launches in {describe(around)}",
                       hint="launch from straight code, scf.for, scf.while or scf.if")  # fmt: skip


def _agreed(use: KernelUse, what: str, stated: list[tuple[str, Sizes | None]]) -> Sizes:
    """Along each axis what any of them says; all that say something have to say the same."""
    out: list[int | None] = []
    for axis in range(3):
        said = [(who, sizes[axis]) for who, sizes in stated if sizes is not None and sizes[axis] is not None]
        if len({size for _, size in said}) > 1:
            raise fail(
                "W0613",
                f"the {what} size of {use.name} along {'xyz'[axis]} is said in two ways",
                notes=tuple(f"{who} says {size}" for who, size in said),
                hint="make them agree: a kernel made for one size must not run with another",
            )
        out.append(said[0][1] if said else None)
    return (out[0], out[1], out[2])


def _along_used_axes(kernel: ir.Operation, grid: Sizes) -> Sizes:
    """A kernel that does not ask for its place along an axis is made for grids of one block along it."""
    asked = {str(op.attributes["dimension"])[-2] for op in mlir.operations(kernel, *_PLACES)}
    x, y, z = (1 if size is None and axis not in asked else size for axis, size in zip("xyz", grid, strict=True))
    return (x, y, z)


def _expect_possible(use: KernelUse, block: Sizes, grid: Sizes) -> None:
    threads = 1
    for size in block:
        threads *= 1 if size is None else size
    wrong = [n for n in (*block, *grid) if n is not None and n < 1]
    if wrong or threads > MOST_THREADS:
        what = f"a block of {threads} threads" if not wrong else f"a size of {wrong[0]}"
        raise fail("W0613", f"{use.name} is launched with {what}",
                   hint=f"a block has 1 to {MOST_THREADS} threads, a grid at least one block")  # fmt: skip
