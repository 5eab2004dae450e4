"""The module of two convolutions and their sum, forked: right as it is, and wrong without any one of its edges."""

from __future__ import annotations

import pytest
from places import GOLDENS

from weft.dsl.diagnostics import Source
from weft.interpreter.ir import mlir
from weft.interpreter.proof.hosts.effects import Effects
from weft.interpreter.proof.hosts.faults import judge_host
from weft.payloads.naming import WrittenNames

RECIPE = GOLDENS / "concurrency" / "concurrent_convs.launches.golden.mlir"
FORK = {
    "conv1": ("%r = gpu.wait async", "%a = gpu.launch_func async [%r]"),
    "conv2": ("%q = gpu.wait async", "%b = gpu.launch_func async [%q]"),
    "add": ("%j = gpu.wait async [%a, %b]", "%s = gpu.launch_func async [%j]"),
}


def forked() -> str:
    """The recipe's three synchronous launches, with the tokens that the author of the module put there by hand."""
    out: list[str] = []
    launches = iter(FORK.values())
    for line in RECIPE.read_text().split("\n"):
        if "gpu.launch_func" in line:
            root, launch = next(launches)
            out += [root, line.replace("gpu.launch_func", launch)]
        elif line.strip().startswith("return "):
            out += ["gpu.wait [%s]", line]
        else:
            out.append(line)
    assert next(launches, None) is None
    return "\n".join(out)


def codes(text: str) -> list[str]:
    module = mlir.parse(text, mlir.context())
    source = Source("p.mlir", text)
    function = next(iter(mlir.operations(module.operation, "func.func")))
    found = judge_host(function, Effects(module), source=source, names=WrittenNames(source))
    return sorted(d.code for d in found.diagnostics)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("[%a, %b]", "[%a]", ["W0620", "W0629"]),
        ("[%a, %b]", "[%b]", ["W0620", "W0629"]),
        ("[%a, %b]", "", ["W0620", "W0620", "W0629", "W0629"]),
        ("async [%j]", "async [%r]", ["W0621", "W0622", "W0629", "W0629"]),
        ("gpu.wait [%s]\n", "", ["W0620", "W0630"]),
        ("gpu.wait [%s]", "gpu.wait [%s]\ngpu.wait [%s]", ["W0623"]),
        ("async [%q]", "async [%r]", ["W0621", "W0622"]),
    ],
)
def test_two_convolutions_and_their_sum(old: str, new: str, expected: list[str]) -> None:
    text = forked()
    assert old in text
    assert codes(text.replace(old, new, 1) if old else text) == expected
