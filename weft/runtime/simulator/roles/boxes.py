"""Boxes that the tensor memory accelerator copies asynchronously
(`hardware/hopper/tensor_maps.py`).

A load owns its tile from its issue until a thread has waited for the phase of its barrier. Until
the bytes arrive, the tile is poisoned. A store reads its tile until its thread has waited for the
end of the read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import prod
from typing import Any, ClassVar, TypeVar

import numpy as np

from ....dsl.records import record
from ....interpreter.hardware.limits import MASK_BITS, OFFSETS, PixelWindow
from ....interpreter.layouts.swizzles import exchanged
from ...devices.report import Fault
from ..machine.copies import noticed
from ..machine.lanes import Lane
from ..machine.local_memory import Shared
from ..machine.memory import Global
from ..machine.shadow import Mask
from .clocks import GLOBAL, SHARED, Moment
from .cluster import Flight, GroupLanes
from .ordering import ClockShadow, Elements
from .phases import BarrierGroup, landed, of_rank
from .schedule import Steps

T = TypeVar("T")

Place = tuple[np.ndarray, np.ndarray]
"""Flat indices of a box's elements in global memory, and a mask of those inside the tensor."""


@record
class BoxShape:
    """The box of a tensor map's type, in elements.

    Args:
        sizes: the sizes of the box, outermost first.
        swizzle: the width of the swizzle in bytes.
        alignment: the alignment of a tile in shared memory, in bytes.
        fill: the value of elements outside the tensor.
        window: the window of a map of pixels (im2col); else None.
    """

    sizes: tuple[int, ...]
    dtype: np.dtype
    swizzle: int
    alignment: int
    fill: float
    window: PixelWindow | None = None

    @property
    def rank(self) -> int:
        """Rank of the tensor."""
        return len(self.sizes) if self.window is None else self.window.rank

    @property
    def bytes(self) -> int:
        return prod(self.sizes) * self.dtype.itemsize

    @cached_property
    def places(self) -> np.ndarray:
        """For each element of the box, its position in a tile that begins at a multiple of
        `alignment`."""
        return exchanged(np.arange(prod(self.sizes)) * self.dtype.itemsize, self.swizzle) // self.dtype.itemsize


