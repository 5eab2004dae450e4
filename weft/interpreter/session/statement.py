"""The base class of statements, and their registry.

A statement is one file in `statements/`: a class with the fields that its grammar rule names, which
`@statement` makes a frozen dataclass. Its docstring is its reference (`weft statements`); "Errors:"
lists its codes, which the pages of `weft/explain` explain. The registry imports every module of
that folder, so that a new statement needs only a new file.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cache, partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, dataclass_transform

from ...dsl.diagnostics import WeftError
from ...dsl.records import record
from ...dsl.signature import Field, FieldKind, Signature
from ...dsl.tree import StatementNode
from .rewriter import Handle as Handle
from .rewriter import Operand as Operand
from .rewriter import Rewriter, handles_of
from .rewriter import SizeOf as SizeOf

if TYPE_CHECKING:
    from ..focus.carving import Focus, Version
    from ..focus.sections import Body, Section

Sizes = tuple["int | EllipsisType | None", ...]
Results = Mapping[str, Any]
"""The named results, in order: a `Handle` each (or a tuple of handles, for `match*`)."""


class NotMet(WeftError):
    """An assumption that does not hold for the payload, or that the host cannot check. In
    `versions`, it drops that version."""


@record(kw_only=True)
class Statement:
    """The base of all statements. `node` is the node of the syntax tree, for spans:
    `rewrite.error(..., at="sizes")` refers to a field."""

    signature: ClassVar[Signature]
    reach: ClassVar[Literal["module", "handles", "maps"]] = "module"
    """The scope of the rewrite: the whole module; the ops that its handles name, and their
    operands; all mapped loops."""
    late: ClassVar[tuple[str, ...]] = ()
    """Statements that may have to come before it: if it is refused, later ones of these are tried
    before it (`order.py`)."""
    node: StatementNode

    def parts(self, version: Version) -> Iterator[tuple[Statement, Focus]]:
        """Yields parts of a large module that contain everything the statement touches, the
        cheapest first, each with the statement to apply there."""
        tags: list[str] | None = None
        if self.reach == "handles":
            tags = [h.tag for h in handles_of(vars(self)).values() if not h.absent]
        for focus in version.parts(tags, self.beside):
            yield self, focus

    def beside(self, body: Body, touched: Set[Section]) -> Iterable[Section]:
        """Sections that a rewrite needs beside those of its handles and their operands."""
        return ()

    def apply(self, rewrite: Rewriter) -> Results:
        """Rewrites the module. Refuses by raising `rewrite.error(...)`; the session then rolls
        back."""
        raise NotImplementedError


def _field(kind: FieldKind, *, optional: bool = False, **more: Any) -> Any:
    """A field of a statement. `more`: further attributes of its `Field`."""
    optional = optional or kind == "flag"
    default: dict[str, Any] = {"default": False if kind == "flag" else None} if optional else {}
    return dataclasses.field(metadata={"weft": Field("", kind, optional, **more)}, **default)


handle = partial(_field, "handle")
"""A handle that stays alive: `Handle` (or `Handle | None` if optional)."""
consumed = partial(_field, "handle", consumes=True)
"""A handle that the statement consumes."""
operand = partial(_field, "operand")
"""`step.lhs`: an `Operand`."""
size_of = partial(_field, "size")
"""`A.1`, `step.lhs.1`: a `SizeOf`."""
value_of = partial(_field, "value", optional=True)
"""`scores`, `gemm.acc`: a `Handle` or an `Operand`."""
words = partial(_field, "words", optional=True)
"""`contraction or "scores"`: `tuple[str, ...]`, labels with their quotes."""
condition = partial(_field, "condition", optional=True)
"""The expression after `where`: a `Condition`."""
integer = partial(_field, "int")
sizes = partial(_field, "sizes", minimum=0)
"""A list of tile sizes, `Sizes`: None for `_` and 0; `...` after the last one repeats it for all
further parallel dimensions."""
integers = partial(_field, "ints")
string = partial(_field, "str")
word = partial(_field, "word")
space = partial(_field, "space")
distribution = partial(_field, "distribution", optional=True)
flag = partial(_field, "flag")
names = partial(_field, "names", optional=True)
"""An optional word: missing (None), alone (an empty tuple), or with names in parentheses,
`noalias(A, B)`."""
raw = partial(_field, "raw")
handles = partial(_field, "handles", optional=True)
"""All live handles in scope by name, `dict[str, Handle]`; it has no text in the source."""

S = TypeVar("S", bound=type[Statement])
_REGISTRY: dict[str, type[Statement]] = {}


@dataclass_transform(frozen_default=True, kw_only_default=True)
def statement(keyword: str, *, returns: tuple[str, ...] = (), variadic: bool = False, **more: Any) -> Callable[[S], S]:
    """Registers a class as the statement of a keyword; its fields and docstring become its
    `Signature`. `more`: further attributes of the signature."""

    def register(cls: S) -> S:
        cls = record(kw_only=True)(cls)
        fields = tuple(
            dataclasses.replace(f.metadata["weft"], name=f.name)
            for f in dataclasses.fields(cls)
            if "weft" in f.metadata
        )
        doc = (cls.__doc__ or "").strip()
        summary = " ".join(doc.split("\n\n", 1)[0].split()).split(". ", 1)[0].rstrip(".") + "."
        cls.signature = Signature(keyword, fields, returns, variadic, summary=summary, doc=doc, **more)
        _REGISTRY[keyword] = cls
        return cls

    return register


@cache
def registry() -> Mapping[str, type[Statement]]:
    """All statements by keyword."""
    from .. import statements

    for module in pkgutil.iter_modules(statements.__path__):
        importlib.import_module(f"{statements.__name__}.{module.name}")
    return dict(sorted(_REGISTRY.items()))


@cache
def signatures() -> Mapping[str, Signature]:
    """All signatures by keyword, for the checker."""
    return {keyword: cls.signature for keyword, cls in registry().items()}
