"""A kernel's IR → its `KernelModel`: one walk over the regions, in program order."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

from ....dsl.diagnostics import fail
from ...hardware.ampere import copies
from ...hardware.hopper.mbarriers import REGISTERS, registers_of
from ...hardware.hopper.tensor_maps import PREFETCH, stores_may_pend
from ...hardware.hopper.warpgroups import GROUP, PRODUCTS, may_pend
from ...hardware.instructions import DIALECTS, INSTRUCTIONS, Instruction
from ...hardware.lanes import BARRIERS
from ...hardware.limits import WARP
from ...hardware.queries import AGENTS, CLUSTER_WIDE, FENCES, FORM, GROUP_WIDE, SIGNALS, WARP_WIDE, WAYS_OUT
from ...indices.algebra import AXES, LaunchShape, MadeUp, at_or_above, id_symbol
from ...indices.integers import in_kernel
from ...indices.linear import THREAD, Depends, Formula, Linear, at_least, both, equal, less
from ...indices.values import Values
from ...ir.functions import segments
from ...ir.mlir import children, ir, operations, producer
from ...ir.refusing import describe
from ...ir.structured import loop_inits
from ...memory import effects
from ...memory.table import ALLOCATIONS
from ...memory.views import terminator
from ..combination.combination import is_marked
from .clusters import ClusterOp, OfBlocks, gatherings
from .in_flight import landings_of, with_ends
from .memory_ops import Exchanges, Touch, in_matrix, touches, without_swizzles
from .model import ALL_SPACES, Access, Barrier, KernelModel
from .places import GroupEvent, Loop, Place, PlaceStep
from .root_buffers import ANYTHING, RootBuffer
from .rows import joined
from .signals import RegisterChange, Signals, fence
from .tiles import asynchronous
from .views import View, Views
from .waits import barrier, together

_INLINE = {"scf.execute_region", "memref.alloca_scope"}
_FOLLOWED = FORM | {PREFETCH}
"""Ops of the GPU and pointer dialects that the reader handles. A prefetch is a hint to the
hardware, without effect on the model."""
_PENDING = {"copy": copies.may_pend, "store": stores_may_pend, "product": may_pend}
"""For each agent, the number of its thread's newest groups that a wait leaves pending."""
_CALLS = {"func.call", "gpu.call", "func.call_indirect"}
_INLINED = (
    "inline the call, as `mlir-opt --inline` does, or lower the kernel to ops of `gpu`, `scf`, `affine`,"
    " `memref` and `vector`"
)
_REWRITE = (
    "write it with ops of `gpu`, `scf`, `affine`, `memref` and `vector`, or with those of `nvgpu` and `nvvm` in"
    " docs/house.md"
)
MOMENTS = 3
"""Positions per op in its block: its begin and, for an op that starts asynchronous work, its commit
and its wait."""