@record(eq=False)
class TensorBoxes:
    """A tensor map: a tensor in global memory, and the box that is copied."""

    shape: BoxShape
    memory: Global
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def seen_by(self, group: GroupLanes) -> TensorBoxes:
        return replace(self, memory=group.of_launch(self.memory))

    def wrong(self, coordinates: Sequence[int], offsets: Sequence[int]) -> str | None:
        """The reason, as text, why no load of pixels can begin there; None if it can."""
        window = self.shape.window
        if window is None:
            return None
        axes = list(reversed(coordinates[1:-1]))
        ends = [size + upper for size, upper in zip(self.sizes[1:-1], window.upper, strict=True)]
        places = zip(window.lower, axes, ends, window.steps, strict=True)
        if any(not low <= at < end or (at - low) % step for low, at, end, step in places):
            reach = f"from {list(window.lower)} to below {ends}, {list(window.steps)} apart"
            return f"pixels from {axes} on, which is outside of the window {reach}"
        far = [n for n in offsets if not 0 <= n < 1 << OFFSETS[self.shape.rank]]
        return (
            f"pixels that are {far[0]} away, where at most {(1 << OFFSETS[self.shape.rank]) - 1} an offset can state"
            if far
            else None
        )

    def pixels(self, coordinates: Sequence[int], offsets: Sequence[int]) -> Place:
        """The flat indices of the pixels' elements in global memory, with channels innermost, and a
        mask of the elements inside the tensor."""
        window = self.shape.window
        assert window is not None
        image, *first = reversed(coordinates[1:])
        carry = np.arange(self.shape.sizes[0])  # steps from the first pixel
        flat, there = np.zeros(carry.shape, np.int64), np.ones(carry.shape, np.bool_)
        for axis in reversed(range(len(first))):
            size, step, low = self.sizes[axis + 1], window.steps[axis], window.lower[axis]
            carry, number = np.divmod(carry + (first[axis] - low) // step, window.count(axis, size))
            index = low + number * step + offsets[len(first) - 1 - axis]
            flat, there = flat + index * self.strides[axis + 1], there & (index >= 0) & (index < size)
        images = image + carry
        flat, there = flat + images * self.strides[0], there & (images >= 0) & (images < self.sizes[0])
        channel = coordinates[0] + np.arange(self.shape.sizes[1])
        inside = there[:, None] & (channel >= 0) & (channel < self.sizes[-1])
        return (flat[:, None] + channel * self.strides[-1]).reshape(-1) + self.offset, inside.reshape(-1)

    def at(self, coordinates: Sequence[int], offsets: Sequence[int] = ()) -> Place:
        """The flat indices of the box's elements in global memory, row-major, and a mask of the
        elements inside the tensor."""
        if self.shape.window is not None:
            return self.pixels(coordinates, offsets)
        flat, there = np.zeros((1,), np.int64), np.ones((1,), np.bool_)
        for first, count, size, stride in zip(
            reversed(coordinates), self.shape.sizes, self.sizes, self.strides, strict=True
        ):
            index = first + np.arange(count)
            flat = (flat[:, None] + index * stride).reshape(-1)
            there = (there[:, None] & (index >= 0) & (index < size)).reshape(-1)
        return flat + self.offset, there


def tile(group: GroupLanes, memory: Shared, first: int, shape: BoxShape, lane: int, site: int) -> np.ndarray | None:
    """The elements of the tile in the order of the box; None, with a recorded fault, if the box
    does not fit there."""
    unit = shape.alignment // shape.dtype.itemsize
    bad = np.zeros(group.shape, np.bool_)
    bad[lane] = True
    if first % unit:
        memory.fault("misaligned access", bad, site, first, f": a box begins at a multiple of {shape.alignment} bytes")
        return None
    if first < 0 or first + len(shape.places) > memory.size:
        memory.fault(
            "out-of-bounds write", bad, site, first, f": a box of {len(shape.places)} elements does not fit there"
        )
        return None
    return first + shape.places


def _each_lane(group: GroupLanes, mask: Mask, values: Sequence[Lane]) -> Iterator[tuple[int, list[int]]]:
    """The active lanes, each with its values."""
    full = [np.broadcast_to(np.asarray(value), group.shape)[:, 0] for value in values]
    for lane in group.active(mask).tolist():
        yield lane, [int(value[lane]) for value in full]


def load(
    group: GroupLanes, memory: Shared, first: Lane, boxes: TensorBoxes, coordinates: Sequence[Lane], offsets: Sequence[Lane],
    barriers: BarrierGroup, number: Lane, multicast: Lane | None, mask: Mask, site: int,
) -> None:  # fmt: skip
    """`nvgpu.tma.async.load`, and the load of pixels (with `offsets`): each active lane issues a
    load.

    Args:
        multicast: a bit for each destination block of the cluster.
    """
    cluster, own = group.cluster, group.home.rank
    for lane, (begin, at, bits, *where_to) in _each_lane(
        group, mask, [first, number, 1 << own if multicast is None else multicast, *coordinates, *offsets]
    ):
        place, away = where_to[: len(coordinates)], where_to[len(coordinates) :]
        if (wrong := boxes.wrong(place, away)) is not None:
            cluster.fault("out-of-bounds read", group, lane, site, wrong)
            continue
        lanes = np.array([lane])
        to = tile(group, memory, begin, boxes.shape, lane, site)
        ranks = [rank for rank in range(MASK_BITS) if bits >> rank & 1]
        if outside := [rank for rank in ranks if rank >= len(cluster.blocks)]:
            message = f"a box goes to block {outside[0]} of a cluster that has {len(cluster.blocks)}"
            cluster.fault("out-of-bounds write", group, lane, site, message)
            continue
        targets = [
            (memory, barriers)
            if rank == own
            else (cluster.blocks[rank].groups[0].shared(*memory.origin), of_rank(group, barriers, rank))
            for rank in ranks
        ]
        if to is None or not all(signal.usable(at, group, lanes, site) for _, signal in targets):
            continue
        where, there = found = boxes.at(place, away)
        flight = cluster.issue("load", group, lanes, site, partial(_land, boxes, targets, to, found, at))
        _note_global(boxes.memory, where[there], flight, write=False)
        for target, signal in targets:
            signal.expect_fenced(at, group, lane, site)
            if target.shadow is not None:  # the swizzle permutes elements within a tile
                note(target, slice(begin, begin + len(to)), flight, write=True)
            target.data.reshape(-1)[to] = noticed(_box(boxes, found))
            cluster.owe(signal.home, flight.row, flight.epoch, flight.witness(), f"a box comes to `{target.name}`")
        cluster.begin(flight)


def _box(boxes: TensorBoxes, place: Place) -> np.ndarray:
    """The current values of the box in global memory."""
    where, there = place
    found = boxes.memory.data.take(where, mode="clip")
    return np.where(there, found, np.asarray(boxes.shape.fill).astype(found.dtype))


def _land(
    boxes: TensorBoxes,
    targets: Sequence[tuple[Shared, BarrierGroup]],
    to: np.ndarray,
    place: Place,
    at: int,
    flight: Flight,
) -> None:
    """Completes a load: the bytes arrive."""
    for memory, barriers in targets:
        memory.data.reshape(-1)[to] = _box(boxes, place)
        landed(barriers, at, flight, boxes.shape.bytes)


def note(memory: Shared | Global, elements: Elements, flight: Flight, *, write: bool) -> None:
    """Records that an operation accesses elements until it completes."""
    shadow: Any = memory.shadow
    if isinstance(shadow, ClockShadow):
        key = flight.group.cluster.key(flight, memory.layout)
        (shadow.operation_writes if write else shadow.operation_reads)(elements, key)
    if memory.written is not None:
        if write:
            memory.written[elements] = True
        else:
            _expect_written(memory, elements, flight)


def _expect_written(memory: Shared | Global, elements: Elements, flight: Flight) -> None:
    """Records a fault if an operation reads elements that were never written."""
    assert memory.written is not None
    unwritten = ~memory.written[elements]
    if unwritten.any():
        group, flat = flight.group, int(np.arange(memory.size)[elements][unwritten.argmax()])
        name, element = memory.element(flat)
        message = f"`{name}`{list(element)} is read and was never written"
        group.found.fault(
            Fault("uninitialized read", message, flight.witness(), name, element, int(np.count_nonzero(unwritten)))
        )


def _note_global(memory: Global, elements: np.ndarray, flight: Flight, *, write: bool) -> None:
    note(memory, elements, flight, write=write)
    if memory.touched:
        memory.touched["write" if write else "read"][elements] = True
    if memory.traffic:
        memory.traffic["store" if write else "load"].note_box(elements, flight.site, memory.dtype.itemsize)


# ---- stores --------------------------------------------------------------------------------------


@dataclass(eq=False)
class StoredBox:
    """A store in flight: its thread waits for the tile to be read, then for the write to complete."""

    moments: list[Moment] = field(default_factory=list)


@dataclass(eq=False)
class StoreGroups:
    """For each lane of a group, its uncommitted stores, and its committed groups of stores."""

    open: dict[int, list[StoredBox]] = field(default_factory=dict)
    groups: dict[int, list[list[StoredBox]]] = field(default_factory=dict)

    @staticmethod
    def of(group: GroupLanes) -> StoreGroups:
        if group.copies is None:
            group.copies = StoreGroups()
        return group.copies


def store(
    group: GroupLanes,
    memory: Shared,
    first: Lane,
    boxes: TensorBoxes,
    coordinates: Sequence[Lane],
    mask: Mask,
    site: int,
) -> None:
    """`nvgpu.tma.async.store`."""
    for lane, (begin, *place) in _each_lane(group, mask, [first, *coordinates]):
        source = tile(group, memory, begin, boxes.shape, lane, site)
        if source is None:
            continue
        where, there = found = boxes.at(place)
        made = StoredBox()
        read = partial(_read_tile, made, boxes, memory, source, found)
        flight = group.cluster.issue("store", group, np.array([lane]), site, read)
        StoreGroups.of(group).open.setdefault(lane, []).append(made)
        message = f"a box of `{memory.name}` is stored"
        group.cluster.owe(group.home, flight.row, flight.epoch, flight.witness(), message)
        if memory.shadow is not None:
            note(memory, slice(begin, begin + len(source)), flight, write=False)
        _note_global(boxes.memory, where[there], flight, write=True)
        boxes.memory.data[where[there]] = noticed(boxes.memory.data[where[there]])
        group.cluster.begin(flight)


def _read_tile(
    made: StoredBox, boxes: TensorBoxes, memory: Shared, source: np.ndarray, place: Place, flight: Flight
) -> None:
    where, there = place
    values, cluster = memory.data.reshape(-1)[source][there], flight.group.cluster
    made.moments.append(cluster.clocks.ended(flight.row))

    def write(flight: Flight) -> None:
        boxes.memory.data[where[there]] = values
        made.moments.append(cluster.clocks.ended(flight.row))

    cluster.begin(replace(flight, finish=write, over=False))


def commit(group: GroupLanes, mask: Mask) -> None:
    """`nvvm.cp.async.bulk.commit.group`."""
    stores = StoreGroups.of(group)
    for lane in group.active(mask).tolist():
        stores.groups.setdefault(lane, []).append(stores.open.pop(lane, []))


@record(eq=False)
class StoresOver:
    """Waits for stores, up to a stage: 1, their tiles have been read; 2, their writes are
    complete."""

    releases: ClassVar[bool] = False
    group: GroupLanes
    due: Sequence[tuple[int, StoredBox]]
    stage: int

    def ready(self) -> bool:
        return all(len(one.moments) >= self.stage for _, one in self.due)

    def passed(self) -> None:
        of = (SHARED,) if self.stage == 1 else (SHARED, GLOBAL)  # that a tile was read does not order its destination
        for lane, one in self.due:
            self.group.cluster.clocks.learn(self.group.rows[[lane]], one.moments[self.stage - 1], of)

    def stuck(self) -> Iterator[Fault]:
        """Never stuck: operations complete without any thread."""
        return iter(())


def drain(group: GroupLanes, most: int, read: bool, mask: Mask) -> Steps:
    """`nvvm.cp.async.bulk.wait_group`."""
    stores = StoreGroups.of(group)
    due = [
        (lane, one)
        for lane in group.active(mask).tolist()
        for of in all_but(stores.groups.get(lane, []), most)
        for one in of
    ]
    request = StoresOver(group, due, 1 if read else 2)
    yield request
    request.passed()


def all_but(groups: list[T], most: int) -> list[T]:
    """The groups that a wait completes, oldest first, if `most` may stay pending."""
    return groups[: max(len(groups) - most, 0)]
