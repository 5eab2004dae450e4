"""Diagnostics for messages of MLIR's parser and verifier, each with a code, the place, an
explanation and a hint.

Two errors are detected here because the verifier crashes on them or accepts them: a launch inside
an unregistered op (the verifier queries that op's symbol table and aborts), and tokens outside of
functions, where ops have no order.
"""

from __future__ import annotations

import dataclasses
import graphlib
import itertools
import re
from collections.abc import Iterator

from ..dsl.diagnostics import Diagnostic, Source, Span, WeftError
from ..interpreter.ir.mlir import has_dialect, ir, operations
from ..interpreter.ir.unknown_names import dialect_hint, hint_for, todays
from ..interpreter.proof.hosts.events import uses_tokens
from .naming import span_of

SAYS = "the payload does not parse: "

_CIRCLE = "start with a root, `gpu.wait async`, and let each operation wait for earlier ones"
_STEPS = "strides and dilations are 1 or more along each axis, and an index is 0 or more"
_REFUSALS = (
    (
        r"dependency operands require the dependency-based async model", "W0625",
        "a synchronous gpu.launch_func has async dependencies",
        "make it asynchronous: `%t = gpu.launch_func async […] …`, or block before it: `gpu.wait […]`",
    ),
    (
        r"kernel (?:function|container) '@?([^']+)' is undefined", "W0626",
        "the module has no kernel @{0}", "keep its `gpu.module` beside the host function",
    ),
    (
        r"kernel module '([^']+)' is undefined", "W0626", "@{0} is not a gpu.module: the launch finds no kernel in it",
        "kernels are `gpu.func @f(…) kernel` in a `gpu.module`",
    ),
    (
        r"is missing the 'gpu.kernel' attribute", "W0626",
        "the launched function is not a kernel", "make it one: `gpu.func @f(…) kernel`",
    ),
    (
        r"got (\d+) kernel operands but expected (\d+)", "W0627",
        "arguments of the launch: {0}; arguments that its kernel takes: {1}",
        "pass one value for each argument of the `gpu.func`",
    ),
    (
        r"type of function argument (\d+) does not match", "W0627",
        "argument {0} of the launch is not of the type that its kernel takes",
        "give it the kernel's type; a `memref.cast` makes static sizes dynamic, and back",
    ),
    (
        r"operand #(\d+) has shape's dimension #(\d+) to be (-?\d+), but found (-?\d+)", "W0487",
        "{op}: operand {0} has {3} elements along axis {1}, and {2} are needed",
        "axes with the same index have the same size",
    ),
    (
        r"operand #(\d+) has shape's dimension #(\d+) to be greater than or equal to (-?\d+), but found (-?\d+)", "W0487",
        "{op}: operand {0} has {3} elements along axis {1}, and the windows along it extend over {2}",
        "a filter stays within the padded image: make the filter or the result smaller, or pad the image",
    ),
    (
        r"expected operand #(\d+) rank \((\d+)\) to match the result rank of indexing_map \((\d+)\)", "W0487",
        "{op}: operand {0} has {1} axes, and {2} are needed",
        "`tensor.expand_shape` or `tensor.collapse_shape` changes the number of its axes; or use another op",
    ),
    (
        r"invalid indexing maps are non-invertible", "W0487",
        "no operand of {op} determines the extent of one of its loops",
        "each dimension needs a subscript of its own in some operand: `d0` is one, `d0 + d1` and `3 - d0` are not; add an "
        "operand of that shape, `tensor.empty()`, that the body does not read, or write the loops as `affine.for`",
    ),
    (r"unexpected loop dimension for convolution op", "W0487", "{op}: a stride or a dilation is below 1", _STEPS),
    (r"unexpected result less than 0 at expression", "W0487", "{op}: an operand has a negative index", _STEPS),
)  # fmt: skip
"""Pattern of a verifier's message → code, message and hint."""

