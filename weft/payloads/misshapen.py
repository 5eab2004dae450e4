"""What upstream's verifier says of shapes and strides of linalg ops, said again with the operands' names and what disagrees."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..dsl.diagnostics import Diagnostic, Span

_WORDS = {"n": "images", "h": "rows", "w": "columns", "d": "planes", "c": "channels", "f": "filters", "g": "groups"}
"""What the letters of `conv_2d_nhwc_hwcf` count. In a filter, h and w count its taps."""

_EXTENT = re.compile(
    r"operand #(\d+) has shape's dimension #(\d+) to be (greater than or equal to )?(-?\d+), but found (-?\d+)"
)
_RANK = re.compile(r"expected operand #(\d+) rank \((\d+)\) to match the result rank of indexing_map \((\d+)\)")
_MAP = re.compile(r"affine_map<\(([^()<>]*)\) -> \(([^<>]*)\)>")
_STEPS = re.compile(r"(strides|dilations) = dense<\[?([-\d, ]+)\]?> : (?:vector|tensor)<(\d+)xi64>")
_TYPES = re.compile(r" : \(([^()]*)\) -> [^()]*$")


@dataclass(frozen=True)
class _Op:
    """A linalg op as upstream's note and the text show it.

    Args:
        names: of its operands in the text; `operand 0` where they can't be told.
        shapes: their types.
        maps: for each operand, by axis, what it is indexed with.
        steps: strides and dilations.
    """

    name: str
    names: tuple[str, ...]
    shapes: tuple[str, ...]
    maps: tuple[tuple[str, ...], ...]
    steps: dict[str, list[int]]

    def size(self, operand: int, axis: int) -> int | None:
        sizes = re.findall(r"(\d+|\?)x", self.shapes[operand].partition("<")[2])
        return int(sizes[axis]) if axis < len(sizes) and sizes[axis] != "?" else None

    def spelled(self, operand: int) -> str:
        return f"{self.names[operand]}: {self.shapes[operand]}"

    def word(self, operand: int, axis: int) -> str:
        """What an axis counts: `channels`, or `elements` where the op's name does not say."""
        letters = self.name.removesuffix("_q").split("_")[-2:]
        if not self.name.startswith("linalg.conv_") or len(letters) != 2 or operand > 1 or axis >= len(letters[operand]):
            return "elements"
        return _WORDS.get(letters[operand][axis], "elements")


def in_words(diagnostic: Diagnostic) -> Diagnostic:
    """The same diagnostic (W0487), made clear where it is about a linalg op's shapes, strides or dilations."""
    says = diagnostic.message.removeprefix("the payload does not parse: ")
    note = next((n for n in diagnostic.notes if "see current operation" in n and "linalg." in n), None)
    op = None if note is None or diagnostic.span is None else _read(note, diagnostic.span)
    if op is None:
        return diagnostic
    found = _bad_step(op) or _bad_rank(op, says) or _bad_extent(op, says)
    if found is None:
        return diagnostic
    message, notes, hint = found
    echo = () if _overflows(op, says) else (f"upstream: {says}",)
    return replace(diagnostic, message=f"{op.name}: {message}", notes=(*notes, *echo), hint=hint)


_Said = tuple[str, tuple[str, ...], str]
"""Message, notes, hint."""


def _bad_step(op: _Op) -> _Said | None:
    for kind, steps in op.steps.items():
        if any(step < 1 for step in steps):
            wrong = min(steps)
            return f"a {kind.removesuffix('s')} of {wrong}: {kind} = {steps}", (), f"{kind} are 1 or more along each axis"
    return None


def _overflows(op: _Op, says: str) -> bool:
    """Whether what a window needs has no place in 64 bits: upstream then prints any number at all, another one every time."""
    found = _EXTENT.search(says)
    window = _window(op, int(found[1]), int(found[2])) if found and found[3] else None
    return window is not None and window.needed >= 1 << 63


def _bad_rank(op: _Op, says: str) -> _Said | None:
    found = _RANK.search(says)
    if found is None:
        return None
    number, given, needed = (int(n) for n in found.groups())
    return f"{op.names[number]} has {given} axes, and {needed} are needed", (op.spelled(number),), "reshape it, or use another op"


