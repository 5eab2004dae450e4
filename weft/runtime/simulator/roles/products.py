"""Products of warp groups (`hardware/hopper/warpgroups.py`). A product reads its matrices until the
group has waited for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from ....dsl.records import record
from ....interpreter.hardware.hopper.warpgroups import GROUP, left_layout, panel_layout, repeats_after, sum_layout
from ....interpreter.layouts.swizzles import exchanged
from ...devices.report import Fault
from ...form.group_form import ExpectedGroupProduct, GroupMatrix
from ...plan.dtypes import NUMPY
from ..machine.fragments import added, multiplied
from ..machine.lanes import Lane
from ..machine.local_memory import Shared
from ..machine.shadow import Mask
from .boxes import all_but, note
from .cluster import Flight, GroupLanes
from .phases import whole
from .schedule import Steps


@record(eq=False)
class DescribedMatrix:
    """A descriptor: the place in shared memory at which a matrix begins."""

    memory: Shared
    first: Lane


@record(eq=False)
class GroupProductForm:
    """The form of a product, and the index tables that follow from it."""

    stated: ExpectedGroupProduct

    @cached_property
    def left(self) -> np.ndarray:
        """The place of each element of the left operand (rows x depth): its offset from the
        beginning of the matrix in memory. For an operand in registers, its position in the
        fragments of the group, thread by thread."""
        if self.stated.left is not None:
            return _elements(self.stated.left, self.stated.rows, self.depth, self.stated.starts[0])
        held = left_layout(self.stated.product, self.depth)
        where = held.inverse.table("row", "column")
        place = where["thread"] * held.count("register") + where["register"]
        return place * held.count("element") + where["element"]

    @cached_property
    def right(self) -> np.ndarray:
        """The offset of each element of the right operand (depth x columns), as in `left`."""
        if self.stated.by_rows:
            return _elements(self.stated.right, self.depth, self.stated.product.n)
        return _elements(self.stated.right, self.stated.product.n, self.depth, self.stated.starts[1]).T

    @property
    def depth(self) -> int:
        return self.stated.depth_bytes // self.stated.right.bytes

    @cached_property
    def sums(self) -> np.ndarray:
        """For each thread of the group and each register, the number of the element of the
        result."""
        where = sum_layout(self.stated.rows, self.stated.product.n).table("thread", "register", "element")
        return where["row"] * self.stated.product.n + where["column"]


def _elements(matrix: GroupMatrix, rows: int, columns: int, start: int = 0) -> np.ndarray:
    row, column = np.indices((rows, columns))
    plain = panel_layout(matrix.box, rows, columns * matrix.bytes).at("address", row=row, byte=column * matrix.bytes)
    return exchanged(plain + start, matrix.box.swizzle) // matrix.bytes


@record(eq=False)
class ProductsOver:
    """Completes products."""

    releases: ClassVar[bool] = False
    flights: Sequence[Flight]

    def ready(self) -> bool:
        return all(flight.over for flight in self.flights)

    def stuck(self) -> Iterator[Fault]:
        """Never stuck: operations complete without any thread."""
        return iter(())


# ---- what generated code calls -------------------------------------------------------------------


def multiply(
    group: GroupLanes, left: Any, right: DescribedMatrix, before: Lane, form: GroupProductForm, mask: Mask, site: int
) -> Any:
    """`nvgpu.warpgroup.mma` and its wait: a generator that returns each thread's fragment of the
    sums, once they are complete."""
    whole(group, mask, site, "multiplies together")
    operands: list[tuple[np.ndarray, np.ndarray]] = []
    touched: list[tuple[Shared, np.ndarray]] = []
    for given, matrix, elements in ((left, form.stated.left, form.left), (right, form.stated.right, form.right)):
        if matrix is None:  # held in registers
            held = np.broadcast_to(left, (GROUP, *np.shape(left)[1:]))[np.argsort(group.local)]
            operands.append((held.reshape(-1), elements))
            continue
        first = group.same(given.first, mask, "matrices", site)
        unit = repeats_after(matrix.box) // matrix.bytes
        if first % unit:
            message = f": a matrix begins at a multiple of {repeats_after(matrix.box)} bytes"
            given.memory.fault("misaligned access", group.full(mask), site, first, message)
        if first < 0 or first + int(elements.max()) >= given.memory.size:
            message = f": a matrix of {matrix.rows} x {matrix.columns} does not fit there"
            given.memory.fault("out-of-bounds read", group.full(mask), site, first, message)
            first = 0
        touched.append((given.memory, np.minimum(first + elements, given.memory.size - 1)))
        operands.append((given.memory.data.reshape(-1), touched[-1][1]))
    rows = group.active(mask)
    dtype = NUMPY[form.stated.product.sum]
    mine = form.sums[group.local % GROUP].reshape(len(group.local), 1, -1, form.stated.product.n // 8, 2, 2)
    sums = np.full(mine.shape, IN_FLIGHT[dtype.kind], dtype)
    flight = group.cluster.issue("product", group, rows, site, lambda _: None)

    def add(total: np.ndarray) -> None:
        sums[...] = added(before, total[mine])

    flight.finish = partial(_multiplied, list(group.products), operands, form, add)
    for memory, elements in touched:
        note(memory, _flat(elements), flight, write=False)
    group.products.append(flight)
    group.cluster.begin(flight)
    yield from wait(group, form.stated.pending, mask, site)
    return sums


IN_FLIGHT = {"f": np.nan, "i": 0x5A5A5A5A}
"""Poison in the registers of a product in flight."""


def wait(group: GroupLanes, most: int, mask: Mask, site: int) -> Steps:
    """Waits until at most `most` products of the group are in flight."""
    whole(group, mask, site, "waits for its products together")
    before = all_but(group.products, most)
    if before:
        yield ProductsOver(before)
        clocks, rows = group.cluster.clocks, group.rows[group.active(mask)]
        for flight in before:
            clocks.learn(rows, clocks.ended(flight.row))
        del group.products[: len(before)]


def _flat(elements: np.ndarray) -> np.ndarray | slice:
    """The elements, as a slice if they are consecutive."""
    first, last = int(elements.min()), int(elements.max())
    return slice(first, last + 1) if last - first + 1 == elements.size else elements.reshape(-1)


def _multiplied(
    before: list[Flight],
    operands: list[tuple[np.ndarray, np.ndarray]],
    form: GroupProductForm,
    add: Callable[[np.ndarray], object],
    flight: Flight,
) -> None:
    """Reads and multiplies the matrices. Products of a group complete in order."""
    for earlier in before:
        if not earlier.over:
            flight.group.cluster.end(earlier)
    a, b = (held[elements] for held, elements in operands)
    add(multiplied(a, b, form.stated.product).reshape(-1))


def zero(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """`nvgpu.warpgroup.mma.init.accumulator`."""
    return np.zeros((1, 1, *shape), dtype)