_UNKNOWN = re.compile(
    r"custom op '([\w.]+)' is unknown|not found for custom op '([\w.]+)'|unregistered operation '([\w.]+)'"
)
_GENERIC = re.compile(r'"(linalg\.[\w.]+)"\s*\(')
_OP = re.compile(r"\"(linalg\.[\w.]+)\"\(")
_KERNEL = re.compile(r"kernel = @[\w$.-]+::@([\w$.-]+)")
_NAME = re.compile(r"%([\w$.-]+)")
_TOKEN_OP = re.compile(r"%([\w$.-]+)\s*=\s*(?:gpu\.\w+\s+async\s*\[([^\]]*)\]|\"gpu\.\w+\"\(([^)]*)\))")
_ORDERED = ("func.func", "gpu.module", "gpu.binary", "memref.global")
_LAUNCH = "gpu.launch_func"
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_NESTING = re.compile(
    rf"//[^\n]*|@{_STRING}|(?P<op>{_STRING})(?=\s*\()|{_STRING}|(?P<brace>[{{}}])|(?P<launch>\bgpu\.launch_func\b)"
)


def in_our_words(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic for a message of the parser or the verifier (W0487), if it matches one of the
    refusals above or a cycle of tokens."""
    span, says = diagnostic.span, diagnostic.message.removeprefix(SAYS)
    if span is None:
        return diagnostic

    def say(code: str, message: str, hint: str, *notes: str) -> Diagnostic:
        return dataclasses.replace(diagnostic, code=code, message=message, notes=notes, hint=hint)

    if (unknown := _UNKNOWN.search(says)) is not None:
        name, hint = next(name for name in unknown.groups() if name), dialect_hint if unknown[2] else hint_for
        return dataclasses.replace(diagnostic, hint=hint(name))
    if "expected parent op with LinalgOp interface" in says:  # for a renamed op in its generic form
        named = (name for name in _GENERIC.findall(span.source.text) if todays(name) is not None)
        return dataclasses.replace(diagnostic, hint=next((f"`{name}`: {todays(name)}" for name in named), None))
    seen = "\n".join(diagnostic.notes)
    if "does not dominate this use" in says and "!gpu.async.token" in seen:
        circle = list(_circle(span))
        message = "tokens wait for each other" if circle else "a token is used before it is made"
        return say("W0628", message, _CIRCLE, *circle, f"upstream: {says}")
    for pattern, code, message, hint in _REFUSALS:
        if (found := re.search(pattern, says)) is None:
            continue
        if code != "W0487":
            taken = _taken(seen, span.source) if "function argument" in pattern else ()
            return say(code, message.format(*found.groups()), hint, *taken, f"upstream: {says}")
        if (op := _OP.search(seen)) is None:
            return diagnostic
        names = _operands(span)
        groups = found.groups()
        if "greater than" in pattern and re.search(r"\d{11}", seen):
            # MLIR overflows here and prints an arbitrary number
            groups, says = (*groups[:2], "more", groups[3]), "the size needed exceeds 64 bits"
        named = names[int(groups[0])] if groups and int(groups[0]) < len(names) else None
        text = message.format(*groups, op=op[1])
        text = text if named is None else text.replace(f"operand {groups[0]}", named, 1)
        return say(code, text, hint, *_types(names, seen), f"upstream: {says}")
    return diagnostic


def _operands(span: Span) -> list[str]:
    """The operands of the op at this place in the text: `%image`, `%filter`, `%out`."""
    text = span.source.text[span.source.offset(span.line, span.column) :]
    clauses = (re.search(rf"\b{clause}\s*+\(([^:()]*+):", text) for clause in ("ins", "outs"))
    return [name for named in clauses if named for name in re.findall(r"%[\w$.#-]+", named[1])]


def _types(names: list[str], seen: str) -> list[str]:
    """The operands with the types at the end of MLIR's note: `%image: tensor<1x8x8x4xf32>`."""
    listed = seen.rstrip().rpartition(" : (")[2].rpartition(") -> ")[0]
    types = re.findall(r"(?:tensor|memref)<[^<>]*(?:<[^<>]*>[^<>]*)*>", listed)
    return [f"{name}: {type_}" for name, type_ in zip(names, types, strict=True)] if len(names) == len(types) else []


def _taken(seen: str, source: Source) -> Iterator[str]:
    """The parameters of the launched kernel, as far as the text shows them."""
    if (found := _KERNEL.search(seen)) is not None:
        heads = re.findall(rf"gpu\.func\s+@{re.escape(found[1])}\s*(\([^{{\n]*\))", source.text)
        yield from (f"@{found[1]} takes {head}" for head in heads[:1] if len(heads) == 1)


def _circle(span: Span) -> Iterator[str]:
    """The cycle `%t (line 4) waits for %u`, … if the token defined in the line of `span` depends on
    itself."""
    made: dict[str, tuple[int, list[str]]] = {}
    for number, line in enumerate(span.source.text.split("\n"), 1):
        for match in _TOKEN_OP.finditer(line.split("//")[0]):
            made[match[1]] = (number, _NAME.findall(match[2] or match[3] or ""))
    try:
        graphlib.TopologicalSorter({name: waits for name, (_, waits) in made.items()}).prepare()
    except graphlib.CycleError as error:
        path = error.args[1][::-1]
        first = next((n for n, name in enumerate(path) if made[name][0] == span.line), None)
        if first is not None:
            path = [*path[first:-1], *path[: first + 1]]
            for waits, awaited in itertools.pairwise(path):
                yield f"%{waits} (line {made[waits][0]}) waits for %{awaited}"


def expect_order(module: ir.Module, source: Source) -> None:
    """Refuses tokens outside of functions (W0628): they may depend on each other in a cycle."""
    for top in module.body.operations:
        if top.operation.name in _ORDERED or not uses_tokens(top.operation):
            continue
        op = next(op for op in operations(top) if op.name.startswith("gpu.") and uses_tokens(op))
        span = span_of(op.location, source, len(op.name)) or Span(source, 1, 1, 1, 2)
        hint = "put the operations into a `func.func`, one after the other"
        message = f"{op.name} is in no function: tokens have no order there"
        raise WeftError(Diagnostic("W0628", message, span, notes=tuple(_circle(span)), hint=hint))


_ITERATORS = re.compile(r"\biterator_types\s*+=\s*+\[(?P<items>[^\]]*+)")
_CUSTOM = re.compile(r"(?:\b(?:linalg\.generic|vector\.contract)|#[\w$.-]+\s*+=)\s*+$")


def expect_iterators(source: Source) -> None:
    """Refuses iterator types that are no strings, except in generic form (W0487): MLIR reads any
    attribute there as a string."""
    text = source.text

    def aliased(item: str) -> str:
        named = re.search(rf"^{re.escape(item)}\s*+=\s*+(.*\S)", text, re.MULTILINE) if item.startswith("#") else None
        return named[1] if named is not None else item

    for found in _ITERATORS.finditer(text):
        items = (item.strip() for item in found["items"].split(","))
        odd = next((item for item in items if item and not re.fullmatch(_STRING, aliased(item))), None)
        if odd is None or "//" in text[text.rfind("\n", 0, found.start()) + 1 : found.start()]:
            continue
        depth, at = 1, found.start()
        while depth and (at := max(text.rfind("{", 0, at), text.rfind("}", 0, at))) >= 0:
            depth += {"{": -1, "}": 1}[text[at]]
        if depth == 0 and _CUSTOM.search(text[:at]):
            message = f"{SAYS}`{odd}` in `iterator_types`, which are strings in this form of an op"
            hint = 'write `iterator_types = ["parallel", "reduction"]`, with one for each dimension'
            raise WeftError(
                Diagnostic("W0487", message, source.span(text.index(odd, found.start("items")), len(odd)), hint=hint)
            )


def expect_known_holders(source: Source, context: ir.Context) -> None:
    """Refuses a launch in a region of an unregistered op (W0628): `"a.b"() ({ gpu.launch_func @k …
    })`."""
    text, holders = source.text, list[str | None]()
    op = closed = None
    for token in _NESTING.finditer(text) if _LAUNCH in text else ():
        if token["op"] is not None:
            op = token["op"].strip('"')
        if token["launch"] is not None or (token["op"] is not None and op == _LAUNCH):
            named = dict.fromkeys(h for h in holders if h is not None)
            loaded = {h for h in named if has_dialect(context, h.partition(".")[0])}
            if unknown := [h for h in named if h not in loaded or not context.is_registered_operation(h)]:
                span = source.span(token.start(), len(_LAUNCH))
                message = f"a launch is in {unknown[0]}, an op that is not registered: it is not known when it runs"
                hint = "launch from a `func.func`, or from its `scf.for`, `scf.while` and `scf.if`"
                raise WeftError(Diagnostic("W0628", message, span, hint=hint))
        elif token["brace"] == "}" and holders:
            closed = holders.pop()
        elif token["brace"] == "{":
            at = token.start()
            while at and text[at - 1].isspace():
                at -= 1
            before = text[at - 1 : at]
            holders.append(op if before == "(" else closed if before == "," else None)
