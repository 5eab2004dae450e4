"""Arguments and options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

if TYPE_CHECKING:
    from ...pipeline import Recipe

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


@dataclass(frozen=True)
class Chosen:
    """A schedule with its payload, as a command line names them."""

    file: str
    payload: Path | None
    settings: tuple[str, ...]
    layer: str | None
    unproven: bool

    @property
    def bare(self) -> bool:
        """Nothing but the file was named."""
        return self.payload is None and not self.settings and self.layer is None and not self.unproven

    def open(self, watch: Callable[[str | None], None]) -> Recipe:
        """Read them, with a clock that tells `watch` of each phase."""
        from ...clock import Clock
        from ...pipeline import Recipe
        from ...settings import parse_settings

        return Recipe.open(self.file, self.payload, parse_settings(self.settings), Clock(watch), self.layer, self.unproven)


def schedule_options(*more: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """FILE, `--payload`, `--set`, `--layer`, and `more`: what makes a schedule with its payload, for the command's `chosen`."""

    def decorated(command: Function) -> Function:
        @functools.wraps(command)
        def gathered(
            file: str, payload: Path | None, settings: tuple[str, ...], layer: str | None, unproven: bool = False, **rest: Any
        ) -> Any:
            return command(chosen=Chosen(file, payload, settings, layer, unproven), **rest)

        options = (click.argument("file", metavar="FILE"), payload_option, set_option, layer_option, *more)
        return functools.reduce(lambda made, decorate: decorate(made), reversed(options), gathered)

    return decorated
