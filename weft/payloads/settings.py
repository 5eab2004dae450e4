"""The arguments of a payload's builder, from the schedule's `payload` line, `--layer` and `--set`,
and the check that they are consistent.

A parameter without an argument has its default. `--set` has precedence over `--layer`, and
`--layer` over the schedule.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..dsl import tree
from ..dsl.diagnostics import Span, did_you_mean, fail
from ..dsl.expressions import evaluate
from ..dsl.records import record
from ..recipes import builders
from ..recipes.builder import Builder, BuilderParameter, Value


@record
class Layer:
    """Values of a builder's parameters under one name."""

    name: str
    values: Mapping[str, Value]


def builder_named(name: str, span: Span | None = None, hint: str | None = None) -> Builder:
    """The built-in builder of this name. Raises W0484."""
    if (builder := builders().get(name)) is None:
        raise fail(
            "W0484",
            f"there is no payload builder `{name}`",
            span=span,
            notes=(f"built-in builders: {', '.join(builders())}",),
            hint=hint or did_you_mean(name, builders()),
        )
    return builder


def builder_of(file: tree.File, override: Path | None) -> Builder | None:
    """The builder in a schedule's `payload` line; None if the payload is a file or a text. Raises
    W0484."""
    payload = file.payload
    if override is not None or payload is None or payload.builder is None:
        return None
    start = payload.span.text.index(payload.builder, len("payload")) + payload.span.column
    span = dataclasses.replace(
        payload.span, column=start, end_line=payload.span.line, end_column=start + len(payload.builder)
    )
    return builder_named(payload.builder, span, 'name one of them, or an MLIR text: `payload "model.mlir"`')


def find_layer(name: str, builder: Builder | None) -> Layer:
    """The layer of this name. Raises W0491 for an unknown name, W0492 if the payload has no layers."""
    layers = builder.layers if builder is not None else {}
    if (values := layers.get(name)) is not None:
        return Layer(name, values)
    if builder is None or not layers:
        having = ", ".join(b.name for b in builders().values() if b.layers)
        what = f"payload `{builder.name}` has no layers" if builder else "the payload is a text, without layers"
        raise fail(
            "W0492",
            f"there is no layer `{name}`: {what}",
            notes=(f"payloads with layers: {having}",),
            hint="leave `--layer` out" + (", and name sizes with `--set`" if builder is not None else ""),
        )
    close = [*(n for n in layers if name and name in n), *difflib.get_close_matches(name[:100], layers, len(layers))]
    raise fail(
        "W0491",
        f"payload `{builder.name}` has no layer `{name}`",
        notes=(f"its layers: {', '.join(dict.fromkeys([*close, *layers]))}",),
        hint=f"did you mean `{close[0]}`?" if close else f"`weft payloads {builder.name}` lists them with their sizes",
    )


def builder_values(
    builder: Builder, payload: tree.Payload, settings: Mapping[str, Value], layer: Layer | None
) -> dict[str, Value]:
    """The values of all parameters of the builder. Raises W0486 for a wrong argument in the
    schedule; for inconsistent values W0483 if one of them is a setting, W0486 otherwise."""
    origins: dict[str, Mapping[str, Value]] = {
        "--set": settings,
        "--layer": layer.values if layer is not None else {},
        "the schedule": builder_arguments(builder, payload),
        "default": {p.name: p.default for p in builder.parameters},
    }
    values = dict(ChainMap(*map(dict, origins.values())))
    if builder.misfit is None or (misfit := builder.misfit(**values)) is None:
        return values
    came = {name: next(origin for origin, given in origins.items() if name in given) for name in misfit.parameters}
    # the source with the highest precedence
    blamed = min(misfit.parameters, key=lambda name: [*origins].index(came[name]))
    notes = (", ".join(f"{name} = {values[name]} ({came[name]})" for name in misfit.parameters),)
    if came[blamed] in ("--set", "--layer"):
        what = f"{blamed}={values[blamed]}" if layer is None or came[blamed] == "--set" else layer.name
        raise fail("W0483", f"`{came[blamed]} {what}` does not fit: {misfit.reason}", notes=notes, hint=misfit.hint)
    places = {parameter.name: argument.value.span for parameter, argument in _arguments(builder, payload)}
    message = f"`{blamed} = {values[blamed]}` does not fit: {misfit.reason}"
    raise fail("W0486", message, span=places.get(blamed, payload.span), notes=notes, hint=misfit.hint)


