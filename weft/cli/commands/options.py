"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

PATH = click.Path(path_type=Path)


def layer_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--layer", metavar="NAME", help="Sizes of the payload by name; `weft payloads NAME` lists them.")(command)


def schedule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """FILE, `--payload`, `--set`, `--layer`: what makes a schedule with its payload."""
    decorators: tuple[Decorator, ...] = (
        click.argument("file", metavar="FILE"),
        click.option(
            "--payload", type=PATH, metavar="P.mlir", help="The program to schedule, instead of the schedule's own."
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="A parameter of the schedule or of its payload.",
        ),
        layer_option,
    )
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


def unproven_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--unproven", is_flag=True, help="Take kernels that are not proven race-free, and call them so.")(command)


def entry_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--entry", metavar="FUNCTION", help="The host function, where the payload has several.")(
        command
    )
