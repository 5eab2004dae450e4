"""The message of a syntax error: the token found, the tokens expected, and a guess of the
intention."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import Token
from lark.exceptions import UnexpectedInput

from .diagnostics import Diagnostic, Source, Span, alternatives, did_you_mean
from .records import record
from .tree import ITEMS

_NAMED = {
    "NAME": "a name",
    "WORD": "a name",
    "CALLED": "a name",
    **dict.fromkeys(("OP", "LOOPS"), "an op such as `contraction` or `linalg.matmul`"),
    "FUNCTION": "a function such as `@main`",
    "SIZE": "a size such as `A.1`",
    "INT": "a number",
    "FLOAT": "a number",
    "STRING": "a text in quotes",
    "RAW": "`{`",
    "COMPARE": "a comparison",
    "EQUALS": "a comparison",
    "AT_MOST": "a comparison",
    "_NL": "a new line",
    "$END": "the end of the file",
}
_EXPRESSION = frozenset({"NAME", "CALLED", "INT", "FLOAT", "STRING", "LPAR", "MINUS", "NOT", "TRUE", "FALSE", "SIZE"})
OPERATORS = frozenset({"OR", "AND", "NOT", "COMPARE", "EQUALS", "AT_MOST", "PLUS", "MINUS", "STAR", "SLASH", "PERCENT"})
BRACKETS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
_CLOSING = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
_FOUND = re.compile(r'[A-Za-z_]\w*(?:-[A-Za-z]\w*)*[?*]?|[0-9][\w.]*|"[^"\n]*"?|==|!=|<=|>=|&&|\|\||\S')
_MEANT = {
    "&&": "write `and`",
    "||": "write `or`",
    "!": "write `not`",
    "#": "a comment begins with `//`",
    ";": "end the statement with a new line instead of `;`",
    "'": 'write a string in double quotes: `"text"`',
    "`": 'write a string in double quotes: `"text"`',
}


@record
class Failure:
    """The state in which a parse stopped.

    Args:
        tokens: the tokens before.
        accepts: the terminals that are accepted next.
        spellings: terminal name → its text.
    """

    source: Source
    error: UnexpectedInput
    tokens: tuple[Token, ...]
    accepts: frozenset[str]
    spellings: dict[str, str]

    @property
    def found(self) -> str | None:
        """The terminal of the unexpected token; None if the characters form no token."""
        return getattr(getattr(self.error, "token", None), "type", None)

    @property
    def position(self) -> int:
        return len(self.source.text) if self.found == "$END" else self.error.pos_in_stream or 0

    def kind(self, back: int) -> str | None:
        """The terminal of the `back`-th last token; None before the first."""
        return self.tokens[-back].type if len(self.tokens) >= back else None


def explain(failure: Failure, statements: frozenset[str]) -> Diagnostic:
    """The diagnostic of a failed parse. `statements`: every keyword that begins a statement."""
    special = _unclosed(failure) or _bad_literal(failure) or _unknown_statement(failure, statements)
    if special is not None:
        return special
    text, span = _found(failure)
    if text == "`}`" and not any(token.type == "LBRACE" for token in open_brackets(failure.tokens)):
        return Diagnostic("W0101", "this `}` closes nothing", span, hint="delete it, or a superfluous `}` above")
    wanted = expected(failure, statements)
    notes: tuple[str, ...] = ()
    opening = _innermost(failure.tokens)
    if opening is not None and opening.line != span.line and opening.type != "LBRACE":
        notes = (f"the `{opening}` of line {opening.line} is still open",)
    hint = "a comment begins with `//`" if text == "`#`" else _hint(failure, text, statements)
    if failure.source.name.endswith(".mlir"):
        name = failure.source.name
        hint = (
            f"this is a payload: apply a schedule to it, `weft run FILE.weft --payload {name}`; or `weft verify {name}`"
        )
    return Diagnostic("W0101", f"expected {wanted}, found {text}", span, notes=notes, hint=hint)


def expected(failure: Failure, statements: frozenset[str]) -> str:
    """The expected tokens: "`]` or `,`"."""
    names = set(failure.accepts)
    groups: list[str] = []
    keywords = {name for name in names if failure.spellings.get(name) in statements}
    if names & {"WORD", "CALLED"} and keywords:
        groups += ["a statement"] if "LET" in names else ["a statement", "the call of a schedule"]
        names -= keywords | {"WORD", "LET", "REQUIRE", "IF", "FOREACH", "RETURN"}
        names.discard("_NL")
    if names >= _EXPRESSION - {"NOT"}:
        groups.append("an expression")
        names -= _EXPRESSION
    elif "SLASH" in names or "PLUS" in names or "AND" in names:
        names = names - (OPERATORS - {"NOT"}) - {"LPAR", "DOT"} or names
    if len(names) > 1:
        names.discard("DOT")
    if "SCHEDULE" in names:
        names.discard("_NL")
    if "AXIS" in names:
        names.discard("AXIS")
        groups += ["`x`", "`y`", "`z`"]
    if "$END" in names or "RBRACE" in names:
        if len(names) > 2:
            names.discard("$END")
        if "_NL" in names:
            names -= {"RBRACE", "$END"}
    order = sorted(
        names, key=lambda name: (name == "_NL", name not in failure.spellings, failure.spellings.get(name, ""))
    )
    groups += dict.fromkeys(_NAMED.get(name) or f"`{failure.spellings.get(name, name)}`" for name in order)
    return alternatives(groups)


def _found(failure: Failure) -> tuple[str, Span]:
    """The text at the failure, and its span. For the end of a line the span is at the end of the
    code before it."""
    at_end, text = failure.found == "$END", failure.source.text
    place = (failure.tokens[-1].end_pos or 0) if failure.tokens else len(text) if at_end else 0
    opening = _innermost(failure.tokens)
    in_list = opening is not None and opening.type != "LBRACE"
    mid_statement = bool(failure.tokens) and not failure.accepts & {"_NL", "RBRACE"} and not in_list
    if at_end or failure.found == "_NL" or (mid_statement and "\n" in text[place : failure.position]):
        return "the end of the file" if at_end else "the end of the line", failure.source.span(place, 1)
    found = _FOUND.match(text, failure.position)
    word = found.group() if found else text[failure.position : failure.position + 1]
    shown = f"`{word}`" if word.isprintable() else f"the character U+{ord(word[0]):04X}"
    return shown, failure.source.span(failure.position, len(word))


def open_brackets(tokens: Iterable[Token]) -> list[Token]:
    """The brackets that are open at the end of `tokens`, outermost first."""
    stack: list[Token] = []
    for token in tokens:
        if token.type in BRACKETS:
            stack.append(token)
        elif stack and token.type == BRACKETS[stack[-1].type]:
            stack.pop()
    return stack


def _innermost(tokens: Iterable[Token]) -> Token | None:
    return next(reversed(open_brackets(tokens)), None)


def _unclosed(failure: Failure) -> Diagnostic | None:
    """The error of a bracket that is still open at the end of the file or at the next schedule."""
    opened, last = open_brackets(failure.tokens), failure.tokens[-1] if failure.tokens else None
    if failure.found == "$END" and opened:
        opening, where = opened[-1], "the file ends inside it"
    elif opened and last == "schedule" and last.type == "WORD" and any(t.type == "SCHEDULE" for t in failure.tokens):
        opening, where = opened[0], f"another schedule begins inside it, in line {last.line}"
    else:
        return None
    span = failure.source.span(opening.start_pos or 0, 1)
    hint = f"close it with `{_CLOSING[opening.type]}`"
    return Diagnostic("W0105", f"this `{opening}` is never closed", span, notes=(where,), hint=hint)


def _bad_literal(failure: Failure) -> Diagnostic | None:
    """The error of an unterminated string or a malformed number."""
    text, position = failure.source.text, failure.position
    if position >= len(text):
        return None
    if text[position] == '"' and "STRING" in failure.accepts:
        end = text.find("\n", position)
        body = text[position : end if end >= 0 else len(text)]
        if re.match(r'"(?:[^"\\]|\\.)*"', body):
            message, hint = "unknown escape in a text", 'write one of `\\"`, `\\\\`, `\\n`, `\\t`'
        else:
            message, hint = "this text has no end", 'close it with `"` on the same line'
        return Diagnostic("W0103", message, failure.source.span(position, len(body.rstrip())), hint=hint)
    found = re.match(r"[0-9][\w.]*", text[position:])
    if found and "INT" in failure.accepts and not re.fullmatch(r"[0-9]+(\.[0-9]+([eE][0-9]+)?)?", found.group()):
        message, span = f"`{found.group()}` is not a number", failure.source.span(position, found.end())
        return Diagnostic("W0104", message, span, hint="numbers look like `128` or `0.5`")
    return None


def _unknown_statement(failure: Failure, statements: frozenset[str]) -> Diagnostic | None:
    """The error of an unknown word at the beginning of a statement without a `(` after it, which
    would make it a call."""
    text, _ = _found(failure)
    named = failure.kind(1) == "NAME" and (failure.kind(2), failure.kind(4)) == ("EQUAL", "LET")
    if named and not re.match(r"`(?:[\w@\[\"]|the end)", text):
        return None  # the error is inside a value
    if not named and (failure.kind(1) != "WORD" or failure.kind(2) in {"SCHEDULE", "PAYLOAD"}):
        return None
    word = failure.tokens[-1]
    span = failure.source.span(word.start_pos or 0, len(word))
    if text == "`=`":
        hint = f"bind a name with `let {word} = …`"
        return Diagnostic("W0102", f"`{word}` is not a statement", span, hint=hint)
    lists = "`weft statements` lists them; a schedule is called with parentheses: `stage(op)`"
    hint = did_you_mean(word, statements.union(ITEMS)) or lists
    return Diagnostic("W0102", f"`{word}` is not a statement", span, hint=hint)


def _hint(failure: Failure, found: str, statements: frozenset[str]) -> str | None:
    word = found.strip("`")
    if word in _MEANT:
        return _MEANT[word]
    if word in ("=", ",", ")") and failure.accepts == {"COLON"}:
        return f"a parameter has a type: `{failure.tokens[-1]}: int`"
    if failure.kind(2) == "LET" and word == ",":
        return "several results are named in parentheses: `let (a, b) = …`"
    if word == "=" and "COMPARE" in failure.accepts:
        return "equality is `==`"
    if word in ("==", "!=", "<", "<=", ">", ">=") and "AND" in failure.accepts:
        return "comparisons don't chain: `a < b and b < c`"
    last = str(failure.tokens[-1]) if failure.tokens else ""
    if word == "(" and last in statements:
        return f"a statement takes no parentheses; `weft statements {last}` shows its syntax"
    if word in statements.union(ITEMS) and "SCHEDULE" in failure.accepts:
        more = any(token.type == "LBRACE" for token in failure.tokens)
        either = "a `}` above it is one too many: delete it, or begin a schedule" if more else "write it in a schedule"
        return f"{either}: `schedule name() {{ … }}`"
    candidates = [failure.spellings[name] for name in failure.accepts if name in failure.spellings]
    return did_you_mean(word, [c for c in candidates if c[0].isalpha()]) if word[:1].isalpha() else None
