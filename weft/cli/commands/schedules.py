"""`weft check FILES` and `weft fmt [--check] FILES`: schedules by themselves; no payload is needed."""

from __future__ import annotations

from pathlib import Path

import rich_click as click


@click.command(short_help="Parse and check a schedule; no payload needed.")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
def check(files: tuple[str, ...]) -> int:
    """Parse and check schedules: names, types, arity, domains, consumed handles. No payload is needed.

    If a schedule names one, its builder and the builder's arguments are checked too, or that the file is there.
    """
    from ...dsl.wording import count
    from ...payloads.payload import check_payload
    from ...pipeline import read_schedule
    from ..console import each, say, shortened

    def one(name: str) -> None:
        file = read_schedule(name)
        check_payload(file)
        say(f"{shortened(file.source.name)}: right, {count(len(file.schedules), 'schedule')}")

    return each(files, one)


@click.command(short_help="Format schedules in place.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if a file would change.")
def fmt(files: tuple[str, ...], check: bool) -> int:
    """Format schedules in place, comments kept. A file that does not parse is left alone and reported.

    A recipe that ships can be checked by its name, and is not rewritten.
    """
    from ...dsl.diagnostics import fail
    from ...dsl.files import read_source
    from ...dsl.formatter import format_text
    from ...pipeline import resolve_schedule
    from ...runtime.files.writing import write_file
    from ..console import each, say, shortened

    def one(name: str) -> bool:
        path = resolve_schedule(name)
        if path != Path(name) and not check:
            hint = f"`weft fmt --check {name}` looks at it; a copy of `{path}` can be changed"
            raise fail("W0051", f"`{name}` is a recipe that ships, and is not rewritten", hint=hint)
        text = read_source(path).text
        formatted = format_text(text, str(path))
        if formatted != text and check:
            say(f"{shortened(str(path))}: would change")
        elif formatted != text:
            write_file(path, formatted.encode())
            say(f"{path}: formatted")
        return check and formatted != text

    return each(files, one)
