"""The commands on schedule files that need no payload: `check` and `fmt`."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from .. import completion
from .schedules import STDIN, json_option, standard_input


@click.command(short_help="Parse and check a schedule; no payload needed.")
@click.argument("files", metavar="FILE…", nargs=-1, required=True, shell_complete=completion.schedules)
@json_option
def check(files: tuple[str, ...], as_json: bool) -> int:
    """Parse and check schedules: names, types, ranges, consumed handles, the defaults of parameters. No payload is
    needed.

    If a schedule names a payload, its builder and arguments are checked too, or whether its file exists. Of a file
    with several syntax errors the first 20 are reported.
    """
    from ...dsl import diagnostics
    from ...output.console import each, emit, say, show
    from ...payloads.sources import payload_source
    from ...pipeline import checked_schedule
    from ...recipes import shortened

    listed: list[dict[str, object]] = []

    def one(name: str) -> None:
        found: tuple[diagnostics.Diagnostic, ...] = ()
        try:
            file, found = checked_schedule(standard_input() if name == STDIN else name, defaults=True)
            if found and not as_json:
                show(found)
            if file.payload is not None:
                payload_source(file, None, {})  # as far as this is possible without MLIR
        except diagnostics.WeftError as error:
            if not as_json:
                raise
            found = (*found, *error.diagnostics)
        if as_json:
            listed.extend({"severity": d.severity, **diagnostics.as_json(d)} for d in found)
        else:
            schedules = diagnostics.count(len(file.schedules), "schedule")
            say(f"{shortened(file.source.name)}: no errors in {schedules}")

    code = each(files, one)
    if as_json:
        ok = all(d["severity"] != "error" for d in listed)
        emit({"ok": ok, "diagnostics": listed})
        return 0 if ok else 1
    return code


@click.command(short_help="Format schedules in place.")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", shell_complete=completion.schedules)
@click.option("--check", is_flag=True, help="Do not write; exit 1 if a file would change.")
def fmt(files: tuple[str, ...], check: bool) -> int:
    """Format schedules in place and keep comments. A file that does not parse is reported and not changed.
    `-` formats standard input, to stdout.

    A built-in recipe can be checked by its name, but is not rewritten.
    """
    from ...dsl.diagnostics import fail, read_source
    from ...dsl.formatter import format_text
    from ...output.console import each, emit, say
    from ...pipeline import resolve_schedule
    from ...recipes import shortened
    from ...runtime.files.writing import write_file

    def one(name: str) -> bool:
        if name == STDIN:
            given = standard_input()
            formatted = format_text(given.text, given.name)
            if not check:
                emit(formatted)
            return check and formatted != given.text
        path = resolve_schedule(name)
        if path != Path(name) and not check:
            hint = f"`weft fmt --check {name}` checks it; copy `{path}` to change it"
            raise fail("W0051", f"`{name}` is a built-in recipe and is not rewritten", hint=hint)
        text = read_source(path).text
        formatted = format_text(text, str(path))
        if formatted != text and check:
            say(f"{shortened(str(path))}: would change")
        elif formatted != text:
            write_file(path, formatted.encode())
            say(f"{path}: formatted")
        return check and formatted != text

    return each(files, one)
