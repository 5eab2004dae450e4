"""From memrefs back to tensors: linalg ops on buffers get values, so that they tile and fuse like any others.

A function that is a straight line of linalg ops on buffers (arguments, allocations), or on static windows of them, has
one current value per buffer; what goes into a window is inserted into it. Each op becomes the same op on those values;
at the end every argument that was written receives its value (`bufferization.materialize_in_destination`), in place
after bufferization. Where loops or launches stand in it, an op is raised alone, and a producer for those who read it:

    linalg.exp ins(%a) outs(%t)                    %0 = linalg.exp ins(%a as a tensor) …
    gpu.launch_func … %b                    ->     gpu.launch_func … %b
    scf.forall … slices of to_tensor %t            scf.forall … slices of %0

Arguments are taken as distinct buffers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from ..ir.copying import copy_to
from ..ir.mlir import (
    GAP,
    LOOPS,
    NotLocalError,
    ahead_of,
    ancestors,
    attributes,
    child_of,
    children,
    ir,
    is_used,
    made_by,
    operations,
    ops_of,
    producer,
    run_passes,
    tensor,
    users,
)
from ..ir.structured import (
    dimension_of,
    element_type,
    extents_of,
    is_read,
    is_structured,
    part_of,
    place_of,
    replace,
    segments,
    structure,
)
from ..memory.effects import is_memref
from ..memory.layouts import READING, STORING, as_tensor, store_tensor
from ..session.rewriter import Rewriter
from .convertible import (
    ALLOCATIONS,
    apart_windows,
    has_apart_windows,
    has_known_buffers,
    is_convertible,
    is_on_host,
    on_memrefs,
    root_of,
    window_of,
)

if TYPE_CHECKING:
    from ..proof.hosts.effects import Effect


def debufferize(
    rewrite: Rewriter, op: ir.Operation, *, for_readers: bool = False, with_producers: bool = False
) -> bool:
    """Raise the function around `op`, or where something else stands in it (a launch, a loop) `op` alone.

    Says so and returns True; changes nothing and returns False where not even the op can be raised.

    Args:
        for_readers: who reads what it makes as a tensor reads its result, which is stored for others only.
        with_producers: raise those, too, that make what it reads, and what these read.
    """
    if not is_on_host(op):
        return False
    (*loops, function, _) = ancestors(op)
    gaps = list(operations(function, GAP))
    if gaps and not any(LOOPS in gap.attributes for gap in gaps):
        raise NotLocalError
    whole = len(function.regions[0].blocks) == 1 and all(map(is_convertible, children(function)))
    parts = None
    if (
        not whole
        and len(function.regions[0].blocks) == 1
        and all(is_convertible(each, shared=True) for each in children(function))
    ):
        parts = apart_windows(function)
        whole = parts is not None
    alone = not whole and is_structured(op) and (len(loops) > 0 or not is_convertible(op))
    if not whole and (not is_structured(op) or (alone and not has_apart_windows(op))):
        return False
    block = op.block
    if alone:
        _Debufferizer(rewrite.module, block).run_windows(op)
    elif whole:
        _Debufferizer(rewrite.module, block, parts).run()
    elif for_readers and has_known_buffers(op):
        _Debufferizer(rewrite.module, block).run_producer(op)
    else:
        before = _producers(rewrite.module, op) if with_producers else []
        _Debufferizer(rewrite.module, block).run_one(op)
        for producer in before:
            _Debufferizer(rewrite.module, block).run_producer(producer)
    run_passes(rewrite.module, "cse")
    rewrite.remark("converted from memrefs to tensors (distinct arguments taken as distinct buffers)")
    return True


def overwritten_between(module: ir.Module, op: ir.Operation, later: ir.Operation) -> ir.Operation | None:
    """The first op on memrefs between `op` and `later` that may write a buffer in which a tensor that `op` reads may
    lie once it is bufferized; None if there is none: then `op` reads the same where `later` stands."""
    (around, *_) = ancestors(op)
    homes, last = _homes(op), child_of(around, later)
    if not homes or last is None or last.block != op.block:
        return None
    memory, block = _Memory(module), ops_of(op.block)
    between = takewhile(lambda each: each != last, block[block.index(op) + 1 :])
    changes = (
        each for each in between if each.name != STORING and memory.touches(memory.done(each), homes, changing=True)
    )
    return next(changes, None)


def _homes(op: ir.Operation) -> set[ir.Value]:
    """The buffers in which tensors that `op` reads may lie: from which they, or what they are computed in place of,
    were read, and to which any of these is stored."""
    found, seen, waiting = set[ir.Value](), set[ir.Value](), list(op.operands)
    while waiting:
        value = waiting.pop()
        if value in seen or not isinstance(value.type, ir.RankedTensorType):
            continue
        seen.add(value)
        found.update(root_of(user.operands[1]) for user in users(value) if user.name == STORING and on_memrefs(user))
        if (made := producer(value)) is not None:
            found.update(root_of(v) for v in made.operands if made.name == READING)
            waiting += made.operands
    return found


class _Memory:
    """What ops of a block do to its buffers, as the module stands when it is asked."""

    def __init__(self, module: ir.Module) -> None:
        from ..proof.hosts.effects import Effects  # late: no statement needs it to be checked

        self.effects = Effects(module, through_tensors=False)

    def done(self, op: ir.Operation) -> tuple[Effect, ...] | None:
        """What an op does to memory that was there before; None where that is not known."""
        if self.effects.unseen(op) is not None:
            return None
        return tuple(effect for effect in self.effects.of(op) if effect.kind != "alloc")

    def touches(self, done: tuple[Effect, ...] | None, buffers: Iterable[ir.Value], *, changing: bool = False) -> bool:
        """Whether that touches one of the buffers, or changes it."""
        if not done:
            return done is None
        own = [window.buffer for value in buffers for window in self.effects.host.windows(value)]
        return any(not e.buffer.distinct(buffer) for e in done if e.changes or not changing for buffer in own)


def _producers(module: ir.Module, op: ir.Operation) -> list[ir.Operation]:
    """The ops on memrefs that make what `op` reads, and what these read, the last one first. Raises `NotLocalError`
    where one of them may stand in a part that is not there."""
    memory, block = _Memory(module), ops_of(op.block)
    needed = {op}
    for at in range(block.index(op), -1, -1):
        if block[at] in needed:
            read = [root_of(v) for n, v in enumerate(block[at].operands) if is_memref(v) and is_read(block[at], n)]
            makers = (_maker(memory, block[:at], root) for root in dict.fromkeys(read))
            needed.update(maker for maker in makers if maker is not None)
    return [each for each in reversed(block) if each in needed and each != op]


def _maker(memory: _Memory, before: list[ir.Operation], buffer: ir.Value) -> ir.Operation | None:
    """The op that wrote a buffer last, if it can be raised."""
    for op in reversed(before):
        if op.name == GAP:
            raise NotLocalError
        if memory.touches(memory.done(op), [buffer], changing=True):
            raisable = is_structured(op) and on_memrefs(op) and is_convertible(op) and has_known_buffers(op)
            return op if raisable else None
    return None


class _Debufferizer:
    """The walk over one block: `current` is the value of each buffer at this point, `written` are those that it differs
    from.

    Args:
        parts: windows that share nothing with others, by windows that show the same: each is a buffer of its own.
    """

    def __init__(self, module: ir.Module, block: ir.Block, parts: dict[ir.Value, ir.Value] | None = None) -> None:
        self.module, self.block, self.parts = module, block, parts or {}
        self.current: dict[ir.Value, ir.Value] = {}
        self.written: list[ir.Value] = []

    def run_one(self, op: ir.Operation) -> None:
        """Raise a single op: its buffers become values before it, and what it wrote goes back right after it."""
        after = ir.InsertionPoint.after(op)
        self._read(op)
        self._raise(op)
        self._store(after, self.written)

    def run_windows(self, op: ir.Operation) -> None:
        """Raise a single op on windows that have nothing in common: each is a buffer of its own."""
        after = ir.InsertionPoint.after(op)
        with ir.InsertionPoint(op):
            self.current |= {v: as_tensor(v) for v in dict.fromkeys(op.operands) if is_memref(v)}
        self._raise(op)
        self._store(after, self.written)

    def run_producer(self, op: ir.Operation) -> None:
        """Raise a single op, whose readers on tensors take its result; what it wrote goes back in front of the first op
        that looks at it otherwise. Raises `NotLocalError` where that may stand in a part that is not there."""
        memory, block = _Memory(self.module), ops_of(self.block)
        later = block[block.index(op) + 1 :]
        self._read(op)
        self._raise(op, apart=True)
        for buffer in self.written:
            before = self._hand_on(buffer, later, memory)
            if before is not None:
                self._store(ir.InsertionPoint(before), [buffer])
        self._drop_unused()

    def _hand_on(self, buffer: ir.Value, later: list[ir.Operation], memory: _Memory) -> ir.Operation | None:
        """Let those who read a buffer as a tensor take its value; the first op that needs the value in memory, None if
        there is none before all of it is written anew."""
        for op in [each for each in later if each.name != READING or each.operands[0] == buffer]:
            if op.name == GAP:
                raise NotLocalError
            if op.name == READING:
                later.remove(op)
                replace(op, [self.current[buffer]])
            elif op.name == STORING and op.operands[1] == buffer:
                return None
            elif memory.touches(memory.done(op), [buffer]):
                return None if op.name == "memref.dealloc" else op
        last = later[-1]
        alone = len(self.block.region.blocks) == 1 and not any(is_memref(v) for v in last.operands)
        return None if alone and made_by(buffer, *ALLOCATIONS) is not None else last

    def run(self) -> None:
        for op in ops_of(self.block):
            if op.name == "func.return":
                self._store(ir.InsertionPoint(op), [b for b in self.written if isinstance(root_of(b).owner, ir.Block)])
            elif (op.name == "memref.copy" or is_structured(op)) and on_memrefs(op):
                self._raise(op)  # an op that is on tensors already stays
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Erase what nobody uses any more: allocations, windows and values of them."""
        for op in reversed(ops_of(self.block)):
            if op.name == READING and not is_used(op.results[0]):
                op.erase()
            elif op.name in (*ALLOCATIONS, "memref.subview"):
                frees = [user for user in users(op.results[0]) if user.name == "memref.dealloc"]
                if len(frees) == len(users(op.results[0])):
                    for each in (*frees, op):
                        each.erase()

    def _read(self, op: ir.Operation) -> None:
        """The buffers of an op as values, as they are in front of it."""
        with ir.InsertionPoint(op):
            for root in [root_of(v) for v in op.operands if is_memref(v)]:
                if root not in self.current:
                    self.current[root] = as_tensor(root)

    def _value(self, buffer: ir.Value) -> ir.Value:
        """The current value of a buffer, or of a window of one, at the insertion point."""
        from ..ir.structured import empty

        kind, buffer = ir.MemRefType(buffer.type), self.parts.get(buffer, buffer)
        if not self._is_own(buffer) and (window := window_of(buffer)) is not None:
            offsets, sizes, strides = place_of(window)
            return part_of(self._value(window.operands[0]), sizes, offsets, strides)
        if buffer not in self.current:
            given = isinstance(root_of(buffer).owner, ir.Block)
            made = as_tensor(buffer) if given else empty(kind.shape, kind.element_type)
            self.current[buffer] = made
        return self.current[buffer]

    def _raise(self, op: ir.Operation, *, apart: bool = False) -> None:
        """The same op on tensors: regions and attributes move over, results appear. `apart`: see `starts_of`."""
        with ahead_of(op):
            values = [self._value(v) if is_memref(v) else v for v in op.operands]
            if is_structured(op):
                values = starts_of(op, values, apart=apart)
            if op.name == "memref.copy":
                outputs, results = [op.operands[1]], list(copy_to(values[1], values[0]).results)
            else:
                inputs, _ = segments(op)
                outputs = list(op.operands)[inputs:]
                types, given = [v.type for v in values[inputs:]], attributes(op)
                made = ir.Operation.create(op.name, types, values, given, regions=len(op.regions), loc=op.location)
                for old, new in zip(op.regions, made.regions, strict=True):
                    for block in list(old.blocks):
                        block.append_to(new)
                results = list(made.results)
        for buffer, result in zip(outputs, results, strict=True):
            buffer = self.parts.get(buffer, buffer)
            while not self._is_own(buffer) and (window := window_of(buffer)) is not None:
                buffer = window.operands[0]
                with ahead_of(op):
                    result = tensor.InsertSliceOp(result, self._value(buffer), [], [], [], *place_of(window)).result
            self.current[buffer] = result
            if buffer not in self.written:
                self.written.append(buffer)
        op.erase()

    def _is_own(self, buffer: ir.Value) -> bool:
        """Whether it has a value of its own, and is not seen as a part of another's."""
        return buffer in self.current or buffer in self.parts

    def _store(self, where: ir.InsertionPoint, buffers: Iterable[ir.Value]) -> None:
        with where:
            for buffer in buffers:
                store_tensor(self.current[buffer], buffer)


