"""The conversion from memrefs back to tensors: linalg ops on buffers get values, so that they tile
and fuse like any others.

A function that is straight-line code of linalg ops on buffers (arguments, allocations), or on
static windows of them, has one current value per buffer; a value for a window is inserted into it.
Each op becomes the same op on those values. At the end, every written argument receives its value
(`bufferization.materialize_in_destination`), which is in place after bufferization. If the function
contains loops or launches, only one op is converted: the op itself, or a producer, with readers that
take its result:

    linalg.exp ins(%a) outs(%t)                    %0 = linalg.exp ins(%a as a tensor) …
    gpu.launch_func … %b                    ->     gpu.launch_func … %b
    scf.forall … slices of to_tensor %t            scf.forall … slices of %0

Arguments are assumed to be distinct buffers.
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
from ..memory.views import may_be_accessed, root_memref
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
from .padded_buffers import drop_padding, padded_value

if TYPE_CHECKING:
    from ..proof.hosts.effects import Effect


def debufferize(
    rewrite: Rewriter,
    op: ir.Operation,
    *,
    for_readers: bool = False,
    with_producers: bool = False,
    with_starts: bool = False,
) -> bool:
    """Raises the function around `op` to tensors, or only `op` if the function contains other ops
    (a launch, a loop).

    Adds a remark and returns True; changes nothing and returns False if not even the op can be
    raised.

    Args:
        for_readers: ops that read the op's output as a tensor read its result instead; it is stored
            only for other readers.
        with_producers: also raise the ops that make the op's inputs, and in turn their producers.
        with_starts: also raise the ops that make the initial contents of the op's outputs.
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
        before = _producers(rewrite.module, op, starts=with_starts) if with_producers or with_starts else []
        _Debufferizer(rewrite.module, block).run_one(op)
        for producer in before:
            _Debufferizer(rewrite.module, block).run_producer(producer)
    run_passes(rewrite.module, "cse")
    rewrite.remark("converted from memrefs to tensors (distinct arguments taken as distinct buffers)")
    return True


def overwritten_between(module: ir.Module, op: ir.Operation, later: ir.Operation) -> ir.Operation | None:
    """The first op on memrefs between `op` and `later` that may write the buffer which, after
    bufferization, holds a tensor that `op` reads. None if there is none: then `op` would read the
    same values at `later`."""
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
    """The buffers that may hold, after bufferization, the tensors that `op` reads: those from which
    these tensors, or the tensors that they overwrite, were read, and those into which one of them
    is stored."""
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
    """The effects of the ops of a block on its buffers, for the current state of the module."""

    def __init__(self, module: ir.Module) -> None:
        from ..proof.hosts.effects import Effects  # late import: checking a schedule does not need it

        self.effects = Effects(module, through_tensors=False)

    def done(self, op: ir.Operation) -> tuple[Effect, ...] | None:
        """The effects of an op on memory that existed before it; None if they are unknown."""
        if self.effects.unseen(op) is not None:
            return None
        return tuple(effect for effect in self.effects.of(op) if effect.kind != "alloc")

    def changes(self, op: ir.Operation, buffers: Iterable[ir.Value]) -> bool:
        """Whether an op may change one of the buffers."""
        stored = op.name == STORING and root_of(op.operands[1]) in map(root_of, buffers)
        return stored or self.touches(self.done(op), buffers, changing=True)

    def touches(self, done: tuple[Effect, ...] | None, buffers: Iterable[ir.Value], *, changing: bool = False) -> bool:
        """Whether the effects `done` touch (with `changing`: change) one of the buffers; true for
        unknown effects."""
        if not done:
            return done is None
        own = [window.buffer for value in buffers for window in self.effects.host.windows(value)]
        return any(not e.buffer.distinct(buffer) for e in done if e.changes or not changing for buffer in own)


def _producers(module: ir.Module, op: ir.Operation, *, starts: bool) -> list[ir.Operation]:
    """The ops on memrefs that make the inputs of `op`, and in turn their producers, the last one
    first; with `starts`, also those that make the initial contents of its outputs. Raises
    `NotLocalError` if one of them may be in a part of the function that was carved out."""
    memory, block = _Memory(module), ops_of(op.block)
    needed = {op}
    for at in range(block.index(op), -1, -1):
        if block[at] in needed:
            operands = list(enumerate(block[at].operands))[segments(op)[0] if starts else 0 :]
            read = [root_of(v) for n, v in operands if is_memref(v) and is_read(block[at], n)]
            makers = (_maker(memory, block[:at], root) for root in dict.fromkeys(read))
            needed.update(maker for maker in makers if maker is not None)
    return [each for each in reversed(block) if each in needed and each != op]


def _maker(memory: _Memory, before: list[ir.Operation], buffer: ir.Value) -> ir.Operation | None:
    """The last op before that wrote a buffer, if it can be raised; otherwise None."""
    for op in reversed(before):
        if op.name == GAP and may_be_accessed(op, buffer):
            raise NotLocalError
        if op.name != GAP and memory.touches(memory.done(op), [buffer], changing=True):
            raisable = is_structured(op) and on_memrefs(op) and is_convertible(op) and has_known_buffers(op)
            return op if raisable else None
    return None


