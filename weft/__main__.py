"""`weft` and `python -m weft`. Nothing heavy is imported before the command is known."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The command line's entry point; exits with 0, 1, 2 or 130."""
    try:
        from .cli.closed_pipes import outlive_readers
        from .cli.supervisor import supervised
    except KeyboardInterrupt:  # nothing has begun
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    _open_what_is_closed()
    outlive_readers()
    sys.exit(supervised(lambda: _command(sys.argv[1:]), lambda journal: _command(["repl", "--resume", journal])))


def _command(arguments: list[str]) -> int:
    try:
        from .cli import run

        code = run(arguments)
    except KeyboardInterrupt:  # while still importing
        sys.stderr.write("interrupted\n")
        code = 130
    return _flushed(code)


def _open_what_is_closed() -> None:
    """A stream that the caller closed (`>&-`) is as good as none: Python has None for it, on which everything would fail."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - it stays open


def _flushed(code: int) -> int:
    """Write what is still held back for stdout; the exit code then, which says so if that fails."""
    try:
        sys.stdout.flush()
    except OSError as error:
        from .cli.console import show, silence_stdout
        from .runtime.files.writing import reason, unwritable

        silence_stdout()
        if code == 0:  # otherwise what went wrong has been said
            show(unwritable("standard output", reason(error)).diagnostics)
            return 1
    return code


if __name__ == "__main__":
    main()
