"""The syntax tree of a `.weft` file: frozen data classes with spans, without behaviour.

The parser makes it; the checker, the interpreter and the formatter use it. Statements have one
generic node (`StatementNode`): the keyword, and the fields by the names of the grammar's rules. The
file of each statement defines what its fields mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum
from typing import Literal as Lit

from .diagnostics import Source, Span
from .records import record

ITEMS = ("let", "append", "require", "if", "foreach", "versions", "alternatives", "return")
"""Words, other than statements' keywords, that begin a line of a schedule."""

CONTROL = (*ITEMS, "else", "schedule", "payload", "include")

KINDS: Mapping[str, str] = {
    "contraction": "sums of products of two inputs, each read at some of the op's dimensions: matrix products of any form",
    "convolution": "sums of products of a window of an input and a filter",
    "pooling": "a reduction of windows of an input",
    "reduction": "any other op with a reduced dimension: sums, extremes, argmax, a scan",
    "fill": "one value for all elements",
    "copy": "the elements of an input, unchanged and in the same order",
    "transpose": "the elements of an input, with their axes in another order",
    "broadcast": "the elements of an input, repeated along further axes",
    "gather": "elements of an input at places that are computed: by data, or by arithmetic on the dimensions",
    "elementwise": "any other op that computes each element of its results from the elements at its place",
    "any": "each of these, other ops of linalg, and loops",
}
"""Kind → the ops of it. A structured op is of exactly one kind besides `any`: the first that it
fits."""

LOOP_KINDS = ("loop", "reduction loop", "parallel loop")
"""Kinds of loops that `match` takes, too."""

PROPERTIES: Mapping[str, tuple[Lit["int", "bool", "type", "str", "list"], str]] = {
    "kind": ("str", "its kind, as `match` takes it"),
    "rank": ("int", "the number of axes of its result"),
    "type": ("type", "the element type of its result"),
    "sizes": ("list", "the number of iterations along each of its dimensions, in the order of `tile`"),
    "dims": ("list", "the dimension along each axis of its result, as a number"),
    "combiner": (
        "str",
        'the op of arith that combines terms, `"addf"`, `"maximumf"`; of other reductions a description',
    ),
    "iterations": ("int", "the number of all its iterations"),
    "terms": ("int", "how many terms make an element of its result: the number of its reduced iterations"),
    "innermost": (
        "str",
        'the iterator of the dimension along which neighbouring elements of its first input are read: `"parallel"`, `"reduction"`',
    ),
    "mapped": ("bool", "whether it has a `map`, or is inside a loop or an op that has one"),
    "readers": ("int", "the number of ops that read its results, and returns count, too"),
    "inputs": ("int", "the number of operands that it only reads"),
    "results": ("int", "the number of its results"),
    "strides": ("list", "the distance of neighbouring windows along each axis, of a convolution or a pooling"),
    "dilations": ("list", "the distance of neighbouring elements of a window"),
}
"""Property → the kind of its value, and its meaning."""

OF_OPERANDS = ("rank", "type", "sizes", "dims")
"""The properties of an operand; `sizes` are those of its axes, and `lhs.0` is one of them; `dims` are
the dimensions of the op that its axes are indexed by."""

OPERAND = re.compile(r"lhs|rhs|acc|(?:in|out)[0-9]+")
"""The names of operands."""

ParameterType = Lit["int", "float", "bool", "str", "type", "handle"]


@record
class Node:
    """A part of the tree, with its place in the text."""

    span: Span


class NoValue(Enum):
    """The value `none`."""

    NONE = "none"

    def __str__(self) -> str:
        return self.value


NONE = NoValue.NONE

# ---- expressions -----------------------------------------------------------------------------------------------------


@record
class Literal(Node):
    """An integer, float, boolean, string or `none`. A type (`f32`) is a `NameRef` until it is
    evaluated."""

    value: int | float | bool | str | NoValue


@record
class NameRef(Node):
    """A parameter, a loop variable of `foreach`, an element type (`f32`, `i8`, …), or a handle
    where one is allowed."""

    name: str


