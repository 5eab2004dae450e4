"""One `gpu.func` as the text of one `__global__` function.

Ops are written in program order. A value with a single use becomes part of the expression that uses
it; others become `const` variables. A load is never moved across a store, a barrier or a loop:
before each, pending loads are bound to variables (`flush`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...dsl.records import record
from ...interpreter.hardware.limits import ALIGNMENT
from ...interpreter.hardware.queries import ORDERED
from ...interpreter.ir.functions import maker, name_of
from ...interpreter.ir.mlir import ir, made_by, operations, users
from ...interpreter.memory.effects import accesses
from ...interpreter.memory.shared import alignments
from ...interpreter.memory.views import VIEWS
from ..form.kernel_form import reader_of, refuse, registrar
from .index_names import index_name
from .values.blocks import BlockNumbers
from .values.expression import Expr, NameScope, identifier, name
from .values.sizes import HostFacts
from .values.types import Range, element
from .values.views import NamedMemory, NamedView, access

Lanes = tuple[Expr, ...]
Binding = Lanes | NamedView

_SEQUENCED = ORDERED | {"gpu.printf", "gpu.return"}
"""Ops without memory accesses that a pending load must not move across."""
LOOPS = frozenset(["scf.for", "scf.while"])
LONGEST = 100  # length of an expression, in characters, beyond which it is bound to a name


class TextLine(NamedTuple):
    """A line of the text.

    Args:
        depth: its nesting depth in blocks.
        array: the private array that it declares, if any.
        aside: the name that it declares, if the line is omitted unless another line reads that
            name.
        reads: names from such lines that it reads.
    """

    text: str
    depth: int = 0
    array: str = ""
    aside: str = ""
    reads: frozenset[str] = frozenset()


@dataclass
class TextBlock:
    """One block of the text that is being written."""

    scope: NameScope
    lines: list[TextLine] = field(default_factory=list)
    pending: dict[ir.Value, None] = field(default_factory=dict)


@record
class SharedArray:
    """An array in shared memory: its size and alignment in bytes."""

    memory: NamedMemory
    size: int
    alignment: int


@dataclass
class KernelWriter:
    """The state while one kernel is written.

    Args:
        func: the `gpu.func`.
        head: declarations at the kernel's top, by name.
        aligned: buffers with 16-byte accesses, for the alignment in their declarations.
        read: names that are declared only if they are read, and are.
        constant: gives the name of a module-level constant for a `memref.global`'s symbol.
        narrow: indices have 32 bits; the host checks that they suffice.
        folded: the text is for folded grids; ignored for a known grid, which decides itself.
        facts: the numbers that the text needs from the host, and its conditions on sizes.
    """

    func: ir.Operation
    constant: Callable[[ir.Operation], NamedMemory]
    block: tuple[int, int, int] | None = None
    values: dict[ir.Value, Binding] = field(default_factory=dict)
    frames: list[TextBlock] = field(default_factory=lambda: [TextBlock(NameScope())])
    head: dict[str, str] = field(default_factory=dict)
    shared: list[SharedArray] = field(default_factory=list)
    aligned: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    narrow: bool = False
    folded: bool = False

    def __post_init__(self) -> None:
        self.facts = HostFacts(self.narrow, self.on_top)
        self.blocks = BlockNumbers.of(self.func, self.facts, folded=self.folded)
        self.alignments = alignments(self.func)

    # ---- the text -------------------------------------------------------------------------------------------------

    @property
    def frame(self) -> TextBlock:
        return self.frames[-1]

    def line(self, text: str, *, array: str = "") -> None:
        self.frame.lines.append(TextLine(text, array=array))

    def fresh(self, base: str, *, given: bool = False) -> str:
        """A free name in the current block. `given`: it is the user's, and is kept if it is free."""
        return self.frame.scope.fresh(identifier(base), given=given)

    def on_top(self, base: str, *, given: bool = False) -> str:
        """A name for a declaration at the kernel's top: free both there and in the current blocks."""
        scope = self.frames[0].scope
        variable = scope.fresh(identifier(base), given=given)
        while any(variable in frame.scope.taken for frame in self.frames[1:]):
            variable = scope.fresh(identifier(base))
        return variable

    @contextmanager
    def nested(self) -> Iterator[TextBlock]:
        """Directs lines into a new block, which is yielded; the caller adds its lines to the text."""
        inner = TextBlock(NameScope(self.frame.scope))
        self.frames.append(inner)
        yield inner
        self.frames.pop()

    def put(self, opening: str, body: Sequence[TextLine], closing: str = "}") -> None:
        """Writes a braced block."""
        if opening:
            self.line(opening)
        self.frame.lines.extend(line._replace(depth=line.depth + 1) for line in body)
        self.line(closing)

    def share(self, value: ir.Value, memory: NamedMemory, size: int) -> None:
        """Declares shared memory for `value` at the kernel's top; `size` in bytes."""
        self.shared.append(SharedArray(memory, size, self.alignments.get(value, ALIGNMENT)))

    # ---- values -----------------------------------------------------------------------------------------------------

    def expr(self, value: ir.Value) -> Expr:
        """The expression of a scalar value, for immediate use in the text."""
        lanes = self.lanes(value)
        if len(lanes) == 1:
            return lanes[0]
        raise refuse("W0503", f"a value of type {value.type} is not allowed here", maker(value))

    def atom(self, value: ir.Value, base: str = "v") -> Expr:
        """The expression as a name or a literal, for operations that repeat their operand."""
        return self.named(self.expr(value), base)

    def exprs(self, values: Sequence[ir.Value]) -> tuple[Expr, ...]:
        return tuple(self.expr(v) for v in values)

    def lanes(self, value: ir.Value) -> Lanes:
        """The elements of a vector value; of a scalar, its only element."""
        bound = self._take(value)
        if isinstance(bound, NamedView):
            raise refuse("W0503", "a memref is not allowed here", maker(value))
        return bound

    def view(self, value: ir.Value) -> NamedView:
        bound = self._take(value)
        if not isinstance(bound, NamedView):
            raise refuse("W0503", f"a value of type {value.type} is not a memref", maker(value))
        return bound

    def _take(self, value: ir.Value) -> Binding:
        self.frame.pending.pop(value, None)
        return self.values[value]

    def named(self, e: Expr, base: str = "v", *, aside: bool = False) -> Expr:
        """`e` itself if it is a name or a literal, else a new variable with its value.

        Args:
            aside: whether it is a size, a stride or an offset of a memref, which is declared only
                if it is read.
        """
        if e.atom:
            return e
        known, type = e.range, e.type
        if type == "long long" and known is not None and known.fits(32):
            type = "int"
        return self.variable(e, type, base, known, aside=aside)

    def variable(self, made: Expr, type: str, base: str, known: Range | None, *, aside: bool = False) -> Expr:
        """Declares a variable with the value of `made`."""
        variable = self.fresh(base)
        text, found = f"const {type} {variable} = {made.text};", name(variable, type, known, host=made.host)
        if aside:
            self.frame.lines.append(TextLine(text, aside=variable, reads=made.names))
            return replace(found, names=frozenset([variable]))
        self.line(text)
        self.read |= made.names
        return found

    def bind(self, value: ir.Value, *made: Expr, base: str | None = None) -> None:
        """Binds a result to its elements (one for a scalar): inline if it has a single use, else as
        variables."""
        uses = users(value)
        if not uses:
            return
        # arithmetic and views may fold the name away
        if not all(user.name.startswith(("arith.", "affine.")) or user.name in VIEWS for user in uses):
            self.read.update(*(e.names for e in made))
        waits = len(uses) == 1 and all(len(e.text) <= LONGEST and self._may_wait(value, e, uses[0]) for e in made)
        texts = [e.text for e in made if not e.atom]
        short = not isinstance(value.type, ir.VectorType) and made[0].is_offset
        short = short and not any(user.name == "memref.subview" for user in uses)
        if short or not texts or (waits and len(set(texts)) == len(texts)):
            self.values[value] = made
            if any(e.reads for e in made):
                self.frame.pending[value] = None
        else:
            self.values[value] = self.declare(value, made, base)

    def declare(self, value: ir.Value, made: Lanes, base: str | None = None) -> Lanes:
        """Declares the elements as variables of the value's type, equal expressions once."""
        kind, count = element(value.type, maker(value))
        base = base or (self.base_name(value) if count is None else "v")
        written: dict[str, Expr] = {}
        for e in made:
            if e.text not in written:
                known = e.range if kind.integer or kind.boolean else None
                plain = e.atom and count is not None
                written[e.text] = e if plain else self.variable(e, kind.variable(e.range), base, known)
        return tuple(written[e.text] for e in made)

    def flush(self) -> None:
        """Declares variables for the pending loads, before an op that writes."""
        for value in list(self.frame.pending):
            bound = self.values[value]
            if not isinstance(bound, NamedView):
                self.values[value] = self.declare(value, bound)
        self.frame.pending.clear()

    def _may_wait(self, value: ir.Value, made: Expr, op: ir.Operation) -> bool:
        """Whether the expression may be inlined at its only use: no loop is between, and, for a
        load, no region at all."""
        home = value.owner if isinstance(value.owner, ir.Block) else maker(value).block
        while op.block != home:
            op = op.parent.operation
            if made.reads or op.name in LOOPS:
                return False
        return not (made.reads and op.name in LOOPS)

    def base_name(self, value: ir.Value) -> str:
        """The name an engineer would choose for the value, by its uses."""
        if (given := name_of(value)) is not None:
            return given
        kind = str(value.type)
        if kind == "index":
            return index_name(value)
        return "v" if kind != "i1" else self._condition_name(value)

    def _condition_name(self, value: ir.Value) -> str:
        """`in_row` for a comparison of `row` with its bound."""
        op = made_by(value, "arith.cmpi", "arith.andi")
        if op is None:
            return "cond"
        compared = self.values.get(op.operands[0])
        if op.name == "arith.cmpi" and isinstance(compared, tuple) and compared[0].base:
            return f"in_{compared[0].base}" if compared[0].atom or compared[0].is_offset else "inside"
        return "inside"

    # ---- blocks -----------------------------------------------------------------------------------------------------

    def write_block(self, block: ir.Block) -> ir.Operation:
        """Writes all ops of a block except its terminator, which is returned."""
        ops = [op.operation for op in block.operations]
        for op in ops[:-1]:
            self.write(op)
        return ops[-1]

    def write(self, op: ir.Operation) -> None:
        writer = reader_of(op, WRITERS, "the CUDA emitter", "W0501", "W0503")
        if op.name in LOOPS or (len(op.regions) and has_effects(op)):
            self.flush()
        made = writer(self, op)
        if isinstance(made, NamedView):
            self.values[op.results[0]] = made
        elif made is not None:
            self.bind(op.results[0], *made)

    def target(self, view: NamedView, indices: Sequence[Expr]) -> Expr:
        """The element that a store writes; marks its buffer as not `const`."""
        if view.buffer.space == "constant":
            raise refuse("W0503", f"a store to the constant {view.buffer.root}", self.func)
        self.written.add(view.buffer.root)
        return self.place(view, indices)

    def place(self, view: NamedView, indices: Sequence[Expr]) -> Expr:
        """An element, for immediate use in the text."""
        made = access(view.buffer, view.buffer_indices(tuple(indices)))
        self.read |= made.names
        return made

    def single_block(self, op: ir.Operation, region: int = 0) -> ir.Block:
        blocks = list(op.regions[region].blocks)
        if len(blocks) != 1:
            hint = '`run-pass "lift-cf-to-scf"` makes structured control flow of the branches'
            raise refuse("W0504", f"a region of `{op.name}` has {len(blocks)} blocks, not one", op, hint=hint)
        return blocks[0]


WRITERS: dict[str, Callable[[KernelWriter, ir.Operation], Binding | None]] = {}
writes = registrar(WRITERS)
"""Registers a function of a `KernelWriter` and an op as the writer of ops with these names; all
writers are in `dialects`.

A writer returns the value of the op's result, or None if it has bound the results itself.
"""


def has_effects(op: ir.Operation) -> bool:
    """Whether the op, or one nested in it, writes, synchronizes or declares."""
    each = ((inner, accesses(inner)) for inner in operations(op))
    return any(found is None or inner.name in _SEQUENCED or any(a.changes for a in found) for inner, found in each)
