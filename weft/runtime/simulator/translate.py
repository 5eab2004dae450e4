"""`gpu.func` → Python source: one function that runs a batch of lanes through the kernel.

Each SSA value becomes a Python variable. A pure op with operands from outside its loop is hoisted
out of that loop, address arithmetic included. Masks are variables too: None where all lanes are
active.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...dsl.records import record
from ...interpreter.hardware.hopper.tensor_maps import is_tensor_map
from ...interpreter.hardware.queries import OF_GROUPS
from ...interpreter.ir.functions import inputs_of, name_of, workgroup_buffers
from ...interpreter.ir.mlir import ir, operations
from ...interpreter.memory.layouts import MemrefLayout
from ..devices.report import Site
from ..form.kernel_form import reader_of, refuse, registrar
from .arguments import BOOL, INT64, ArgumentType, box_shape, element_dtype, place, value_type


@record
class Val:
    """A value in the generated code.

    Args:
        text: a variable, or a literal.
        depth: the depth of the scope in which it is defined; 0 is the whole batch.
        uniform: it is known to be one scalar for all lanes. A uniform value of 64 bits is a Python
            int, a uniform i1 any boolean.
        shape: the shape of its vector type; empty for a scalar.
        const: its value, if that is a known integer.
    """

    text: str
    depth: int
    dtype: np.dtype
    uniform: bool = False
    shape: tuple[int, ...] = ()
    const: int | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def pinned(self) -> str:
        """The text, with a NumPy type, for a variable to which the value of another lane may be
        assigned later."""
        return f"N.typed({self.text})" if self.uniform and self.dtype in (INT64, BOOL) else self.text


@record
class Mem:
    """A memref: the buffer (a variable) and a strided window into it.

    `base`: the beginning of the memref from which this one was derived; `reinterpret_cast` counts
    from there. `exact`: all indices inside the window are inside the buffer.
    """

    root: Val
    base: Val
    offset: Val
    sizes: tuple[Val, ...]
    strides: tuple[Val, ...]
    dtype: np.dtype
    exact: bool = True

    @property
    def parts(self) -> tuple[Val, ...]:
        return (self.root, self.base, self.offset, *self.sizes, *self.strides)

    def of(self, parts: Sequence[Val]) -> Mem:
        """A memref of the same type with other parts. It need not be inside its buffer."""
        root, base, offset, *rest = parts
        rank = len(self.sizes)
        return replace(self, root=root, base=base).window(offset, rest[:rank], rest[rank:])

    def window(self, offset: Val, sizes: Iterable[Val], strides: Iterable[Val]) -> Mem:
        """Another window into the same buffer. It need not be inside the buffer."""
        return replace(self, offset=offset, sizes=tuple(sizes), strides=tuple(strides), exact=False)


@dataclass
class OpenBlock:
    loop: bool
    lines: list[str] = field(default_factory=list)
    known: dict[str, Val] = field(default_factory=dict)
    """Pure expressions available in this scope."""


Made = Val | Mem
HANDLERS: dict[str, Callable[[Translator, ir.Operation], Made | None]] = {}
"""By op name, the handler that translates it: returns its result, unless it binds the results
itself. `ops/` fills it."""
handles = registrar(HANDLERS)


def literal(value: int) -> Val:
    return Val(str(value) if value >= 0 else f"({value})", 0, INT64, uniform=True, const=value)


class Translator:
    """Translates one kernel; makes `source` and `constants`.

    Args:
        names: by place, the name of an op before normalization.
    """

    def __init__(self, function: ir.Operation, names: Mapping[str, str]) -> None:
        self.function = function
        self.names = names
        self.grouped = any(True for _ in operations(function, *OF_GROUPS))
        self.scopes = [OpenBlock(loop=False)]
        self.values: dict[ir.Value, Made] = {}
        self.constants: dict[str, Any] = {}
        self.sites: list[Site] = []
        self.atomics: set[int] = set()
        self.updates: dict[int, str] = {}
        self.globals: dict[str, Mem] = {}
        self.stored: set[str] = set()  # buffers that some op writes, by variable
        self.buffers: set[str] = set()  # variables that always mean the same buffer
        self.arguments: list[ArgumentType] = []
        self.mask = "None"
        self._count = 0

    # ---- names and lines -------------------------------------------------------------------------

    def fresh(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    @property
    def depth(self) -> int:
        return len(self.scopes) - 1

    def emit(self, line: str) -> None:
        self.scopes[-1].lines.append(line)

    @contextmanager
    def block(self, header: str, *, loop: bool = False, mask: str | None = None) -> Iterator[None]:
        """A context: the lines that are emitted in it are indented under `header`; pure lines may
        be hoisted before it."""
        outer = self.mask
        self.mask = outer if mask is None else mask
        self.scopes.append(OpenBlock(loop))
        yield
        lines = self.scopes.pop().lines
        self.mask = outer
        self.emit(header)
        self.scopes[-1].lines += [f"  {line}" for line in lines or ["pass"]]

    def define(
        self,
        expression: str,
        operands: Sequence[Val],
        dtype: np.dtype,
        shape: tuple[int, ...] = (),
        *,
        pure: bool = True,
        uniform: bool | None = None,
    ) -> Val:
        """A new variable for `expression`. A pure expression is computed once, before the loops in
        which it is invariant."""
        home = max((v.depth for v in operands), default=0)
        target = self.depth
        if pure:
            loops = [i for i in range(home + 1, self.depth + 1) if self.scopes[i].loop]
            target = loops[0] - 1 if loops else self.depth
            known = self.scopes[target].known.get(expression)
            if known is not None:
                return known
        same = all(v.uniform for v in operands) if uniform is None else uniform
        made = Val(self.fresh(), target, dtype, same and pure and not shape, shape)
        self.scopes[target].lines.append(f"{made.text} = {expression}")
        if pure:
            self.scopes[target].known[expression] = made
        return made

    def constant(self, value: Any, dtype: np.dtype, shape: tuple[int, ...] = ()) -> Val:
        name = self.fresh("c")
        self.constants[name] = value
        return Val(name, 0, dtype, uniform=not shape, shape=shape)

    def site(self, op: ir.Operation) -> int:
        where = place(op)
        aligned = ir.IntegerAttr(op.attributes["alignment"]).value if "alignment" in op.attributes else None
        self.sites.append(Site(len(self.sites), self.names.get(where, op.name) if where else op.name, where, aligned))
        return len(self.sites) - 1

    # ---- values ----------------------------------------------------------------------------------

    def value(self, operand: ir.Value) -> Val:
        found = self.values[operand]
        if isinstance(found, Mem):
            raise refuse("W0750", "a memref is used where a number is expected", self.function)
        return found

    def memref(self, operand: ir.Value) -> Mem:
        found = self.values[operand]
        if isinstance(found, Val):
            raise refuse("W0750", "a number is used where a memref is expected", self.function)
        return found

    def operands(self, op: ir.Operation, first: int = 0) -> list[Val]:
        return [self.value(operand) for operand in list(op.operands)[first:]]

    def result(self, op: ir.Operation, expression: str, operands: Sequence[Val], *, pure: bool = True) -> Val:
        """A new variable for an expression of the type of the op's single result."""
        dtype, shape = value_type(op.results[0].type, op)
        return self.define(expression, operands, dtype, shape, pure=pure)

    def nonzero(self, divisor: Val, op: ir.Operation) -> Val:
        """The divisor, with the check that records a fault for a zero."""
        text = f"L.nonzero({divisor.text}, {self.mask}, {self.site(op)})"
        return self.define(text, [divisor], divisor.dtype, divisor.shape, pure=False)

    # ---- index arithmetic ------------------------------------------------------------------------

    def add(self, a: Val, b: Val) -> Val:
        if a.const is not None and b.const is not None:
            return literal(a.const + b.const)
        if a.const == 0 or b.const == 0:
            return b if a.const == 0 else a
        return self.define(f"{a.text} + {b.text}", [a, b], INT64)

    def multiply(self, a: Val, b: Val) -> Val:
        if a.const is not None and b.const is not None:
            return literal(a.const * b.const)
        if a.const == 1 or b.const == 1:
            return b if a.const == 1 else a
        if a.const == 0 or b.const == 0:
            return literal(0)
        return self.define(f"{a.text} * {b.text}", [a, b], INT64)

    def total(self, terms: Sequence[Val]) -> Val:
        """The sum of terms, those of outer scopes first, so that all partial sums except the
        innermost are hoisted."""
        found = literal(0)
        for term in sorted(terms, key=lambda v: (v.depth, not v.uniform)):
            found = self.add(found, term)
        return found

    # ---- regions ---------------------------------------------------------------------------------

    def run(self, block: ir.Block) -> list[ir.Value]:
        """Translates the ops of a block; returns the operands of its terminator."""
        for view in block.operations:
            operation = view.operation
            if operation.name in ("scf.yield", "scf.condition", "gpu.return"):
                self.left(list(operation.operands))
                return list(operation.operands)
            made = reader_of(operation, HANDLERS, "the simulator", "W0750", "W0750")(self, operation)
            if made is not None:
                self.values[operation.results[0]] = made
            self.translated(operation)
        return []

    def translated(self, op: ir.Operation) -> None:
        """A hook for subclasses, called after each translated op."""

    def left(self, values: Sequence[ir.Value]) -> None:
        """A hook for subclasses, called at the end of a block that yields these values."""

    def parameters(self, op: ir.Operation) -> list[str]:
        """Binds the kernel's arguments; returns the names of the generated function's parameters."""
        names: list[str] = []

        def parameter(prefix: str = "p", dtype: np.dtype = INT64) -> Val:
            names.append(self.fresh(prefix))
            return Val(names[-1], 0, dtype, uniform=True)

        inputs = inputs_of(op)
        arguments = list(op.regions[0].blocks[0].arguments)
        for number, argument in enumerate(arguments[:inputs]):
            called = name_of(argument) or f"arg{number}"
            if is_tensor_map(argument.type):
                self.values[argument] = root = parameter("R")
                self.buffers.add(root.text)
                boxes = box_shape(argument, op)
                shape = (None,) * boxes.rank
                self.arguments.append(ArgumentType(called, boxes.dtype, shape, root=root.text, boxes=boxes))
                continue
            if not isinstance(argument.type, ir.MemRefType):
                dtype, shape = value_type(argument.type, op)
                if shape:
                    raise refuse("W0751", "a kernel argument is a vector", op)
                self.values[argument] = parameter("p", dtype)
                self.arguments.append(ArgumentType(called, dtype, None))
                continue
            root, offset = parameter("R"), parameter()
            sizes, strides = (tuple(parameter() for _ in argument.type.shape) for _ in range(2))
            self.buffers.add(root.text)
            dtype, layout = element_dtype(argument.type.element_type, op), MemrefLayout.of(argument.type, op)
            start = f"({offset.text} - {layout.offset})" if layout.offset else offset.text
            base = literal(0) if layout.offset is None else replace(offset, text=start)
            self.values[argument] = Mem(root, base, offset, sizes, strides, dtype)
            steps = () if layout.plain else layout.strides
            self.arguments.append(ArgumentType(called, dtype, layout.shape, root=root.text, strides=steps))
        workgroup = workgroup_buffers(op)
        for number, attribution in enumerate(arguments[inputs:]):
            shared = number < workgroup
            prefix, index = ("shared", number) if shared else ("private", number - workgroup)
            self.values[attribution] = self.allocate(
                attribution.type, shared, name_of(attribution) or f"{prefix}{index}", op
            )
        return names

    def allocate(self, kind: ir.Type, shared: bool, name: str, op: ir.Operation) -> Mem:
        """Workgroup memory, created once per batch, or a thread's private memory, created at the
        op."""
        memref = ir.MemRefType(kind)
        if not memref.has_static_shape:
            raise refuse("W0751", f"memory of dynamic size inside a kernel: `{kind}`", op)
        shape, layout = tuple(memref.shape), MemrefLayout.of(memref, op)
        dtype = element_dtype(memref.element_type, op)
        maker = "Shared" if shared else "Private"
        root = Val(self.fresh("R"), 0 if shared else self.depth, INT64)
        self.buffers.add(root.text)
        described = f"{name!r}, {shape!r}, {self.constant(dtype, INT64).text}"
        window = ""
        if not layout.in_rows:
            if layout.reach is None or layout.reach[0] < 0:
                raise refuse(
                    "W0751", f"memory inside a kernel whose layout has no first element, or is open: `{kind}`", op
                )
            window = f", window={(name, layout.offset, shape, layout.strides)!r}"
        line = f"{root.text} = {maker}({described}, L{window})"
        if shared and self.grouped:
            line = f"{root.text} = L.shared({self._count}, {described}{window})"
        return self.whole(root, line, memref, op)

    def whole(self, root: Val, line: str, kind: ir.MemRefType, op: ir.Operation) -> Mem:
        """The whole of a buffer, created by `line`."""
        self.scopes[root.depth].lines.append(line)
        layout = MemrefLayout.of(kind, op)
        offset, *steps = (literal(n or 0) for n in (layout.offset, *layout.strides))
        sizes, dtype = tuple(map(literal, kind.shape)), element_dtype(kind.element_type, op)
        return Mem(root, literal(0), offset, sizes, tuple(steps), dtype)

    def source(self) -> str:
        """The text of `kernel(L, parameters…)`. Raises W0750 and W0751."""
        names = self.parameters(self.function)
        self.run(self.function.regions[0].blocks[0])
        # a store through a variable that may mean several buffers may go to each
        for argument in self.arguments:
            argument.changes = argument.root in self.stored or not self.stored <= self.buffers
        header = ", ".join(["L", *names])
        lines = [*(["yield from ()"] if self.grouped else []), *self.scopes[0].lines, "return"]
        return "\n".join([f"def kernel({header}):", *(f"  {line}" for line in lines), ""])
