"""Statements as data: the signature, the values of the fields, and the checks before a statement is
applied.

The registry of statements makes the signatures; this module does not import it. The same code
evaluates fields for a statement and checks them before it.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Container, Iterator
from typing import Any, Literal

from . import tree
from .diagnostics import Diagnostic, Span, WeftError, count, fail, quoted
from .expressions import Evaluator, Kind
from .lookups import ScopeCheck
from .records import record
from .scopes import BoundName, Gone, Part, consumed, let_of, twice

FieldKind = Literal[
    "handle",  # HandleRef to a live handle (a field of it names one of several results)
    "operand",  # HandleRef with the name of an operand of the op as its last field: `step.lhs`
    "value",  # HandleRef to a live handle, for its results, or to an operand of its op
    "words",  # names of ops, kinds, and labels with their quotes
    "condition",  # an expression over the properties of an op
    "size",  # an axis: of an argument of the payload, `A.1`; of an operand of the op of a live handle, `gemm.lhs.1`
    "int",  # an expression that evaluates to an integer
    "sizes",  # a list of integers and `_`
    "ints",  # a list of integers
    "str",  # a string literal
    "word",  # the name of an op or a function, as in the source
    "space",
    "distribution",
    "names",  # a word, alone or with names in parentheses
    "flag",  # True if the word is present
    "raw",  # the text of `transform { … }`
    "handles",  # implicit: every handle named in a raw text
]


@record
class Wrong:
    """An error of a field that is found without a payload: an unknown name, or counts that no block
    has. `certain`: the statement always fails."""

    message: str
    hint: str | None
    certain: bool
    code: str = "W0241"


@record
class Field:
    """A field of a statement.

    Args:
        consumes: whether the statement consumes the handle.
        minimum, maximum: the range of an int, or of each entry of a list.
        unless: flags that remove the `maximum`.
        permutation: whether a list must be a permutation of 0 … n-1.
        hint: what to write instead of a value out of range.
        written: the keyword before the field, if it differs from its name.
        judge: a check of a word, a text or a space, given the statement's keyword, that needs no
            payload; returns the error with a way out.
    """

    name: str
    kind: FieldKind
    optional: bool = False
    consumes: bool = False
    minimum: int | None = None
    maximum: int | None = None
    unless: tuple[str, ...] = ()
    permutation: bool = False
    hint: str | None = None
    written: str = ""
    judge: Callable[[Any, str], Wrong | None] | None = None

    @property
    def word(self) -> str:
        """The keyword of the field in the source."""
        return self.written or self.name.replace("_", "-")

    def beside(self, written: Container[str]) -> Field:
        """The field's definition in a statement that has the fields `written`: without its `maximum`
        if one of the flags `unless` is among them."""
        return dataclasses.replace(self, maximum=None) if any(flag in written for flag in self.unless) else self


@record
class Signature:
    """The description of a statement for the checker.

    Args:
        keyword: the keyword, e.g. `promote-to-shared`.
        fields: in source order.
        results: the names of its results, e.g. ("loop", "op"); empty if it returns nothing.
        variadic: whether there may be more results than `results` (a `tile` of several reduction
            dimensions): a `let (…)` must take at least `len(results)` names, and the number is
            known when the statement is applied.
        more: a pattern for the names of these further results.
        apart: two fields that must name different handles.
        summary: the first sentence of the statement's docstring.
        doc: the whole docstring (Args, Returns, Errors, Source, Example).
    """

    keyword: str
    fields: tuple[Field, ...]
    results: tuple[str, ...] = ()
    variadic: bool = False
    more: str = ".+"
    apart: tuple[str, str] | None = None
    summary: str = ""
    doc: str = ""

    def page(self, width: int | None = None) -> str:
        """The reference page: the syntax, the docstring and the results, with paragraphs filled to
        `width` columns."""
        from ..explain import titled
        from .usage import written

        results = f"\n\nResults: {', '.join(self.results)}" if self.results else ""
        return f"{written(self.keyword)}\n\n{filled(titled(inspect.cleandoc(self.doc)), width or PAGE_WIDTH)}{results}"

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)


PAGE_WIDTH = 120
"""The columns of a page for other outputs than a terminal."""
_ENTRY = re.compile(r" {4}[\w-]+(, [\w-]+)*: ")
"""The beginning of an entry in a section: an argument, a result or a code. Its other lines are
indented further."""


def filled(doc: str, width: int) -> str:
    """A docstring with each paragraph, and each entry of a section, filled to `width` columns."""
    out: list[str] = []
    paragraph: list[str] = []
    section = ""
    for line in [*doc.splitlines(), ""]:
        heading = line in ("Args:", "Returns:", "Errors:", "Example:")
        begins = _ENTRY.match(line) if section != "Example:" else line[4:5].strip()
        if paragraph and (not line or heading or (section and begins)):
            first = paragraph[0]
            indent = first[: len(first) - len(first.lstrip())]
            more = "        " if section else indent + "    " * first.startswith("Source:")
            text = " ".join(part.strip() for part in paragraph)
            out += textwrap.wrap(
                text,
                width,
                initial_indent=indent,
                subsequent_indent=more,
                break_on_hyphens=False,
                break_long_words=False,
            )
            paragraph = []
        if line and not heading:
            paragraph.append(line)
            continue
        section = line
        out.append(line)
    return "\n".join(out[:-1])


@record
class SpaceSpec:
    """An evaluated space. `counts[i]` belongs to `axes[i]`: an int, None (as many as iterations) or
    "?" (symbolic)."""

    kind: Literal["blocks", "threads", "warpgroups", "quarters", "warps", "lanes", "registers", "grid", "tma"]
    axes: tuple[str, ...]
    counts: tuple[int | Literal["?"] | None, ...]
    all: bool = False


@record
class DistributionSpec:
    """An evaluated distribution."""

    kind: Literal["block", "cyclic", "block-cyclic"]
    chunk: int | None = None


def given_fields(node: tree.StatementNode, signature: Signature, evaluator: Evaluator) -> dict[str, Any]:
    """The fields of a statement, without those that have a condition which does not hold."""
    fields: dict[str, Any] = {}
    for name, value in node.fields.items():
        if isinstance(value, tree.Conditional):
            if evaluator.expect(value.condition, "bool", "the condition of a clause", None) is False:
                continue
            value = value.value
        fields[name] = value
    return fields


def missing(keyword: str, field: Field, span: Span, given: bool = False) -> WeftError:
    """W0230: a field that a statement needs, and that is not given, or is `none`."""
    what = f", and this is `{tree.NONE}`" * given
    return fail("W0230", f"`{keyword}` needs its {field.word}{what}", span=span)


def field_value(field: Field, given: Any, evaluator: Evaluator) -> Any:
    """The value of a field that names no handle; `none` if it is to be left out. Errors go to the
    evaluator's `report`."""
    match given:
        case tree.Word():
            return given.text
        case tree.Words():
            return tuple(item.text for item in given.items)
        case tree.Space():
            counts = tuple(_counts(given, evaluator))
            return SpaceSpec(given.kind, tuple(d.axis for d in given.dimensions), counts, given.all)
        case tree.Distribution():
            what = "the chunk of `block-cyclic`"
            return DistributionSpec(given.kind, given.chunk and evaluator.expect(given.chunk, "int", what, 1))
        case tree.ListExpr() if field.kind == "names":
            return tuple(item.name if isinstance(item, tree.NameRef) else item.value for item in given.items)  # type: ignore[union-attr]
        case tree.ListExpr():
            items, filled = given.items, [isinstance(item, tree.Rest) for item in given.items]
            if field.kind != "sizes" or sum(filled) > 1 or len(items) < 2 or any(filled[1:-1]):
                filled = [False] * len(items)
            values = tuple(
                ... if dots else _entry(field, item, evaluator) for dots, item in zip(filled, items, strict=True)
            )
            known = [value for value in values if isinstance(value, int)]
            if field.permutation and len(known) == len(values) and sorted(known) != list(range(len(values))):
                message = f"`{field.word}` is {list(values)}; it must have each of 0 … {len(values) - 1} once"
                evaluator.report(fail("W0231", message, span=given.span))
            return values
        case bool():
            return () if field.kind == "names" else given
    orders = {"group": "the number of rows of `grouped`", "panel": "the number of columns of `panels`"}
    what = orders.get(field.name, f"`{field.word}`")
    kind: Kind = "str" if field.kind == "str" else "int"
    return evaluator.expect(given, kind, what, field.minimum, field.maximum, field.hint, none=True)


