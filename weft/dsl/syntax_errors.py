"""The message of a syntax error: the token found, the tokens expected, and a guess of the
intention; and recovery: the text without the wrong statement, which is parsed for the next error.

Skipped text is replaced by blanks, so that positions stay the same. A statement ends with its line,
or where its brackets close. A wrong header of a block is replaced by a valid one, so that the block
is parsed. Outside of schedules, the skipped text ends before the next line that begins a
declaration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import Token
from lark.exceptions import UnexpectedInput

from .diagnostics import Diagnostic, Source, Span, alternatives, did_you_mean
from .records import record
from .tree import ITEMS

_TOP = re.compile(r"^[ \t]*(schedule|payload|include)\b", re.MULTILINE)
_BLOCKS = {"schedule": "schedule a", "if": "if", "foreach": "if"}
"""The words that begin a block of statements, each with the shortest valid header."""
_BOUNDARIES = frozenset({"_NL", "LBRACE", "RBRACE", "ELSE"})
_SIGNS = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[][(){}]')
_CONTINUED = re.compile(r"(?:[-+*/%,=<>(\[]|\b(?:and|or|not))\s*$")
_NOT_NEWLINE = re.compile(r"[^\n]")
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
_EXPRESSION = frozenset(
    {"NAME", "CALLED", "INT", "FLOAT", "STRING", "LPAR", "MINUS", "NOT", "TRUE", "FALSE", "NONE", "SIZE"}
)
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
        names -= {name for name in names if failure.spellings.get(name) in ITEMS} | keywords | {"WORD"}
        names.discard("_NL")
    if names >= _EXPRESSION - {"NOT"}:
        groups.append("an expression")
        names -= _EXPRESSION
    elif "SLASH" in names or "PLUS" in names or "AND" in names:
        names = names - (OPERATORS - {"NOT"}) - {"LPAR", "DOT"} or names
    if len(names) > 1:
        names -= {"DOT"} if "LBRACE" in names else {"DOT", "IF"}  # each clause may have a condition
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
        names, key=lambda name: (name == "_NL", name not in failure.spellings, failure.spellings.get(name, ""), name)
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
    opened = open_brackets(failure.tokens)
    if failure.found != "$END" or not opened:
        return None
    opening, where = opened[-1], "the file ends inside it"
    after = [
        t for t in failure.tokens if t.type == "SCHEDULE" and t.column == 1 and (t.line or 0) > (opened[0].line or 0)
    ]
    if after:  # a schedule within another one is indented
        opening, where = opened[0], f"another schedule begins inside it, in line {after[0].line}"
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
    if named and word in ITEMS:
        return Diagnostic("W0102", f"`{word}` has no result to name", span, hint=f"write it without `let`: `{word} …`")
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
    if failure.kind(1) == "NAME" and failure.tokens[-1] == "match" and "_NL" not in failure.accepts:
        return "name the op first, `let op = match …`, and write `op` here"
    if (failure.kind(1), failure.kind(2)) == ("COMMA", "REST"):
        return "`...` is the last argument of a call, and the last size of a tile"
    if word == "if" and "_NL" in failure.accepts:
        return "a statement follows its condition, also in one line: `if CONDITION { STATEMENT }`"
    last = str(failure.tokens[-1]) if failure.tokens else ""
    if word == "(" and last in statements:
        return f"a statement takes no parentheses; `weft statements {last}` shows its syntax"
    if word in statements.union(ITEMS) and "SCHEDULE" in failure.accepts:
        more = any(token.type == "LBRACE" for token in failure.tokens)
        either = "a `}` above it is one too many: delete it, or begin a schedule" if more else "write it in a schedule"
        return f"{either}: `schedule name() {{ … }}`"
    candidates = [failure.spellings[name] for name in failure.accepts if name in failure.spellings]
    return did_you_mean(word, [c for c in candidates if c[0].isalpha()]) if word[:1].isalpha() else None


@record
class Skipped:
    """The text to parse after an error.

    Args:
        text: the text with the wrong part blanked.
        end: the offset up to which text was skipped.
        whole: whether braces were only skipped in pairs, so that the others still match as before.
    """

    text: str
    end: int
    whole: bool = True


def without(failure: Failure, text: str, statements: frozenset[str], top: bool) -> Skipped | None:
    """The text to parse next; None if no further error can be found reliably.

    Args:
        text: the text that was parsed.
        statements: every keyword that begins a statement.
        top: whether the text is a file, and not the body of a schedule.
    """
    if failure.found == "$END":
        return None
    in_block = any(token.type == "LBRACE" for token in open_brackets(failure.tokens))
    start = _start(failure.tokens, failure.position)
    line = text.rfind("\n", 0, start) + 1
    begins = _TOP.match(text, line) if top else None
    if in_block and begins and begins.start(1) == line:
        return Skipped(_blanked(text, 0, line), line)  # a `}` is missing before it
    if (top and not in_block and not begins) or text.startswith("else", failure.position):  # its statement is not known
        following = (
            _TOP.search(text, text.find("\n", failure.position)) if top and "\n" in text[failure.position :] else None
        )
        return Skipped(_blanked(text, 0, following.start()), following.start()) if following else None
    if begins and begins[1] == "schedule" and begins.start(1) == start:
        return _without_header(text, start, text.find("{", start), "schedule a")
    end = _end(text, start, failure.position, statements)
    depth, opening = _balance(text, start, end)
    if depth < 0 and opening is not None:  # the block of one line ends before the line does
        return Skipped(_blanked(text, start, opening), opening) if opening >= failure.position else None
    word = re.match(r"\w*", text[start:])
    header = _BLOCKS.get(word.group() if word else "")
    if depth == 0 and (header is None or "{" in text[start:end]):
        return Skipped(_blanked(text, start, end), end)
    if depth == 0 and header is not None:  # its `{` is missing
        fits = len(header) + 3 < end - start
        return Skipped(_blanked(text, start, end, f"{header} a{{"), end, False) if fits else None
    if depth != 1 or opening is None:
        return None
    if header is not None:
        return _without_header(text, start, opening, header)
    if text[opening + 1 : end].partition("//")[0].strip():
        return Skipped(_blanked(text, start, end), end, False)
    closed = _closed(text, opening)
    return None if closed is None else Skipped(_blanked(text, start, closed), closed, False)


def _without_header(text: str, start: int, opening: int, header: str) -> Skipped | None:
    """The text with the header of a block replaced by a valid one; the `{` at `opening` remains."""
    if opening < start + len(header) + 3 or text[opening - 1] == "\n":
        return None
    name = "" if header.startswith("schedule") else "a"
    blanked = _blanked(text, start, opening - 1, f"{header}({name}")  # a header may take several lines
    return Skipped(f"{blanked[: opening - 1]}){text[opening:]}", opening + 1)


def _start(tokens: tuple[Token, ...], position: int) -> int:
    """The offset of the statement in which the parse stopped."""
    begun = position
    for token in reversed(tokens):
        if token.type in _BOUNDARIES:
            break
        begun = token.start_pos or 0
    return begun


def _end(text: str, start: int, stopped: int, statements: frozenset[str]) -> int:
    """The end of a statement: the end of a line that leaves no `(` or `[` open and is not
    continued, or of the line before the next statement."""
    at, depth = start, 0
    while True:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        found = list(_SIGNS.finditer(text, at, end))
        depth = max(0, depth + sum((s.group() in "([") - (s.group() in ")]") for s in found if len(s.group()) == 1))
        code = text[at:end] if not found or not found[-1].group().startswith("//") else text[at : found[-1].start()]
        begins = re.match(r"[ \t\r]*(?:([\w?*-]+)|(\}))?", text[end + 1 :])
        word = begins.group(1) if begins else None
        next_begins = bool(begins and begins.group(2)) or word in statements or word in ITEMS or word == "schedule"
        done = end >= stopped and not depth and not _CONTINUED.search(code)
        if end == len(text) or done or next_begins:
            return end
        at = end + 1


def _balance(text: str, start: int, end: int) -> tuple[int, int | None]:
    """The number of braces that are opened and not closed, and the offset of the last of them; -1, and the offset
    of a brace that is closed and not open, if there is one."""
    opened: list[int] = []
    for sign in _SIGNS.finditer(text, start, end):
        if sign.group() == "{":
            opened.append(sign.start())
        elif sign.group() == "}":
            if not opened:
                return -1, sign.start()
            opened.pop()
    return len(opened), opened[-1] if opened else None


def _closed(text: str, opening: int) -> int | None:
    """The offset after the `}` that closes the `{` at `opening`."""
    depth = 0
    for sign in _SIGNS.finditer(text, opening):
        depth += (sign.group() == "{") - (sign.group() == "}")
        if depth == 0:
            return sign.end()
    return None


def _blanked(text: str, start: int, end: int, header: str = "") -> str:
    """The text with a header and blanks from `start` to `end`."""
    return text[:start] + header + _NOT_NEWLINE.sub(" ", text[start + len(header) : end]) + text[end:]
