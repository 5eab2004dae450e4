"""What the checker needs to know of a statement, as data. The registry of statements makes these; nothing reaches back."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Literal

FieldKind = Literal[
    "handle",  # HandleRef to a live handle (a field of it names one of several results)
    "operand",  # HandleRef whose last field names an operand of the op: `step.lhs`
    "int",  # an expression that evaluates to an integer
    "sizes",  # a list of integers and `_`
    "ints",  # a list of integers
    "str",  # a string literal
    "word",  # an op name or a function name, as written
    "space",
    "distribution",
    "names",  # a word, alone or with names in parentheses
    "flag",  # True where the word was written
    "raw",  # the text of `transform { … }`
    "handles",  # implicit: every handle named in a raw text
]


@dataclass(frozen=True)
class Field:
    """One field of a statement, in source order.

    `consumes`: the handle dies with the statement. `minimum`: smallest legal value of an int, or of each entry of a list.
    """

    name: str
    kind: FieldKind
    optional: bool = False
    consumes: bool = False
    minimum: int | None = None

    @property
    def word(self) -> str:
        """As it is written."""
        return self.name.replace("_", "-")


@dataclass(frozen=True)
class Signature:
    """A statement as the checker sees it.

    Args:
        keyword: as written, e.g. `promote-to-shared`.
        fields: in source order.
        results: the names of what it returns, e.g. ("loop", "op"); empty if it returns nothing.
        variadic: more results than `results` names may come (a `tile` of several reduction dimensions): a `let (…)`
            must take at least `len(results)` names, and how many there are is known when it is applied.
        summary: the first line of the statement's docstring.
        doc: the whole docstring (Args, Returns, Errors, Source, Example).
    """

    keyword: str
    fields: tuple[Field, ...]
    results: tuple[str, ...] = ()
    variadic: bool = False
    summary: str = ""
    doc: str = ""

    @property
    def page(self) -> str:
        """The docstring as a reader sees it, and the results."""
        return inspect.cleandoc(self.doc) + (f"\n\nResults: {', '.join(self.results)}" if self.results else "")

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)