def _entry(field: Field, item: tree.Expr | tree.HandleRef, evaluator: Evaluator) -> int | None:
    """An entry of a list; None for a dimension that is not tiled."""
    what = "a tile size" if field.kind == "sizes" else f"an entry of `{field.name}`"
    if isinstance(item, tree.Rest):
        message = "`...` comes after the last size, which it repeats, or before the first"
        hint = "write `[1, ...]`, or `[..., 1]` for the last dimension"
        evaluator.report(fail("W0232", message, hint, span=item.span))
        return None
    if not isinstance(item, tree.Skip):
        value = evaluator.expect(item, "int", what, field.minimum)
        return value or None if field.kind == "sizes" else value
    if field.kind != "sizes":
        evaluator.report(fail("W0232", f"{what} is an integer, not `_`", span=item.span))
    return None


def _counts(space: tree.Space, evaluator: Evaluator) -> Iterator[Any]:
    seen: set[str] = set()
    for dimension in space.dimensions:
        if dimension.axis in seen:
            message, hint = f"axis `{dimension.axis}` is given twice", "name each of `x`, `y`, `z` at most once"
            evaluator.report(fail("W0238", message, span=dimension.span, hint=hint))
        seen.add(dimension.axis)
        if dimension.count is None or dimension.count == "?":
            yield dimension.count
        else:
            count = evaluator.expect(dimension.count, "int", f"the count of `{dimension.axis}`", 1, none=True)
            yield None if count is tree.NONE else count


