"""What can only fail is refused before a payload is read, by the signatures that a statement's fields are evaluated by."""

from __future__ import annotations

import importlib
import io
import pkgutil
from pathlib import Path

import pytest
import torch_mlir.dialects
from torch_mlir import passmanager

import weft
from weft import cli
from weft.dsl.checker import check
from weft.dsl.diagnostics import WeftError
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_text
from weft.interpreter.ir import mlir
from weft.interpreter.ir.registered import OPS, PASSES
from weft.interpreter.ir.unknown_names import misnamed_pass
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures

PAYLOAD = """func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}"""
WRONG = {
    "unroll by 1": ("unroll op by n - 3", "W0231"),
    "three stages": ("pipeline op stages 3", "W0231"),
    "too many registers": ("launch op max-registers 1000", "W0231"),
    "too few registers": ("launch op max-registers n", "W0231"),
    "no permutation": ("interchange op [0, 0, 2]", "W0231"),
    "a dimension too many": ("interchange op [0, 1, 5]", "W0231"),
    "into itself": ("fuse op into op", "W0239"),
    "inexact": ("let (t, o) = tile op [n / 3, 8]", "W0234"),
    "an inexact value": ("let third = n / 3", "W0234"),
    "a default that is not meant": ('require n > 10, "n must be large"', "W0240"),
}
NAMED_WRONG = {
    "no such result": ("let t = tile op [4]\nmap t.loops to blocks(x)", "W0222", "error"),
    "no such pass": ('run-pass "func.func(cse,canonicalise)"', "W0241", "error"),
    "no such op": ("let y = match linalg.fil", "W0241", "error"),
    "no such op, which may be absent": ("let y = match? linalg.fil", "W0241", "warning"),
    "no dialect of that name": ("let y = match linlag.fill", "W0241", "warning"),
    "no such kind": ("let y = match fil", "W0241", "error"),
    "no such kind, among several": ("let y = match* contraction or elemntwise", "W0241", "error"),
    "a rest in the middle": ("let t = tile op [4, ..., 4]", "W0232", "error"),
    "a rest alone": ("let t = tile op [...]", "W0232", "error"),
    "a rest of an order": ("let t = interchange op [0, ...]", "W0232", "error"),
    "no such property": ("let y = match any where rnk == 2", "W0246", "error"),
    "no such property of an operand": ("let y = match any where lhs.strides == 2", "W0246", "error"),
    "no such property of a handle": ("require op.rnk == 2", "W0246", "error"),
    "an operand as a value": ("require op.lhs == 2", "W0221", "error"),
    "a property compared with itself": ("let y = match any where type == type", "W0247", "error"),
}
RIGHT = {
    "another dialect": "let y = match? krnl.global",
    "a branch that is not taken": "if n % 3 == 0 { let (t, o) = tile op [n / 3] }",
    "a condition that is decided": "require n < 4 or 8 / (n - 3) == 8",
    "results of a reduction": "let t = tile op [4, _, 2]\nprint t.k",
    "passes with options": 'run-pass "convert-vector-to-scf{full-unroll=true},func.func(canonicalize{top-down=false}, cse)"',
}


def text(body: str) -> str:
    return f"schedule s(n: int = 4) {{\nlet op = match linalg.matmul\nrequire n == n\n{body}\n}}\n"


@pytest.mark.parametrize("name", WRONG)
def test_what_can_only_fail_is_refused_before_and_when_it_is_applied(name: str) -> None:
    body, code = WRONG[name]
    file = parse_text(text(body), "s.weft")
    (found,) = check(file, signatures(), defaults=True)
    session = Session(mlir.parse(PAYLOAD, mlir.context()), file, bind_parameters(file.main, {}))
    with pytest.raises(WeftError) as caught:
        session.run()
    (said,) = caught.value.diagnostics
    assert found.code == said.code == code and found.message == said.message and found.span == said.span
    assert not [d for d in check(file, signatures()) if code in ("W0234", "W0240")]  # with `--set` it may be right


@pytest.mark.parametrize("condition", ["n == 4 or nosuch", "select(n == 4, true, nosuch)", "n == 4 or op"])
def test_what_other_settings_would_take_is_checked_with_the_defaults_too(condition: str) -> None:
    """As by every command that applies the schedule."""
    file = parse_text(text(f"require {condition}"), "s.weft")
    (found,) = check(file, signatures(), defaults=True)
    assert [found] == check(file, signatures()) and found.code in ("W0220", "W0221")


@pytest.mark.parametrize("name", NAMED_WRONG)
def test_names_that_there_are_not(name: str) -> None:
    body, code, severity = NAMED_WRONG[name]
    (found,) = check(parse_text(text(body), "s.weft"), signatures())
    assert (found.code, found.severity) == (code, severity) and found.hint