@record
class Unary(Node):
    """`-a`, `not a`."""

    operator: Lit["-", "not"]
    operand: Expr


@record
class Binary(Node):
    """`+ - * / % == != < <= > >= and or`; integer `/` must be exact (checked at evaluation)."""

    left: Expr
    operator: str
    right: Expr


@record
class CallExpr(Node):
    """`min(a, b)`, `max(a, b)`, `ceildiv(a, b)`, `pow2(n)`, `bits(type)`, `select(condition, a, b)`."""

    function: str
    arguments: tuple[Expr, ...]


@record
class Skip(Node):
    """`_` in a list of tile sizes: the dimension is not tiled."""


@record
class Rest(Node):
    """`...` at the end of a list of tile sizes: the last size, for all further parallel dimensions."""


@record
class ListExpr(Node):
    """`[a, b, _]`, `[1, ...]`; after `foreach x in` also handles, `[gemm, t.op]`."""

    items: tuple[Expr | HandleRef, ...]


@record
class Property(Node):
    """`conv.rank`, `gemm.lhs.0`: a property of the op that a handle names; `A.1`: a size of an
    argument."""

    name: str
    fields: tuple[str, ...]

    @property
    def spelling(self) -> str:
        return ".".join((self.name, *self.fields))


Expr = Literal | NameRef | Unary | Binary | CallExpr | Skip | Rest | ListExpr | Property


# ---- what statements are made of -----------------------------------------------------------------


@record
class HandleRef(Node):
    """`gemm`, `t.loop` (a named result of the statement bound to `t`), `step.lhs` (an operand of the op)."""

    name: str
    fields: tuple[str, ...] = ()

    @property
    def spelling(self) -> str:
        return ".".join((self.name, *self.fields))


@record
class Several(Node):
    """`[a, t.op, step.lhs]` in place of a handle: the statement is executed for each of them."""

    items: tuple[HandleRef, ...]


@record
class Dimension(Node):
    """A dimension of a space: `x`, `x: 16`, `x: ?`. `count`: None if none is given, `"?"` if
    symbolic."""

    axis: Lit["x", "y", "z"]
    count: Expr | Lit["?"] | None = None


@record
class Space(Node):
    """`blocks(y, x)`, `threads(y: 16, x: 16)`, `threads(*)`, `warpgroups(y)`, `quarters`, `warps(x: 4)`, `lanes`,
    `lanes(x: 4)`, `registers`, `grid(x)`, `tma`. `all` is the `*`."""

    kind: Lit["blocks", "threads", "warpgroups", "quarters", "warps", "lanes", "registers", "grid", "tma"]
    dimensions: tuple[Dimension, ...] = ()
    all: bool = False


@record
class Distribution(Node):
    """`block`, `cyclic`, `block-cyclic(b)`."""

    kind: Lit["block", "cyclic", "block-cyclic"]
    chunk: Expr | None = None


@record
class Word(Node):
    """A bare word that is neither a handle nor an expression: the name of an op (`linalg.matmul`)
    or a function (`@f`); or the text between the braces of `transform { … }`, unchanged."""

    text: str


@record
class Words(Node):
    """Several words: `contraction or convolution` after `match`."""

    items: tuple[Word, ...]


@record
class Conditional(Node):
    """A clause with a condition: `pad 4 if bits(type) == 32`, `overlap if overlap`. It is left out
    if the condition does not hold."""

    value: Expr | HandleRef | Several | Space | Distribution | Word | Words | bool
    condition: Expr


FieldValue = Conditional | Expr | HandleRef | Several | Space | Distribution | Word | Words | bool


@record
class StatementNode(Node):
    """Any statement of the registry: `tile gemm [bm, bn]` is `Statement("tile", {"target": …,
    "sizes": ListExpr})`.

    A field that is not in the source is absent; a flag (`transpose`) in the source is `True`.
    """

    keyword: str
    fields: Mapping[str, FieldValue]


# ---- control -------------------------------------------------------------------------------------


@record
class CallArgument(Node):
    """`bm = 64` in a call (by name), or `gemm` / `64` (by position: `name` is None)."""

    name: str | None
    value: Expr | HandleRef


