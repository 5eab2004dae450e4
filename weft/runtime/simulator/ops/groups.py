"""`nvgpu` and `nvvm`: memory barriers, boxes of tensors, products of warp groups. Waits are
generators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ....interpreter.hardware.hopper import mbarriers, tensor_maps, warpgroups
from ....interpreter.hardware.lanes import NUMBERED_BARRIER
from ....interpreter.ir.functions import name_of, segments
from ....interpreter.ir.mlir import ir
from ....interpreter.memory.effects import is_pointer
from ...form.group_form import arrives_at, boxed, expected_group_product, expected_load, group_matrix
from ...form.kernel_form import axis_of, refuse
from ..roles.products import GroupProductForm
from ..translate import INT64, Translator, Val, handles, literal, value_type
from .control import SPACES
from .memory import flat_index, listed


def _barrier(t: Translator, op: ir.Operation) -> str:
    group, number = mbarriers.barrier_of(op)
    return f"{t.value(group).text}, {t.value(number).text}"


@contextmanager
def _where(t: Translator, predicate: ir.Value | None) -> Iterator[None]:
    """A context: the code that is emitted in it is executed only in the lanes for which a predicate
    holds."""
    if predicate is None:
        yield
        return
    here = t.fresh("m")
    t.emit(f"{here} = L.split({t.mask}, {t.value(predicate).text})[0]")
    with t.block(f"if {here} is not False:", mask=here):
        yield


# ---- memory barriers -----------------------------------------------------------------------------


@handles(mbarriers.MAKE)
def make(t: Translator, op: ir.Operation) -> Val:
    name, count = t.fresh("B"), mbarriers.count_of(op.results[0].type)
    called = name_of(op.results[0]) or f"barriers{name[1:]}"
    return t.define(f"P.make(L, {name[1:]}, {called!r}, {count})", [], INT64, pure=False)


@handles(mbarriers.INIT)
def init(t: Translator, op: ir.Operation) -> None:
    with _where(t, op.opview.predicate):
        t.emit(f"P.init(L, {_barrier(t, op)}, {t.value(op.opview.count).text}, {t.mask}, {t.site(op)})")


@handles(mbarriers.ARRIVE)
def arrive(t: Translator, op: ir.Operation) -> Val:
    t.emit(f"yield from P.arrive(L, {_barrier(t, op)}, 0, {t.mask}, {t.site(op)})")
    return literal(0)


@handles(mbarriers.EXPECT)
def expect(t: Translator, op: ir.Operation) -> None:
    with _where(t, op.opview.predicate):
        t.emit(f"yield from P.arrive(L, {_barrier(t, op)}, {t.value(op.opview.txcount).text}, {t.mask}, {t.site(op)})")


@handles(mbarriers.AWAIT)
def wait(t: Translator, op: ir.Operation) -> None:
    parity = t.value(op.opview.phaseParity).text
    t.emit(f"yield from P.wait(L, {_barrier(t, op)}, {parity}, {t.mask}, {t.site(op)})")


@handles(mbarriers.FENCE_INIT)
def fence_init(t: Translator, op: ir.Operation) -> None:
    t.emit(f"P.fence_init(L, {t.mask})")


@handles(mbarriers.FENCE_PROXY)
def fence_proxy(t: Translator, op: ir.Operation) -> None:
    spaces = tuple(SPACES[space] for space in sorted(mbarriers.fenced_spaces(op)))
    if not spaces:
        raise refuse(
            "W0750",
            f"`{op.name}` of {op.attributes['kind']}",
            op,
            hint="write `{kind = #nvvm.proxy_kind<async.shared>}`",
        )
    t.emit(f"P.fence_proxy(L, {spaces!r}, {t.mask})")


@handles(mbarriers.REGISTERS)
def registers(t: Translator, op: ir.Operation) -> None:
    count, more = mbarriers.registers_of(op)
    t.emit(f"yield from R.registers(L, {count}, {more}, {t.mask}, {t.site(op)})")


@handles(NUMBERED_BARRIER)
def numbered_barrier(t: Translator, op: ir.Operation) -> None:
    number, count = (next((t.value(v).text for v in part), None) for part in segments(op)[:2])
    t.emit(f"yield from G.numbered_barrier(L, {number or 0}, {count}, {t.mask}, {t.site(op)})")


# ---- boxes of tensors ----------------------------------------------------------------------------


def _begin(t: Translator, memref: ir.Value) -> str:
    """The buffer of a memref, and the number of the memref's first element."""
    mem = t.memref(memref)
    return f"{mem.root.text}, {flat_index(t, mem, [literal(0)] * len(mem.sizes)).text}"


