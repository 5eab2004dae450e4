"""Plans as JSON. Reading trusts nothing: a wrong type, a missing or an unknown key is an error with its JSON path."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from typing import Any

from ...dsl.diagnostics import fail
from .check import validate
from .cursor import Cursor, shown
from .plan import (
    OPERATORS,
    VERSION,
    Alloc,
    AnyStep,
    Apply,
    Arg,
    Buffer,
    BufferView,
    Copy,
    DimOf,
    Expr,
    Fill,
    Free,
    Kernel,
    Launch,
    Param,
    Plan,
    Scalar,
    ScalarOf,
    ScalarValue,
    Size,
    Value,
)

MAX_DEPTH = 64

# ---- writing ---------------------------------------------------------------------------------------------------------


def dump(plan: Plan) -> str:
    """The plan as JSON text; `load` of it gives an equal plan."""
    return json.dumps(_plan(plan), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "version": plan.version,
        "entry": plan.entry,
        "buffers": [_buffer(b) for b in plan.buffers],
        "scalars": [{"name": s.name, "dtype": s.dtype} for s in plan.scalars],
        "kernels": [
            {
                "name": k.name,
                "symbol": k.symbol,
                "params": [_param(p) for p in k.params],
                "shared_bytes": k.shared_bytes,
                "dynamic_shared_bytes": k.dynamic_shared_bytes,
                **({} if k.unproven is None else {"unproven": k.unproven}),
            }
            for k in plan.kernels
        ],
        "steps": [_step(s) for s in plan.steps],
        **({} if plan.fewest_streams is None else {"fewest_streams": plan.fewest_streams}),
        **({"texts": dict(plan.texts)} if plan.texts else {}),
    }


def _buffer(buffer: Buffer) -> dict[str, Any]:
    made = {"name": buffer.name, "dtype": buffer.dtype, "shape": _sizes(buffer.shape), "role": buffer.role}
    if buffer.data is not None:
        made["data"] = base64.b64encode(buffer.data).decode("ascii")
    return made


def _param(param: Param) -> dict[str, Any]:
    made: dict[str, Any] = {"name": param.name, "dtype": param.dtype}
    if param.shape is not None and param.strides is not None:
        made |= {"shape": list(param.shape), "strides": list(param.strides), "offset": param.offset}
    return made


def _step(step: AnyStep) -> dict[str, Any]:
    order: dict[str, Any] = {"stream": step.stream, "after": list(step.after)}
    if isinstance(step, Alloc | Free):
        return {"do": "alloc" if isinstance(step, Alloc) else "free", "buffer": step.buffer} | order
    if isinstance(step, Copy):
        return {"do": "copy", "source": _view(step.source), "target": _view(step.target)} | order
    if isinstance(step, Fill):
        return {"do": "fill", "target": _view(step.target), "value": _scalar(step.value)} | order
    return {
        "do": "launch",
        "kernel": step.kernel,
        "grid": _sizes(step.grid),
        "block": _sizes(step.block),
        "shared_bytes": _size(step.shared_bytes),
        "args": [_arg(a) for a in step.args],
    } | order


def _arg(arg: Arg) -> dict[str, Any]:
    return _view(arg) if isinstance(arg, BufferView) else _scalar(arg)


def _scalar(arg: ScalarValue) -> dict[str, Any]:
    value = arg.value
    if isinstance(value, float) and not math.isfinite(value):
        return {"dtype": arg.dtype, "value": str(value)}
    return {"dtype": arg.dtype, "value": value if isinstance(value, bool | float) else _size(value)}


def _view(view: BufferView) -> dict[str, Any]:
    return {
        "buffer": view.buffer,
        "offset": _size(view.offset),
        "shape": _sizes(view.shape),
        "strides": _sizes(view.strides),
    }


def _sizes(sizes: tuple[Size, ...]) -> list[Any]:
    return [_size(s) for s in sizes]


def _size(size: Size) -> Any:
    if isinstance(size, DimOf):
        return {"dim": [size.buffer, size.axis]}
    if isinstance(size, ScalarOf):
        return {"scalar": size.name}
    if isinstance(size, Apply):
        return {"op": size.operator, "args": [_size(size.left), _size(size.right)]}
    return size


# ---- reading ---------------------------------------------------------------------------------------------------------


def load(text: str, name: str = "plan.json") -> Plan:
    """The plan in `text`, fully validated. Raises `WeftError` W0700 … W0708 with the JSON path of each fault."""
    try:
        raw = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise fail("W0700", f"{name}:{error.lineno}:{error.colno}: this is no JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:
        raise fail("W0700", f"{name}: this is no JSON a plan could be: {error}") from error
    return validate(_read_plan(Cursor(raw, "", name)), name)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("an object has the same key twice")
    return made


def _no_constant(spelling: str) -> Any:
    raise ValueError(f"`{spelling}` is no number")


def _read_plan(at: Cursor) -> Plan:
    if isinstance(at.value, dict) and at.value.get("version", VERSION) != VERSION:
        raise fail(
            "W0701",
            f"version: this plan is version {shown(at.value['version'])}, this Weft reads version {VERSION}",
            notes=(f"in {at.document}",),
            hint="build the bundle anew with `weft build`",
        )
    f = at.fields(("version", "entry", "buffers", "scalars", "kernels", "steps"), ("fewest_streams", "texts"))
    steps = f["steps"].list(_read_step)
    fewest = f["fewest_streams"].integer() if "fewest_streams" in f else None
    if fewest is not None and not 0 <= fewest <= len({step.stream for step in steps}):
        raise f["fewest_streams"].error(f"{fewest} streams at least, where there are {len({step.stream for step in steps})}")
    return Plan(
        version=f["version"].integer(),
        entry=f["entry"].text(),
        buffers=f["buffers"].list(_read_buffer),
        scalars=f["scalars"].list(_read_scalar),
        kernels=f["kernels"].list(_read_kernel),
        steps=steps,
        fewest_streams=fewest,
        texts=_read_texts(f["texts"]) if "texts" in f else (),
    )


def _read_texts(at: Cursor) -> tuple[tuple[str, str], ...]:
    f = at.fields((), ("kernels.cu", "module.mlir"))
    return tuple((name, digest.text()) for name, digest in f.items())


def _read_buffer(at: Cursor) -> Buffer:
    f = at.fields(("name", "dtype", "shape", "role"), ("data",))
    data = None
    if "data" in f:
        try:
            data = base64.b64decode(f["data"].text(), validate=True)
        except binascii.Error as error:
            raise f["data"].error(f"this is no base64: {error}") from error
    role: Any = f["role"].text()
    return Buffer(f["name"].text(), f["dtype"].text(), f["shape"].list(_read_size), role, data)


def _read_scalar(at: Cursor) -> Scalar:
    f = at.fields(("name", "dtype"))
    return Scalar(f["name"].text(), f["dtype"].text())


def _read_kernel(at: Cursor) -> Kernel:
    f = at.fields(("name", "symbol", "params", "shared_bytes", "dynamic_shared_bytes"), ("unproven",))
    unproven = f["unproven"].text() if "unproven" in f else None
    shared = (f["shared_bytes"].integer(), f["dynamic_shared_bytes"].integer())
    return Kernel(f["name"].text(), f["symbol"].text(), f["params"].list(_read_param), *shared, unproven)


def _read_param(at: Cursor) -> Param:
    if isinstance(at.value, dict) and not at.value.keys() & {"shape", "strides", "offset"}:
        f = at.fields(("name", "dtype"))
        return Param(f["name"].text(), f["dtype"].text())
    f = at.fields(("name", "dtype", "shape", "strides", "offset"))
    shape, strides = f["shape"].list(_read_dynamic), f["strides"].list(_read_dynamic)
    return Param(f["name"].text(), f["dtype"].text(), shape, strides, _read_dynamic(f["offset"]))


def _read_dynamic(at: Cursor) -> int | None:
    return None if at.value is None else at.integer()


def _read_step(at: Cursor) -> AnyStep:
    do = at.value.get("do") if isinstance(at.value, dict) else None
    if do in ("alloc", "free"):
        f = at.fields(("do", "buffer", "stream", "after"))
        return (Alloc if do == "alloc" else Free)(buffer=f["buffer"].text(), **_order(f))
    if do == "copy":
        f = at.fields(("do", "source", "target", "stream", "after"))
        return Copy(source=_read_view(f["source"]), target=_read_view(f["target"]), **_order(f))
    if do == "fill":
        f = at.fields(("do", "target", "value", "stream", "after"))
        return Fill(target=_read_view(f["target"]), value=_read_scalar_value(f["value"]), **_order(f))
    if do == "launch":
        f = at.fields(("do", "kernel", "grid", "block", "shared_bytes", "args", "stream", "after"))
        return Launch(
            kernel=f["kernel"].text(),
            grid=f["grid"].triple(_read_size),
            block=f["block"].triple(_read_size),
            shared_bytes=_read_size(f["shared_bytes"]),
            args=f["args"].list(_read_arg),
            **_order(f),
        )
    raise at.error("a step is an object whose key `do` is alloc, free, copy, fill or launch")


def _order(f: Mapping[str, Cursor]) -> dict[str, Any]:
    return {"stream": f["stream"].integer(), "after": f["after"].list(Cursor.integer)}


def _read_view(at: Cursor) -> BufferView:
    f = at.fields(("buffer", "offset", "shape", "strides"))
    return BufferView(
        f["buffer"].text(), _read_size(f["offset"]), f["shape"].list(_read_size), f["strides"].list(_read_size)
    )


def _read_arg(at: Cursor) -> Arg:
    if isinstance(at.value, dict) and "buffer" in at.value:
        return _read_view(at)
    return _read_scalar_value(at)


def _read_scalar_value(at: Cursor) -> ScalarValue:
    f = at.fields(("dtype", "value"))
    return ScalarValue(f["dtype"].text(), _read_value(f["value"]))


def _read_value(at: Cursor) -> Value:
    if at.value in ("inf", "-inf", "nan"):
        return float(at.value)
    if isinstance(at.value, bool | float):
        return at.value
    return _read_size(at)


def _read_size(at: Cursor, depth: int = 0) -> Size:
    return _read_expr(at, depth) if isinstance(at.value, dict) else at.integer()


def _read_expr(at: Cursor, depth: int) -> Expr:
    if depth > MAX_DEPTH:
        raise at.error(f"an expression more than {MAX_DEPTH} levels deep")
    if "dim" in at.value:
        dim = at.fields(("dim",))["dim"]
        if not isinstance(dim.value, list) or len(dim.value) != 2:
            raise dim.error("expected [buffer, axis]")
        return DimOf(
            Cursor(dim.value[0], f"{dim.path}[0]", at.document).text(),
            Cursor(dim.value[1], f"{dim.path}[1]", at.document).integer(),
        )
    if "scalar" in at.value:
        return ScalarOf(at.fields(("scalar",))["scalar"].text())
    f = at.fields(("op", "args"))
    operator: Any = f["op"].text()
    if operator not in OPERATORS:
        raise f["op"].error(f"`{operator}` is no operator; there are {', '.join(OPERATORS)}")
    sides = f["args"].list(lambda side: _read_size(side, depth + 1))
    if len(sides) != 2:
        raise f["args"].error(f"`{operator}` takes 2, found {len(sides)}")
    return Apply(operator, *sides)
