"""A launch inside an op that is not registered: upstream's verifier ends the process there, so it is looked for in the text before.

`"test.region"() ({ gpu.launch_func @k::@f … })`: the verifier asks for the symbol table around the launch; an unknown op may be
one, so that there is none, and it goes on with that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Diagnostic, Source, Span, WeftError

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir

_LAUNCH = "gpu.launch_func"
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_TOKEN = re.compile(rf"//[^\n]*|@{_STRING}|(?P<op>{_STRING})(?=\s*\()|{_STRING}|(?P<brace>[{{}}])|(?P<launch>\bgpu\.launch_func\b)")


def expect_known_holders(source: Source, context: ir.Context) -> None:
    """Raises W0628 for a launch in the region of an op that is not registered."""
    if _LAUNCH not in source.text:
        return
    text, holders = source.text, list[str | None]()
    op = closed = None
    for token in _TOKEN.finditer(text):
        if token["op"] is not None:
            op = token["op"].strip('"')
        if token["launch"] is not None or (token["op"] is not None and op == _LAUNCH):
            unknown = next((h for h in holders if h is not None and not context.is_registered_operation(h)), None)
            if unknown is not None:
                raise WeftError(_refusal(source, token.start(), unknown))
        elif token["brace"] == "}" and holders:
            closed = holders.pop()
        elif token["brace"] == "{":
            at = token.start()
            while at and text[at - 1].isspace():
                at -= 1
            before = text[at - 1 : at]
            holders.append(op if before == "(" else closed if before == "," else None)


def _refusal(source: Source, start: int, holder: str) -> Diagnostic:
    line, column = source.text.count("\n", 0, start) + 1, start - source.text.rfind("\n", 0, start)
    span = Span(source, line, column, line, column + len(_LAUNCH))
    return Diagnostic("W0628", f"a launch stands in {holder}, an op that is not registered: nobody knows when it runs", span,
                      hint="launch from a function, from its loops and branches")  # fmt: skip