@record
class Call(Node):
    """A call of another schedule: `stage(step, bk = 8)`. A bare name is a `NameRef`, also for a
    handle."""

    schedule: str
    arguments: tuple[CallArgument, ...]


@record
class Binding(Node):
    """A name on the left of `let`. `_` discards the result."""

    name: str


@record
class Let(Node):
    """`let x = …` (`destructured` False: x is the result, or all results: `x.loop`), `let (a, b) =
    …` (True); or a value, or another name of a handle."""

    targets: tuple[Binding, ...]
    destructured: bool
    value: StatementNode | Call | Expr | HandleRef


@record
class Append(Node):
    """`append tiles to all`: a handle at the end of a list, which `let all = []` has begun."""

    value: HandleRef
    target: Binding


@record
class Require(Node):
    """`require condition, "message"`: refuses the schedule if the condition is false."""

    condition: Expr
    message: str | None = None


@record
class If(Node):
    """`if bm > 16 { … } else { … }`, or `if init { … }` on a handle that `match?` may have left
    empty."""

    condition: Expr | HandleRef
    then: tuple[Item, ...]
    otherwise: tuple[Item, ...]


@record
class Foreach(Node):
    """`foreach op in ops { … }` or `foreach op in match* … { … }` over the handles of a `match*`,
    `foreach op in [a, t.op] { … }` over a list of handles, or `foreach n in [1, 2] { … }` over
    values."""

    variable: Binding
    iterable: Expr | HandleRef | StatementNode
    body: tuple[Item, ...]


@record
class Versions(Node):
    """`versions { … } else { … }`: the payload is scheduled once for each block and the statements
    after it, and a run uses the first version with assumptions that hold."""

    blocks: tuple[tuple[Item, ...], ...]


@record
class Alternatives(Node):
    """`alternatives { … } else { … }`: the first block without a refusal."""

    blocks: tuple[tuple[Item, ...], ...]


@record
class Parameter(Node):
    """`bm: int = 128 in [64, 128]`. No default: a value must be given. The default of a `handle` is a
    `match`, which is executed if no handle is given, or `none`; it has no domain."""

    name: str
    type: ParameterType
    default: Expr | StatementNode | None
    domain: ListExpr | None


@record
class Schedule(Node):
    """`schedule name(parameters) { … }`; `doc` is the comment above it. Inside another schedule, it
    sees the names in scope where it is written."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Item, ...]
    doc: str = ""


@record
class Return(Node):
    """`return (a, b)` at the end of a called schedule: its named results, in order."""

    values: tuple[HandleRef, ...]


Item = StatementNode | Call | Let | Append | Require | If | Foreach | Versions | Alternatives | Return | Schedule


# ---- top level -----------------------------------------------------------------------------------


@record
class Payload(Node):
    """`payload matmul(m = 512, type = f32)` (a built-in builder) or `payload "model.mlir"` (a path
    relative to the file)."""

    builder: str | None
    path: str | None
    arguments: tuple[CallArgument, ...]


@record
class Include(Node):
    """`include "path"`: the schedules of another file, or of one that ships with Weft,
    `"weft:matmul/simt"`. Its payload has no effect."""

    path: str


@record
class File(Node):
    """A parsed file with the schedules that it includes; the last one written in this file is its
    main schedule. `sees`: for each file, the names of those that it includes."""

    source: Source
    includes: tuple[Include, ...]
    payload: Payload | None
    schedules: tuple[Schedule, ...]
    sees: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def callable_from(self, source: Source) -> Iterator[Schedule]:
        """The schedules that a text can call: those of its file, and then those of the files that
        this one includes. A text of no file, a line of the REPL, is one of this file's."""
        name = source.name if any(s.span.source.name == source.name for s in self.schedules) else self.source.name
        for of in (name, *self.sees.get(name, ())):
            yield from (s for s in self.schedules if s.span.source.name == of)

    @property
    def main(self) -> Schedule:
        own = [s for s in self.schedules if s.span.source == self.source]
        return own[-1]
