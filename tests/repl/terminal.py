"""A terminal for tests: a program runs in a pseudo-terminal, its screen is kept by pyte, keys are typed as a person would."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import pyte

KEYS = {"enter": "\r", "tab": "\t", "ctrl-c": "\x03", "ctrl-d": "\x04", "up": "\x1b[A"}
PATIENCE = 300.0
"""Seconds until a test gives up: machines of tests are slow at times. Every wait is for a state, and none for a time."""

READING, DRAWN, WHERE = b"\x1b[?2004h", b"\x1b[?25h", b"\x1b[6n"
"""What prompt_toolkit writes when a prompt begins to read keys, when it has drawn (the cursor is shown again), and to ask where
the cursor is."""


class Terminal:
    """A program in a terminal of `columns` × `lines`.

    Args:
        environment: on top of the test's own, less what would color or size the output.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        columns: int = 80,
        lines: int = 24,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.screen = pyte.HistoryScreen(columns, lines, history=5000, ratio=0.5)
        self.stream = pyte.ByteStream(self.screen)
        self.written = b""
        self.before = 0
        """How much was written when the last keys were typed."""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        inherited = {
            k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR", "CI")
        }
        env = {**inherited, "TERM": "xterm-256color", "XDG_STATE_HOME": str(folder / "state"), **(environment or {})}
        self.dumb = env["TERM"] == "dumb"
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=env, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(slave)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)

    # ---- reading --------------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """What stands on the screen, without the empty lines at its end."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    @property
    def everything(self) -> str:
        """What has scrolled away, and the screen."""
        width = self.screen.columns
        gone = ["".join(line[x].data for x in range(width)).rstrip() for line in self.screen.history.top]
        return "\n".join((*gone, self.text))

    def pump(self, seconds: float) -> bool:
        """Read what the program writes within `seconds`; False if nothing came, or it has ended."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # Linux's word for the end
            return False
        asked = self.written.count(WHERE)
        self.written += data
        self.stream.feed(data)
        if self.written.count(WHERE) > asked:  # as real terminals are asked; a question may come in two parts
            os.write(self.master, f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R".encode())
        return bool(data)

    def until(self, wanted: str, where: str = "everything") -> None:
        """Wait until the program has written `wanted`; fail with the screen where it does not."""
        end = time.monotonic() + PATIENCE
        while wanted not in getattr(self, where):
            if time.monotonic() > end or (self.process.poll() is not None and not self.pump(0)):
                raise AssertionError(f"{wanted!r} did not come:\n{self.everything}")
            self.pump(0.05)

    def settle(self, prompt: str) -> str:
        """Wait for a prompt that has begun since keys were typed, drawn, with the cursor in it; give the screen."""
        end = time.monotonic() + PATIENCE
        while not self._reads(prompt):
            if time.monotonic() > end or (self.process.poll() is not None and not self.pump(0)):
                raise AssertionError(f"the prompt {prompt!r} did not come:\n{self.everything}")
            self.pump(0.05)
        return self.text

    def _reads(self, prompt: str) -> bool:
        new = self.written[self.before :]
        begun = prompt.encode() in new if self.dumb else READING in new and new.endswith(DRAWN)
        return begun and self.screen.display[self.screen.cursor.y].startswith(prompt)

    def busy(self, seconds: float) -> None:
        """Wait until no prompt reads keys any more (Ctrl-C is a signal then, and not a key), and the program has computed for
        `seconds` of a processor's time since."""
        end = time.monotonic() + PATIENCE
        started = None
        while started is None or self._computed() - started < seconds:
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"the prompt does not end, or nothing is computed:\n{self.everything}")
            self.pump(0.05)
            if started is None and termios.tcgetattr(self.master)[3] & termios.ISIG:
                started = self._computed()

    def _computed(self) -> float:
        """The seconds of a processor's time that the program has taken, in the process that works: its child."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        fields = Path(f"/proc/{children[0] if children else pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # ---- typing ---------------------------------------------------------------------------------------------------------

    def type(self, text: str, *keys: str) -> None:
        self.before = len(self.written)
        os.write(self.master, text.encode() + b"".join(KEYS[key].encode() for key in keys))

    def wait(self) -> int:
        """Read to the program's end; its exit code."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"it does not end:\n{self.everything}")
            self.pump(0.05)
        while self.pump(0):
            pass
        return self.process.returncode
