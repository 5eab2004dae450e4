"""The host plan: which buffers there are, and what is done with them in which order. Data only, and no MLIR.

A size, an offset or a launch dimension is an `int`, or an `Expr` over the inputs' dimensions and the scalars where
the payload is dynamic; `resolve` makes a plan of plain numbers of it. `codec.py` reads and writes it,
`check.py` validates it.

How the CUDA text takes kernel arguments stands in `runtime/cuda/__init__.py`; `Param` says which parts of a memref are dynamic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Literal, get_args

from .dtypes import rounds_most

VERSION = 1

Role = Literal["input", "output", "inout", "temp", "constant"]
ROLES: tuple[Role, ...] = get_args(Role)

Operator = Literal["add", "sub", "mul", "floordiv", "ceildiv", "div", "mod", "rem", "min", "max", "reciprocal"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True)
class DimOf:
    """Dimension `axis` of buffer `buffer`, as the caller's array has it."""

    buffer: str
    axis: int


@dataclass(frozen=True)
class ScalarOf:
    """The value of the scalar `name`."""

    name: str


@dataclass(frozen=True)
class Apply:
    """`div` and `rem` truncate, `floordiv` and `mod` round down, `ceildiv` up; `reciprocal`: see `resolve.py`."""

    operator: Operator
    left: Size
    right: Size


Expr = DimOf | ScalarOf | Apply
Size = int | Expr
Value = int | float | bool | Expr
"""What a scalar argument may be."""


@dataclass(frozen=True)
class Buffer:
    """Global memory, row-major and contiguous. `data` is the contents of a `constant`, little-endian."""

    name: str
    dtype: str
    shape: tuple[Size, ...]
    role: Role
    data: bytes | None = None


@dataclass(frozen=True)
class Scalar:
    """A scalar argument of the entry function."""

    name: str
    dtype: str


@dataclass(frozen=True)
class BufferView:
    """A strided window into a buffer. Offset and strides are in elements."""

    buffer: str
    offset: Size
    shape: tuple[Size, ...]
    strides: tuple[Size, ...]


@dataclass(frozen=True)
class ScalarValue:
    """A scalar argument of a kernel."""

    dtype: str
    value: Value


Arg = BufferView | ScalarValue

Extents = tuple[int | None, ...]
"""Sizes or strides; a None is not known before the run."""

Texts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Param:
    """A kernel's parameter as its type says. A scalar has no shape and no strides; a None in them, or as the offset, is
    `?`. Empty strides: row-major, whatever the sizes are.
    """

    name: str
    dtype: str
    shape: Extents | None = None
    strides: Extents | None = None
    offset: int | None = 0

    @property
    def scalar(self) -> bool:
        return self.shape is None

    def __str__(self) -> str:
        """For messages: `the parameter `A` (f32, shape [4x?], strides [], offset 0)`."""
        if self.shape is None:
            return f"the parameter `{self.name}` (scalar {self.dtype})"
        shape, strides, offset = (
            ["?" if n is None else str(n) for n in sizes] for sizes in (self.shape, self.strides or (), (self.offset,))
        )
        layout = f"shape [{'x'.join(shape)}], strides [{', '.join(strides)}], offset {offset[0]}"
        return f"the parameter `{self.name}` ({self.dtype}, {layout})"


