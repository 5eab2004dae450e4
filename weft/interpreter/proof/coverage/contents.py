"""Contents of buffers during the walk over a kernel: labels, which state the payload's element in
each place, and the writes to the host's buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ...indices.linear import (
    FALSE,
    NOTHING,
    TRUE,
    Floor,
    Formula,
    Linear,
    Symbol,
    both,
    either,
    equal,
    involved,
)
from ...indices.values import Values
from ...ir.mlir import ir
from ..kernels.root_buffers import RootBuffer
from ..kernels.views import Views
from ..solver import Unknown, is_zero, point_where
from .exactly_once import Store, covers
from .host_pieces import Content, labels_of
from .labels import (
    Label,
    Read,
    agreed,
    between,
    digits_of_cells,
    in_other_rows,
    in_range_of,
    in_terms,
    origin,
    remainder_of,
    run_of,
    unflattened,
    where_bounds_leave_it,
    with_digits,
    within,
)
from .launch_contents import Left
from .payload.elements import Coordinates, Element, Key
from .payload.payloads import PayloadOp, PayloadOps

Cells = tuple[tuple[Symbol | Linear, ...], tuple[int, ...], set[Symbol], Callable[[Linear], Linear]]
"""The cells of a label and their turns; the symbols it depends on, and forms in terms of these."""


@dataclass
class Contents:
    """Buffers and the known contents of their elements.

    Args:
        payload: the untouched module.
        loops, guards: at the current op, the counters of the enclosing loops, outermost first, and
            the conditions under which the op is executed.
        depth: by buffer, the number of loops around its allocation.
        given: for each buffer argument of the kernel, the tensor of the payload that it holds.
        moved: by the location of an op that writes a returned result at the wrong place, the
            distance from the right place; None: unknown.
        overwritten: results for which one partial sum was written over another.
        begun: for each result, the initial values to which its terms are added (None: unknown).
        parts: by the location of an op, the reduction of the parts that an earlier launch computed.
        labels: the labels of the current contents.
        first: the labels of the contents before the kernel.
        written: the buffers that the kernel has written.
        stores: for each buffer of the host, the writes to it.
        uses: the uses of elements that may lie in rows beyond a tile's end, and then hold no
            result. For each, the conditions under which it happens, and the condition that must
            hold so that the element is a result.
    """

    payload: PayloadOps
    loops: list[Symbol] = field(default_factory=list)
    guards: list[Formula] = field(default_factory=list)
    depth: dict[RootBuffer, int] = field(default_factory=dict)
    given: dict[RootBuffer, Key] = field(default_factory=dict)
    moved: dict[str, int | None] = field(default_factory=dict)
    overwritten: set[Key] = field(default_factory=set)
    begun: dict[Key, dict[Read | None, None]] = field(default_factory=dict)
    parts: dict[str, PayloadOp] = field(default_factory=dict)
    uses: dict[tuple[tuple[Formula, ...], Formula], None] = field(default_factory=dict)
    labels: dict[RootBuffer, tuple[Label, ...]] = field(default_factory=dict)
    first: dict[RootBuffer, tuple[Label, ...]] = field(default_factory=dict)
    written: set[RootBuffer] = field(default_factory=set)
    stores: dict[RootBuffer, list[Store]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.values: Values = self.payload.values
        self.views = Views(self.values)
        self._before: dict[RootBuffer, int] = {}

    def argument(
        self, value: ir.Value, key: Key | None, held: Left | None = None, pieces: Content | None = None, *, depth: int = 0
    ) -> None:  # fmt: skip
        """A buffer that is passed to the kernel.

        Args:
            depth: the number of loops over tiles around its allocation.
            key: the tensor of the payload that it holds, element by element; None if it holds none.
            held: the contents left by an earlier launch.
            pieces: those left by several, and by copies.
        """
        root = self.views.root(value, foreign=True)
        self.depth[root] = depth
        cells = tuple(self.cell() for _ in root.shape)
        if key is not None:
            self.given[root] = key
            self.labels[root] = (Label(key, cells, (0,) * len(cells), tuple(map(Linear.of, cells))),)
        if pieces is not None:
            found = labels_of(pieces, root.name, tuple(map(self.cell, root.shape)), self.payload.elements)
            self.labels[root] = found or self.labels.get(root, ())
        if held is None:
            return
        if held.key is None:
            self.labels[root] = (Label(None, outside=held.constant),)
            return
        known = [self.payload.around.sizes[size] for size in held.sizes]
        at = tuple(self.values.affine_map(held.at, [*map(Linear.of, cells), *known]))
        if not held.parts:
            self.labels[root] = (Label(held.key, cells, (0,) * len(cells), at, each=held.each),)
            return
        sizes = [self.values.extent(value, axis) for axis in range(len(root.shape))]
        if (of := self.payload.of_parts(held.key[1], held.at, known, sizes)) is not None and of.reads[0] is not None:
            self.parts[held.key[1]] = of
            self.labels[root] = (
                Label(of.reads[0].key, cells, (0,) * len(cells), tuple(map(Linear.of, cells)), each=held.each),
            )

    def carry(self, value: ir.Value, key: Key, rank: int) -> None:
        """Labels a buffer of the host as a tensor of the payload, if its contents are unknown and
        nothing has written it."""
        views = self.views.of(value)
        root = views[0].root
        known = bool(self.labels.get(root)) or root in self.written
        if len(views) == 1 and root.foreign and len(root.shape) == rank and not known:
            cells = tuple(self.cell() for _ in root.shape)
            self.labels[root] = (Label(key, cells, (0,) * rank, tuple(map(Linear.of, cells))),)

    def label_of(self, value: ir.Value) -> tuple[Label, ...]:
        """The current label of a buffer."""
        views = self.views.of(value)
        return self.labels.get(views[0].root, ()) if len(views) == 1 else ()

    def cell(self, extent: int | None = None) -> Symbol:
        return self.values.fresh("lane", NOTHING, None if extent is None else 0, None if extent is None else extent - 1)

    def place(self, value: ir.Value, indices: list[Linear]) -> tuple[RootBuffer, Coordinates] | None:
        views = self.views.of(value)
        if len(views) != 1:
            return None
        (view,) = views
        at = self.views.coordinates(view, indices)
        if at is not None and view.flat and len(at) == 1:
            at = unflattened(view.root, at[0])
        if at is not None and view.sizes:
            at = in_other_rows(self.values, view.root, view.sizes, at)
        return None if at is None or len(at) != len(view.root.shape) else (view.root, tuple(at))

    def at(self, value: ir.Value, indices: list[Linear]) -> Read | None:
        place = self.place(value, indices)
        if place is None:
            return None
        root, at = place
        labels = [label for label in self.labels.get(root, ()) if label.key is not None]
        for label in reversed([*between(labels, at), *labels]):
            if label.within(at) is not None:
                return agreed(label, labels, at)
        constants = {(label.outside, label.since, label.rows) for label in self.labels.get(root, ())}
        if not labels and len(constants) == 1:
            found = (
                Read(None, (), TRUE, label.outside, since=label.since) if label.is_everywhere else label.read(at)
                for label in reversed(self.labels[root])
            )
            return next((read for read in found if read is not None), None)
        return None

    def accumulate(self, root: RootBuffer, key: Key, combiner: str) -> None:
        """Records updates, in any order, of the elements of a host's buffer; or of a buffer of the
        kernel that starts with the identity and collects parts of these elements."""
        before, cells = self.labels.get(root, ()), tuple(map(self.cell, root.shape))
        at = tuple(map(Linear.of, cells))
        start = self.begin((root, at), key)
        adds = combiner in ("addi", "addf") and start is not None and start.constant == 0
        if not root.foreign and not adds and (start is None or start.key != key):
            return self.forget(root)
        since = self.since(root, before)
        parts = () if root.foreign else tuple(Linear.of(s) for s in since if s.high != 0)
        self.written.add(root)
        self.labels[root] = (Label(key, cells, (0,) * len(cells), at, parts=parts, since=since),)

    def begin(self, cell: tuple[RootBuffer, Coordinates], key: Key, rows: Formula = TRUE) -> Read | None:
        """Records the initial value, in an element, of the sum `key`, where `rows` holds."""
        labels = self.labels.get(cell[0], ())
        start = labels[-1].start(cell[1]) if len(labels) == 1 else None
        if start is None or start.key != key:
            self.begun.setdefault(key, {})[start] = None
        self.use(TRUE if start is None else start.rows, (rows,))
        return start

    def arrives(self, key: Key, some: Formula) -> bool:
        """Whether some buffer of the host ends up with all results, each in its place. `some`: the
        condition that there are iterations; results that are added to the buffer must arrive only
        then."""
        return any(
            label.key == key and not label.parts and label.is_in_place(root.shape) and self._is_whole(root, key, some)
            for root, labels in self.labels.items()
            if root.foreign
            for label in labels
        )

    def _is_whole(self, root: RootBuffer, key: Key, some: Formula) -> bool:
        """Whether a result that was computed in another buffer is written to all elements of this
        one; or is added to all, if there are iterations."""
        stores = [store for store in self.stores.get(root, ()) if store.what.key == key and not store.updated]
        sizes = [self.values.extent(root.value, n) for n in range(len(root.shape))] if stores else []
        return all(covers(s.at, s.symbols, s.guards, sizes, self.values, some if s.adds else TRUE) for s in stores)

    def kept(self) -> dict[RootBuffer, tuple[Label, ...]]:
        """The state before a branch."""
        return dict(self.labels)

    def rejoin(self, before: dict[RootBuffer, tuple[Label, ...]]) -> None:
        """Merges the contents of both arms after a branch: all are possible from there on."""
        for root, labels in before.items():
            if self.labels.get(root) != labels:
                self.labels[root] = tuple(dict.fromkeys((*labels, *self.labels.get(root, ()))))

    def fill(
        self,
        cell: tuple[RootBuffer, Coordinates],
        constant: ir.Attribute,
        since: tuple[Symbol, ...],
        dims: Sequence[Symbol],
    ) -> None:
        """Records that a buffer is filled with a constant."""
        made = self._inverted(*cell, Read(None, (), TRUE))
        self.labels[cell[0]] = (Label(None, made.cells, made.turns, outside=constant, since=since, rows=made.rows),)
        self.written.add(cell[0])
        self._stored(cell, dims, Read(None, (), TRUE), False, False)

    def _stored(
        self, cell: tuple[RootBuffer, Coordinates], dims: Sequence[Symbol], what: Read, updated: bool, adds: bool
    ) -> None:
        """Records the elements of a host's buffer that are written."""
        if cell[0].foreign:
            made = Store(cell[1], what, (*self.loops, *dims), tuple(self.guards), updated, adds)
            self.stores.setdefault(cell[0], []).append(made)

    def add(
        self, cell: tuple[RootBuffer, Coordinates], what: Read, since: tuple[Symbol, ...], dims: Sequence[Symbol]
    ) -> None:
        """Records the addition of a sum, or of its parts, to an element that was initialized with a
        constant. Unless each part is added once, the contents become unknown."""
        if what.key is not None:
            self.begin(cell, what.key, what.rows)
        own = {*since, *involved(*cell[1])}
        parts = {s for form in what.parts for s in form.symbols()}
        if any(s not in own and s not in parts and s.high != 0 for s in (*self.loops, *dims)):
            return self.forget(cell[0])
        parts_left = tuple(form for form in what.parts if any(s in own for s in form.symbols()))
        return self.write(cell, replace(what, parts=parts_left, since=since), dims, adds=True)

    def write(
        self, cell: tuple[RootBuffer, Coordinates], what: Read, dims: Sequence[Symbol], *, updated: bool = False,
        adds: bool = False,
    ) -> None:  # fmt: skip
        """Records a write of an element. `updated`: a reduction updates the element, so that it
        keeps its initial value if there are no terms; `adds`: the value is added to the previous
        contents."""
        root, coordinates = cell
        self.written.add(root)
        self._stored(cell, dims, what, updated, adds)
        *_, own, in_cells = self._cells(root, coordinates)
        if any(s not in own for s in involved(*map(in_cells, what.parts))):  # one part is written over another
            self.overwritten |= set() if what.key is None else {what.key}
            return self.forget(root)
        if what.rows != TRUE:
            self.use(either(what.rows, self._spare(root, coordinates, what)))
        self._compare(root, coordinates, what)
        made = self._inverted(root, coordinates, what, updated=updated)
        staged = any(made.turns) or any(isinstance(c, Linear) for c in made.cells)
        others = {piece(origin(root)).key for piece in self.pieces(root)} - {what.key}
        kept = [
            label
            for label in self.labels.get(root, ())
            if (staged and label.key == what.key and label.cells != made.cells) or label.key in others
        ]
        self.labels[root] = (*kept, made)

    def _spare(self, root: RootBuffer, coordinates: Coordinates, what: Read) -> Formula:
        """The condition under which a written element may hold something other than a result: for a
        buffer of the kernel, inside its tile; for a temporary of the host, beyond the extents of
        the payload's result."""
        if not root.foreign:
            sizes = [Linear.of(n) for n in root.shape if n is not None]
            return within(coordinates, sizes) if len(sizes) == len(coordinates) else FALSE
        of = None if root in self.given or what.key is None else self.payload.at(what.key[1])
        own = None if of is None else next((one for one in of.writes if one.key == what.key), None)
        if of is None or own is None:
            return FALSE
        extents = {Linear.of(s): n for s, n in zip(of.dims, of.extents, strict=True) if n is not None}
        ends = [n for form in own.at if (n := extents.get(form)) is not None]
        return within(what.at, ends).negate() if len(ends) == len(own.at) == len(what.at) else FALSE

    def _compare(self, root: RootBuffer, coordinates: Coordinates, what: Read) -> None:
        """Compares the place of a written element with that in the payload's result, and records in
        `moved` how far it is off; None where unknown."""
        its = (piece(coordinates) for piece in self.pieces(root))
        own = next((element for element in its if element.key == what.key), None)
        if own is None or what.key is None or (own.at == what.at and own.when == TRUE):
            return
        if own.when != TRUE and point_where([*self.guards, own.when.negate()]) is not None:
            self.moved[what.key[1]] = None
            return
        sizes = [n or 0 for n in root.shape]
        places = [Linear.of(0), Linear.of(0)]
        for mine, its, n in zip(own.at, what.at, sizes, strict=False):
            places = [places[0] * n + mine, places[1] * n + its]
        apart, whole = places[0] - places[1], len(sizes) == len(own.at) == len(what.at) and 0 not in sizes[1:]
        if not whole or not is_zero(apart, self.guards):
            self.moved[what.key[1]] = apart.constant if whole and apart.is_constant else None

    def pieces(self, root: RootBuffer) -> list[Callable[[Coordinates], Element]]:
        """The pieces of the payload function's result that a buffer holds; empty for other
        buffers."""
        kind, name, number = self.given.get(root, ("", "", 0))
        return self.payload.elements.pieces(name, number) if kind == "returned" else []

    def use(self, rows: Formula, when: Sequence[Formula] = ()) -> None:
        """Records the use of an element that holds a result only where `rows` is true."""
        if rows != TRUE:
            self.uses.setdefault(((*self.guards, *when), rows))

    def expose(self, value: ir.Value) -> None:
        """Records that arbitrary elements of a buffer are used."""
        for label in self.label_of(value):
            self.use(TRUE if label.rows == TRUE else FALSE)

    def allocated(self, root: RootBuffer) -> None:
        """Records the allocation of a buffer."""
        self.depth[root], self._before[root] = len(self.loops), len(self.guards)

    def uses_others(self) -> bool:
        """Whether the kernel uses an element that may be unwritten, or may hold no result."""
        try:
            return any(point_where([*when, rows.negate()]) is not None for when, rows in self.uses)
        except Unknown:
            return True

    def told(self, cell: tuple[RootBuffer, Coordinates], formulas: Sequence[Formula]) -> list[Formula]:
        """The formulas that depend only on the coordinates of a buffer and the loops around it."""
        *_, own, in_cells = self._cells(*cell)

        def are_own(formula: Formula) -> bool:
            return all(s in own or s.kind in ("parameter", "defined") for s in involved(formula.changed(in_cells)))

        return [formula for formula in formulas if are_own(formula)]

    def _inverted(self, root: RootBuffer, coordinates: Coordinates, what: Read, *, updated: bool = False) -> Label:
        """The label in terms of the buffer's coordinates."""
        cells, turns, own, in_cells = self._cells(root, coordinates)
        at, parts = (tuple(map(in_cells, forms)) for forms in (what.at, what.parts))
        when, rows = where_bounds_leave_it(what.when.changed(in_cells)), what.rows.changed(in_cells)
        if not root.foreign or what.key is None:
            rows = both(rows, self._filled(root, coordinates, (cells, turns, own, in_cells), updated))
        return Label(what.key, cells, turns, at, when, what.outside, parts, what.since, what.each, rows)

    def _filled(self, root: RootBuffer, coordinates: Coordinates, made: Cells, updated: bool) -> Formula:
        """The condition on the cells that are written: the loop counters in the coordinates are in
        their ranges. Of the loops on which no coordinate depends, the first iteration must write,
        unless no iteration needs to (`updated`). The stages of a buffer are left to `races`."""
        cells, turns, own, in_cells = made
        outer = set(self.loops[: self.depth.get(root, 0)])
        places = zip(coordinates, cells, turns, strict=True)
        axes = [(form, cell) for form, cell, turn in places if isinstance(cell, Symbol) and not turn and cell.high != 0]
        told = dict.fromkeys(s for form, _ in axes for s in form.symbols() if s not in outer and s.kind != "parameter")
        staged = {s for form in coordinates for s in form.symbols()} - {*told, *outer}
        table = {s: in_cells(Linear.of(s)) for s in told}
        parts: list[Formula] = []
        for form, cell in axes:
            if (ends := run_of(form, Linear.of(cell), outer)) is None:
                ranges = (part for s in form.symbols() if s in table for part in in_range_of(table[s], s))
                ends = [*ranges, equal(form.put(table), Linear.of(cell))]
            parts += ends
        free = {s for s in self.loops if s not in told and s not in outer and s not in staged}
        table |= {s: Linear.of(0) for s in free}
        for guard in self.guards[self._before.get(root, 0) :]:
            found, symbols = guard.changed(lambda form: form.put(table)), involved(guard)
            asked = all(
                s in own or s in table or s.kind in ("parameter", "defined") for s in symbols
            ) and free.isdisjoint(symbols)
            parts += [found] if staged.isdisjoint(symbols) and (asked or not updated) else []
        known = where_bounds_leave_it(both(*parts))
        return known if all(s in own or s.kind in ("parameter", "defined") for s in involved(known)) else FALSE

    def _cells(self, root: RootBuffer, coordinates: Coordinates) -> Cells:
        outer = set(self.loops[: self.depth.get(root, 0)])
        cells: list[Symbol | Linear] = []
        turns: list[int] = []
        ways: list[tuple[Symbol, Linear]] = []
        for coordinate, extent in zip(coordinates, root.shape, strict=True):
            staged = not coordinate.is_constant and not root.foreign
            whole = remainder_of(coordinate, extent) if extent and staged else None
            own = any(s not in outer for s in coordinate.symbols())
            symbol = self.cell(extent if whole is None else None)
            alone = whole is None and not own and extent != 1
            cells.append(coordinate if alone else symbol)
            turns.append(0 if whole is None else extent or 0)
            ways += [] if alone else [(symbol, coordinate if whole is None else whole)]
        own = outer | {symbol for symbol, _ in ways}
        digits: dict[Symbol | Floor, Linear] | None = None

        def in_cells(form: Linear) -> Linear:
            nonlocal digits
            found = in_terms(form, ways)
            if all(s in own for s in found.symbols()):
                return found
            digits = digits_of_cells(ways, outer) if digits is None else digits
            return with_digits(found, digits)

        return tuple(cells), tuple(turns), own, in_cells

    def loses(self, key: Key) -> bool:
        """Whether the payload returns this result, but the kernel leaves other contents in its
        place."""
        for root in self.given:
            kept = [label for label in self.labels.get(root, ()) if label.key == key and not label.parts]
            if not kept and any(piece(origin(root)).key == key for piece in self.pieces(root)):
                return True
        return False

    def forget_value(self, value: ir.Value) -> None:
        for view in self.views.of(value):
            self.forget(view.root)

    def forget(self, root: RootBuffer) -> None:
        self.written.add(root)
        self.labels[root] = ()

    def since(self, root: RootBuffer, labels: Sequence[Label]) -> tuple[Symbol, ...]:
        """The loops in each iteration of which the sum in a buffer is initialized again."""
        return labels[-1].since if labels else tuple(self.loops[: self.depth.get(root, 0)])