class Reader:
    """Reads one kernel. Call order: bind its arguments, then `find_written`, `block`, `finish`."""

    def __init__(
        self, name: str, shape: LaunchShape, names: Callable[[ir.Value], str | None] = lambda _: None,
        *, may_alias: bool = False, passed_in_rows: bool = False,
    ) -> None:  # fmt: skip
        self.values = Values(shape, self._load_depends)
        self.views = Views(self.values, names, passed_in_rows=passed_in_rows)
        self.model = KernelModel(name, shape, self.values, (), may_alias=may_alias)
        self._written: set[ir.Value] = set()
        self._writes_anything = False
        self._shown: list[ir.Value] = []
        self._loops = itertools.count()
        self._exchanges: list[Exchanges | None] = []
        self._stored: list[tuple[GroupEvent, bool]] = []
        self._multiplied: list[GroupEvent] = []
        self._signals = Signals(self.values, self.views.name)
        self._meetings: list[ClusterOp] = []
        self.parts: list[ir.Operation] = []

    # ---- what a load depends on --------------------------------------------------------------------------------------

    def find_written(self, kernel: ir.Operation) -> None:
        """Records the buffers that the kernel writes. A load from any other buffer is a function of
        its address."""
        for op in operations(kernel):
            if op == kernel:
                continue
            if op.name == "bufferization.to_tensor":
                self._shown.append(op.operands[0])
            found = effects.accesses(op)
            self._writes_anything |= found is None
            for memref in effects.written(op) if found != () else ():
                self._written.update(self.views.roots(memref))
                self._writes_anything |= self.views.is_anything(memref)

    def _load_depends(self, op: ir.Operation) -> Depends:
        if self._may_be_written(op.operands[0]):
            return THREAD
        # the memref as well: it may be a choice of buffers, or a varying part of one
        return self.values.depends_on(op.operands)

    def _may_be_written(self, memref: ir.Value) -> bool:
        if self._writes_anything or (self._written and self.views.is_anything(memref)):
            return True
        roots = self.views.roots(memref)
        if not self._written.isdisjoint(roots) or any(map(_made_here, roots)):
            return True
        return self.model.may_alias and all(
            any(view.root.foreign for root in some for view in self.views.of(root)) for some in (roots, self._written)
        )

    # ---- regions -----------------------------------------------------------------------------------------------------

    def block(self, block: ir.Block, steps: tuple[PlaceStep, ...]) -> None:
        for number, op in enumerate(block.operations):
            self._op(op.operation, Place(steps, MOMENTS * number))

    def _op(self, op: ir.Operation, place: Place) -> None:
        name, row = op.name, INSTRUCTIONS.get(op.name)
        if name in ("scf.for", "affine.for"):
            self._for(op, place)
        elif name in ("scf.if", "affine.if"):
            self._if(op, place)
        elif name == "scf.index_switch":  # the first region is the default case
            chosen = self.values.linear(op.operands[0])
            met = [equal(chosen, Linear.of(case)) for case in ir.DenseI64ArrayAttr(op.attributes["cases"])]
            for region, guard in enumerate([both(*(case.negate() for case in met)), *met]):
                self.block(op.regions[region].blocks[0], place.into(region, (guard,)))
        elif name == "scf.while":
            self._while(op, place)
        elif name in _INLINE:
            self.block(only_block(op.regions[0], op), place.into(0))
        elif name in BARRIERS:
            barrier(self.model, op, place, self.values)
        elif name in FENCES:
            self.model.fences.append(fence(op, place))
        elif row is not None and row.agent and row.orders in ("commit", "drain"):
            self._group(op, place, row)
        elif name == "gpu.all_reduce" and any(g.depends().thread for g in place.guards):
            raise fail(
                "W0603",
                f"some threads of a block may not reach {describe(op)}, which waits for all of them",
                hint=f"move the `{name}` out of the `scf.if` or loop",
            )
        elif (name.split(".", 1)[0] in (*DIALECTS, "llvm") and name not in _FOLLOWED) or name in _CALLS:
            if effects.only_computes(op):
                message = (
                    f"kernels have no op such as {describe(op)}: neither the emitter nor the simulator supports it"
                )
                raise fail("W0640", message, hint="compute it with ops of `arith` and `math`")
            raise fail(
                "W0640",
                f"the race analysis does not model the effects of {describe(op)} on memory",
                hint=WAYS_OUT.get(name, _INLINED if name in _CALLS or name.startswith("llvm.") else _REWRITE),
            )
        else:
            if not all(map(effects.only_computes, children(op))):
                raise fail(
                    "W0640",
                    f"the race analysis does not follow the control flow of {describe(op)}",
                    hint="lower it to `scf.for`, `scf.if` or `scf.while`",
                )
            self._access(op, place)

    def _for(self, op: ir.Operation, place: Place) -> None:
        body = op.regions[0].blocks[0]
        number = next(self._loops)
        lows, highs, step = self._bounds(op)
        low = self.values.extreme(lows, largest=True)
        loop, guards = self._counted(number, low, highs, step, describe(op), unsigned="unsignedCmp" in op.attributes)
        assert loop.variable is not None
        self.values.bind(body.arguments[0], loop.variable)
        inits = loop_inits(op)
        self.values.settle(list(body.arguments)[1:], inits, terminator(body).operands, number)
        for argument, entering, yielded in zip(list(body.arguments)[1:], inits, terminator(body).operands, strict=True):
            if isinstance(argument.type, ir.IndexType | ir.IntegerType):
                self.values.carry(argument, entering, yielded, (loop.counter, loop.trips))
        known = step.is_constant and step.constant > 0 and all(form.is_constant for form in (low, *highs))
        exact = len(range(low.constant, min(high.constant for high in highs), step.constant)) if known else None
        self.views.bind_carried(op, Linear.of(loop.counter), exact)
        self.block(body, place.into(0, guards, loop))

    def _bounds(self, op: ir.Operation) -> tuple[list[Linear], list[Linear], Linear]:
        """The lower bounds of the variable, of which the largest applies; its upper bounds, of
        which the smallest applies; and the step."""
        if op.name == "scf.for":
            low, high, step = map(self.values.linear, list(op.operands)[:3])
            return [low], [high], step
        lows, highs = (
            self.values.affine_map(op.attributes[f"{end}BoundMap"].value, [self.values.linear(v) for v in operands])
            for end, operands in zip(("lower", "upper"), segments(op)[:2], strict=True)
        )
        return lows, highs, Linear.of(int(op.attributes["step"]))

    def _counted(
        self, number: int, low: Linear, highs: list[Linear], step: Linear, label: str, *, unsigned: bool = False
    ) -> tuple[Loop, tuple[Formula, ...]]:
        """The loop `low, low + step, … < high` and its guards. Its variable is affine in the
        counter if the step is constant.

        `unsigned`: bounds are compared as unsigned; if one may be negative, the trip count is
        unknown.
        """
        last: int | None = None
        trip_count: Linear | None = None
        if unsigned and not all(at_or_above(form, 0) for form in (low, *highs)):
            trip_count, highs = self.values.unread("trip count", (low, *highs, step), 0), []
        if step.is_constant and step.constant > 0:
            ends = [end for high in highs for end in self.values.at_most(high)]
            spans = [s for s in ((end - low).bounds()[1] for end in ends) if s is not None]
            last = max(0, -(-min(spans) // step.constant) - 1) if spans else None
        counter = Linear.of(self.values.fresh("loop", Depends(loops=frozenset({number})), 0, last))
        (symbol,) = counter.symbols()
        guards: list[Formula] = [] if trip_count is None else [less(counter, trip_count)]
        if step.is_constant and step.constant > 0:
            variable = low + counter * step.constant
        else:
            variable, guard = self._strided(number, low, step)
            guards.append(guard)
        guards += [less(variable, high) for high in highs if not at_or_above(high - variable, 1)]
        trips = None if last is None else last + 1
        return Loop(number, symbol, variable, trips, label), tuple(guards)

    def _strided(self, number: int, low: Linear, step: Linear) -> tuple[Linear, Formula]:
        """The variable of a loop with a symbolic step, an uninterpreted number from `low` up, and
        its guard.

        If the step covers all processors of an axis (`s*id + rest`, then `s*count` further), the
        variable is `s*q + rest`, and `q` determines the processor.
        """
        depends = low.depends() | step.depends() | Depends(loops=frozenset({number}))
        for what, count in (("block_id", "grid_dim"), ("thread_id", "block_dim")):
            for axis in AXES:
                processor = id_symbol(self.values.hardware(what, axis))
                size = self.values.hardware(count, axis)
                factor = low.terms.get(processor, 0) if processor is not None else 0
                if processor is not None and factor > 0 and step == size * factor:
                    q = self.values.opaque(depends, 0)
                    self.values.made_up.setdefault((what, axis), MadeUp(Linear.of(processor))).ways.append((q,))
                    return low - Linear.of(processor) * factor + q * factor, at_least(q, Linear.of(processor))
        variable = self.values.opaque(depends)
        return variable, at_least(variable, low)

    def _while(self, op: ir.Operation, place: Place) -> None:
        """Reads an `scf.while`. Its trip count is an uninterpreted number, the same for all threads
        if its condition is uniform."""
        number = next(self._loops)
        before, after = op.regions[0].blocks[0], op.regions[1].blocks[0]
        condition = terminator(before).operands
        passed = list(condition)[1:]
        carried = [*before.arguments, *after.arguments]
        self.values.settle(carried, list(op.operands), [*terminator(after).operands, *passed], number)
        depends = self.values.depends(condition[0])
        outer = replace(depends, loops=depends.loops - {number} | {lp.number for lp in place.loops})
        trips = self.values.opaque(outer, 0, guessed=True)
        counter = self.values.fresh("loop", Depends(loops=frozenset({number})), 0)
        loop = Loop(number, counter, None, None, describe(op))
        for region, block in enumerate((before, after)):
            bound = at_least(trips, Linear.of(counter)) if region == 0 else less(Linear.of(counter), trips)
            self.block(block, place.into(region, (bound,), loop))

    def _if(self, op: ir.Operation, place: Place) -> None:
        if op.name == "affine.if":
            condition = self.values.integer_set(
                op.attributes["condition"], [self.values.linear(v) for v in op.operands]
            )
        else:
            condition = self.values.condition(op.operands[0])
        for region, arm in enumerate(op.regions):
            if len(arm.blocks):
                guard = condition if region == 0 else condition.negate()
                self.block(arm.blocks[0], place.into(region, (guard,)))

    # ---- leaves ------------------------------------------------------------------------------------------------------

    def _group(self, op: ir.Operation, place: Place, row: Instruction) -> None:
        """Records a group event: a thread commits its asynchronous work as a group, or waits until
        at most a given number of its groups are pending."""
        waits = row.orders == "drain"
        event = GroupEvent(place, _PENDING[row.agent or ""](op) if waits else None)
        if row.agent == "copy":
            self.model.groups.append(event)
        elif row.agent == "store":
            self._stored.append((event, waits and "read" in op.attributes))
        else:
            together(self.model, op, place, GROUP)
            self._multiplied += [event] * waits  # each product commits its own group

    def _access(self, op: ir.Operation, place: Place) -> None:
        if is_marked(op):
            self.parts.append(op)
        if op.name in WARP_WIDE:
            together(self.model, op, place, WARP)
        if op.name in GROUP_WIDE:
            together(self.model, op, place, GROUP)
        if op.name in PRODUCTS:  # it commits its own group, then waits
            committed, waited = (Place(place.steps, place.position + moment) for moment in range(1, MOMENTS))
            self._multiplied += [GroupEvent(committed), GroupEvent(waited, may_pend(op))]
        if op.name == REGISTERS:
            self.model.registers.append(RegisterChange(place, describe(op), *registers_of(op)))
        if op.name in SIGNALS:
            self.model.signals += self._signals.signals(op, place)
        if op.name in CLUSTER_WIDE:
            self._meetings.append(ClusterOp(place, op))
            self.model.warp_wide.append(Barrier(place, frozenset(), describe(op), of_cluster=True))
        if op.name in AGENTS:
            found = list(asynchronous(op, place, self.model, self.views))
            self.model.accesses += found
            self._exchanges += [None] * len(found)
            return
        phase = "begins" if op.name == copies.COPY else ""
        late = self._shown if self._shown and any(map(effects.takes_tensors, operations(op))) else ()
        for touch in (*touches(op, self.values), *(Touch("read", memref, None) for memref in late)):
            for view in (View(ANYTHING, None),) if touch.memref is None else self.views.of(touch.memref):
                if view.root.space == "private":
                    continue
                at = None if touch.indices is None else self.views.coordinates(view, touch.indices)
                flat, when = view.flat and (touch.indices is None or at is not None), both(view.when, touch.when)
                here = touch.kind, view.root, at, place, describe(op), when, flat, view.sizes
                made = Access(*here, touch.atomic, view.chosen, touch.certain, phase, part=touch.part)
                self.model.accesses.append(made if touch.part is None else in_matrix(made, touch.part))
                whole = at is not None and touch.indices is not None and at == tuple(touch.indices)
                self._exchanges.append(touch.exchanges if whole else None)

    def finish(self) -> KernelModel:
        """Completes the model: ends of asynchronous copies, landings of stores and products,
        cluster blocks; all accesses of a buffer get one kind of coordinates (flat, if one of them
        is flat or their sizes differ).

        Raises:
            WeftError: W0640 for asynchronous copies in a kernel with memory barriers.
        """
        self.model.accesses[:] = without_swizzles(self.model.accesses, self._exchanges)
        late = next((access for access in self.model.accesses if access.phase), None)
        if late is not None and self.model.signals:
            raise fail(
                "W0640",
                f"the race analysis does not follow {late.op} in a kernel with memory barriers",
                hint="copy by `nvgpu.tma.async.load`, or by loads and stores of threads",
            )
        self.model.accesses[:] = with_ends(self.model.accesses, self.model.groups, self.values)
        for number, access in enumerate(self.model.accesses):
            if access.agent == "store":  # a wait of either kind completes its reads
                events = [event for event, of_reads in self._stored if access.kind == "read" or not of_reads]
                self.model.accesses[number] = replace(access, landings=tuple(landings_of(access.place, events)))
        self.model.products[:] = [
            p if p.landings is None else replace(p, landings=tuple(landings_of(p.place, self._multiplied)))
            for p in self.model.products
        ]
        kinds: dict[RootBuffer, set[tuple[Linear, ...]]] = {}
        for access in self.model.accesses:
            kinds.setdefault(access.buffer, set()).add(access.sizes)
        flat = {a.buffer for a in self.model.accesses if a.flat or len(kinds[a.buffer]) > 1}
        self.model.accesses[:] = [a.flattened() if a.buffer in flat else a for a in self.model.accesses]
        self.model.accesses[:] = joined(self.model.accesses, self.model.barriers, self.values)
        of_blocks = OfBlocks(self.values)
        for number, access in enumerate(self.model.accesses):
            buffer, coordinates = of_blocks.place(access.buffer, access.block, access.coordinates)
            self.model.accesses[number] = replace(access, buffer=buffer, coordinates=coordinates)
        self.model.buffers = tuple(map(of_blocks.buffer, self.views.buffers))
        self.model.gatherings = list(gatherings(self._meetings, ALL_SPACES))
        self.model.facts = tuple(self.values.size_facts())
        return self.model


def only_block(region: ir.Region, op: ir.Operation) -> ir.Block:
    """The only block of a region. Branches between several blocks are not followed: raises W0640."""
    if len(region.blocks) != 1:
        raise fail(
            "W0640",
            f"the race analysis does not follow branches between blocks (cf): {describe(op)}",
            hint="lift them to `scf.if` and `scf.while` first, as `mlir-opt --lift-cf-to-scf` does",
        )
    return region.blocks[0]


def _made_here(root: ir.Value) -> bool:
    """Whether the kernel itself allocates the memory: until it is written, each thread may read
    another value from it."""
    made = producer(root)
    return made is not None and made.name in ALLOCATIONS and in_kernel(made)
