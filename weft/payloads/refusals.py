"""What upstream's verifier says of launches and tokens, said again so that a person sees what to do; of shapes: `misshapen.py`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..dsl.diagnostics import Diagnostic, Source, Span, WeftError
from .misshapen import in_words

if TYPE_CHECKING:
    from ..interpreter.ir.mlir import ir

_SAYS = "the payload does not parse: "
_KERNEL = re.compile(r"kernel (?:function|container) '([^']+)' is undefined")
_HOLDER = re.compile(r"kernel module '([^']+)' is undefined")
_COUNT = re.compile(r"got (\d+) kernel operands but expected (\d+)")
_TYPE = re.compile(r"type of function argument (\d+) does not match")
_LAUNCH = re.compile(r"kernel = @[\w$.-]+::@([\w$.-]+).*operandSegmentSizes = array<i32: ([\d, ]+)>.*\}> : \((.*)\) ->", re.DOTALL)
_TOKEN_OP = re.compile(r"%([\w$.-]+)\s*=\s*(?:gpu\.\w+\s+async\s*\[([^\]]*)\]|\"gpu\.\w+\"\(([^)]*)\))")
_PLACE = re.compile(r":(\d+):(\d+)")
_ORDERED = ("func.func", "gpu.module", "gpu.binary", "memref.global")
_NAME = re.compile(r"%([\w$.-]+)")


def in_our_words(error: WeftError) -> WeftError:
    """The same error, with those of its diagnostics that speak of launches, tokens and shapes made clear."""
    return WeftError.of(_translated(d) for d in error.diagnostics)


def expect_order(module: ir.Module, source: Source) -> None:
    """Refuse tokens outside of functions (W0628): nothing there stands before or after anything, so they may go round in
    circles."""
    from ..interpreter.ir import mlir
    from ..interpreter.proof.hosts.tokens import uses_tokens

    for top in module.body.operations:
        if top.operation.name in _ORDERED or not uses_tokens(top.operation):
            continue
        op = next(op for op in mlir.operations(top) if op.name.startswith("gpu.") and uses_tokens(op))
        place = _PLACE.search(str(op.location))
        line, column = (int(place[1]), int(place[2])) if place else (1, 1)
        span = Span(source, line, column, line, column + len(op.name))
        raise WeftError(
            Diagnostic("W0628", f"{op.name} stands in no function: tokens have no order there", span, notes=tuple(_circle(span)),
                       hint="put the operations into a `func.func`, one after the other")
        )  # fmt: skip


def _translated(diagnostic: Diagnostic) -> Diagnostic:
    span, says = diagnostic.span, diagnostic.message.removeprefix(_SAYS)
    if diagnostic.code != "W0487" or span is None:
        return diagnostic

    def say(code: str, message: str, *notes: str, hint: str) -> Diagnostic:
        return dataclasses.replace(diagnostic, code=code, message=message, notes=(*notes, f"upstream: {says}"), hint=hint)

    if "dependency operands require the dependency-based async model" in says:
        return say("W0625", "a synchronous gpu.launch_func has async dependencies",
                   hint="make it asynchronous: `%t = gpu.launch_func async […] …`, or block before it: `gpu.wait […]`")  # fmt: skip
    if found := _KERNEL.search(says):
        name = found[1] if found[1].startswith("@") else f"@{found[1]}"
        return say("W0626", f"the module has no kernel {name}", hint="keep its `gpu.module` beside the host function")
    if found := _HOLDER.search(says):
        return say("W0626", f"@{found[1]} is no gpu.module: the launch finds no kernel in it",
                   hint="kernels are `gpu.func @f(…) kernel` in a `gpu.module`")  # fmt: skip
    if "is missing the 'gpu.kernel' attribute" in says:
        return say("W0626", "what is launched is no kernel", hint="make it one: `gpu.func @f(…) kernel`")
    if found := _COUNT.search(says):
        passed = f"{found[1]} argument{'s' * (found[1] != '1')}"
        return say("W0627", f"the launch passes {passed} to a kernel that takes {found[2]}",
                   hint="pass one value for each argument of the `gpu.func`")  # fmt: skip
    if found := _TYPE.search(says):
        return say("W0627", f"argument {found[1]} of the launch is not of the type that its kernel takes",
                   *_types(diagnostic, span.source, int(found[1])),
                   hint="give it the kernel's type; a `memref.cast` makes static sizes dynamic, and back")  # fmt: skip
    if "does not dominate this use" in says and any("!gpu.async.token" in note for note in diagnostic.notes):
        circle = list(_circle(span))
        message = "tokens wait for each other" if circle else "a token is used before it is made"
        return say("W0628", message, *circle,
                   hint="start with a root, `gpu.wait async`, and let each operation wait for earlier ones")  # fmt: skip
    return in_words(diagnostic)


def _types(diagnostic: Diagnostic, source: Source, number: int) -> Iterator[str]:
    """What the launch gives, and what its kernel takes there, as far as the text shows it."""
    found = next(filter(None, (_LAUNCH.search(note) for note in diagnostic.notes)), None)
    if found is None:
        return
    given = _split(found[3])[sum(int(n) for n in found[2].split(",")[:11]) :]
    if number < len(given):
        yield f"the launch gives {given[number]}"
    starts = [m.end() for m in re.finditer(rf"gpu\.func\s+@{re.escape(found[1])}\s*\(", source.text)]
    if len(starts) == 1 and number < len(taken := _split(source.text[starts[0] :])):
        yield f"@{found[1]} takes {taken[number]}"


def _split(text: str) -> list[str]:
    """`%a: f32, memref<2x3xf32, 1>) …` → `%a: f32`, `memref<2x3xf32, 1>`: at commas outside of brackets, to the closing one."""
    parts, depth = [""], 0
    for before, letter in zip(" " + text, text, strict=False):
        depth += (letter in "([{<") - (letter in ")]}>" and before + letter != "->")
        if depth < 0:
            break
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _circle(span: Span) -> Iterator[str]:
    """`%t (line 4) waits for %u`, once around, if the token made in the line of `span` waits for itself."""
    made = _tokens(span.source)
    start = next((name for name, (line, _) in made.items() if line == span.line), None)
    if start is None:
        return
    back: dict[str, str] = {}
    waiting = [start]
    while waiting and start not in back:
        name = waiting.pop()
        for other in made.get(name, (0, ()))[1]:
            if other not in back:
                back[other] = name
                waiting.append(other)
    if start not in back:
        return
    path = [start]
    while len(path) == 1 or path[-1] != start:
        path.append(back[path[-1]])
    for waits, awaited in zip(reversed(path[1:]), reversed(path[:-1]), strict=True):
        yield f"%{waits} (line {made[waits][0]}) waits for %{awaited}"


def _tokens(source: Source) -> dict[str, tuple[int, tuple[str, ...]]]:
    """By name: the line that makes a token, and the tokens it waits for."""
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    for number, line in enumerate(source.text.split("\n"), 1):
        for match in _TOKEN_OP.finditer(line.split("//")[0]):
            found[match[1]] = (number, tuple(_NAME.findall(match[2] or match[3] or "")))
    return found
