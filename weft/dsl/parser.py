"""Text → `tree.File`, one file with its includes; or the items of a REPL line.

Lark's parse tree becomes the syntax tree of `tree.py` bottom-up. No statement has code here: the
children of the grammar's `statement` are rules named after the fields that they fill.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile
from typing import Any, ClassVar, NamedTuple, cast

from lark import Token, Tree

from . import tree
from .diagnostics import (
    MAX_SCHEDULE_BYTES,
    Diagnostic,
    Source,
    Span,
    WeftError,
    did_you_mean,
    fail,
    read_source,
    schedule_text,
)
from .expressions import FUNCTIONS, INT_LIMIT
from .syntax import MOST_ERRORS, ParsedText, Start, in_order, reading
from .tree import PROPERTIES

_ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}


SHIPPED = "weft"
"""What the path of an `include` begins with if it ships with Weft: `weft:matmul/simt`."""


class FilledField(NamedTuple):
    """The result of a rule named after its field; True if the rule is only a word."""

    name: str
    span: Span
    value: Any


class TreeBuilder:
    """Builds the tree of one source: each rule by the method of its name, or by an entry of a
    table."""

    _NODES: ClassVar[dict[str, Any]] = {
        "append": tree.Append,
        "binary": tree.Binary,
        "binding": tree.Binding,
        "dimension": tree.Dimension,
        "foreach": tree.Foreach,
        "function": tree.Word,
        "include": tree.Include,
        "name": tree.NameRef,
        "named": tree.CallArgument,
        "require": tree.Require,
        "skip": tree.Skip,
        "unary": tree.Unary,
    }
    """Rules with the fields of a node as children."""

    _GATHERING: ClassVar[dict[str, tuple[Any, int]]] = {
        "alternatives": (tree.Alternatives, 0),
        "call": (tree.Call, 1),
        "handle": (tree.HandleRef, 1),
        "list": (tree.ListExpr, 0),
        "names": (tree.ListExpr, 0),
        "return": (tree.Return, 0),
        "several": (tree.Several, 0),
        "versions": (tree.Versions, 0),
    }
    """Rules with children that form one field from the n-th on."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []

    def report(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Records an error and continues."""
        self.errors.append(Diagnostic(code, message, span, hint=hint))

    def span(self, node: Tree | Token) -> Span:
        at: Any = node.meta if isinstance(node, Tree) else node
        if getattr(at, "end_pos", None) is None:  # an empty file
            return Span(self.source, 1, 1, 1, 1)
        return Span(self.source, at.line, at.column, at.end_line, at.end_column)

    def build(self, node: Tree | Token) -> Any:
        if isinstance(node, Token):
            return str(node)
        rule, span = str(node.data), self.span(node)
        children = [self.build(child) for child in node.children]
        if (cls := self._NODES.get(rule)) is not None:
            return cls(span, *children)
        if rule in self._GATHERING:
            cls, apart = self._GATHERING[rule]
            return cls(span, *children[:apart], tuple(children[apart:]))
        if (method := getattr(self, f"_{rule}", None)) is not None:
            return method(span, *children)
        if not children:
            return FilledField(rule, span, True)
        token = node.children[0]
        return FilledField(rule, span, self._word(token) if isinstance(token, Token) else children[0])

    def _word(self, token: Token) -> tree.Word:
        text = str(token)
        if token.type == "RAW":  # the parser has read blanks in its place
            text = self.source.text[(token.start_pos or 0) + 1 : (token.end_pos or 0) - 1]
        return tree.Word(self.span(token), text)

    # ---- top level -------------------------------------------------------------------------------

    def _file(self, span: Span, *items: tree.Node) -> tree.File:
        payloads = [item for item in items if isinstance(item, tree.Payload)]
        if len(payloads) > 1:
            message = f"a file has one payload; line {payloads[0].span.line} names one already"
            self.report("W0108", message, payloads[1].span, "delete one `payload` line, or split the file")
        includes = tuple(item for item in items if isinstance(item, tree.Include))
        schedules = tuple(item for item in items if isinstance(item, tree.Schedule))
        return tree.File(span, self.source, includes, payloads[0] if payloads else None, schedules)

    def _body(self, _: Span, *items: tree.Item) -> tuple[tree.Item, ...]:
        return items

    _block = _body

    def _payload_builder(self, span: Span, name: str, *arguments: tree.CallArgument) -> tree.Payload:
        return tree.Payload(span, name, None, arguments)

    def _payload_path(self, span: Span, path: str) -> tree.Payload:
        return tree.Payload(span, None, path, ())

    def _schedule(self, span: Span, name: str, *parts: Any) -> tree.Schedule:
        *parameters, body = parts
        return tree.Schedule(span, name, tuple(parameters), body, self._doc(span.line))

    def _doc(self, line: int) -> str:
        """The comment lines directly above `line`, or those at the top of the file."""
        lines = [text.strip() for text in self.source.text.split("\n")]
        above = list(takewhile(_is_comment, reversed(lines[: line - 1])))[::-1] or takewhile(_is_comment, lines)
        return "\n".join(text.removeprefix("//").strip() for text in above)

    def _parameter(self, span: Span, name: str, kind: tree.ParameterType, *rest: FilledField) -> tree.Parameter:
        parts = {part.name: part.value for part in rest}
        return tree.Parameter(span, name, kind, parts.get("default"), parts.get("domain"))

    # ---- items -----------------------------------------------------------------------------------

    def _let_one(self, span: Span, target: tree.Binding, value: Any) -> tree.Let:
        if isinstance(value, tree.CallExpr) and value.function not in FUNCTIONS:
            given = tuple(tree.CallArgument(argument.span, None, argument) for argument in value.arguments)
            value = tree.Call(value.span, value.function, given)
        return tree.Let(span, (target,), False, value)

    def _call_expr(self, span: Span, name: str, *given: tree.CallArgument) -> tree.CallExpr | tree.Call:
        """A function of values, or a call of a schedule if the arguments do not fit a function."""
        values = [argument.value for argument in given if argument.name is None]
        expressions = tuple(value for value in values if not isinstance(value, tree.HandleRef | tree.Rest))
        whole = len(expressions) == len(given)
        return tree.CallExpr(span, name, expressions) if whole else tree.Call(span, name, given)

    def _dotted(self, span: Span, name: str, *fields: str) -> tree.HandleRef | tree.Property:
        """A handle, or a property of an op."""
        return (tree.Property if fields[-1] in PROPERTIES else tree.HandleRef)(span, name, fields)

    def _rest(self, span: Span, _: str) -> tree.Rest:
        return tree.Rest(span)

    def _axis(self, span: Span, text: str) -> tree.Property:
        name, *fields = text.split(".")
        return tree.Property(span, name, tuple(fields))

    def _kind(self, span: Span, text: str) -> tree.Word:
        """A kind, the name of an op, or a label, which keeps its quotes."""
        return tree.Word(span, " ".join(text.split()))

    def _op(self, span: Span, *words: tree.Word) -> FilledField:
        return FilledField("op", span, tree.Words(span, words))

    def _let_many(self, span: Span, *parts: Any) -> tree.Let:
        return tree.Let(span, parts[:-1], True, parts[-1])

    def _positional(self, span: Span, value: tree.Expr | tree.HandleRef) -> tree.CallArgument:
        return tree.CallArgument(span, None, value)

    def _others(self, span: Span, _: str) -> tree.CallArgument:
        return tree.CallArgument(span, None, tree.Rest(span))

    def _if(self, span: Span, condition: Any, then: tuple[tree.Item, ...], otherwise: Any = ()) -> tree.If:
        return tree.If(span, condition, then, otherwise if isinstance(otherwise, tuple) else (otherwise,))

    def _statement(self, span: Span, keyword: str, *parts: FilledField | str) -> tree.StatementNode:
        fields: dict[str, tree.FieldValue] = {}
        for part in parts:
            if isinstance(part, FilledField) and part.name == "only_if":
                of_clause = ("attribute", "equals") if next(reversed(fields)) == "equals" else (next(reversed(fields)),)
                for name in of_clause:
                    at = value.span if isinstance(value := fields[name], tree.Node) else part.span
                    fields[name] = tree.Conditional(at, cast(Any, value), part.value)
            elif isinstance(part, FilledField):
                if part.name in fields:
                    message = f"`{part.name.replace('_', '-')}` is given twice"
                    self.report("W0106", message, part.span, f"delete one `{part.name.replace('_', '-')}`")
                fields[part.name] = part.value
        return tree.StatementNode(span, keyword, fields)

    def _size(self, span: Span, text: str) -> FilledField:
        name, *fields = text.split(".")
        return FilledField("size", span, tree.HandleRef(span, name, tuple(fields)))

    def _most(self, span: Span, _: str, value: tree.Expr) -> FilledField:
        return FilledField("most", span, value)

    def _split(self, span: Span, word: str) -> tree.Word:
        """The types into which tensor cores split operands of f32."""
        return tree.Word(span, word)

    def _zero(self, span: Span, *written: str) -> str:
        """An assumption that the remainder of a size is zero; its words are no field."""
        if written != ("==", "0"):
            hint = "write `assume A.1 % 4 == 0`: axis 1 of the argument `A` is a multiple of 4"
            self.report("W0109", "the only assumption on a size is that a number divides it", span, hint)
        return " ".join(written)

    # ---- values ----------------------------------------------------------------------------------

    def _plain_text(self, _: Span, word: str) -> Any:
        return word

    def _open(self, span: Span, word: str) -> tree.Literal:
        """A size of a payload that is known at run time only."""
        return tree.Literal(span, word)

    _type = _space_kind = _lanes = _every = _symbolic = _distribution_kind = _plain_text

    def _space_value(self, span: Span, kind: Any, *dimensions: Any) -> tree.Space:
        every = dimensions == ("*",)
        return tree.Space(span, kind, () if every else dimensions, every)

    def _distribution_value(self, span: Span, value: Any) -> tree.Distribution:
        kind, chunk = (value, None) if isinstance(value, str) else ("block-cyclic", value)
        return tree.Distribution(span, cast(Any, kind), chunk)

    def _integer(self, span: Span, text: str) -> tree.Literal:
        digits = text.lstrip("0") or "0"
        if len(digits) > 19 or int(digits) >= INT_LIMIT:
            hint = f"write a number up to `{INT_LIMIT - 1}`"
            self.report("W0104", "this integer does not fit in 64 bits", span, hint)
            return tree.Literal(span, 0)
        return tree.Literal(span, int(digits))

    def _float(self, span: Span, text: str) -> tree.Literal:
        if (value := float(text)) == float("inf"):
            self.report("W0104", "this number is too large for a float", span, "write a number up to `1.7e308`")
        return tree.Literal(span, value)

    def _string(self, span: Span, text: str) -> tree.Literal:
        return tree.Literal(span, self._quoted(span, text))

    def _quoted(self, _: Span, text: str) -> str:
        return re.sub(r"\\.", lambda found: _ESCAPES[found.group()], text[1:-1])

    def _nothing(self, span: Span) -> tree.Literal:
        return tree.Literal(span, tree.NONE)

    def _boolean(self, span: Span, text: str) -> tree.Literal:
        return tree.Literal(span, text == "true")


def _is_comment(line: str) -> bool:
    return line.startswith("//")


def parse_text(text: str, name: str) -> tree.File:
    """Parses a schedule's text; `include` paths are relative to the folder of `name`.

    Raises:
        WeftError: W00xx for included files, W0003 for a text without a schedule, W01xx for syntax.
    """
    return _complete(schedule_text(text, name))


def parse_file(path: str | os.PathLike[str]) -> tree.File:
    """Parses a `.weft` file and its includes.

    Raises:
        WeftError: W00xx for unreadable files, W0003 for a text without a schedule, W01xx for
            syntax.
    """
    return _complete(read_source(path, limit=MAX_SCHEDULE_BYTES))


def parse_items(text: str, name: str) -> tuple[tree.Item, ...]:
    """Parses the body of a schedule, such as a line of the REPL."""
    return _built(Source(name, text), "body")


@lru_cache(maxsize=64)
def _built(source: Source, start: Start) -> Any:
    """The tree of one text; `include`s are not followed. Raises W01xx, all errors at once.

    Kept, since trees are immutable: schedules that are loaded again, with other settings, and what
    many of them include.
    """
    return built(source, reading(source, start))


def built(source: Source, found: ParsedText) -> Any:
    """The tree of a parsed text. Raises W01xx, all errors at once."""
    builder = TreeBuilder(source)
    made = builder.build(found.tree) if found.tree is not None else None
    if errors := in_order((*found.errors, *builder.errors))[:MOST_ERRORS]:
        raise WeftError(*errors)
    return made


def _complete(source: Source) -> tree.File:
    file = _Includes().follow(_built(source, "file"), (os.path.realpath(source.name),))
    if not any(schedule.span.source == source for schedule in file.schedules):
        what = "holds no schedule" if source.text.strip() else "is empty"
        raise fail("W0003", f"`{source.name}` {what}", hint="a schedule begins with `schedule name() {`")
    return file


def _target(include: tree.Include, folder: str) -> str:
    """The file of an `include`: one that ships with Weft, or one relative to a folder. Raises W0001
    with the nearest name."""
    scheme, _, name = include.path.partition(":")
    target = os.path.join(folder, include.path)
    if scheme == SHIPPED:
        from ..recipes import files

        if name in files():
            return str(files()[name])
        known = [f"{SHIPPED}:{one}" for one in files()]
    elif os.path.lexists(target) or not os.path.isdir(beside := os.path.dirname(target) or os.curdir):
        return target
    else:
        head = include.path.removesuffix(os.path.basename(target))
        known = [head + one for one in os.listdir(beside) if one.endswith(".weft")]
    last = include.path.rpartition(":")[2].rpartition("/")[2]
    named = {one.rpartition(":")[2].rpartition("/")[2]: one for one in known}
    near = f"did you mean `{named[last]}`?" if last in named else did_you_mean(include.path, known)
    hint = near or "a path is relative to the file; `weft:FOLDER/NAME` ships with Weft"
    what = f"no schedule `{include.path}` ships with Weft" if scheme == SHIPPED else f"there is no file `{target}`"
    raise fail("W0001", what, span=include.span, hint=hint)


@dataclass
class _Includes:
    """Follows includes; the schedules of each file are included once.

    Args:
        seen: the name of each file that was read, by its path.
        sees: for each file, the names of the files that it includes.
    """

    seen: dict[str, str] = field(default_factory=dict)
    sees: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def follow(self, file: tree.File, path: tuple[str, ...]) -> tree.File:
        """`file` with the included schedules before its own. `path`: the chain of files from the
        first to this one."""
        included: list[tree.Schedule] = []
        for include in file.includes:
            target = _target(include, os.path.dirname(file.source.name))
            identity = os.path.realpath(target)
            if identity in path:
                circle = " → ".join(f"`{os.path.basename(p)}`" for p in (*path[path.index(identity) :], identity))
                hint = "move the common part into a third file, and `include` that in both"
                raise fail("W0007", f"this `include` forms a cycle: {circle}", span=include.span, hint=hint)
            if len(path) > 32:
                raise fail("W0007", "includes nest deeper than 32 files", span=include.span)
            sees, known = self.sees.get(file.source.name, ()), identity in self.seen
            self.sees[file.source.name] = (*sees, self.seen.setdefault(identity, target))
            if known:
                continue
            source = read_source(target, limit=MAX_SCHEDULE_BYTES, at=include.span)
            included += self.follow(_built(source, "file"), (*path, identity)).schedules
        return replace(file, schedules=(*included, *file.schedules), sees=self.sees)