COUNTS = {  # of processors in a block, what is said, and whether it takes the defaults to see it
    "threads(x: 2000) cyclic": ("2000 threads", False),
    "threads(y: 64, x: 64)": ("4096 threads", False),
    "threads(y: many, x: many) block": ("4096 threads", False),
    "threads(y: 16, x: n * 16 + 1) cyclic": ("1040 threads", True),
    "threads(y: 2000, x)": ("2000 threads", False),
    "threads(y: ?, x: 1025)": ("1025 threads", False),
    "threads(z: 65)": ("along z, not 65", False),
    "warps(x: 33) cyclic": ("33 warps of 32", False),
    "warps(y: n * 2, x: 5) cyclic": ("40 warps of 32", True),
    "warpgroups(y: 9)": ("9 warp groups of 128", False),
}


@pytest.mark.parametrize("space", COUNTS)
def test_more_threads_than_a_block_has(space: str) -> None:
    """Known before there is a payload, from numbers, from names of `let`, or from defaults; applied, it is refused, too."""
    said, defaults = COUNTS[space]
    file = parse_text(text(f"let many = 64\nlet (t, o) = tile op [1, 1]\nmap t to {space}"), "s.weft")
    (found,) = check(file, signatures(), defaults=True)
    assert found.code == "W0346" and found.severity == "error" and found.hint and said in found.message
    assert bool(check(file, signatures())) != defaults
    with pytest.raises(WeftError):
        Session(mlir.parse(PAYLOAD, mlir.context()), file, bind_parameters(file.main, {})).run()


IN_A_BLOCK = [
    "threads(y: 32, x: 32)",
    "threads(z: 64, x: ?)",
    "threads(y, x)",
    "threads(*)",
    "warps(x: 32)",
    "warpgroups(y: 8)",
]
OTHERS = ["blocks(y: 70000, x: 3000)", "grid(y: 2000, x: 2000)", "lanes(y: 8, x: 4)"]


@pytest.mark.parametrize("space", IN_A_BLOCK + OTHERS)
def test_as_many_as_there_may_be(space: str) -> None:
    assert (
        check(parse_text(text(f"let (t, o) = tile op [1, 1]\nmap t to {space} cyclic"), "s.weft"), signatures()) == []
    )


@pytest.mark.parametrize("name", RIGHT)
def test_what_may_be_right_passes(name: str) -> None:
    assert check(parse_text(text(RIGHT[name]), "s.weft"), signatures(), defaults=True) == []


def test_the_names_are_those_of_the_bindings() -> None:
    """A new release of the bindings with other ops fails here: bring `ir/registered.py` up to it."""
    found: dict[str, set[str]] = {dialect: set() for dialect in OPS}
    for module in pkgutil.iter_modules(torch_mlir.dialects.__path__):
        if module.name.endswith("_ops_gen"):
            loaded = importlib.import_module(f"torch_mlir.dialects.{module.name}")
            for name in {c.OPERATION_NAME for c in vars(loaded).values() if hasattr(c, "OPERATION_NAME")}:
                dialect, op = name.split(".", 1)
                found.get(dialect, set()).add(op)
    assert {dialect: sorted(ops.split()) for dialect, ops in OPS.items()} == {d: sorted(o) for d, o in found.items()}
    with mlir.context():
        for name in PASSES.split():
            try:
                passmanager.PassManager.parse(f"any({name})")
            except ValueError as error:
                assert "does not refer to a registered pass" not in str(error), name
            assert misnamed_pass(name, "run-pass") is None


ODD = {name: body for name, (body, _, severity) in NAMED_WRONG.items() if severity == "warning"}


@pytest.mark.parametrize("command", ["run", "apply", "emit", "repl", "golden --update"])
@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_shown_by_every_command_that_applies_it(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.weft").write_text(text(f"{ODD[name]}\nmap op to threads(x: 1) cyclic\nlaunch op"))
    (tmp_path / "p.mlir").write_text(PAYLOAD)
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    cli.run([*command.split(), str(tmp_path / "s.weft"), "--payload", str(tmp_path / "p.mlir")])
    said = capsys.readouterr()
    assert (said.out + said.err).count("warning[W0241]") == 1


def test_what_is_odd_is_a_warning_of_python_where_it_is_called() -> None:
    with pytest.warns(UserWarning, match="(?s)W0241: .*did you mean `linalg.fill`") as found:
        weft.apply(text(ODD["no such op, which may be absent"]), payload=PAYLOAD)
    assert [Path(said.filename).name for said in found] == [Path(__file__).name]
