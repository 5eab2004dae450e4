"""CHECK lines: texts that must occur in a module or a CUDA text, in this order, in the language of
LLVM's FileCheck.

    // CHECK: scf.forall
    // CHECK-NEXT: [[tile:%[a-z0-9_]+]] = memref.subview
    // CHECK-SAME: [[tile]]
    // CHECK-NOT: memref.alloc
    // CHECK-DAG: …   CHECK-COUNT-3: …   CHECK-LABEL: …   CHECK-EMPTY:   CHECK{LITERAL}: …

The package `filecheck` does the matching. Errors that it ignores (`CHECK-NXT`, a file without a
check) are refused here first.
"""

from __future__ import annotations

import contextlib
import io
import os
import re

from ..dsl.diagnostics import Diagnostic, Source, Span, WeftError
from ..dsl.records import record
from .golden import Golden, text_of

_DIRECTIVE = re.compile(
    r"\s*(?://|#|;)?\s*(?P<check>CHECK(?P<kind>-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-[1-9]\d*))?(?:\{LITERAL\})?:)(?P<what>.*)"
)
_COMMENT = re.compile(r"\s*(?://.*)?")
_MEANT = re.compile(r"\s*(?://|#|;)?\s*CHECK(?![a-z])", re.IGNORECASE)
_RELATIVE = ("-NEXT", "-SAME", "-EMPTY")
_FAILED = re.compile(r"[^\n]*?:(?P<line>\d+):(?P<column>\d+)? (?:error: )?(?P<message>.*)")
_SEEN = re.compile(r"(?m)^(?P<what>Matching at|Possible intended match at):[^\n]*(?:\nin:[^\n]*)?\n(?P<text>[^\n]*)")


@record
class Directive:
    """A CHECK line and its place."""

    span: Span
    kind: str
    what: str


def directives(source: Source) -> list[Directive]:
    """The CHECK lines of a file. Raises W0906 for a line that is neither a CHECK line nor a
    comment, and for a file without checks."""
    found: list[Directive] = []
    for number, line in enumerate(source.text.split("\n"), 1):
        whole = Span(source, number, 1, number, len(line) + 1)
        match = _DIRECTIVE.fullmatch(line)
        if match is None:
            if _MEANT.match(line) or not _COMMENT.fullmatch(line):
                raise _malformed("this is not a CHECK line, and no comment", whole)
            continue
        span = Span(source, number, match.start("check") + 1, number, len(line.rstrip()) + 1)
        kind = match["kind"] or ""
        if not found and kind in _RELATIVE:
            raise _malformed(f"`CHECK{kind}` is about the line of the check before it, and this is the first", span)
        if bool(match["what"].strip()) == (kind == "-EMPTY"):
            raise _malformed("`CHECK-EMPTY:` takes no text, and every other check needs one", span)
        found.append(Directive(span, kind, match["what"].strip()))
    if not found:
        raise _malformed("there is no CHECK line here", Span(source, 1, 1, 1, len(source.line(1)) + 1))
    return found


def check(golden: Golden, text: str) -> None:
    """Evaluates the CHECK lines of a file on a text. Raises W0906 for a malformed file, W0907 for a
    check that fails."""
    from filecheck.error import CheckError
    from filecheck.finput import FInput
    from filecheck.matcher import Matcher
    from filecheck.options import Options
    from filecheck.parser import Parser, pattern_for_opts

    source = Source(os.fspath(golden.path), text_of(golden.path))
    lines = {found.span.line: found for found in directives(source)}
    options = Options("checks", check_prefixes=["CHECK"], comment_prefixes=["\0"])
    # comments are dropped: one that mentions `CHECK:` is no check
    kept = "".join(f"{line if n in lines else ''}\n" for n, line in enumerate(source.text.split("\n"), 1))
    matcher = Matcher(options, FInput("in", text), Parser(options, io.StringIO(kept), *pattern_for_opts(options)))
    report = matcher.stderr = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # version 1.0.6 prints a trace at CHECK-DAG
            status = matcher.run()
    except CheckError:
        # it has reported the failure, then searched for a shorter match, and failed at the unknown variable
        status = 1
    except (NotImplementedError, re.error) as error:
        raise _malformed(f"a CHECK line that cannot be evaluated: {error}", next(iter(lines.values())).span) from None
    if status:
        raise _failed(golden, lines, report.getvalue(), text, matcher.file.range.start)


def _failed(golden: Golden, lines: dict[int, Directive], report: str, text: str, position: int) -> WeftError:
    """W0907 at the CHECK line that `filecheck` names, or W0906 if the line itself is malformed."""
    plain = re.sub(r"\x1b\[\d*m", "", report)
    head = _FAILED.match(plain)
    if head is None or int(head["line"]) not in lines:
        return _malformed(plain.strip().partition("\n")[0], next(iter(lines.values())).span)
    at = lines[int(head["line"])]
    if head["column"] or "Malformed regex" in head["message"]:
        return _malformed(f"this is not a pattern: {head['message']}", at.span)
    notes: list[str] = []
    seen = {match["what"]: match["text"].strip() for match in _SEEN.finditer(plain)}
    if at.kind == "-NOT":
        message = "this text occurs, and must not"
        notes += [f"in the line `{seen['Matching at']}`"] if "Matching at" in seen else []
    elif "referenced before assignment" in head["message"]:
        return _malformed("a name in `[[ ]]` is used before a check gave it a value", at.span)
    else:
        message = "not found"
        line = text.count("\n", 0, position) + 1
        where = text.split("\n")[line - 1].strip()
        notes.append(f"searched from line {line} of the {golden.title.removeprefix('checks of the ')} on: `{where}`")
        if near := seen.get("Possible intended match at"):
            notes.append(f"near it comes `{near}`")
    shown = at.span.source.line(at.span.line)[at.span.column - 1 :].strip()
    hint = f"`weft golden {golden.path} --show` prints the whole text"
    return WeftError(Diagnostic("W0907", f"{message}: `{shown}`", at.span, notes=tuple(notes), hint=hint))


def _malformed(message: str, span: Span) -> WeftError:
    words = "-NEXT, -SAME, -NOT, -DAG, -LABEL, -EMPTY or -COUNT-n"
    return WeftError(Diagnostic("W0906", message, span, hint=f"write `// CHECK: text`, with {words} before the colon"))