# ---- a statement against its signature -----------------------------------------------------------


def check_statement(node: tree.StatementNode, signature: Signature, check: ScopeCheck, names: tuple[str, ...]) -> None:
    """Checks the fields of `node`, and removes from the scope the handles that it consumes.
    `names`: the names that its `let` binds."""
    for name, value in node.fields.items():
        if signature.field(name) is None:
            word = name.replace("_", "-")
            at = value.span if isinstance(value, tree.Node) else node.span
            check.error("W0215", f"`{node.keyword}` of this version takes no `{word}`", at)
    dying: list[tuple[Part, tree.HandleRef]] = []
    given = given_fields(node, signature, check.evaluator)
    for field in signature.fields:
        value = given.get(field.name)
        with check.reporting():
            if value is not None and isinstance(node.fields[field.name], tree.Conditional):
                listed, check.each = check.each, None
                dying += _check_field(field.beside(given), value, check)
                check.each = listed
            elif value is not None:
                dying += _check_field(field.beside(given), value, check)
            elif not field.optional and field.kind not in ("flag", "handles"):
                raise missing(node.keyword, field, node.span)
    with check.reporting():
        expect_apart(node, signature)
    unnamed = () if names else signature.results
    for part, ref in dying:
        check.consume(part, ref, Gone(f"`{node.keyword}`", node.span, names, unnamed))


def expect_apart(node: tree.StatementNode, signature: Signature) -> None:
    """Raises W0239 if one handle is given for two fields that must differ."""
    one, other = (_named(node.fields.get(name)) for name in signature.apart or ("", ""))
    if both := [other[text] for text in one if text in other]:
        words = " and ".join(f"its {name}" for name in signature.apart or ())
        raise fail("W0239", f"`{both[0].spelling}` is given to `{node.keyword}` as {words}", span=both[0].span)


def _named(field: tree.FieldValue | None) -> dict[str, tree.HandleRef]:
    """The handles that a field names, by their texts."""
    refs = field.items if isinstance(field, tree.Several) else (field,)
    return {ref.spelling: ref for ref in refs if isinstance(ref, tree.HandleRef)}


