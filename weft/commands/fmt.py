"""`weft fmt [--check] FILES`: schedules in the one layout."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .options import PATH


@click.command(short_help="Format schedules in place.")
@click.argument("files", type=PATH, nargs=-1, required=True, metavar="FILE…")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if a file would change.")
def fmt(files: tuple[Path, ...], check: bool) -> int:
    """Format schedules in place, comments kept. A file that does not parse is left alone and reported."""
    from ..console import say, show
    from ..dsl.diagnostics import WeftError
    from ..dsl.files import read_source
    from ..dsl.formatter import format_text
    from ..files import write_atomically

    wrong = 0
    for path in files:
        try:
            text = read_source(path).text
            formatted = format_text(text, str(path))
            if formatted == text:
                continue
            if check:
                say(f"{path}: would change")
                wrong += 1
            else:
                write_atomically(path, formatted.encode())
                say(f"{path}: formatted")
        except WeftError as error:
            show(error.diagnostics)
            wrong += 1
    return 1 if wrong else 0