def builder_arguments(builder: Builder, payload: tree.Payload) -> dict[str, Value]:
    """The arguments in the schedule's `payload` line, evaluated and checked. Raises W0486."""
    values: dict[str, Value] = {}
    for parameter, argument in _arguments(builder, payload):
        if isinstance(argument.value, tree.HandleRef):
            raise fail("W0486", "a payload's argument is a value, not a handle", span=argument.span)
        value = evaluate(argument.value, {})
        if objection := parameter.objection(value):
            raise fail(
                "W0486", f"`{parameter.name} = {value}` is not a legal argument: {objection}", span=argument.value.span
            )
        values[parameter.name] = value  # type: ignore[assignment]
    return values


def _arguments(builder: Builder, payload: tree.Payload) -> Iterator[tuple[BuilderParameter, tree.CallArgument]]:
    """Each argument with its parameter. Raises W0486 for an unknown parameter and for one that is
    given twice."""
    taken: set[str] = set()
    for argument in payload.arguments:
        if argument.name is not None:
            parameter = builder.parameter(argument.name)
        else:
            parameter = next(iter(builder.parameters[len(taken) :]), None)
        if parameter is None or parameter.name in taken:
            what = "given twice" if parameter else "unknown"
            raise fail(
                "W0486",
                f"argument `{argument.name or len(taken) + 1}` of payload `{builder.name}` is {what}",
                span=argument.span,
                notes=(f"parameters of `{builder.name}`: {', '.join(p.name for p in builder.parameters)}",),
            )
        taken.add(parameter.name)
        yield parameter, argument


INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
"""An integer: decimal ASCII digits, as for a schedule's own parameters."""

DIGITS = 40
"""More digits than any legal value has; Python refuses to convert thousands of digits."""


@record
class Settings:
    """The user's settings by destination: a name that schedule and payload share is set in both;
    the values of a layer are the payload's."""

    schedule: Mapping[str, str]
    payload: Mapping[str, Value]
    layer: Layer | None = None


def parse_settings(pairs: Iterable[str], option: str = "--set") -> dict[str, str]:
    """Names and values of `["bm=32", "type = f64"]`. Raises W0480 for a text that is no pair, W0481
    for a name given twice.

    Args:
        option: the option's name, for the messages.
    """
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or not value:
            raise fail(
                "W0480", f"`{option} {pair}` is not of the form name=value", hint=f"write `{option} {name or 'bm'}=32`"
            )
        if name in settings:
            raise fail("W0481", f"`{option} {name}` is given twice: {settings[name]} and {value}")
        settings[name] = value
    return settings


def distribute(
    settings: Mapping[str, str], schedule: tree.Schedule, builder: Builder | None, layer: str | None = None
) -> Settings:
    """Distributes the settings to the schedule and the payload, and finds the layer. Raises W0482
    for an unknown name, W0483 for an illegal value, W0491 and W0492 for the layer."""
    ours = [p.name for p in schedule.parameters if p.type != "handle"]
    theirs = {p.name: p for p in builder.parameters} if builder else {}
    for name in settings:
        if name not in ours and name not in theirs:
            known = "the payload has no parameters"
            if builder:
                known = f"parameters of payload `{builder.name}`: {', '.join(theirs)}"
            notes = (f"parameters of schedule `{schedule.name}`: {', '.join(ours) or 'none'}", known)
            hint = did_you_mean(name, (*ours, *theirs))
            raise fail("W0482", f"there is no parameter `{name}` to set", notes=notes, hint=hint)
    return Settings(
        {name: value for name, value in settings.items() if name in ours},
        {name: _value(theirs[name], value) for name, value in settings.items() if name in theirs},
        find_layer(layer, builder) if layer is not None else None,
    )


def _value(parameter: BuilderParameter, text: str) -> Value:
    value: Value = text
    if parameter.type == "int":
        value = int(text) if INTEGER.fullmatch(text) and len(text) <= DIGITS else text
    if objection := parameter.objection(value):
        if isinstance(value, str) and INTEGER.fullmatch(value):
            objection = f"it has {len(value)} digits, and must be at most {parameter.maximum}"
        shortened = text if len(text) <= DIGITS else f"{text[: DIGITS - 1]}…"
        hint = did_you_mean(text, map(str, parameter.domain)) if parameter.type != "int" else None
        raise fail("W0483", f"`{parameter.name}={shortened}` is not a legal value: {objection}", hint=hint)
    return value