class _Debufferizer:
    """The conversion of one block: `current` maps each buffer to its value at this point; `written`
    are the buffers with a value that differs from their contents.

    Args:
        parts: the disjoint windows, each mapped to the first window with the same view: each is
            treated as a buffer.
    """

    def __init__(self, module: ir.Module, block: ir.Block, parts: dict[ir.Value, ir.Value] | None = None) -> None:
        self.module, self.block, self.parts = module, block, parts or {}
        self.current: dict[ir.Value, ir.Value] = {}
        self.written: list[ir.Value] = []

    def run_one(self, op: ir.Operation) -> None:
        """Raises a single op: its buffers become values before it, and its outputs are stored right
        after it."""
        after = ir.InsertionPoint.after(op)
        self._read(op)
        self._raise(op)
        self._store(after, self.written)
        for buffer in self.current:
            drop_padding(buffer)

    def run_windows(self, op: ir.Operation) -> None:
        """Raises a single op on disjoint windows: each is treated as a buffer."""
        after = ir.InsertionPoint.after(op)
        with ir.InsertionPoint(op):
            self.current |= {v: as_tensor(v) for v in dict.fromkeys(op.operands) if is_memref(v)}
        self._raise(op)
        self._store(after, self.written)

    def run_producer(self, op: ir.Operation) -> None:
        """Raises a single op, and lets its readers on tensors use its result; the output is stored
        before the first op that accesses it otherwise. Raises `NotLocalError` if that op may be in
        a part that was carved out."""
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
        """Replaces reads of a buffer as a tensor by its value, until the buffer changes. Returns
        the first op that needs the value in memory; None if there is none before the buffer is
        overwritten completely."""
        first: ir.Operation | None = None
        for op in [*later]:
            if op.name == GAP and may_be_accessed(op, buffer):
                raise NotLocalError
            if op.name == GAP:
                continue
            if op.name == READING and op.operands[0] == buffer:
                later.remove(op)
                replace(op, [self.current[buffer]])
            elif op.name == READING:
                first = first or (op if root_memref(op.operands[0]) == root_memref(buffer) else None)
            elif op.name in (STORING, "memref.dealloc") and op.operands[-1] == buffer:
                return first
            elif memory.touches(done := memory.done(op), [buffer]):
                first = first or op
                if memory.touches(done, [buffer], changing=True):
                    return first
        last = later[-1]
        alone = len(self.block.region.blocks) == 1 and not any(is_memref(v) for v in last.operands)
        return first or (None if alone and made_by(buffer, *ALLOCATIONS) is not None else last)

    def run(self) -> None:
        for op in ops_of(self.block):
            if op.name == "func.return":
                self._store(ir.InsertionPoint(op), [b for b in self.written if isinstance(root_of(b).owner, ir.Block)])
            elif (op.name == "memref.copy" or is_structured(op)) and on_memrefs(op):
                self._raise(op)  # an op that is on tensors already stays
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Erases unused allocations, windows and values of them."""
        for op in reversed(ops_of(self.block)):
            if op.name == READING and not is_used(op.results[0]):
                op.erase()
            elif op.name in (*ALLOCATIONS, "memref.subview"):
                frees = [user for user in users(op.results[0]) if user.name == "memref.dealloc"]
                if len(frees) == len(users(op.results[0])):
                    for each in (*frees, op):
                        each.erase()

    def _read(self, op: ir.Operation) -> None:
        """Reads the buffers of an op as values, before the op."""
        with ir.InsertionPoint(op):
            for root in [root_of(v) for v in op.operands if is_memref(v)]:
                if root not in self.current:
                    padded = padded_value(op, root, _Memory(self.module).changes)
                    self.current[root] = padded or as_tensor(root)

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
        """Rebuilds an op on tensors: regions and attributes move over, and it gets results.
        `apart`: see `starts_of`."""
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
        """Whether the buffer (or window) has its own value, and is not a part of another buffer's."""
        return buffer in self.current or buffer in self.parts

    def _store(self, where: ir.InsertionPoint, buffers: Iterable[ir.Value]) -> None:
        with where:
            for buffer in buffers:
                store_tensor(self.current[buffer], buffer)


def starts_of(op: ir.Operation, values: Sequence[ir.Value], *, apart: bool = False) -> list[ir.Value]:
    """The operands of a structured op on tensors: `values`, with each output that it overwrites
    without reading it replaced by an empty tensor, made at the insertion point. That removes the
    dependence on the producer of the output. A buffer that the op reads nowhere else is kept,
    unless the result is to be computed `apart` from it."""
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
    """Replaces the operands of a structured op on tensors by those of `starts_of`."""
    with ahead_of(op):
        for n, value in enumerate(starts_of(op, list(op.operands))):
            op.operands[n] = value
