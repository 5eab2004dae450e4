"""Arguments and options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

Function = Callable[..., Any]

PATH = click.Path(path_type=Path)

layer_option = click.option("--layer", metavar="NAME", help="Sizes of the payload by name; `weft payloads NAME` lists them.")
payload_option = click.option(
    "--payload", type=PATH, metavar="P.mlir", help="The program to schedule, instead of the schedule's own."
)
set_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the schedule or of its payload."
)
unproven_option = click.option("--unproven", is_flag=True, help="Take kernels that are not proven race-free, and call them so.")
entry_option = click.option("--entry", metavar="FUNCTION", help="The host function, where the payload has several.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object on stdout.")


def schedule_options(*more: Callable[[Function], Function], optional: bool = False) -> Callable[[Function], Function]:
    """FILE, `--payload`, `--set`, `--layer`, and `more`: what makes a schedule with its payload, for the command's `chosen`.
    `optional`: there may be no FILE."""

    def decorated(command: Function) -> Function:
        @functools.wraps(command)
        def gathered(
            file: str, payload: Path | None, settings: tuple[str, ...], layer: str | None, unproven: bool = False, **rest: Any
        ) -> Any:
            from ...pipeline import Choice
            from ...settings import parse_settings

            return command(chosen=Choice(file, payload, parse_settings(settings), layer, unproven), **rest)

        given: dict[str, Any] = {"metavar": "[FILE]", "required": False, "default": ""} if optional else {"metavar": "FILE"}
        options = (click.argument("file", **given), payload_option, set_option, layer_option, *more)
        return functools.reduce(lambda made, decorate: decorate(made), reversed(options), gathered)

    return decorated
