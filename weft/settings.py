"""`--set name=value` and `--layer NAME`: which of the settings go to the schedule, which to the payload's builder, and
which to neither."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .dsl import tree
from .dsl.diagnostics import fail
from .dsl.wording import did_you_mean
from .payloads.builder_values import Layer, find_layer
from .recipes.builder import Builder, BuilderParameter, Value

INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
"""What an integer looks like, as for a schedule's own parameters: decimal ASCII digits."""

DIGITS = 40
"""More than any legal value has; Python refuses to read thousands of them."""


@dataclass(frozen=True)
class Settings:
    """The user's settings, sorted out. A name that both sides have reaches both; a layer's values are the payload's alone."""

    schedule: Mapping[str, str]
    payload: Mapping[str, Value]
    layer: Layer | None = None


def parse_settings(pairs: Iterable[str], option: str = "--set") -> dict[str, str]:
    """`["bm=32", "type = f64"]` → names and values. Raises W0480 for what is no pair, W0481 for a name given twice.

    Args:
        option: what the user wrote in front of a pair.
    """
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals or not name or not value:
            raise fail("W0480", f"`{option} {pair}` is not of the form name=value", hint=f"write `{option} bm=32`")
        if name in settings:
            raise fail("W0481", f"`{option} {name}` is given twice: {settings[name]} and {value}")
        settings[name] = value
    return settings


def distribute(
    settings: Mapping[str, str], schedule: tree.Schedule, builder: Builder | None, layer: str | None = None
) -> Settings:
    """Give each setting to the side that knows it, and find the layer. Raises W0482 for a name that neither knows, W0483 for a
    bad value, W0491 and W0492 for the layer."""
    ours = [p.name for p in schedule.parameters]
    theirs = {p.name: p for p in builder.parameters} if builder else {}
    for name in settings:
        if name not in ours and name not in theirs:
            known = f"parameters of payload `{builder.name}`: {', '.join(theirs)}" if builder else "the payload has no parameters"
            notes = (f"parameters of schedule `{schedule.name}`: {', '.join(ours) or 'none'}", known)
            raise fail("W0482", f"there is no parameter `{name}` to set", notes=notes, hint=did_you_mean(name, (*ours, *theirs)))
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
        raise fail("W0483", f"`{parameter.name}={shortened}` is no legal value: {objection}")
    return value
