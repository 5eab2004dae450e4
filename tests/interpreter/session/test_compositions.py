"""Schedules in the forms that compose rewrite the payload as the statements do of which they consist."""

from __future__ import annotations

import pytest
from random_compositions import PAYLOAD, composed

from weft.dsl.checker import check
from weft.dsl.diagnostics import render_all
from weft.dsl.formatter import format_text
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_text
from weft.interpreter.ir import mlir
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures


def applied(text: str) -> Session:
    file = parse_text(text, "s.weft")
    found = [d for d in check(file, signatures()) if d.severity == "error"]
    assert not found, f"{text}\n{render_all(found)}"
    session = Session(mlir.parse(PAYLOAD, mlir.context()), file, bind_parameters(file.main, {}))
    session.run()
    return session


@pytest.mark.few(220)
@pytest.mark.parametrize("seed", range(2000))
def test_composed_is_as_expanded(seed: int) -> None:
    text, plain = composed(seed)
    new, old = applied(text), applied(plain)
    assert new.ir == old.ir, f"{text}\n{plain}"
    formatted = format_text(text, "s.weft")
    assert format_text(formatted, "s.weft") == formatted
