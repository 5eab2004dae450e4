"""What ended a process, in words: the signal that a shell shows as 136 or 139, and what it mostly comes from."""

from __future__ import annotations

import signal

from ...dsl.records import record


@record
class Death:
    """`signal`: `SIGFPE (arithmetic error)`, or the exit code. `cause`: what it probably was; empty where that can't be told."""

    signal: str
    cause: str


_KNOWN = {
    "SIGFPE": ("arithmetic error", "an integer division or remainder by zero, or of the smallest integer by -1"),
    "SIGSEGV": ("invalid memory access", "an index out of bounds, or more memory on the stack than there is"),
    "SIGBUS": ("invalid memory access", "an index out of bounds"),
    "SIGILL": ("illegal instruction", "something without a defined result, for which LLVM puts a trap"),
    "SIGTRAP": ("trap", "something without a defined result, for which LLVM puts a trap"),
    "SIGABRT": ("abort", "a failed check of MLIR, LLVM or the C library: an op unknown to them, or memory overwritten"),
    "SIGKILL": ("killed", "the system, which had no more memory"),
    "SIGXCPU": ("processor time used up", "a limit of the shell: `ulimit -t`"),
}
"""Of each signal, what it is and what sends it."""

_WINDOWS = {
    0xC0000005: "SIGSEGV",
    0xC0000094: "SIGFPE",
    0xC0000095: "SIGFPE",
    0xC00000FD: "SIGSEGV",
    0xC000001D: "SIGILL",
}
"""Exit codes of Windows for what is a signal elsewhere."""


def ended_by(status: int) -> Death:
    """Words for an exit status; a signal's is the negative of its number."""
    name = _WINDOWS.get(status & 0xFFFFFFFF, "") if status > 0 or status < -64 else ""
    if not name and -64 <= status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:  # a real-time signal has no name
            return Death(f"signal {-status}", "")
    if not name:
        return Death(f"exit code {status}", "")
    what, cause = _KNOWN.get(name, ("", ""))
    return Death(f"{name} ({what})" if what else name, cause)
