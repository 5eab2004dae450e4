"""The host plan: its buffers, and the steps on them, in order. Data only, and no MLIR.

A size, an offset or a launch dimension is an `int`, or an `Expr` over the inputs' dimensions and
the scalars; `resolve` replaces expressions by numbers. `codec.py` reads and writes a plan,
`check.py` validates it.

`runtime/cuda/__init__.py` describes the kernel arguments of the CUDA text; `Param` states which
parts of a memref are dynamic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from math import prod
from typing import Literal, get_args

from ...dsl.records import record
from ...interpreter.hardware import limits
from ...interpreter.hardware.limits import PixelWindow
from .dtypes import rounds_most
from .sizes import OPERATORS as OPERATORS
from .sizes import RELATIONS as RELATIONS
from .sizes import Agreement as Agreement
from .sizes import Apply as Apply
from .sizes import Assumption as Assumption
from .sizes import DimOf as DimOf
from .sizes import Expr as Expr
from .sizes import Operator as Operator
from .sizes import Relation as Relation
from .sizes import ScalarOf as ScalarOf
from .sizes import Size, Value
from .sizes import stated_texts as stated_texts

VERSION = 1

Role = Literal["input", "output", "inout", "temp", "constant"]
ROLES: tuple[Role, ...] = get_args(Role)


@record
class Buffer:
    """Global memory, row-major and contiguous.

    Attributes:
        data: the contents of a `constant`, little-endian.
        place: of a `temp`, its first byte in the storage that temporaries share; None: known once
            the sizes are (`storage.py`).
    """

    name: str
    dtype: str
    shape: tuple[Size, ...]
    role: Role
    data: bytes | None = None
    place: int | None = None


@record
class Scalar:
    """A scalar argument of the entry function."""

    name: str
    dtype: str


@record
class BufferView:
    """A strided window into a buffer. Offset and strides are in elements."""

    buffer: str
    offset: Size
    shape: tuple[Size, ...]
    strides: tuple[Size, ...]


@record
class ScalarValue:
    """A scalar argument of a kernel."""

    dtype: str
    value: Value


@record
class Boxes:
    """The boxes of a tensor map: the unit of copies, and its layout in shared memory.

    Args:
        box: elements along each dimension, outermost first.
        swizzle: width in bytes of the lines in which pieces are permuted: 0, 32, 64, 128.
        fill: the value of elements outside the tensor: `zero` or `nan`.
        fetch: bytes that L2 fetches at once: 0, 64, 128, 256.
        window: of a map of pixels: the window of their positions; `box` is then the number of
            pixels and of channels of each.
        rounded: the type that f32 elements are rounded to during the copy, `tf32`; None: no
            rounding.
    """

    box: tuple[int, ...]
    swizzle: int = 0
    fill: str = "zero"
    fetch: int = 0
    window: PixelWindow | None = None
    rounded: str | None = None


@record
class TensorMapOf:
    """A tensor map as an argument of a kernel: encoded for a window at the launch, and passed by
    value."""

    tensor: BufferView
    layout: Boxes


Arg = BufferView | TensorMapOf | ScalarValue

Extents = tuple[int | None, ...]
"""Sizes or strides; None: known only at run time."""

Texts = tuple[tuple[str, str], ...]


@record
class Param:
    """A kernel's parameter, from its type. A scalar has neither shape nor strides. A None in the
    shape or the strides, or as the offset, is a dynamic number. Empty strides: row-major for all
    sizes. A tensor map has `boxes`, and no shape either."""

    name: str
    dtype: str
    shape: Extents | None = None
    strides: Extents | None = None
    offset: int | None = 0
    boxes: Boxes | None = None

    @property
    def scalar(self) -> bool:
        return self.shape is None and self.boxes is None

    def __str__(self) -> str:
        """The text in messages: `the parameter `A` (f32, shape [4x?], strides [], offset 0)`."""
        if self.boxes is not None:
            return f"the parameter `{self.name}` (tensor map of {self.dtype}, {self.boxes})"
        if self.shape is None:
            return f"the parameter `{self.name}` (scalar {self.dtype})"
        shape, strides, offset = (
            ["?" if n is None else str(n) for n in sizes] for sizes in (self.shape, self.strides or (), (self.offset,))
        )
        layout = f"shape [{'x'.join(shape)}], strides [{', '.join(strides)}], offset {offset[0]}"
        return f"the parameter `{self.name}` ({self.dtype}, {layout})"


@record
class KernelEntry:
    """A kernel of the plan.

    Attributes:
        name: in the CUDA text.
        symbol: in the module, `gpu_module::function`.
        params: its parameters.
        shared_bytes: the shared memory that it declares.
        dynamic_shared_bytes: the part of it that a launch of the CUDA text must pass: all of it
            beyond the 48 KiB that can be declared statically, else 0.
        unproven: why it is not proved race-free.
        requires: the oldest architecture with its instructions (`sm_80`), or the only one
            (`sm_90a`).
        rounded: the type that operands are rounded to (`tf32`).
        reciprocals: names of further `long long` parameters of the text: reciprocals of sizes that
            it divides by, and numbers of blocks.
        folds: the text is for folded grids: with more blocks along y and z than hardware permits,
            all are launched along x.
    """

    name: str
    symbol: str
    params: tuple[Param, ...]
    shared_bytes: int = 0
    dynamic_shared_bytes: int = 0
    unproven: str | None = None
    requires: str | None = None
    rounded: str | None = None
    reciprocals: tuple[str, ...] = ()
    folds: bool = False

    def text_grid(self, grid: tuple[int, int, int]) -> tuple[int, int, int]:
        """The grid with which the kernel's text is launched."""
        return limits.launched(grid) if self.folds else grid

    @property
    def text_params(self) -> tuple[Param, ...]:
        """All parameters of the kernel's text."""
        return (*self.params, *(Param(name, "i64") for name in self.reciprocals))

    def runs_on(self, chip: str) -> bool:
        """Whether an architecture (`sm_90a`) has its instructions."""
        if self.requires is None or self.requires == chip:
            return True
        return not self.requires.endswith("a") and _capability(chip) >= _capability(self.requires)

    def lacking(self, name: str, chip: str) -> tuple[str, str] | None:
        """W0727 if a device lacks instructions: the message, and what a schedule must do without."""
        if self.runs_on(chip):
            return None
        have, without = f"chips have from {self.requires} on", "asynchronous copies, `pipeline … async`"
        if self.requires is not None and self.requires.endswith("a"):
            have, without = f"{self.requires} alone has", "warp groups, `map … to warpgroups`"
        return f"`{self.name}` takes instructions that {have}; {name} is {chip}", f"schedule it without {without}"


