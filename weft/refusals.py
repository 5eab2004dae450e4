"""What upstream's verifier says of launches and tokens, said again so that a person sees what to do."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from .dsl.diagnostics import Diagnostic, Source, Span, WeftError

_SAYS = "the payload does not parse: "
_KERNEL = re.compile(r"kernel (?:function|container) '([^']+)' is undefined")
_COUNT = re.compile(r"got (\d+) kernel operands but expected (\d+)")
_TYPE = re.compile(r"type of function argument (\d+) does not match")
_TOKEN_OP = re.compile(r"%([\w$.-]+)\s*=\s*gpu\.\w+\s+async\s*\[([^\]]*)\]")
_NAME = re.compile(r"%([\w$.-]+)")


def in_our_words(error: WeftError) -> WeftError:
    """The same error, with those of its diagnostics that speak of launches and tokens made clear."""
    return WeftError.of(_translated(d) for d in error.diagnostics)


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
    if found := _COUNT.search(says):
        return say("W0627", f"the launch passes {found[1]} arguments to a kernel that takes {found[2]}",
                   hint="pass one value for each argument of the `gpu.func`")  # fmt: skip
    if found := _TYPE.search(says):
        return say("W0627", f"argument {found[1]} of the launch is not of the type that its kernel takes",
                   hint="give it the kernel's type; a `memref.cast` makes static sizes dynamic, and back")  # fmt: skip
    if "does not dominate this use" in says and any("!gpu.async.token" in note for note in diagnostic.notes):
        circle = list(_circle(span))
        message = "tokens wait for each other" if circle else "a token is used before it is made"
        return say("W0628", message, *circle,
                   hint="start with a root, `gpu.wait async`, and let each operation wait for earlier ones")  # fmt: skip
    return diagnostic


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
            found[match[1]] = (number, tuple(_NAME.findall(match[2])))
    return found
