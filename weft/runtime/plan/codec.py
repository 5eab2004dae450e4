"""Plans as JSON, in both directions, derived from the types of the dataclasses' fields. Input is
not trusted: a wrong type, or a missing or unknown key, is an error with its JSON path."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ...dsl.diagnostics import WeftError, fail
from ...dsl.records import record
from ...interpreter.hardware.limits import PixelWindow
from .check import validate
from .plan import (
    OPERATORS,
    STEPS,
    VERSION,
    AnyStep,
    Apply,
    Arg,
    Boxes,
    BufferView,
    DimOf,
    Extents,
    Folded,
    Narrow,
    Param,
    Plan,
    PlanStep,
    Relation,
    Role,
    ScalarOf,
    ScalarValue,
    Size,
    TensorMapOf,
    Texts,
    Value,
)

T = TypeVar("T")

MAX_DEPTH = 64
"""Most nesting levels of an expression."""

INT64 = range(-(2**63), 2**63)

OPTIONAL = {"data", "unproven", "requires", "rounded", "fewest_streams", "arguments", "texts", "taken", "in_version"}
OPTIONAL |= {
    "most",
    "agreements",
    "assumptions",
    "versions",
    "compared",
    "unchecked",
    "reciprocals",
    "narrow",
    "boxes",
    "window",
}
OPTIONAL |= {"folds", "folded", "place"}
"""Keys that are omitted when empty."""

GEOMETRY = {"shape", "strides", "offset"}
"""Keys that a parameter has only if it is a memref."""


@cache
def _types(kind: type) -> Mapping[str, Any]:
    """The fields of a dataclass and their types; for a step, its own before those that all steps
    have."""
    hints, common = get_type_hints(kind), PlanStep.__annotations__
    return {name: hints[name] for name in sorted(hints, key=lambda name: name in common)}


# ---- writing ---------------------------------------------------------------------------------------------------------


def dump(plan: Plan) -> str:
    """The plan as JSON text; `load` of it returns an equal plan."""
    return json.dumps({"version": plan.version} | _written(plan), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _written(value: Any) -> Any:
    match value:
        case tuple():
            return [_written(item) for item in value]
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case float() if not math.isfinite(value):
            return str(value)
        case DimOf():
            return {"dim": [value.buffer, value.axis]}
        case ScalarOf():
            return {"scalar": value.name}
        case Apply():
            return {"op": value.operator, "args": [_written(value.left), _written(value.right)]}
    if not dataclasses.is_dataclass(value):
        return value
    made = {name: _written(getattr(value, name)) for name in _types(type(value))}
    absent = {
        name for name in OPTIONAL & made.keys() if any(getattr(value, name) is nothing for nothing in (None, (), False))
    }
    if isinstance(value, Param) and value.shape is None:
        absent |= GEOMETRY
    if isinstance(value, Plan):
        made["texts"] = dict(value.texts)
    do = {"do": type(value).__name__.lower()} if isinstance(value, PlanStep) else {}
    return do | {name: part for name, part in made.items() if name not in absent}


def dump_part(part: object) -> str:
    """A part of a plan as JSON on one line."""
    return json.dumps(_written(part), ensure_ascii=False, allow_nan=False)


# ---- reading ---------------------------------------------------------------------------------------------------------


def load(text: str, name: str = "plan.json") -> Plan:
    """The plan in `text`, fully validated. Raises `WeftError` W0700 … W0708 with the JSON path of
    each fault."""
    try:
        raw = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise fail("W0700", f"{name}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise fail("W0700", f"{name}: this JSON is not a plan: {error}") from error
    return validate(_plan(Cursor(raw, "", name)), name)


def load_part(text: str, kind: type[T], name: str) -> T:
    """The part of this kind in text written by `dump_part`. Raises W0700."""
    try:
        return _object(
            Cursor(json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant), "", name), kind
        )
    except (RecursionError, ValueError) as error:
        raise fail("W0700", f"{name}: this JSON is not a plan: {error}") from error


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has the same key twice")
    return made


def _no_constant(text: str) -> Any:
    raise ValueError(f"`{text}` is not a number")


@record
class Cursor:
    """A position in a JSON document: the value, its path for messages, the document's name."""

    value: Any
    path: str
    document: str

    def error(self, message: str) -> WeftError:
        return fail("W0700", f"{self.path or 'the document'}: {message}", notes=(f"in {self.document}",))

    def has(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def _is(self, kind: type, what: str) -> Any:
        if not isinstance(self.value, kind) or (isinstance(self.value, bool) and kind is int):
            raise self.error(f"expected {what}, found {shown(self.value)}")
        return self.value

    def text(self) -> str:
        return self._is(str, "a string")

    def integer(self) -> int:
        value = self._is(int, "an integer")
        if value not in INT64:
            raise self.error(f"{value} does not fit into 64 bits")
        return value

    def truth(self) -> bool:
        return self._is(bool, "true or false")

    def list(self, read: Callable[[Cursor], T], count: int | None = None, what: str = "") -> tuple[T, ...]:
        """The entries of a list; with `count`, exactly this many entries, described by `what`."""
        values = self._is(list, "a list")
        if count is not None and len(values) != count:
            raise self.error(f"expected {what}, found {len(values)}")
        return tuple(read(Cursor(v, f"{self.path}[{i}]", self.document)) for i, v in enumerate(values))

    def fields(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Cursor]:
        """The values of an object that has all keys of `required`, may have those of `optional`,
        and no others."""
        value, known = self._is(dict, "an object"), (*required, *optional)
        for key in required:
            if key not in value:
                raise self.error(f"the key `{key}` is missing")
        for key in value:
            if key not in known:
                raise self.error(f"unknown key `{key}`; known: {', '.join(known)}")
        prefix = f"{self.path}." if self.path else ""
        return {k: Cursor(v, f"{prefix}{k}", self.document) for k, v in value.items()}


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= 40 else text[:37] + '…'}`"


def _read(at: Cursor, kind: Any) -> Any:
    """A value of the type of a plan's field."""
    if kind in READERS:
        return READERS[kind](at)
    if get_origin(kind) is not tuple:
        return _object(at, kind)
    item, *others = get_args(kind)
    return at.list(lambda each: _read(each, item), None if Ellipsis in others else 3, "3 entries (x, y, z)")


def _object(at: Cursor, kind: type[T], *more: str) -> T:
    """A dataclass; `more`: keys of the object that are not its fields."""
    types = _types(kind)
    absent = GEOMETRY if kind is Param and not any(map(at.has, GEOMETRY)) else set()
    needed = (*more, *(name for name in types if name not in OPTIONAL | absent))
    found = at.fields(needed, [name for name in types if name in OPTIONAL])
    return kind(**{name: _read(part, types[name]) for name, part in found.items() if name in types})


def _plan(at: Cursor) -> Plan:
    if at.has("version") and at.value["version"] != VERSION:
        raise fail(
            "W0701",
            f"version: this plan is version {shown(at.value['version'])}, this Weft reads version {VERSION}",
            notes=(f"in {at.document}",),
            hint="build the bundle anew with `weft build`",
        )
    made = _object(at, Plan)
    used = len({step.stream for step in made.steps})
    if made.fewest_streams is not None and not 0 <= made.fewest_streams <= used:
        message = f"{made.fewest_streams} streams at least, where there are {used}"
        raise at.fields(at.value)["fewest_streams"].error(message)
    return made


def _base64(at: Cursor) -> bytes:
    try:
        return base64.b64decode(at.text(), validate=True)
    except binascii.Error as error:
        raise at.error(f"this is not a base64: {error}") from error


def _step(at: Cursor) -> AnyStep:
    for kind in STEPS:
        if at.has("do") and at.value["do"] == kind.__name__.lower():
            return _object(at, kind, "do")
    raise at.error("a step is an object with a key `do`: alloc, free, copy, fill or launch")


def _value(at: Cursor) -> Value:
    if at.value in ("inf", "-inf", "nan"):
        return float(at.value)
    return at.value if isinstance(at.value, bool | float) else _size(at)


def _size(at: Cursor, depth: int = 0) -> Size:
    if not isinstance(at.value, dict):
        return at.integer()
    if depth > MAX_DEPTH:
        raise at.error(f"an expression more than {MAX_DEPTH} levels deep")
    if at.has("dim"):
        buffer, axis = at.fields(["dim"])["dim"].list(lambda each: each, 2, "[buffer, axis]")
        return DimOf(buffer.text(), axis.integer())
    if at.has("scalar"):
        return ScalarOf(at.fields(["scalar"])["scalar"].text())
    found = at.fields(("op", "args"))
    operator: Any = found["op"].text()
    if operator not in OPERATORS:
        raise found["op"].error(f"`{operator}` is not an operator; there are {', '.join(OPERATORS)}")
    left, right = found["args"].list(lambda side: _size(side, depth + 1), 2, f"the 2 operands of `{operator}`")
    return Apply(operator, left, right)


READERS: dict[Any, Callable[[Cursor], Any]] = {
    str: Cursor.text,
    str | None: Cursor.text,
    Role: Cursor.text,
    Relation: Cursor.text,
    bool: Cursor.truth,
    int: Cursor.integer,
    int | None: lambda at: None if at.value is None else at.integer(),
    bytes | None: _base64,
    Extents | None: lambda at: at.list(READERS[int | None]),
    Size: _size,
    Value: _value,
    Arg: lambda at: _object(at, BufferView if at.has("buffer") else TensorMapOf if at.has("tensor") else ScalarValue),
    AnyStep: _step,
    Narrow | None: lambda at: _object(at, Narrow),
    Folded | None: lambda at: _object(at, Folded),
    Boxes | None: lambda at: _object(at, Boxes),
    PixelWindow | None: lambda at: _object(at, PixelWindow),
    Texts: lambda at: tuple((n, digest.text()) for n, digest in at.fields((), ("kernels.cu", "module.mlir")).items()),
}
"""Readers of all types that are neither a dataclass nor a tuple."""
