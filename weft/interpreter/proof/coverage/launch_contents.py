"""The contents that a launch leaves in the host's buffers, recorded for later launches as an
attribute of the launch, with an entry for each buffer.

Two examples:

- "parts A of matmul in (p, i, j)": element (p, i, j) is a part of the result's element (i, j).
- "rows of conv in (i, f), of images of H by W": element (i, f) is the result's element
  (i / W / H, i / W mod H, i mod W, f).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cmp_to_key, reduce
from itertools import takewhile

from ....dsl.records import record
from ...indices.algebra import PRODUCT, QUOTIENT, REMAINDER
from ...indices.arithmetic import affine_expression
from ...indices.linear import Linear, Symbol, involved
from ...ir.cloning import LEAVES, LEAVES_IN_ARGUMENTS
from ...ir.copying import fill_constant, fill_value
from ...ir.functions import arguments, own_name
from ...ir.mlir import GAP, ancestors, in_block, ir, maker, ops_of, producer
from ...ir.structured import is_structured
from ...memory.effects import accesses, written
from ...memory.views import is_view, last_writer, root_memref
from .payload.elements import Key
from .payload.hosts import Size
from .payload.initial_payload import Untouched


@record
class Left:
    """The contents of a buffer after a launch.

    Args:
        key: the tensor of the payload to which the elements belong, or of which they are partial
            sums (`parts`); None for a constant.
        at: coordinates of the buffer → the element of that tensor; None if the launch does not
            change the buffer.
        parts: the elements are partial sums.
        constant: the value of all elements.
        each: the number of consecutive iterations in each part; 0 where unknown.
        sizes: the run-time sizes that are the symbols of `at`.
    """

    key: Key | None
    at: ir.AffineMap | None
    parts: bool = False
    constant: ir.Attribute | None = None
    each: int = 0
    sizes: tuple[Size, ...] = ()

    def text(self) -> str:
        """The attribute's text."""
        at, constant = (None if each is None else str(each) for each in (self.at, self.constant))
        return json.dumps([self.key, at, self.parts, constant, self.each, self.sizes])

    @classmethod
    def read(cls, text: str) -> Left:
        """The contents that the attribute's text states."""
        key, at, parts, constant, each, sizes = json.loads(text)
        made = None if at is None else ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{at}>")).value
        held = None if constant is None else ir.Attribute.parse(constant)
        return cls(None if key is None else tuple(key), made, parts, held, each, tuple(map(tuple, sizes)))

    @classmethod
    def stated(
        cls,
        key: Key,
        at: Sequence[Linear],
        cells: Sequence[Symbol],
        known: Mapping[Size, Linear],
        *,
        parts: bool,
        each: int,
    ) -> Left | None:
        """The contents for an element at `cells`; None if the element is no affine function of the
        cells and of known sizes."""
        used, made_of = dict[Size, ir.AffineExpr](), (PRODUCT, *QUOTIENT, *REMAINDER)
        terms = ((size, form, s) for size, form in known.items() for s in form.symbols())
        sizes = {s: (size, form.content) for size, form, s in terms if form == Linear({s: form.content}, 0)}

        def expression(symbol: Symbol) -> ir.AffineExpr:
            if symbol in cells:
                return ir.AffineExpr.get_dim(cells.index(symbol))
            if symbol in sizes:
                size, multiple = sizes[symbol]
                return ir.AffineExpr.get_floor_div(used.setdefault(size, ir.AffineExpr.get_symbol(len(used))), multiple)
            first, *others = (affine_expression(form, expression) for form in symbol.operands(*made_of))
            if symbol.operands(PRODUCT):
                return reduce(ir.AffineExpr.get_mul, others, first)
            return (ir.AffineExpr.get_floor_div if symbol.operands(*QUOTIENT) else ir.AffineExpr.get_mod)(
                first, *others
            )

        if not all(s in cells or s in sizes or s.operands(*made_of) for s in involved(*at)):
            return None
        expressions = [affine_expression(form, expression) for form in at]
        return cls(key, ir.AffineMap.get(len(cells), len(used), expressions), parts, None, each, tuple(used))


def state(launch: ir.Operation, left: dict[ir.Value, Left | None]) -> None:
    """Annotates a launch with the contents that it leaves in the buffers passed to it."""
    texts = [json.dumps(None if (found := left.get(value)) is None else found.text()) for value in arguments(launch)]
    launch.attributes[LEAVES] = ir.StringAttr.get("[" + ", ".join(texts) + "]", launch.context)


