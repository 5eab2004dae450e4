"""Reading takes as long as the text is: twice the text, twice the time. Texts that make a search begin again and again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from work import seconds_computed

from weft.dsl.diagnostics import Source, Span, WeftError
from weft.payloads.edits import Edit, Older
from weft.payloads.foreign_constants import _resources
from weft.payloads.naming import argument_names, results
from weft.payloads.older_mlir import edits
from weft.payloads.older_names import edits as renamed_edits
from weft.payloads.payload import parse_module, parse_payload
from weft.payloads.refusals import _operands, _types
from weft.runtime.files.bundle import declared_types

OP = "func.func @f(%x: memref<4xf32>) { return }\n"


def older(text: str) -> None:
    list(edits(text, lambda _: False))


def renamed(text: str) -> None:
    list(renamed_edits(text))


def names(text: str) -> None:
    _operands(Span(Source("p.mlir", text), 1, 1, 1, 2))


def note(text: str) -> None:
    _types(["%a"], text)


def places(count: str) -> None:
    shown = Older(Source("p.mlir", "ab" * len(count)), [Edit(2 * i, 2 * i + 1, "xyz") for i in range(len(count))])
    for column in range(len(count)):
        shown.place(1, column + 1)


def functions(count: str) -> None:
    parse_payload(Source("p.mlir", "".join(f"func.func @f{i}(%a: f32) {{ return }}\n" for i in range(len(count)))))


def constants(count: str) -> None:
    op = '%{0} = "krnl.global"() {{value = dense<{0}.0> : tensor<2xf32>}} : () -> memref<2xf32>'
    ops = "\n".join(op.format(i) for i in range(len(count)))
    parse_module(Source("p.mlir", f"func.func @f() {{\n{ops}\nreturn\n}}"))


def regions(count: str) -> None:
    spaces = " " * 40
    try:
        parse_module(Source("p.mlir", "// gpu.launch_func\n" + f'"t.r"() ({{{spaces}\n}}) : () -> ()\n' * len(count)))
    except WeftError:
        return


TEXTS: dict[str, tuple[Callable[[str], object], str, str, int]] = {  # what reads, what is repeated n times, behind what, n
    "maps that do not end": (older, "affine_map<(d0) ", "", 2000),
    "maps of arrows": (older, "->", "affine_map<", 8000),
    "headers that do not end": (renamed, "#dlti.dl_spec<", "", 4000),
    "conversions without a type": (renamed, "bufferization.to_memref ", "", 4000),
    "types that do not end": (renamed, "bufferization.to_memref %t : memref<", "", 4000),
    "quotation marks": (older, '\\"', '"', 20000),
    "texts spelled like ops": (older, '"affine.load", ', "[", 4000),
    "spaces in a map": (older, " ", "affine.apply affine_map<()", 20000),
    "operands that do not end": (names, "ins( ", "// ", 8000),
    "shapes in a note": (note, "tensor<", '"linalg.x"() : (', 8000),
    "brackets of a function": (argument_names, "(", "func.func @f", 8000),
    "spaces before a result": (results, " ", "%a", 20000),
    "results before none": (lambda t: results(t + "="), "%a , ", "", 8000),
    "empty lines before blobs": (_resources.__wrapped__, "\n ", "{-#", 20000),
    "blobs": (_resources.__wrapped__, 'a: "0x', "{-#", 8000),
    "kernels that do not end": (lambda t: declared_types(t, "k"), "__global__ k ", "", 8000),
    "spaces behind a kernel": (lambda t: declared_types(t, "k"), " ", "__global__ void k", 20000),
    "edits": (places, "x", "", 2000),
    "functions": (functions, "x", "", 400),
    "constants": (constants, "x", "", 300),
    "regions": (regions, "x", "", 400),
}


@pytest.mark.parametrize("case", TEXTS)
def test_in_proportion(case: str) -> None:
    read, piece, before, count = TEXTS[case]
    short, long = before + piece * count, before + piece * count * 6
    few = seconds_computed(lambda: lambda: read(short), 2)
    many = seconds_computed(lambda: lambda: read(long), 2)
    assert many < 0.05 or many < 15 * few, f"{few * 1e3:.2f} ms, six times as much: {many * 1e3:.2f} ms"
