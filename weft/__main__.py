"""`weft` and `python -m weft`. Nothing heavy is imported before the command is known."""

from __future__ import annotations

import atexit
import gc
import sys

YOUNG = 400_000
"""The number of new objects before the garbage collector runs: nearly all objects of the start-up
survive."""
ALONE = ("--version", "--help", "-h", "check", "fmt", "explain", "recipes")
"""Commands that execute no compiled code, which could end the process: they run without a watching
parent."""


def main() -> None:
    """The entry point of the command line; exits with 0, 1, 2 or 130."""
    gc.set_threshold(YOUNG)
    atexit.register(gc.freeze)  # the last collection at exit visits all objects, which takes a tenth of a second
    try:
        from .cli.supervisor import supervised
        from .output.console import open_what_is_closed, outlive_readers
    except KeyboardInterrupt:  # nothing has begun
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    open_what_is_closed()
    outlive_readers()
    if sys.argv[1:2] and sys.argv[1] in ALONE:
        sys.exit(_command(sys.argv[1:]))
    sys.exit(supervised(lambda: _command(sys.argv[1:]), lambda journal: _command(["repl", "--resume", journal])))


def _command(arguments: list[str]) -> int:
    from .output.console import flushed

    try:
        from .cli import run
        from .process import raise_what_was_put_off

        code = run(arguments)
        raise_what_was_put_off()
    except KeyboardInterrupt:  # during imports
        sys.stderr.write("interrupted\n")
        code = 130
    return flushed(code)


if __name__ == "__main__":
    main()
