"""`weft golden FILES… [--update]`: golden-IR tests of schedules."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .options import PATH


@click.command(short_help="Compare scheduled modules with their goldens.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--update", is_flag=True, help="Write the goldens anew instead of comparing.")
@click.option("--name", metavar="NAME", help="With --update: another golden, of these settings, under this name.")
@click.option("--payload", type=PATH, metavar="P.mlir", help="With --update: the payload of a new golden.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="With --update: settings of a new golden.")
def golden(
    files: tuple[str, ...], update: bool, name: str | None, payload: Path | None, settings: tuple[str, ...]
) -> int:
    """Compare what schedules make of their payloads with the goldens beside them.

    The golden of gemm.weft is gemm.golden.mlir; its first line says how it was made. FILE is a schedule or a golden.
    """
    from ..console import say, show
    from ..dsl.diagnostics import WeftError
    from ..files import resolve_schedule
    from ..golden import SUFFIX, compare, goldens, new_golden, paths_of
    from ..settings import parse_settings

    new = bool(name or settings or payload)
    if new and (not update or len(files) != 1 or files[0].endswith(SUFFIX)):
        raise click.UsageError("--name, --set and --payload make a new golden: they need --update and one schedule")
    wrong = 0
    for file in files:
        try:
            if new or (update and not file.endswith(SUFFIX) and not paths_of(resolve_schedule(file))):
                found = [new_golden(file, name, parse_settings(settings), payload)]
            else:
                found = list(goldens(file))
        except WeftError as error:
            show(error.diagnostics)
            wrong += 1
            continue
        for one in found:
            try:
                if update:
                    say(f"{one.path}: {'written' if one.update() else 'unchanged'}")
                else:
                    compare(one)
                    say(f"{one.path}: the same")
            except WeftError as error:
                show(error.diagnostics)
                wrong += 1
    return 1 if wrong else 0
