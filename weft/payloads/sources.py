"""The source of a payload's text: a built-in builder, an `.mlir` file named by the schedule, or
`--payload`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..dsl import tree
from ..dsl.diagnostics import Source, fail, read_source
from ..recipes.builder import Value
from .settings import Layer, builder_of, builder_values


def payload_source(
    file: tree.File, override: Path | None, settings: Mapping[str, Value], layer: Layer | None = None
) -> tuple[Source, Mapping[str, Value]]:
    """The payload's text with its displayed name, and the values of the builder's parameters (empty
    for a file).

    `settings` are checked values for the builder's parameters. They have precedence over those of
    the `layer`, and these over the arguments in the schedule. Raises W0485 if no payload is given,
    and what `builder_values` and `read_source` raise.
    """
    if override is not None:
        return read_source(override), {}
    payload = file.payload
    if payload is None:
        raise fail(
            "W0485",
            f"`{file.source.name}` names no payload",
            hint='give one with `--payload P.mlir`, or write `payload "P.mlir"` into the schedule',
        )
    if (path := payload_path(file, None)) is not None:
        return read_source(path, at=payload.span), {}
    builder = builder_of(file, None)
    if builder is None:
        raise fail("W0484", "this payload names neither a builder nor a file", span=payload.span)
    values = builder_values(builder, payload, settings, layer)
    return Source(f"{builder.name}.mlir", builder.build(**values)), values


def payload_path(file: tree.File, override: Path | None) -> Path | None:
    """The file that `payload_source` reads; None if a builder makes the text."""
    if override is not None or file.payload is None or file.payload.path is None:
        return override
    return Path(file.source.name).parent / file.payload.path