def _bad_extent(op: _Op, says: str) -> _Said | None:
    found = _EXTENT.search(says)
    if found is None:
        return None
    operand, axis, least, needed, given = int(found[1]), int(found[2]), found[3], int(found[4]), int(found[5])
    if least:
        return _bad_window(op, operand, axis, given)
    for other, exprs in enumerate(op.maps):
        for place, expr in enumerate(exprs):
            if other != operand and expr == op.maps[operand][axis] and op.size(other, place) == needed:
                return (
                    f"{op.names[other]} has {needed} {op.word(other, place)} (axis {place}), and {op.names[operand]} has "
                    f"{given} (axis {axis})",
                    (op.spelled(other), op.spelled(operand)),
                    "the two axes have one size",
                )
    return None


@dataclass(frozen=True)
class _Window:
    """What moves along an axis: so many windows, a stride apart, of so many taps, a dilation apart."""

    windows: int
    taps: int
    stride: int
    dilation: int

    @property
    def reach(self) -> int:
        return self.dilation * (self.taps - 1) + 1

    @property
    def needed(self) -> int:
        return (self.windows - 1) * self.stride + self.reach


def _window(op: _Op, image: int, axis: int) -> _Window | None:
    terms = _terms(op.maps[image][axis])
    if terms is None:
        return None
    outputs = [d for d in terms if d in op.maps[-1]]
    taps = [d for d in terms if d not in outputs]
    if len(outputs) != 1 or len(taps) != 1:
        return None
    (out,), (tap,) = outputs, taps
    windows, count = _extent(op, out), _extent(op, tap)
    return None if windows is None or count is None else _Window(windows, count, terms[out], terms[tap])


def _bad_window(op: _Op, image: int, axis: int, given: int) -> _Said | None:
    """An axis that a window moves along is too short: for the filter alone, or for as many windows as the result has."""
    found = _window(op, image, axis)
    if found is None:
        return None
    windows, taps, stride, dilation, needed = found.windows, found.taps, found.stride, found.dilation, found.needed
    reach, what = found.reach, op.word(image, axis)
    notes = (
        f"{windows} window{'s' * (windows != 1)}, {stride} apart, of {taps} taps, {dilation} apart: "
        f"({windows} - 1)·{stride} + ({taps} - 1)·{dilation} + 1 = {needed}",
        *(op.spelled(number) for number in range(len(op.names))),
    )
    if reach > given:
        return (
            f"the filter reaches over {reach} {what}, and {op.names[image]} has {given} (axis {axis})", notes,
            "a filter stays within the padded image: make it smaller, or pad the image",
        )  # fmt: skip
    most = (given - reach) // stride + 1
    return (
        f"the windows of the result reach over {needed} {what}, and {op.names[image]} has {given} (axis {axis})", notes,
        f"the result has {most} {what} at most, or pad the image",
    )  # fmt: skip


def _terms(text: str) -> dict[str, int] | None:
    """`d1 * 2 + d4` as factors by dimension; None if it is no such sum."""
    found = [re.fullmatch(r"(d\d+)(?: \* (\d+))?", part) for part in text.split(" + ")]
    return {one[1]: int(one[2] or 1) for one in found if one} if all(found) else None


def _extent(op: _Op, dimension: str) -> int | None:
    for operand, exprs in enumerate(op.maps):
        if dimension in exprs:
            return op.size(operand, exprs.index(dimension))
    return None


def _read(note: str, span: Span) -> _Op | None:
    name = re.search(r'"(linalg\.[\w.]+)"\(', note)
    types = _TYPES.search(note.rstrip())
    maps = tuple(tuple(results.split(", ")) for _, results in _MAP.findall(note))
    if name is None or types is None:
        return None
    shapes = tuple(re.findall(r"(?:tensor|memref)<[^<>]*(?:<[^<>]*>[^<>]*)*>", types[1]))
    if len(shapes) != len(maps):
        return None
    steps = {kind: _numbers(values, int(count)) for kind, values, count in _STEPS.findall(note)}
    return _Op(name[1], _names(span, len(shapes)), shapes, maps, steps)


def _numbers(values: str, count: int) -> list[int]:
    found = [int(n) for n in values.split(",")]
    return found * count if len(found) == 1 else found


def _names(span: Span, count: int) -> tuple[str, ...]:
    """`%image`, `%filter`, `%out`, as the op at this place in the text reads them."""
    text = "\n".join(span.source.text.split("\n")[span.line - 1 :])[span.column - 1 :]
    found: list[str] = []
    for clause in ("ins", "outs"):
        named = re.search(rf"\b{clause}\s*+\(([^:()]*+):", text)
        found += re.findall(r"%[\w$.#-]+", named[1]) if named else []
    return tuple(found) if len(found) == count else tuple(f"operand {number}" for number in range(count))
