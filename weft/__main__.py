"""`weft` and `python -m weft`. Nothing heavy is imported before the command is known."""

from __future__ import annotations

import sys


def main() -> None:
    """The command line's entry point; exits with 0, 1, 2 or 130."""
    try:
        from .cli import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while still importing
        code = 130
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        from .console import silence_stdout

        silence_stdout()
    sys.exit(code)


if __name__ == "__main__":
    main()