@handles(*tensor_maps.LOADS)
def load(t: Translator, op: ir.Operation) -> None:
    blocks = op.opview.multicastMask
    several = "None" if blocks is None else f"N.unsigned({t.value(blocks).text})"
    load = expected_load(op, "W0750")
    offsets = [f"N.unsigned({t.value(offset).text})" for offset in load.offsets]
    t.stored.add(t.memref(load.tile).root.text)
    place = listed([t.value(value) for value in load.coordinates])
    box = f"{_begin(t, load.tile)}, {t.value(load.map).text}, {place}, [{', '.join(offsets)}]"
    with _where(t, load.predicate):
        t.emit(f"X.load(L, {box}, {_barrier(t, op)}, {several}, {t.mask}, {t.site(op)})")


@handles(tensor_maps.STORE)
def store(t: Translator, op: ir.Operation) -> None:
    seen = op.opview
    boxed(op, seen.src, "W0750")
    into, place = t.value(seen.tensorMapDescriptor).text, listed([t.value(value) for value in seen.coordinates])
    t.stored.add(into)
    box = f"{_begin(t, seen.src)}, {into}, {place}"
    with _where(t, seen.predicate):
        t.emit(f"X.store(L, {box}, {t.mask}, {t.site(op)})")


@handles(tensor_maps.COMMIT)
def commit(t: Translator, op: ir.Operation) -> None:
    t.emit(f"X.commit(L, {t.mask})")


@handles(tensor_maps.DRAIN)
def drain(t: Translator, op: ir.Operation) -> None:
    most = ir.IntegerAttr(op.attributes["group"]).value
    t.emit(f"yield from X.drain(L, {most}, {'read' in op.attributes}, {t.mask})")


# ---- products ------------------------------------------------------------------------------------


@handles(warpgroups.DESCRIBE)
def describe(t: Translator, op: ir.Operation) -> Val:
    group_matrix(op, "W0750")
    return t.define(f"Q.DescribedMatrix({_begin(t, op.opview.tensor)})", [], INT64, pure=False)


@handles(warpgroups.ZERO)
def zero(t: Translator, op: ir.Operation) -> Val:
    dtype, shape = value_type(op.results[0].type, op)
    return t.define(f"Q.zero({shape!r}, {t.constant(dtype, INT64).text})", [], dtype, shape)


@handles(warpgroups.SAME)
def same(t: Translator, op: ir.Operation) -> Val:
    (given,), (made,) = op.operands, op.results
    return literal(0) if is_pointer(made) or warpgroups.is_described(given.type) else t.value(given)


@handles(warpgroups.BEGIN, warpgroups.COMMIT)
def around(t: Translator, op: ir.Operation) -> None:
    """Each product is a commit group of its own."""


@handles(warpgroups.END)
def wait_for_products(t: Translator, op: ir.Operation) -> None:
    t.emit(f"yield from Q.wait(L, {warpgroups.may_pend(op)}, {t.mask}, {t.site(op)})")


@handles(*warpgroups.PRODUCTS)
def multiply(t: Translator, op: ir.Operation) -> Val:
    form = t.constant(GroupProductForm(expected_group_product(op, "W0750")), INT64)
    left, right = (t.value(matrix).text for matrix, _ in warpgroups.operands(op))
    before = t.value(warpgroups.sums_before(op)).text
    call = f"yield from Q.multiply(L, {left}, {right}, {before}, {form.text}, {t.mask}, {t.site(op)})"
    return t.result(op, call, [], pure=False)


# ---- clusters ------------------------------------------------------------------------------------

_PLACES = {mbarriers.RANK: "L.rank_in_cluster", mbarriers.BLOCKS: "L.cluster_dim"}


@handles(*_PLACES)
def place_in_cluster(t: Translator, op: ir.Operation) -> Val:
    return t.define(f"{_PLACES[op.name]}[{axis_of(op)}]", [literal(0)], INT64)


@handles(mbarriers.MEET_CLUSTER, mbarriers.MEET_RELAXED)
def arrive_in_cluster(t: Translator, op: ir.Operation) -> None:
    t.emit(f"G.arrive(L, {op.name == mbarriers.MEET_CLUSTER}, {t.mask}, {t.site(op)})")


@handles(mbarriers.AWAIT_CLUSTER)
def wait_for_cluster(t: Translator, op: ir.Operation) -> None:
    t.emit(f"yield from G.wait(L, {t.mask}, {t.site(op)})")


@handles(mbarriers.ADDRESS, mbarriers.POINTER, mbarriers.OTHER_BLOCK)
def address(t: Translator, op: ir.Operation) -> Val:
    """The address of a barrier, or of the corresponding barrier in another block: a placeholder,
    since the arrival finds the barrier itself."""
    return literal(0)


@handles(mbarriers.ARRIVE_THERE)
def arrive_there(t: Translator, op: ir.Operation) -> Val | None:
    made, block = arrives_at(op, "W0750")
    rank = "L.home.rank" if block is None else t.value(block).text
    relaxed = mbarriers.ordered_by(op, elsewhere=block is not None) == "time"
    t.emit(f"yield from P.arrive_there(L, {_barrier(t, made)}, {rank}, {relaxed}, {t.mask}, {t.site(op)})")
    return literal(0) if len(op.results) else None
