"""The examples of discussion 001 and review 004 as their authors wrote them: what `weft verify` says of each
(`references/*.verify.txt`), and what `async-fork` makes of it (`*.forked.mlir`), which `weft verify` accepts. (`synchronous.mlir`
is refused by upstream's verifier, too.)"""

from __future__ import annotations

from pathlib import Path

import pytest
from launch_graphs import parsed
from pinned import pinned

from weft.dsl.diagnostics import Source, WeftError, render_all
from weft.interpreter.forking.forking import async_fork
from weft.interpreter.ir.mlir import ir
from weft.verify import verify_source

HERE = Path(__file__).parent / "references"
EXAMPLES = sorted(path for path in HERE.glob("*.mlir") if not path.name.endswith(".forked.mlir"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_verify_says(path: Path, update: bool) -> None:
    try:
        found = verify_source(Source(path.name, path.read_text())).diagnostics
    except WeftError as error:
        found = error.diagnostics
    pinned(path.with_suffix(".verify.txt"), render_all(found) + "\n" if found else "nothing\n", update)


@pytest.mark.parametrize("path", [p for p in EXAMPLES if p.stem != "synchronous"], ids=lambda path: path.stem)
def test_corrected(path: Path, update: bool) -> None:
    module = parsed(path.read_text())
    with module.context, ir.Location.unknown():
        async_fork(module, noalias=())
    pinned(path.with_suffix(".forked.mlir"), str(module), update)
    for may_alias in (False, True):
        assert verify_source(Source("forked.mlir", str(module)), may_alias=may_alias).ok


def test_all_are_there() -> None:
    assert len(EXAMPLES) == 5


def test_what_cannot_be_seen_is_said_to_be_assumed() -> None:
    text = (HERE / "chain.mlir").read_text()
    verdict = verify_source(Source("chain.mlir", text))
    assert verdict.ok
    assert verdict.compiled == ("@kernels::@kernel",)
    assert verdict.to_json()["assumed_compiled"] == ["@kernels::@kernel"]