Place = Callable[[ir.Value, "Left | None"], "tuple[Sequence[Symbol], Sequence[Linear]] | None"]
"""Coordinates of a view, and of the element of its buffer there; or of that element's origin, where
the buffer has known contents."""


def found_in(
    value: ir.Value, root: ir.Operation, untouched: Untouched, sizes: Mapping[Size, Linear], place: Place
) -> Left | None:
    """The contents of a buffer of the host before a loop: those that earlier launches have left, or
    that an op will leave when it is launched. In the latter case its launch checks that it does
    (`missed`). None where unknown.

    Args:
        value: the buffer.
        root: the loop to be launched, in a function's own block.
        sizes: run-time sizes that maps may have as symbols.
    """
    block, before = root.block, list[tuple[ir.Operation, ir.Value]]()
    if block.owner.operation.name != "func.func":
        return None
    if (made := producer(value)) is not None and made.name == GAP:
        before.append((made, value))
    whole = {value}
    """The buffer, and views of all of it in other shapes."""
    for view in (views := [value]):
        for use in view.uses:
            user = in_block(use.owner.operation, block)
            if user is None:
                return None
            if is_view(user):
                views.append(user.results[0])
                if view in whole and user.name in ("memref.collapse_shape", "memref.expand_shape"):
                    whole.add(user.results[0])
            elif user != root and user.is_before_in_block(root):
                before.append((user, view))
    for op, view in sorted(before, key=cmp_to_key(_later)):
        found = _copied(op, value, untouched, sizes, place) if view == value else None
        if view in whole - {value} and op.name != GAP and LEAVES not in op.attributes:
            found = to_leave(op, value, untouched)
        for text in _texts(op, view, untouched) if found is None else [found.text()]:
            left = None if text is None else Left.read(text)
            if left is None or left.at is not None or left.constant is not None:
                return left if view == value or found is not None else None
    return None


UNCHANGED = Left(None, None).text()


def in_argument(gap: ir.Operation, argument: ir.Value) -> list[object]:
    """What is stated of a gap: the contents that the ops in its place leave in an argument of the function."""
    if LEAVES_IN_ARGUMENTS not in gap.attributes:
        return []
    stated = json.loads(ir.StringAttr(gap.attributes[LEAVES_IN_ARGUMENTS]).value)
    return stated.get(str(ir.BlockArgument(argument).arg_number), [])


def _later(one: tuple[ir.Operation, ir.Value], other: tuple[ir.Operation, ir.Value]) -> int:
    return 1 if one[0].is_before_in_block(other[0]) else -1


NOT_LEFT = "combination assumed: an earlier launch reads the result of this op, which the kernel is not known to leave ({place})"
"""For a kernel that does not leave contents on which another one relies."""


def missed(launched: ir.Operation, left: Mapping[ir.Value, Left | None], untouched: Untouched) -> list[str]:
    """The obligations that a launch does not fulfil: kernels launched before it were proven under
    the assumption that it leaves certain results in their buffers. Returns the locations of the
    payload's ops for which the kernel is not known to leave these results.

    Args:
        launched: the loop that has been launched.
        left: the contents that its kernel leaves.
    """
    found: list[str] = []
    for value, made in left.items():
        wanted = to_leave(launched, value, untouched)
        if wanted is not None and wanted.key is not None and made != wanted and _is_used_after(value, launched):
            found.append(wanted.key[1])
    return found


def _is_used_after(value: ir.Value, launched: ir.Operation) -> bool:
    """Whether a launch, or a copy, after a loop uses a buffer, or a view of it."""
    source = root_memref(value)
    after = (op for op in ops_of(launched.block) if op.name == GAP and launched.is_before_in_block(op))
    if producer(source) is None and any(in_argument(gap, source) for gap in after):
        return True
    for view in (views := [source]):
        for user in (use.owner.operation for use in view.uses):
            if is_view(user):
                views.append(user.results[0])
            elif user.block == launched.block and launched.is_before_in_block(user):
                stated = json.loads(ir.StringAttr(user.attributes[LEAVES]).value) if LEAVES in user.attributes else []
                if user.name == "memref.copy" or (
                    stated and (user.name != GAP or stated[[*user.operands].index(view)])
                ):
                    return True
    return False


def to_leave(op: ir.Operation, value: ir.Value, untouched: Untouched) -> Left | None:
    """The contents that an op of the host, not yet launched, is to leave in a buffer: the result of
    the last op of the payload that writes it."""
    writer = last_writer(op, value)
    return None if writer is None else result_of(*writer, ir.ShapedType(value.type).shape, untouched)


