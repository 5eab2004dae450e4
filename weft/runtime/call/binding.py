"""Checks of a call's arguments against the kernel's signature: a diagnostic for each mismatch,
before anything runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ...dsl.diagnostics import Diagnostic, fail
from ..devices.device import Stream
from ..plan.dtypes import NUMPY, holds_bits
from ..plan.plan import Plan
from ..plan.resolve import resolve
from ..plan.signature import Argument, FunctionSignature, type_text
from .arrays import ArrayLayout, Library, library_of
from .prepared import Numbers, Prepared

ON_CPU = "`cupy.asnumpy(x)` or `x.cpu()` copies an array to the memory of the CPU"
ON_GPU = "`cupy.asarray(x)` copies an array to the GPU"


def misfits(argument: Argument, found: ArrayLayout, *, written: bool, device: int | None) -> Iterator[Diagnostic]:
    """The mismatches of an array with an argument of a kernel on this device (None: the CPU)."""
    name, wanted = argument.name, argument.shape or ()
    fits = len(wanted) == len(found.shape) and all(w in (None, n) for w, n in zip(wanted, found.shape, strict=True))
    same = found.dtype == argument.dtype or {found.dtype, argument.dtype} == {"i64", "index"}
    same = same or holds_bits(found.element, argument.dtype)
    if not fits or not same:
        given = type_text(found.dtype or str(found.element), found.shape)
        yield Diagnostic("W0717", f"`{name}` is {given}, expected {type_text(argument.dtype, wanted)}")
    elif not found.row_major:
        yield Diagnostic(
            "W0741",
            f"`{name}` is not row-major: its strides are {found.strides}",
            hint="pass a contiguous copy: `numpy.ascontiguousarray(x)`, `cupy.ascontiguousarray(x)`, `x.contiguous()`",
        )
    if found.device != device:
        there, here = ("the host's memory" if n is None else f"CUDA device {n}" for n in (found.device, device))
        other = 'for the CPU: `target="cpu"`' if found.device is None else "while the array's device is current"
        hint = ON_CPU if device is None else f"{ON_GPU}; or compile the kernel {other}"
        yield Diagnostic("W0743", f"`{name}` is in {there}, and the kernel runs on arrays in {here}", hint=hint)
    if written and not found.writable:
        message = f"`{name}` is written, and the array that is given for it is read-only"
        yield Diagnostic("W0745", message, hint="pass a writable copy, such as `numpy.array(x)` or `cupy.array(x)`")


def number(value: Any) -> tuple[Any, ...]:
    """A scalar with its type, since 1, 1.0 and True compare equal; scalars of NumPy and arrays of
    one element become Python's."""
    if not isinstance(value, int | float) and hasattr(value, "item") and getattr(value, "size", 1) == 1:
        value = value.item()
    if isinstance(value, float):
        return float, value, value.hex()  # -0.0 equals 0.0
    return type(value), value if isinstance(value, int) else repr(value)


def number_misfits(argument: Argument, found: tuple[Any, ...]) -> Iterator[Diagnostic]:
    """The mismatches of a number with a scalar argument."""
    kind, value, *_ = found
    whole = argument.dtype.startswith("i")
    if not issubclass(kind, int if whole else int | float) or (
        not whole and abs(value) > LARGEST and abs(value) != inf
    ):
        yield Diagnostic("W0717", f"`{argument.name}` is {value}, expected a number: {argument.dtype}")
    elif whole:
        dtype = NUMPY[argument.dtype]
        low, high = (0, 1) if argument.dtype == "i1" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if not low <= value <= high:
            yield Diagnostic("W0717", f"`{argument.name}` is {value}, which {argument.dtype} cannot hold")


def version_for(plan: Plan, signature: FunctionSignature, given: Sequence[Any]) -> int | None:
    """The number, from 1, of the plan's version that these arguments select; None if it has only
    one. Raises an error for sizes that do not fit."""
    shapes: dict[str, tuple[int, ...]] = {}
    scalars: dict[str, Any] = {}
    for argument, value in zip(signature.arguments, given, strict=True):
        if argument.shape is None:
            scalars[argument.name] = number(value)[1]
        else:
            shapes[argument.name] = ArrayLayout(*library_of(type(value)).read(value)[1]).shape
    taken = resolve(plan, shapes, scalars).taken
    return None if taken is None else taken + 1


LARGEST = int(np.finfo(np.float64).max)


class Ready:
    """A plan prepared for one layout of arguments, with the checks of each call's addresses.

    Args:
        prepared: the plan, prepared.
        names: of the arrays in the order of a call: arguments, then results.
        written: for each array, whether it is written.
        results: shape and element type of each result.
        stream: the stream of the calls.
        alignment: of each array's first element, in bytes.
    """

    def __init__(
        self,
        prepared: Prepared,
        names: Sequence[str],
        written: Sequence[bool],
        results: Sequence[tuple[tuple[int, ...], str]],
        stream: Stream,
        alignment: int,
    ) -> None:
        self.prepared, self.names, self.results, self.stream = prepared, names, results, stream
        self._sizes = [prepared.sizes[name] for name in names]
        self._pairs = [
            (w, o) for w, is_written in enumerate(written) if is_written for o in range(len(names)) if o != w
        ]
        self._mask = alignment - 1
        self.numbers: Numbers = ()
        """Numbers that have been checked."""
        self.accepted: set[tuple[tuple[Any, ...], ...]] = set()
        """Layouts of result arrays that have been checked."""

    def check(self, addresses: Sequence[int]) -> None:
        """Raises W0740 for a null pointer, W0742 for wrong alignment, W0744 if an array that is
        written overlaps another."""
        if addresses == self.prepared.at:
            return  # unchanged since the last call
        sizes, mask, there = self._sizes, self._mask, len(addresses)
        for place, address in enumerate(addresses):
            if sizes[place] and (not address or address & mask):
                self._misplaced(place, address)
        for a, b in self._pairs:
            if (
                a < there
                and b < there
                and addresses[a] < addresses[b] + sizes[b]
                and addresses[b] < addresses[a] + sizes[a]
            ):
                both = f"`{self.names[a]}`, which the kernel writes, overlaps `{self.names[b]}`"
                raise fail(
                    "W0744",
                    both,
                    "pass a copy of one of them, `x.copy()` or `x.clone()`: distinct arguments are distinct buffers",
                )

    def _misplaced(self, place: int, address: int) -> None:
        name = self.names[place]
        if not address:
            raise fail("W0740", f"`{name}` has elements, and a null pointer")
        raise fail(
            "W0742",
            f"`{name}` begins at {address:#x}, which is not a multiple of {self._mask + 1}: kernels access this many"
            f" bytes at once",
            "pass a copy, `x.copy()` or `x.clone()`: it begins where an allocation begins",
        )


class BoundCall(NamedTuple):
    """One call.

    Attributes:
        ready: the prepared plan.
        addresses: of all arrays, in order.
        numbers: the scalars.
        made: arrays that were allocated for the results.
        library: the library that allocated them.
        alive: objects that keep the arrays' memory alive.
    """

    ready: Ready
    addresses: Sequence[int]
    numbers: Numbers
    made: Sequence[Any]
    library: Library
    alive: Sequence[object]

    def issue(self, lock: threading.Lock) -> None:
        """Runs the call. Calls are serialized by `lock`, since they share temporaries."""
        with lock:
            self.ready.prepared.alive = self.alive
            self.ready.prepared.run(self.addresses, self.numbers)

    def results(self) -> tuple[Any, ...]:
        """The arrays that were allocated for the results, as arrays of the caller's library."""
        return tuple(self.library.finish(array) for array in self.made)
