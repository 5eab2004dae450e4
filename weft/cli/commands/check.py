"""`weft check FILE`: parse and check a schedule; no payload is needed."""

from __future__ import annotations

import rich_click as click


@click.command(short_help="Parse and check a schedule; no payload needed.")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
def check(files: tuple[str, ...]) -> int:
    """Parse and check schedules: names, types, arity, domains, consumed handles. No payload is needed.

    If a schedule names one, its builder and the builder's arguments are checked too, or that the file is there.
    """
    from ...dsl.diagnostics import WeftError
    from ...payloads.payload import check_payload
    from ...pipeline import read_schedule
    from ..console import say, shortened, show

    failed = 0
    for name in files:
        try:
            file = read_schedule(name)
            check_payload(file)
        except WeftError as error:
            show(error.diagnostics)
            failed += 1
        else:
            say(f"{shortened(file.source.name)}: right, {len(file.schedules)} schedule{'s' * (len(file.schedules) != 1)}")
    return 1 if failed else 0
