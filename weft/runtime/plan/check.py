"""Soundness of a plan: every reference, bound and lifetime is checked before anything is allocated
or launched.

Facts that depend on an input's shape are checked again once `resolve` has computed the numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from ...dsl.diagnostics import Diagnostic, WeftError, quoted
from ...interpreter.hardware import limits
from .dtypes import NUMPY, ROUNDED, itemsize
from .order import unordered_uses
from .plan import (
    RELATIONS,
    ROLES,
    Alloc,
    AnyStep,
    Apply,
    Arg,
    Buffer,
    BufferView,
    Copy,
    DimOf,
    Fill,
    Folded,
    Free,
    Launch,
    Narrow,
    Param,
    Plan,
    ScalarOf,
    ScalarValue,
    TensorMapOf,
    extent,
    integers,
    is_contiguous,
    triple,
    views,
)
from .storage import ALIGNMENT, early_reuses
from .tensor_maps import map_faults

MAX_BYTES = 2**40
MIN_INT, MAX_INT, MAX_UNSIGNED = -(2**63), 2**63 - 1, 2**64 - 1
MAX_STREAMS = 4096
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
CHIP = re.compile(r"sm_\d{2,3}a?")


def validate(plan: Plan, name: str = "plan.json") -> Plan:
    """Returns the plan itself, or raises a `WeftError` with all its faults. `name` is its name in
    messages."""
    found = list(check(plan, name))
    if found:
        raise WeftError(*found[:20])
    return plan


def check(plan: Plan, name: str = "plan.json") -> Iterator[Diagnostic]:
    """All faults of `plan`."""
    checker = _Checker(plan, name)
    yield from checker.declarations()
    if not checker.duplicates:
        yield from checker.schedule()


class _Checker:
    def __init__(self, plan: Plan, name: str) -> None:
        self.plan, self.name, self.duplicates = plan, name, False
        self.buffers = {b.name: b for b in plan.buffers}
        self.kernels = {k.name: k for k in plan.kernels}
        self.scalars = {s.name: s.dtype for s in plan.scalars}
        self.has_places = any(b.place is not None for b in plan.buffers)

    def error(self, code: str, place: str, message: str, hint: str | None = None) -> Diagnostic:
        return Diagnostic(code, f"{place}: {message}", notes=(f"in {self.name}",), hint=hint)

    # ---- declarations ------------------------------------------------------------------------------------------------

    def declarations(self) -> Iterator[Diagnostic]:
        plan = self.plan
        yield from self.names("buffers or scalars", [named.name for named in (*plan.buffers, *plan.scalars)])
        for i, agreement in enumerate(plan.agreements):
            for key in ("left", "right"):
                yield from self.size(getattr(agreement, key), f"agreements[{i}].{key}", signed=True)
            if agreement.relation not in RELATIONS:
                message = f"`{agreement.relation}` is not a relation; relations are {', '.join(RELATIONS)}"
                yield self.error("W0703", f"agreements[{i}].relation", message)
        for i, assumption in enumerate((*plan.assumptions, *(one for each in plan.versions for one in each))):
            yield from self.size(assumption.size, f"assumptions[{i}].size")
            if assumption.multiple < 1:
                yield self.error("W0703", f"assumptions[{i}].multiple", f"{assumption.multiple} divides no size")
        for i, step in enumerate(plan.steps):
            if step.in_version is not None and not 0 <= step.in_version < len(plan.versions):
                yield self.error("W0703", f"steps[{i}].in_version", f"there are {len(plan.versions)} versions")
        named = sorted((*(b.name for b in plan.inputs), *(s.name for s in plan.scalars)))
        if plan.arguments and sorted(plan.arguments) != named:
            yield self.error("W0703", "arguments", f"these are not the inputs and scalars: {', '.join(named)}")
        yield from self.names("kernels", [k.name for k in plan.kernels])
        for i, buffer in enumerate(plan.buffers):
            yield from self.declared_buffer(buffer, f"buffers[{i}]")
        for i, scalar in enumerate(plan.scalars):
            yield from self.dtype(scalar.dtype, f"scalars[{i}].dtype")
        for i, kernel in enumerate(plan.kernels):
            place = f"kernels[{i}]"
            if not IDENTIFIER.fullmatch(kernel.name):
                yield self.error("W0703", f"{place}.name", f"`{kernel.name}` cannot be the name of a kernel")
            for key in ("shared_bytes", "dynamic_shared_bytes"):
                if not 0 <= (size := getattr(kernel, key)) <= limits.MOST:
                    yield self.error("W0704", f"{place}.{key}", f"{size} bytes are not in 0 … {limits.MOST}")
            if kernel.dynamic_shared_bytes not in (0, kernel.shared_bytes):
                message = f"{kernel.dynamic_shared_bytes} bytes: all {kernel.shared_bytes} of shared memory are passed, or none"
                yield self.error("W0704", f"{place}.dynamic_shared_bytes", message)
            if kernel.requires is not None and not CHIP.fullmatch(kernel.requires):
                yield self.error("W0703", f"{place}.requires", f"`{kernel.requires}` is not a chip, as `sm_80` is")
            if kernel.rounded not in (None, *ROUNDED):
                yield self.error("W0703", f"{place}.rounded", f"`{kernel.rounded}` is not a type that kernels round to")
            for j, param in enumerate(kernel.params):
                yield from self.declared_param(param, f"{place}.params[{j}]")

    def names(self, what: str, names: list[str]) -> Iterator[Diagnostic]:
        for name in sorted(n for n, uses in Counter(names).items() if uses > 1):
            self.duplicates = True
            yield self.error("W0703", what, f"the name `{name}` is used twice")

    def declared_buffer(self, buffer: Buffer, place: str) -> Iterator[Diagnostic]:
        if not buffer.name:
            yield self.error("W0703", f"{place}.name", "a buffer needs a name")
        if buffer.role not in ROLES:
            yield self.error("W0703", f"{place}.role", f"`{buffer.role}` is not a role; roles are {', '.join(ROLES)}")
        bad = list(self.dtype(buffer.dtype, f"{place}.dtype"))
        yield from bad
        yield from self.declared_place(buffer, place)
        yield from self.sizes(buffer.shape, f"{place}.shape")
        for i, size in enumerate(buffer.shape if buffer.role in ("input", "inout") else ()):
            if not isinstance(size, int) and size != DimOf(buffer.name, i):
                message = f'an input\'s dimension is a number, or its own: {{"dim": ["{buffer.name}", {i}]}}'
                yield self.error("W0703", f"{place}.shape[{i}]", message)
        sizes = [s for s in buffer.shape if isinstance(s, int)]
        if bad or len(sizes) < len(buffer.shape) or min(sizes, default=0) < 0:
            return
        bytes_ = prod(sizes) * itemsize(buffer.dtype)
        if bytes_ > MAX_BYTES:
            yield self.error("W0703", f"{place}.shape", f"{bytes_} bytes are more than any device has")
        if buffer.role == "constant" and (given := len(buffer.data or b"")) != bytes_:
            yield self.error("W0703", f"{place}.data", f"{given} bytes where the shape needs {bytes_}")
        if buffer.role != "constant" and buffer.data is not None:
            yield self.error("W0703", f"{place}.data", f"only constants have data, this is {buffer.role}")

    def declared_place(self, buffer: Buffer, place: str) -> Iterator[Diagnostic]:
        """Checks the bytes of a temporary in their storage: all temporaries have them, or none."""
        if buffer.role != "temp" and buffer.place is not None:
            yield self.error("W0703", f"{place}.place", f"only temporaries have a place, this is {buffer.role}")
        elif buffer.role == "temp" and (buffer.place is None) == self.has_places:
            yield self.error("W0703", f"{place}.place", "all temporaries have a place, or none")
        elif buffer.place is not None and not 0 <= buffer.place <= MAX_BYTES:
            yield self.error("W0703", f"{place}.place", f"{buffer.place} is not in 0 … {MAX_BYTES}")
        elif buffer.place is not None and buffer.place % ALIGNMENT:
            yield self.error("W0703", f"{place}.place", f"{buffer.place} is not a multiple of {ALIGNMENT}")

    def declared_param(self, param: Param, place: str) -> Iterator[Diagnostic]:
        yield from self.dtype(param.dtype, f"{place}.dtype")
        shape, strides = param.shape or (), param.strides or ()
        if (param.shape is None) != (param.strides is None) or len(strides) not in (0, len(shape)):
            yield self.error("W0703", place, "shape and strides must both be there, equally many, or neither")
        for i, size in enumerate(shape):
            if size is not None and size < 0:
                yield self.error("W0703", f"{place}.shape[{i}]", f"{size} is negative")

    def dtype(self, dtype: str, place: str) -> Iterator[Diagnostic]:
        if dtype not in NUMPY:
            yield self.error("W0703", place, f"`{dtype}` is not an element type; there are {', '.join(NUMPY)}")

    def sizes(self, sizes: Iterable[object], place: str, *, signed: bool = False) -> Iterator[Diagnostic]:
        for i, size in enumerate(sizes):
            yield from self.size(size, f"{place}[{i}]", signed=signed)

    def size(self, size: object, place: str, *, signed: bool = False, value: bool = False) -> Iterator[Diagnostic]:
        """Checks a number of a plan: an integer of 64 bits with known symbols, nonnegative unless
        `signed`. The `value` of a scalar may be a float."""
        if isinstance(size, int):
            if size < 0 and not signed:
                yield self.error("W0703", place, f"{size} is negative")
            elif not MIN_INT <= size <= (MAX_UNSIGNED if value else MAX_INT):
                yield self.error("W0703", place, f"{size} has more than 64 bits")
        elif isinstance(size, DimOf):
            buffer = self.buffers.get(size.buffer)
            if buffer is None or buffer.role not in ("input", "inout"):
                yield self.error("W0702", place, f"`{size.buffer}` is not an input with a known shape")
            elif not 0 <= size.axis < len(buffer.shape):
                yield self.error("W0702", place, f"`{size.buffer}` has no dimension {size.axis}")
        elif isinstance(size, ScalarOf):
            dtype = self.scalars.get(size.name)
            if dtype is None:
                yield self.error("W0702", place, f"no scalar `{size.name}`")
            elif not value and dtype.startswith(("f", "bf")):
                yield self.error("W0703", place, f"the scalar `{size.name}` is {dtype}, a size is an integer")
        elif isinstance(size, Apply):
            yield from self.size(size.left, place, signed=True)
            yield from self.size(size.right, place, signed=True)
        elif not (value and isinstance(size, float)):
            yield self.error("W0703", place, f"{size!r} is not an integer")

    # ---- steps -------------------------------------------------------------------------------------------------------

    def schedule(self) -> Iterator[Diagnostic]:
        alive = {b.name for b in self.plan.buffers if b.role != "temp"}
        freed: set[str] = set()
        for i, step in enumerate(self.plan.steps):
            place = f"steps[{i}]"
            yield from self.order(step, i, place)
            if isinstance(step, Alloc | Free):
                yield from self.named(step, step.buffer, f"{place}.buffer", alive, freed)
                if step.buffer in self.buffers:
                    yield from self.lifetime(step, alive, freed, place)
            for part, view in views(step):
                yield from self.named(step, view.buffer, f"{place}.{part}.buffer", alive, freed)
                yield from self.view(view, f"{place}.{part}")
            if isinstance(step, Copy):
                yield from self.copied(step, place)
            elif isinstance(step, Fill):
                yield from self.filled(step, place)
            elif isinstance(step, Launch):
                yield from self.launched(step, place)
        steps = self.plan.steps
        if all(0 <= s.stream < MAX_STREAMS and all(0 <= a < i for a in s.after) for i, s in enumerate(steps)):
            for i, message in unordered_uses(steps):
                hint = "name it in `after`, or put both on one stream"
                yield self.error("W0706", f"steps[{i}]", message, hint)
            for i, first, then in early_reuses(self.plan):
                message = f"`{then}` takes bytes of `{first}`, and nothing orders all uses of that before"
                yield self.error("W0769", f"steps[{i}]", message, f"give `{then}` another `place`")

    def order(self, step: AnyStep, index: int, place: str) -> Iterator[Diagnostic]:
        if not 0 <= step.stream < MAX_STREAMS:
            yield self.error("W0707", f"{place}.stream", f"{step.stream} is not in 0 … {MAX_STREAMS - 1}")
        for i, earlier in enumerate(step.after):
            if not 0 <= earlier < index:
                hint = (
                    f"name steps from 0 to {index - 1} in `after`"
                    if index
                    else "write `[]`: the first step waits for none"
                )
                yield self.error("W0707", f"{place}.after[{i}]", f"{earlier} is not an earlier step", hint)

    def named(self, step: AnyStep, name: str, place: str, alive: set[str], freed: set[str]) -> Iterator[Diagnostic]:
        if name not in self.buffers:
            yield self.error("W0702", place, f"no buffer `{name}`")
        elif name not in alive and not isinstance(step, Alloc):
            twice = "freed twice" if isinstance(step, Free) else "used after it was freed"
            yield self.error("W0706", place, f"`{name}` is {twice if name in freed else 'used before it is allocated'}")

    def lifetime(self, step: Alloc | Free, alive: set[str], freed: set[str], place: str) -> Iterator[Diagnostic]:
        name = step.buffer
        if (role := self.buffers[name].role) != "temp":
            yield self.error("W0706", f"{place}.buffer", f"`{name}` is {role}: only temp is allocated and freed")
        elif isinstance(step, Alloc):
            if name in alive or name in freed:
                yield self.error("W0706", f"{place}.buffer", f"`{name}` is allocated twice")
            alive.add(name)
        else:
            alive.discard(name)
            freed.add(name)

    def copied(self, step: Copy, place: str) -> Iterator[Diagnostic]:
        source, target = self.buffers.get(step.source.buffer), self.buffers.get(step.target.buffer)
        if source and target and source.dtype != target.dtype:
            yield self.error("W0705", place, f"copies {source.dtype} to {target.dtype}")
        if is_static(step.source.shape) and is_static(step.target.shape) and step.source.shape != step.target.shape:
            yield self.error("W0705", place, f"copies shape {list(step.source.shape)} to {list(step.target.shape)}")

    def filled(self, step: Fill, place: str) -> Iterator[Diagnostic]:
        yield from self.scalar_value(step.value, f"{place}.value")
        target = self.buffers.get(step.target.buffer)
        if target is not None and target.dtype != step.value.dtype:
            yield self.error("W0705", place, f"fills {target.dtype} with {step.value.dtype}")

    def view(self, view: BufferView, place: str) -> Iterator[Diagnostic]:
        buffer = self.buffers.get(view.buffer)
        yield from self.size(view.offset, f"{place}.offset")
        yield from self.sizes(view.shape, f"{place}.shape")
        yield from self.sizes(view.strides, f"{place}.strides", signed=True)
        if len(view.shape) != len(view.strides):
            yield self.error("W0703", place, f"{len(view.shape)} sizes but {len(view.strides)} strides")
        elif buffer is not None and is_static((view.offset, *view.shape, *view.strides, *buffer.shape)):
            first, last = extent(view)
            count = prod(int(s) for s in buffer.shape)  # type: ignore[arg-type]
            if first < 0 or last >= count:
                message = f"elements {first} … {last} are touched, `{view.buffer}` has {count} of them"
                yield self.error("W0708", place, message)

    def launched(self, step: Launch, place: str) -> Iterator[Diagnostic]:
        yield from self.launch_shape(step, place)
        yield from self.text(step, step.args, place)
        if step.narrow is not None:
            yield from self.text(step.narrow, step.args, f"{place}.narrow")
            yield from self.sizes(step.narrow.small, f"{place}.narrow.small", signed=True)
        if step.folded is not None:
            yield from self.text(step.folded, step.args, f"{place}.folded")

    def text(self, text: Launch | Narrow | Folded, args: Sequence[Arg], place: str) -> Iterator[Diagnostic]:
        if (kernel := self.kernels.get(text.kernel)) is None:
            known = quoted(self.kernels) or "none"
            yield self.error("W0702", f"{place}.kernel", f"no kernel `{text.kernel}`; there are: {known}")
            return
        counts = {"args": (args, kernel.params), "reciprocals": (text.reciprocals, kernel.reciprocals)}
        for key, (given, wanted) in counts.items():
            if (n := len(given)) != len(wanted):
                yield self.error("W0705", f"{place}.{key}", f"{n} arguments, `{kernel.name}` takes {len(wanted)}")
                return
        for i, (arg, param) in enumerate(zip(args, kernel.params, strict=True)):
            yield from self.argument(arg, param, f"{place}.args[{i}]")
        yield from self.sizes(text.reciprocals, f"{place}.reciprocals")

    def scalar_value(self, scalar: ScalarValue, place: str) -> Iterator[Diagnostic]:
        yield from self.dtype(scalar.dtype, f"{place}.dtype")
        yield from self.size(scalar.value, f"{place}.value", signed=True, value=True)

    def launch_shape(self, step: Launch, place: str) -> Iterator[Diagnostic]:
        yield from self.sizes(step.grid, f"{place}.grid")
        yield from self.sizes(step.block, f"{place}.block")
        yield from self.size(step.shared_bytes, f"{place}.shared_bytes")
        for axis, block, most in zip("xyz", step.block, limits.BLOCK, strict=True):
            if isinstance(block, int) and not 1 <= block <= most:
                yield self.error("W0704", f"{place}.block", f"{block} threads in {axis} are not in 1 … {most}")
        if is_static(step.block) and (threads := prod(integers(step.block))) > limits.THREADS:
            yield self.error("W0704", f"{place}.block", f"{threads} threads are more than {limits.THREADS} in a block")
        kernel = self.kernels.get(step.kernel)
        if step.folded is None and (kernel is None or not kernel.folds):
            for axis, grid, most in zip("xyz", step.grid, limits.GRID, strict=True):
                if isinstance(grid, int) and grid > most:
                    hint = (
                        limits.FEWER_BLOCKS
                        if axis == "x"
                        else f"`map` them to `blocks(x)`, which has up to {limits.GRID[0]}"
                    )
                    yield self.error("W0704", f"{place}.grid", f"{grid} blocks in {axis} are more than {most}", hint)
        elif is_static(step.grid) and (wrong := limits.too_many(triple(step.grid))) is not None:
            yield self.error("W0704", f"{place}.grid", wrong, limits.FEWER_BLOCKS)
        own = 0 if kernel is None else kernel.shared_bytes
        if (
            isinstance(step.shared_bytes, int)
            and kernel is not None
            and (total := step.shared_bytes + own) > limits.MOST
        ):
            yield self.error("W0704", f"{place}.shared_bytes", f"{total} bytes in all are more than {limits.MOST}")

    def argument(self, arg: Arg, param: Param, place: str) -> Iterator[Diagnostic]:
        if isinstance(arg, ScalarValue):
            yield from self.scalar_value(arg, place)
            if not param.scalar or arg.dtype != param.dtype:
                yield self.error("W0705", place, f"a scalar of {arg.dtype} for {param}")
            return
        if isinstance(arg, TensorMapOf):
            found = map_faults(arg, param, self.buffers.get(arg.tensor.buffer))
            yield from (self.error(code, f"{place}.{part}", message, hint) for code, part, message, hint in found)
            return
        buffer = self.buffers.get(arg.buffer)
        if buffer is None or len(arg.shape) != len(arg.strides):
            return  # reported for the window
        if param.shape is None or param.dtype != buffer.dtype or len(param.shape) != len(arg.shape):
            what = f"`{buffer.name}` of {buffer.dtype}, rank {len(arg.shape)},"
            yield self.error("W0705", place, f"{what} for {param}")
            return
        parts = (
            ("offset", (arg.offset,), (param.offset,)),
            ("shape", arg.shape, param.shape),
            ("strides", arg.strides, param.strides),
        )
        for what, given, wanted in parts:
            pairs = zip(given, wanted or (), strict=False)
            if any(w is not None and isinstance(g, int) and g != w for g, w in pairs):
                yield self.error("W0705", f"{place}.{what}", f"{list(given)} for {param}")
        if param.strides == () and is_static((*arg.shape, *arg.strides)) and not is_contiguous(arg.shape, arg.strides):
            message = f"{list(arg.strides)} for {param}, which is row-major"
            yield self.error("W0705", f"{place}.strides", message)


def is_static(sizes: Iterable[object]) -> bool:
    return all(isinstance(s, int) for s in sizes)
