"""The command line. The commands are in `commands/` and are imported only when one is used."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

import rich_click as click

from ..output.console import guarded
from ..source import __version__

COMMANDS = {
    "run": "schedules",
    "apply": "schedules",
    "check": "files",
    "build": "schedules",
    "emit": "schedules",
    "verify": "verify",
    "audit": "verify",
    "show-map": "show",
    "show-ops": "show",
    "repl": "schedules",
    "golden": "golden",
    "fmt": "files",
    "explain": "reference",
    "statements": "reference",
    "payloads": "reference",
    "recipes": "reference",
    "bench": "bench",
    "tune": "bench",
}
"""Command → its module, in the order of `weft --help`."""


MEANT = {
    "cuda": "emit", "text": "emit", "compile": "build", "bundle": "build", "schedule": "apply", "lower": "apply", "opt": "apply",
    "sim": "run --target sim", "simulate": "run --target sim", "predict": "run --predict", "prove": "verify", "races": "verify",
    "lint": "check", "parse": "check", "format": "fmt", "list": "recipes", "show": "recipes", "help": "--help", "doc": "explain",
    "ops": "show-ops", "layers": "show-ops", "trust": "audit", "attest": "audit",
}  # fmt: skip
"""A command's name in other tools → the command here."""

COMPLETING = "_WEFT_COMPLETE"
"""The variable by which a shell requests completion from Click."""


class LazyGroup(click.RichGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from difflib import get_close_matches

        from ..recipes import schedules

        meant = f"run {name}" if name in schedules() or name.endswith(".weft") else MEANT.get(name)
        meant = meant or next(iter(get_close_matches(name, COMMANDS, 1)), None)
        raise click.UsageError(f"No such command '{name}'." + (f" Did you mean 'weft {meant}'?" if meant else ""), ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".commands.{COMMANDS[cmd_name]}", __package__)
        return getattr(module, cmd_name.replace("-", "_"))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="weft", message="%(prog)s %(version)s")
def cli() -> None:
    """Schedules for GPU kernels: tile, fuse, map, synchronize and launch an MLIR program, then run it and compare.

    FILE is a schedule's path or the name of a built-in recipe, e.g. `weft run shared`; `-` is standard input.
    """


def _of_others(option: str) -> str:
    """A sentence that names the commands with an option that the used command does not have."""
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in COMMANDS}
    options = {name: [o for one in command.params for o in one.opts] for name, command in commands.items() if command}
    takers = [name for name, own in options.items() if option in own]
    return f" It is one of {', '.join(f'`weft {name}`' for name in takers)}." if takers else ""


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code. An empty line is an error: the help is
    written to stderr."""

    def command() -> int | None:
        try:
            return cli.main(args=list(arguments), prog_name="weft", standalone_mode=False)
        except click.NoSuchOption as error:
            message = f"{error.message}{_of_others(error.option_name)}"
            raise click.NoSuchOption(error.option_name, message, error.possibilities, error.ctx) from error

    def usage() -> int:
        with redirect_stdout(sys.stderr):
            cli.main(args=["--help"], prog_name="weft", standalone_mode=False)
        return 2

    return guarded(command if arguments or COMPLETING in os.environ else usage)
