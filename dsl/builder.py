"""Lark's parse tree → the syntax tree of `tree.py`.

Nothing here knows a statement: the children of the grammar's `statement` are rules named after the fields they fill.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from lark import Token, Tree

from . import tree
from .diagnostics import Source, Span, fail

_KEYWORD = re.compile(r"[A-Za-z_]\w*(?:-[A-Za-z]\w*)*[?*]?")
_ESCAPES = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}
INT_LIMIT = 2**63


class Builder:
    """Builds the tree of one source, from the outside in, so that it knows which names are handles where they are used.

    Args:
        source: the text as the user wrote it.
        handles: names of handles from before (the REPL's).
    """

    def __init__(self, source: Source, handles: frozenset[str] = frozenset()) -> None:
        self.source = source
        self.handles = set(handles)

    # ---- spans ------------------------------------------------------------------------------------------------------------

    def span(self, node: Tree | Token) -> Span:
        at: Any = node.meta if isinstance(node, Tree) else node
        if getattr(at, "end_pos", None) is None:  # an empty file
            return Span(self.source, 1, 1, 1, 1)
        return Span(self.source, at.line, at.column, at.end_line, at.end_column)

    def one(self, node: Tree) -> Any:
        """Build the only child of `node`."""
        return self.build(cast(Tree, node.children[0]))

    def build(self, node: Tree) -> Any:
        method: Callable[[Tree], Any] = getattr(self, f"_{node.data}")
        return method(node)

    def all(self, nodes: list[Any]) -> tuple[Any, ...]:
        return tuple(self.build(node) for node in nodes if isinstance(node, Tree))

    # ---- top level --------------------------------------------------------------------------------------------------------

    def file(self, node: Tree) -> tree.File:
        items = self.all(node.children)
        payloads = [item for item in items if isinstance(item, tree.Payload)]
        if len(payloads) > 1:
            first = payloads[0].span.line
            message = f"a file has one payload; line {first} names one already"
            raise fail("W0108", message, span=payloads[1].span, hint="delete one of them, or split the file")
        includes = tuple(item for item in items if isinstance(item, tree.Include))
        schedules = tuple(item for item in items if isinstance(item, tree.Schedule))
        return tree.File(self.span(node), self.source, includes, payloads[0] if payloads else None, schedules)

    def _include(self, node: Tree) -> tree.Include:
        return tree.Include(self.span(node), self.one(node).value)

    def _payload_builder(self, node: Tree) -> tree.Payload:
        return tree.Payload(self.span(node), str(node.children[0]), None, self.all(node.children))

    def _payload_path(self, node: Tree) -> tree.Payload:
        return tree.Payload(self.span(node), None, self.one(node).value, ())

    def _schedule(self, node: Tree) -> tree.Schedule:
        *parameters, body = cast(list[Tree], node.children[1:])
        built: tuple[tree.Parameter, ...] = self.all(parameters)
        self.handles = {parameter.name for parameter in built if parameter.type == "handle"}
        items = self._block(body)
        return tree.Schedule(self.span(node), str(node.children[0]), built, items, self._doc(node.meta.line))

    def _doc(self, line: int) -> str:
        """The comment lines directly above `line`, else those at the top of the file."""
        lines = self.source.text.split("\n")
        above: list[str] = []
        while line - 2 - len(above) >= 0 and lines[line - 2 - len(above)].lstrip().startswith("//"):
            above.insert(0, lines[line - 2 - len(above)])
        if not above:
            for text in lines:
                if not text.lstrip().startswith("//"):
                    break
                above.append(text)
        return "\n".join(text.strip().removeprefix("//").strip() for text in above)

    def _parameter(self, node: Tree) -> tree.Parameter:
        name, kind, *rest = node.children
        parts = {str(cast(Tree, part).data): self.one(cast(Tree, part)) for part in rest}
        spelled = cast(tree.ParameterType, str(cast(Tree, kind).children[0]))
        return tree.Parameter(self.span(node), str(name), spelled, parts.get("default"), parts.get("domain"))

    # ---- items ------------------------------------------------------------------------------------------------------------

    def body(self, node: Tree) -> tuple[tree.Item, ...]:
        return self.all(node.children)

    def _block(self, node: Tree) -> tuple[tree.Item, ...]:
        """The items of a block; the handles it binds are its own."""
        outer = set(self.handles)
        items = self.all(node.children)
        self.handles = outer
        return items

    def _let_one(self, node: Tree) -> tree.Let:
        return self._let(node, destructured=False)

    def _let_many(self, node: Tree) -> tree.Let:
        return self._let(node, destructured=True)

    def _let(self, node: Tree, destructured: bool) -> tree.Let:
        *targets, value = self.all(node.children)
        self.handles.update(target.name for target in targets)
        return tree.Let(self.span(node), tuple(targets), destructured, value)

    def _binding(self, node: Tree) -> tree.Binding:
        return tree.Binding(self.span(node), str(node.children[0]))

    def _call(self, node: Tree) -> tree.Call:
        return tree.Call(self.span(node), str(node.children[0]), self.all(node.children))

    def _positional(self, node: Tree) -> tree.Argument:
        return tree.Argument(self.span(node), None, self._value(node.children[0]))

    def _named(self, node: Tree) -> tree.Argument:
        return tree.Argument(self.span(node), str(node.children[0]), self._value(node.children[1]))

    def _value(self, node: Any) -> Any:
        """A bare name is a handle where a handle of that name is in scope."""
        built = self.build(node)
        if isinstance(built, tree.NameRef) and built.name in self.handles:
            return tree.HandleRef(built.span, built.name)
        return built

    def _require(self, node: Tree) -> tree.Require:
        condition, *message = self.all(node.children)
        return tree.Require(self.span(node), condition, message[0].value if message else None)

    def _if(self, node: Tree) -> tree.If:
        condition, then, *rest = cast(list[Tree], node.children)
        value = self._value(condition)
        otherwise: tuple[tree.Item, ...] = ()
        then_items = self._block(then)
        if rest:
            built = self.build(rest[0])
            otherwise = built if isinstance(built, tuple) else (built,)
        return tree.If(self.span(node), value, then_items, otherwise)

    def _foreach(self, node: Tree) -> tree.Foreach:
        binding, iterable, body = cast(list[Tree], node.children)
        variable, value = self.build(binding), self._value(iterable)
        outer = set(self.handles)
        (self.handles.add if isinstance(value, tree.HandleRef) else self.handles.discard)(variable.name)
        items = self._block(body)
        self.handles = outer
        return tree.Foreach(self.span(node), variable, value, items)

    def _return(self, node: Tree) -> tree.Return:
        return tree.Return(self.span(node), self.all(node.children))

    def _statement(self, node: Tree) -> tree.Statement:
        found = _KEYWORD.match(self.source.text, node.meta.start_pos)
        keyword = found.group() if found else ""
        fields: dict[str, tree.FieldValue] = {}
        for child in cast(list[Tree], node.children):
            name = str(child.data)
            if name in fields:
                word = name.replace("_", "-")
                message = f"`{word}` is given twice"
                raise fail("W0106", message, span=self.span(child), hint="delete one of them")
            fields[name] = self._field(child)
        return tree.Statement(self.span(node), keyword, fields)

    def _field(self, node: Tree) -> tree.FieldValue:
        if not node.children:
            return True
        child = node.children[0]
        if isinstance(child, Tree):
            return self.build(child)
        span = self.span(child)
        if child.type == "RAW":
            raw = self.source.text[cast(int, child.start_pos) + 1 : cast(int, child.end_pos) - 1]
            return tree.RawText(span, raw)
        return tree.Word(span, str(child))

    # ---- values -----------------------------------------------------------------------------------------------------------

    def _handle(self, node: Tree) -> tree.HandleRef:
        name, *fields = (str(token) for token in node.children)
        return tree.HandleRef(self.span(node), name, tuple(fields))

    def _function(self, node: Tree) -> tree.Word:
        return tree.Word(self.span(node), str(node.children[0]))

    def _list(self, node: Tree) -> tree.ListExpr:
        return tree.ListExpr(self.span(node), self.all(node.children))

    def _names(self, node: Tree) -> tree.ListExpr:
        return tree.ListExpr(self.span(node), self.all(node.children))

    def _skip(self, node: Tree) -> tree.Skip:
        return tree.Skip(self.span(node))

    def _space_value(self, node: Tree) -> tree.Space:
        kind, *rest = cast(list[Tree], node.children)
        every = any(part.data == "every" for part in rest)
        dimensions = () if every else self.all(rest)
        return tree.Space(self.span(node), cast(Any, str(kind.children[0])), dimensions, every)

    def _dimension(self, node: Tree) -> tree.Dimension:
        axis, *count = node.children
        return tree.Dimension(
            self.span(node), cast(Any, str(axis)), self.build(cast(Tree, count[0])) if count else None
        )

    def _symbolic(self, node: Tree) -> str:
        return "?"

    def _distribution_value(self, node: Tree) -> tree.Distribution:
        child = cast(Tree, node.children[0])
        if child.data == "distribution_kind":
            return tree.Distribution(self.span(node), cast(Any, str(child.children[0])))
        return tree.Distribution(self.span(node), "block-cyclic", self.build(child))

    def _binary(self, node: Tree) -> tree.Binary:
        left, operator, right = node.children
        return tree.Binary(self.span(node), str(operator), self.build(cast(Tree, left)), self.build(cast(Tree, right)))

    def _unary(self, node: Tree) -> tree.Unary:
        operator, operand = node.children
        return tree.Unary(self.span(node), cast(Any, str(operator)), self.build(cast(Tree, operand)))

    def _integer(self, node: Tree) -> tree.Literal:
        digits = str(node.children[0]).lstrip("0") or "0"
        if len(digits) > 19 or int(digits) >= INT_LIMIT:
            raise fail("W0104", "this integer does not fit in 64 bits", span=self.span(node))
        return tree.Literal(self.span(node), int(digits))

    def _float(self, node: Tree) -> tree.Literal:
        value = float(str(node.children[0]))
        if value == float("inf"):
            raise fail("W0104", "this number is too large for a float", span=self.span(node))
        return tree.Literal(self.span(node), value)

    def _string(self, node: Tree) -> tree.Literal:
        inner = str(node.children[0])[1:-1]
        return tree.Literal(self.span(node), re.sub(r"\\.", lambda found: _ESCAPES[found.group()], inner))

    def _boolean(self, node: Tree) -> tree.Literal:
        return tree.Literal(self.span(node), str(node.children[0]) == "true")

    def _name(self, node: Tree) -> tree.NameRef:
        return tree.NameRef(self.span(node), str(node.children[0]))

    def _call_expr(self, node: Tree) -> tree.CallExpr:
        return tree.CallExpr(self.span(node), str(node.children[0]), self.all(node.children))
