"""What a proof found, beside what it should have: a mismatch names the codes, with what was said of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from executors import alone

from weft.dsl.diagnostics import Diagnostic


def expect_codes(found: Iterable[Diagnostic], expected: Sequence[str], text: str = "") -> None:
    """These codes, in this order. `text`: the module, or the schedule, that was judged."""
    __tracebackhide__ = True
    diagnostics = list(found)
    codes = [d.code for d in diagnostics]
    if codes != list(expected):
        raise AssertionError(_differs(codes, expected, diagnostics, text))


def expect_among(found: Iterable[Diagnostic], code: str, text: str = "") -> None:
    """This code, whatever else there is."""
    __tracebackhide__ = True
    diagnostics = list(found)
    codes = [d.code for d in diagnostics]
    if code not in codes:
        raise AssertionError(_differs(codes, [code], diagnostics, text))


def _differs(codes: Sequence[str], expected: Sequence[str], found: Sequence[Diagnostic], text: str) -> str:
    said = [f"  {d.code}: {d.message}" + (f" (line {d.span.line})" if d.span else "") for d in found]
    missing = [code for code in expected if code not in codes]
    explained = f"; `weft explain {missing[0]}` has what should have been found" if missing else ""
    head = f"the proof finds {', '.join(codes) or 'nothing'}, expected {', '.join(expected) or 'nothing'}{explained}{alone()}"
    return "\n".join([head, *said, *([f"of\n{text}"] if text else [])])