def result_of(location: str, number: int, shape: Sequence[int], untouched: Untouched) -> Left | None:
    """The result of an op of the payload, element by element in a buffer of its shape, or of a
    larger one: with what a ragged tile reads beyond it."""
    of = untouched.places.get(location)
    if of is None or not 0 <= number < len(of.results):  # an op in memory has none
        return None
    own = ir.ShapedType(of.results[number].type).shape
    if len(own) != len(shape) or any(n != size and not 0 <= n < size for n, size in zip(own, shape, strict=True)):
        return None
    with of.context:
        if fill_value(of) is not None:
            constant = fill_constant(of)
            return None if constant is None else Left(None, ir.AffineMap.get(0, 0, []), constant=constant)
        return Left(("result", str(of.location), number), ir.AffineMap.get_identity(len(shape)))


def _copied(
    op: ir.Operation, value: ir.Value, untouched: Untouched, sizes: Mapping[Size, Linear], place: Place
) -> Left | None:
    """The contents that a copy leaves in a whole buffer: those of its source, a buffer or a view.
    Known are the elements of a function's argument that was not changed before, and the contents
    that launches have left."""
    source = op.operands[0] if op.name == "memref.copy" and op.operands[1] == value else None
    if source is None:
        return None
    buffer = root_memref(source)
    if producer(buffer) is not None:
        held = found_in(buffer, op, untouched, sizes, place)
        if held is None or held.at is None or held.parts or held.key is None:
            return None if held is None or held.constant is None else held
        found = place(source, held)
        return None if found is None else Left.stated(held.key, found[1], found[0], sizes, parts=False, each=held.each)
    if maker(buffer).name != "func.func":
        return None
    before = set(takewhile(lambda each: each != op, ops_of(op.block)))
    for view in (views := [buffer]):
        users = [use.owner.operation for use in view.uses]
        views += [user.results[0] for user in users if is_view(user)]
        around = {each for user in users if not is_view(user) for each in (user, *ancestors(user))}
        if any(_texts(each, view, untouched) for each in around & before):
            return None
    found = place(source, None)
    key: Key = ("argument", own_name(maker(buffer)), ir.BlockArgument(buffer).arg_number)
    return None if found is None else Left.stated(key, found[1], found[0], sizes, parts=False, each=0)


def written_after(value: ir.Value, root: ir.Operation, untouched: Untouched) -> bool:
    """Whether an op of the host after a loop may write a buffer; true for a loop that is not at the
    top level of a function."""
    block = root.block
    if producer(value) is None and block.owner.operation.name == "func.func":
        after = (op for op in ops_of(block) if op.name == GAP and root.is_before_in_block(op))
        if any(text != UNCHANGED for gap in after for text in in_argument(gap, value)):
            return True
    for view in (views := [value]):
        for use in view.uses:
            user = use.owner.operation
            if (top := in_block(user, block)) is None:
                return True
            if is_view(user):
                views.append(user.results[0])
            elif top != root and root.is_before_in_block(top) and _may_write(user, view, untouched):
                return True
    return block.owner.operation.name != "func.func"


def _may_write(user: ir.Operation, view: ir.Value, untouched: Untouched) -> bool:
    if user.name == GAP or LEAVES in user.attributes:
        return any(text is None or text != UNCHANGED for text in _texts(user, view, untouched))
    return view in written(user) or (len(user.regions) > 0 and not is_structured(user))


def _texts(op: ir.Operation, value: ir.Value, untouched: Untouched) -> list[str | None]:
    """The contents that an op leaves in a buffer, as text; for an op with several launches, those
    of the last launch come first. Empty for an op that only reads the buffer; None: unknown."""
    stated = json.loads(ir.StringAttr(op.attributes[LEAVES]).value) if LEAVES in op.attributes else None
    if op.name == GAP:
        found = [] if stated is None else stated[[*op.operands, *op.results].index(value)]
        results = (
            result_of(text[0], text[1], text[2], untouched) if isinstance(text, list) else text for text in found
        )
        return [one.text() if isinstance(one, Left) else one if isinstance(one, str) else None for one in results]
    if stated is not None:
        return [stated[arguments(op).index(value)]]
    if (left := to_leave(op, value, untouched)) is not None:
        return [left.text()]
    known = None if is_view(op) or (len(op.regions) and not is_structured(op)) else accesses(op)
    return [None] if known is None or any(one.changes and one.value == value for one in known) else []