@dataclass(frozen=True)
class KernelEntry:
    """A kernel: its name in the CUDA text, its symbol in the module (`gpu_module::function`), its parameters. Its text takes
    `reciprocals`, too, of sizes that it divides by: a `long long` each, by these names.

    `shared_bytes` is the shared memory that it declares; `dynamic_shared_bytes` is how much of it a launch of the CUDA
    text must pass (all of it where it is more than the 48 KiB that can be declared statically, else 0). `unproven`: why it is not
    proven race-free. `requires`: the oldest chip that has its instructions (`sm_80`). `rounded`: what operands become (`tf32`).
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

    @property
    def text_params(self) -> tuple[Param, ...]:
        """All that its text takes."""
        return (*self.params, *(Param(name, "i64") for name in self.reciprocals))


Relation = Literal["==", ">="]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


@dataclass(frozen=True)
class Agreement:
    """What has to hold between two integers for `op` to mean something: sizes are equal, or no more is read than there is."""

    left: Size
    right: Size
    op: str
    relation: Relation = "=="


@dataclass(frozen=True)
class Assumption:
    """A size that has to be a multiple of a number, and no larger than another (None: of any size): the kernels are right for such
    sizes alone. `by`: what says so, for people.
    """

    size: Size
    multiple: int
    by: str
    most: int | None = None

    def holds(self, number: int) -> bool:
        """Whether this number is as assumed."""
        return number % self.multiple == 0 and (self.most is None or number <= self.most)

    def implies(self, other: Assumption) -> bool:
        """Whether the other one holds where this one does."""
        smaller = other.most is None or (self.most is not None and self.most <= other.most)
        return self.size == other.size and self.multiple % other.multiple == 0 and smaller

    @property
    def holds_always(self) -> bool:
        return self.multiple == 1 and self.most is None

    @property
    def made_for(self) -> str:
        """What is wanted, in words."""
        return f"multiples of {self.multiple}" if self.most is None else f"{self.most} at most"

    def __str__(self) -> str:
        size = f"{self.size.buffer}.{self.size.axis}" if isinstance(self.size, DimOf) else "a computed size"
        return f"{size} % {self.multiple} == 0" if self.most is None else f"{size} <= {self.most}"


def said(assumptions: Iterable[Assumption]) -> list[str]:
    """Those that a schedule has stated, as it does."""
    return [str(one) for one in assumptions if one.by]


@dataclass(frozen=True, kw_only=True)
class PlanStep:
    """One thing to do on `stream`, once the steps with the indices `after` (all smaller than its own) are done.

    Steps of one stream are done in order, so `after` names steps of other streams only. `in_version`: the version of the plan that
    it is a step of; None: of the only one.
    """

    stream: int = 0
    after: tuple[int, ...] = ()
    in_version: int | None = None


@dataclass(frozen=True, kw_only=True)
class Alloc(PlanStep):
    """Allocate a temporary buffer."""

    buffer: str


@dataclass(frozen=True, kw_only=True)
class Free(PlanStep):
    """Free a temporary buffer."""

    buffer: str


@dataclass(frozen=True, kw_only=True)
class Copy(PlanStep):
    """Copy one view to another of its shape."""

    source: BufferView
    target: BufferView


@dataclass(frozen=True, kw_only=True)
class Fill(PlanStep):
    """Every element of `target` becomes `value`, which is of the buffer's element type."""

    target: BufferView
    value: ScalarValue


@dataclass(frozen=True)
class Narrow:
    """The kernel whose text has indices of 32 bits: it is launched instead where these hold all of the `small` numbers."""

    kernel: str
    small: tuple[Size, ...]
    reciprocals: tuple[Size, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Launch(PlanStep):
    """`shared_bytes`: dynamic shared memory, on top of the kernel's own; `reciprocals`: what its text takes behind `args`."""

    kernel: str
    grid: tuple[Size, Size, Size]
    block: tuple[Size, Size, Size]
    shared_bytes: Size = 0
    args: tuple[Arg, ...] = ()
    reciprocals: tuple[Size, ...] = ()
    narrow: Narrow | None = None


AnyStep = Alloc | Free | Copy | Fill | Launch
STEPS: tuple[type[AnyStep], ...] = get_args(AnyStep)


def views(step: AnyStep) -> Iterator[tuple[str, BufferView]]:
    """The windows of a step, each with its place in it."""
    match step:
        case Copy():
            yield "source", step.source
            yield "target", step.target
        case Fill():
            yield "target", step.target
        case Launch():
            yield from ((f"args[{i}]", arg) for i, arg in enumerate(step.args) if isinstance(arg, BufferView))


def used_buffers(step: AnyStep) -> set[str]:
    """The buffers that a step names."""
    return {step.buffer} if isinstance(step, Alloc | Free) else {view.buffer for _, view in views(step)}


def integers(sizes: Iterable[object]) -> tuple[int, ...]:
    """The sizes of a plan of plain numbers."""
    return tuple(int(s) for s in sizes)  # type: ignore[call-overload]


def is_contiguous(shape: Sequence[Size], strides: Sequence[Size]) -> bool:
    """Whether a window's elements lie side by side in row-major order; the stride of a dimension of one element says nothing."""
    counts = integers(shape)
    return 0 in counts or all(
        n == 1 or stride == prod(counts[i + 1 :]) for i, (n, stride) in enumerate(zip(counts, strides, strict=True))
    )


@dataclass(frozen=True)
class Plan:
    """All that a run needs beside the kernels' text.

    `temp` buffers live from their `Alloc` to their `Free`; all others are there before the first step and after the
    last. `fewest_streams`: so many it takes at least for all to run at once that tokens allow; None where there are no tokens.
    `agreements`, `assumptions`: what is checked of the sizes before a run. `versions`: what each version of the plan assumes, where
    there are several: a run does the first whose assumptions hold. `taken`: that one's number, once the sizes are known.
    `arguments`: the names of the entry's arguments in order, where that is not the buffers and then the scalars.
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
    texts: Texts = field(default=(), compare=False)
    """Of a bundle: the files that were written with the plan, and the SHA-256 of each."""

    @property
    def launches(self) -> tuple[Launch, ...]:
        return tuple(step for step in self.steps if isinstance(step, Launch))

    @property
    def rounded(self) -> str | None:
        """What kernels make of operands, where the schedule asks for it."""
        return rounds_most(kernel.rounded for kernel in self.kernels)

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.buffers if b.role in ("input", "inout"))

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.buffers if b.role in ("output", "inout"))