def _capability(chip: str) -> int:
    return int(chip.removeprefix("sm_").rstrip("a"))


@record(kw_only=True)
class PlanStep:
    """A step on `stream`, after the steps with the indices `after` (all smaller than its own).

    Steps of one stream run in order, so `after` names steps of other streams only. `in_version`:
    the version of the plan that the step belongs to; None: all of them.
    """

    stream: int = 0
    after: tuple[int, ...] = ()
    in_version: int | None = None


@record(kw_only=True)
class Alloc(PlanStep):
    """Allocate a temporary buffer."""

    buffer: str


@record(kw_only=True)
class Free(PlanStep):
    """Free a temporary buffer."""

    buffer: str


@record(kw_only=True)
class Copy(PlanStep):
    """Copy a view to another of the same shape."""

    source: BufferView
    target: BufferView


@record(kw_only=True)
class Fill(PlanStep):
    """Set every element of `target` to `value`, of the buffer's element type."""

    target: BufferView
    value: ScalarValue


@record
class Narrow:
    """The kernel with 32-bit indices, launched instead if all `small` numbers fit."""

    kernel: str
    small: tuple[Size, ...]
    reciprocals: tuple[Size, ...] = ()


@record
class Folded:
    """The kernel for folded grids, launched instead for a grid with more blocks along y or z than
    hardware permits."""

    kernel: str
    reciprocals: tuple[Size, ...] = ()