def starts_of(op: ir.Operation, values: Sequence[ir.Value], *, apart: bool = False) -> list[ir.Value]:
    """What a structured op on tensors gets for its operands `values`: in place of an output that it overwrites without
    a look at it, a tensor that holds nothing, made at the insertion point, so that it does not depend on who made the
    other. A buffer that nobody else reads in the op is kept, unless it is to be computed `apart` from that."""
    from ..ir.structured import empty

    inputs, given = segments(op)[0], list(values)
    for n, value in enumerate(given):
        if n < inputs or is_read(op, n) or not isinstance(value.type, ir.RankedTensorType):
            continue
        kept = ("tensor.empty",) if apart else ("tensor.empty", READING)
        if value not in given[:inputs] and made_by(value, *kept) is not None:
            continue
        written = [dimension_of(e) for e in structure(op).maps[n].results]
        if (
            None not in written
            and len(set(written)) == len(written)
            and ir.RankedTensorType(value.type).has_static_shape
        ):
            given[n] = empty(extents_of(value), element_type(value))
    return given


def start_apart(op: ir.Operation) -> None:
    """Let a structured op on tensors start from what `starts_of` says."""
    with ahead_of(op):
        for n, value in enumerate(starts_of(op, list(op.operands))):
            op.operands[n] = value