def _judged(field: Field, value: str | SpaceSpec, span: Span, check: ScopeCheck) -> None:
    """Reports the error of a field; a warning if the statement may still succeed."""
    found = None if field.judge is None else field.judge(value, check.keyword or "")
    if found is not None:
        severity = "error" if found.certain else "warning"
        check.report(Diagnostic(found.code, found.message, span, check.keyword, (), found.hint, severity=severity))


def _check_field(field: Field, value: Any, check: ScopeCheck) -> list[tuple[Part, tree.HandleRef]]:
    """Checks one field; returns the handles that it consumes."""
    match field.kind, value:
        case _, tree.Several():
            return list(_check_each(field, value, check))
        case "handle", tree.HandleRef():
            part = check.op(value)
            return [(part, value)] if field.consumes else []
        case "operand", tree.HandleRef():
            check.operand(value)
        case "value", tree.HandleRef():
            if check.single(value)[1]:
                check.operand(value)
        case "condition", _:
            check.condition(value)
        case "size", tree.HandleRef() if len(value.fields) > 1:
            check.operand(dataclasses.replace(value, fields=value.fields[:-1]))
        case "size", tree.HandleRef():
            pass  # the payload's arguments are not known yet
        case "raw", tree.Word():
            _check_raw(value, check)
        case "word", tree.Word():
            _judged(field, value.text, value.span, check)
        case "words", tree.Words():
            for item in value.items:
                _judged(field, item.text, item.span, check)
        case (("int" | "str" | "sizes" | "ints" | "space" | "distribution"), _):
            found = field_value(field, value, check.evaluator)
            if found is tree.NONE and not field.optional:
                raise missing(check.keyword or "", field, value.span, True)
            if isinstance(found, str | SpaceSpec):
                _judged(field, found, value.span, check)
    return []


def _check_each(field: Field, several: tree.Several, check: ScopeCheck) -> Iterator[tuple[Part, tree.HandleRef]]:
    """Checks a list of handles in a field; yields the handles that it consumes."""
    check.iterate(several.span.text, several.span)
    once: set[Part] = set()
    for item in several.items:
        check.each = ""
        with check.reporting():
            for part, ref in _check_field(field, item, check):
                if part in once:
                    raise twice(ref, f"`{check.keyword}`")
                once.add(part)
                yield part, ref
    check.each = several.span.text


_SSA_NAME = re.compile(r"%([A-Za-z_]\w*)")


def _check_raw(raw: tree.Word, check: ScopeCheck) -> None:
    """Checks the handles that a raw text uses: `%name` is the op of the handle `name`, unless the
    text itself defines `%name`."""
    defined = set(re.findall(r"%([A-Za-z_]\w*)\s*(?:,[^=\n]*)?=", raw.text))
    for name in dict.fromkeys(_SSA_NAME.findall(raw.text)):
        bound = check.scope.names.get(name)
        if name in defined or not isinstance(bound, BoundName):
            continue
        check.scope.use(name)
        gone = check.scope.gone.get((bound.number, ""))
        if gone is not None and bound.shape != "several":
            with check.reporting():
                raise consumed(name, raw.span, gone)


def check_count(
    let: tree.Let, what: str, results: tuple[str, ...], variadic: bool, check: ScopeCheck, *, lists: bool = False
) -> None:
    """Checks that `let (…)` has a name for each result. `lists`: each of them is a list."""
    if not results and not variadic:
        check.error("W0225", f"{what} returns nothing", let.span, "write it without `let`")
        return
    given = len(let.targets)
    if lists and not let.destructured and len(results) > 1:
        message = f"{what} returns a list of each result here, and one name is given for {count(len(results), 'list')}"
        check.error("W0226", message, let.span, f"name the lists: `{let_of(results)} = …`")
    if not let.destructured or given == len(results) or (variadic and given > len(results)):
        return
    least = "at least " if variadic else ""
    notes = (f"{what} returns {quoted(results)}",)
    names = [*(target.name for target in let.targets), *results[given:]][: len(results)]
    hint = f"write `{let_of(names)} = …`; `_` discards a result"
    if results == ("op",):  # several ops may match
        hint += "; of several ops that match, `match … #1` is one, and `match* …` all"
    check.error("W0226", f"{count(given, 'name')} for {least}{count(len(results), 'result')}", let.span, hint, notes)
