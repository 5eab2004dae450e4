"""Edits from payload text with names and headers of older MLIR versions to current ones.

Ops that were renamed, or have a new syntax for the same op, are rewritten; of the target header
that Polygeist emits (the entries of `dlti.dl_spec`) the width of an index is kept. For an op that
was removed without a replacement, the parser's message gets a hint (`interpreter/ir/unknown_names.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .edits import Edit

_NAME = r"(?<![\w.%@#!$-])"
_WRITTEN = """\
arith.maxf arith.maximumf
arith.minf arith.minimumf
linalg.matmul_unsigned linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
linalg.tensor_collapse_shape tensor.collapse_shape
linalg.tensor_expand_shape tensor.expand_shape
math.abs math.absf
math.ceilf math.ceil
math.floorf math.floor
nvvm.barrier0 nvvm.barrier
tensor.pack linalg.pack
tensor.unpack linalg.unpack
"""
_SIMPLE = {line.partition(" ")[0]: line.partition(" ")[2] for line in _WRITTEN.splitlines()}
"""Old name → current name, with the same text after it."""

_A, _AT, _B, _BT, _C = "(i, k)", "(k, i)", "(k, j)", "(j, k)", "(i, j)"


def _product(dims: str, *operands: str) -> str:
    batched = (operand.replace("(", "(b, ") if "b" in dims else operand for operand in operands)
    return f"indexing_maps = [{', '.join(f'affine_map<({dims}) -> {operand}>' for operand in batched)}]"


_SIMPLE |= {
    "linalg.matmul_transpose_a": f"linalg.matmul {_product('i, j, k', _AT, _B, _C)}",
    "linalg.matmul_transpose_b": f"linalg.matmul {_product('i, j, k', _A, _BT, _C)}",
    "linalg.batch_matmul_transpose_a": f"linalg.batch_matmul {_product('b, i, j, k', _AT, _B, _C)}",
    "linalg.batch_matmul_transpose_b": f"linalg.batch_matmul {_product('b, i, j, k', _A, _BT, _C)}",
}

_NAMED = "|".join(re.escape(old) for old, new in _SIMPLE.items() if " " not in new)
_BUFFER = r"(?P<buffer>(?:bufferization\.to_(?:memref|buffer)|memref\.buffer_cast)(?![\w.]))"
_TENSOR = r"(?P<tensor>(?:bufferization\.to_tensor|memref\.tensor_load)(?![\w.]))"
_FORMS = re.compile(
    rf"""//[^\n]*+
      | (?P<spec>\#dlti\.dl_spec)(?=\s*+<)
      | "(?P<device>[^"\\\n]*+)"\s*+:(?=\s*+\#dlti\.target_device_spec)
      | "(?P<generic>{_NAMED})"(?=\s*+\()
      | "(?:[^"\\\n]|\\.)*+"?
      | {_NAME}(?:{_BUFFER}|{_TENSOR})(?P<operand>[^:\n]{{0,999}}+:\s*+)
      | {_NAME}linalg\.elemwise_(?P<arity>unary|binary)(?![\w.])
        (?:\s*+\{{(?P<kinds>[^{{}}\n]*+)\}})?+(?=\s*+ins\b)
      | {_NAME}(?:tensor|memref)\.expand_shape\s++%[\w.$\#-]++\s*+(?P<groups>\[[\d\s,\[\]]*+)
        (?=:[^\n]{{0,999}}?\binto\s(?:tensor|memref)<(?P<into>(?:\d++x)++)[^\d?])
      | {_NAME}linalg\.fill(?P<fill>\s*+\((?P<filled>[^()]*+)\))\s*+:(?P<kind>[^,\n]*+),(?=(?P<types>[^\n]*+))
      | (?P<strided>,\s*+offset\s*+:\s*+(?P<offset>\d++|\?)\s*+,\s*+strides\s*+:\s*+(?P<strides>\[[^\[\]]*+\]))(?=\s*+[,>])
      | {_NAME}linalg\.init_tensor\s*+\[(?P<sizes>[^\[\]]*+)\]
      | {_NAME}(?P<vector>vector\.reduction\s*+<(?:max|min)f(?=>))
      | {_NAME}(?P<simple>{"|".join(map(re.escape, sorted(_SIMPLE, reverse=True)))})(?![\w.])
    """,
    re.VERBOSE,
)
"""Comments and strings, which are skipped; headers; ops."""

_CAST = r"cast\s*=\s*#linalg\.type_fn<cast_signed>"
_KINDS = re.compile(rf"\s*(?:{_CAST}\s*,?\s*)?(?:fun\s*=\s*#linalg\.(?:unary|binary)_fn<(\w+)>\s*(?:,\s*{_CAST}\s*)?)?")
"""The attributes of `linalg.elemwise_*` that the current op has, too: the function and the cast."""
_INDEX = re.compile(r"(?:<|,)\s*index\s*[=,]\s*(\d+)(?:\s*:\s*i\d+)?")
_OLDER_SPEC = re.compile(r"dlti\.dl_entry\s*<")
_TYPE_STEP = re.compile(r'->|"(?:[^"\\\n]|\\.)*+"|[<>]')


def edits(text: str) -> Iterator[Edit]:
    """The edits to current names and headers, in the order of the text."""
    done = 0
    for form in _FORMS.finditer(text):
        if form.start() < done:
            continue  # in a header that is removed
        if form["spec"] is not None:
            end = _end_of_type(text, text.index("<", form.end()))
            written = text[form.end() : end]
            if not written.endswith(">"):
                return  # it has no end: the parser reports that
            if _OLDER_SPEC.search(written):
                index = _INDEX.search(written)
                yield Edit(form.end(), end, f"<index = {index[1]} : i64>" if index is not None else "<>")
                done = end
        elif form["device"] is not None:
            yield Edit(*form.span(), f'"{form["device"]}" =')
        elif form["generic"] is not None:
            yield Edit(*form.span("generic"), _SIMPLE[form["generic"]])
        elif form["operand"] is not None:
            done = (
                _end_of_type(text, form.end() + len("memref")) if text.startswith("memref<", form.end()) else form.end()
            )
            if done > form.end() and text[done - 1] != ">":
                return  # it has no end: the parser reports that
            yield from _conversion(text, form, done)
        elif form["arity"] is not None:
            written = _KINDS.fullmatch(form["kinds"] or "")
            if written is not None:
                kind = written[1] or {"unary": "exp", "binary": "add"}[form["arity"]]
                yield Edit(*form.span(), f"linalg.elementwise kind=#linalg.elementwise_kind<{kind}>")
        elif form["into"] is not None:
            yield Edit(form.end(), form.end(), f"output_shape [{', '.join(form['into'].split('x')[:-1])}] ")
        elif form["sizes"] is not None:
            dynamic = [size.strip() for size in form["sizes"].split(",") if size.strip().startswith("%")]
            yield Edit(*form.span(), f"tensor.empty({', '.join(dynamic)})")
        elif form["filled"] is not None:
            yield from _fill(form)
        elif form["strided"] is not None:
            yield Edit(*form.span("strided"), f", strided<{form['strides']}, offset: {form['offset']}>")
        elif form["vector"] is not None:
            yield Edit(*form.span("vector"), form["vector"].replace("axf", "aximumf").replace("inf", "inimumf"))
        elif form["simple"] is not None:
            yield Edit(*form.span("simple"), _SIMPLE[form["simple"]])


def _fill(form: re.Match[str]) -> Iterator[Edit]:
    """The edits of the old syntax without `ins` and `outs`: `linalg.fill(%z, %t) : f32,
    tensor<4xf32> -> tensor<4xf32>`."""
    value, _, into = form["filled"].partition(",")
    yield Edit(form.start("fill"), form.end(), f" ins({value.strip()} : {form['kind'].strip()}) outs({into.strip()} :")
    end = form.start("types") + len(form["types"].partition("->")[0].partition("//")[0].rstrip())
    yield Edit(end, end, ")")


def _conversion(text: str, form: re.Match[str], end: int) -> Iterator[Edit]:
    """The edits of the old syntax with the buffer's type only: `to_memref %t : memref<4xf32>`, and
    the same for `to_tensor`."""
    start = form.end()
    name = "buffer" if form["buffer"] is not None else "tensor"
    if form[name] != f"bufferization.to_{name}":
        yield Edit(*form.span(name), f"bufferization.to_{name}")
    if end == start or re.compile(r"\s*to\b").match(text, end):
        return
    inner = text[start + len("memref<") : end - 1]
    comma = next((at for at, depth in _commas(inner) if depth == 0), len(inner))
    tensor, buffer = f"tensor<{inner[:comma].strip()}>", text[start:end]
    yield Edit(start, end, f"{tensor} to {buffer}" if name == "buffer" else f"{buffer} to {tensor}")


def _end_of_type(text: str, start: int) -> int:
    """The offset after the `<…>` that begins at `start`; `start` if it has no end."""
    depth = 0
    for step in _TYPE_STEP.finditer(text, start):
        depth += {"<": 1, ">": -1}.get(step[0], 0)
        if depth == 0 and step[0] == ">":
            return step.end()
    return start


def _commas(text: str) -> Iterator[tuple[int, int]]:
    depth = 0
    for at, letter in enumerate(text):
        depth += {"<": 1, "(": 1, "[": 1, ">": -1, ")": -1, "]": -1}.get(letter, 0)
        if letter == ",":
            yield at, depth