@record(kw_only=True)
class Launch(PlanStep):
    """Launch a kernel.

    Attributes:
        shared_bytes: dynamic shared memory, on top of the kernel's.
        reciprocals: further arguments of the text, see `KernelEntry`.
    """

    kernel: str
    grid: tuple[Size, Size, Size]
    block: tuple[Size, Size, Size]
    shared_bytes: Size = 0
    args: tuple[Arg, ...] = ()
    reciprocals: tuple[Size, ...] = ()
    narrow: Narrow | None = None
    folded: Folded | None = None


AnyStep = Alloc | Free | Copy | Fill | Launch
STEPS: tuple[type[AnyStep], ...] = get_args(AnyStep)


def views(step: AnyStep) -> Iterator[tuple[str, BufferView]]:
    """The windows of a step, each with its path in it."""
    match step:
        case Copy():
            yield "source", step.source
            yield "target", step.target
        case Fill():
            yield "target", step.target
        case Launch():
            for i, arg in enumerate(step.args):
                if not isinstance(arg, ScalarValue):
                    yield (f"args[{i}]", arg) if isinstance(arg, BufferView) else (f"args[{i}].tensor", arg.tensor)


def used_buffers(step: AnyStep) -> set[str]:
    """The buffers that a step uses."""
    return {step.buffer} if isinstance(step, Alloc | Free) else {view.buffer for _, view in views(step)}


def integers(sizes: Iterable[object]) -> tuple[int, ...]:
    """Sizes of a plan without expressions, as integers."""
    return tuple(int(s) for s in sizes)  # type: ignore[call-overload]


def triple(sizes: Sequence[object]) -> tuple[int, int, int]:
    """The sizes of a launch along x, y, z."""
    x, y, z = integers(sizes)
    return x, y, z


def is_contiguous(shape: Sequence[Size], strides: Sequence[Size]) -> bool:
    """Whether a window's elements are contiguous and row-major; dimensions of one element may have
    any stride."""
    counts = integers(shape)
    return 0 in counts or all(
        n == 1 or stride == prod(counts[i + 1 :]) for i, (n, stride) in enumerate(zip(counts, strides, strict=True))
    )


def extent(view: BufferView) -> tuple[int, int]:
    """The first and the last element that a static view accesses; (0, -1) if it is empty."""
    if 0 in view.shape:
        return 0, -1
    (start,), shape, strides = map(integers, ((view.offset,), view.shape, view.strides))
    reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    return start + sum(r for r in reach if r < 0), start + sum(r for r in reach if r > 0)


@record
class Plan:
    """Everything that a run needs besides the kernels' text.

    `temp` buffers live from their `Alloc` to their `Free`; all others exist before the first step
    and after the last.

    Attributes:
        fewest_streams: the fewest streams on which all steps run concurrently that tokens do not
            order; None without tokens.
        agreements, assumptions: conditions on the sizes, checked before a run.
        versions: the assumptions of each version of the plan, if there are several: a run takes the
            first with assumptions that hold.
        taken: the number of that version, once the sizes are known.
        arguments: the names of the entry's arguments in order, unless that is the buffers, then the
            scalars.
        compared: the inputs on which the kernels were compared with the payload before the build.
        unchecked: the reason why they were not compared.
    """

    entry: str
    buffers: tuple[Buffer, ...]
    scalars: tuple[Scalar, ...]
    steps: tuple[AnyStep, ...]
    kernels: tuple[KernelEntry, ...]
    version: int = VERSION
    fewest_streams: int | None = None
    arguments: tuple[str, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    versions: tuple[tuple[Assumption, ...], ...] = ()
    taken: int | None = None
    compared: str | None = None
    unchecked: str | None = None
    texts: Texts = field(default=(), compare=False)
    """Of a bundle: the files that were written with the plan, and the SHA-256 of each."""

    @property
    def launches(self) -> tuple[Launch, ...]:
        return tuple(step for step in self.steps if isinstance(step, Launch))

    @property
    def rounded(self) -> str | None:
        """The coarsest type that kernels round operands to, if the schedule requests it."""
        return rounds_most(kernel.rounded for kernel in self.kernels)

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.buffers if b.role in ("input", "inout"))

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.buffers if b.role in ("output", "inout"))
