"""The process that runs cases: one JSON line in per piece, `{"text": …, "first": n}`, and lines out as each case begins and ends.

It may die at any case, that is what it is there for: who reads its lines knows which one it was, and starts another. A case that
computes for longer than `SECONDS` is ended by the system itself, with the lines of Python that it stood in on stderr.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import signal
import sys
import tempfile
import traceback
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from cases import Case, cases
from kernels import emitted, simulated, with_each

from weft.cli import run
from weft.dsl.diagnostics import Source
from weft.output.console import guarded
from weft.payloads.payload import parse_module

SECONDS = 20
MEMORY = 4 << 30


def judge(folder: Path, case: Case) -> dict[str, str]:
    """Do one case in this process. A kernel that says no size of its blocks gets one."""
    payload, file = folder / "piece.mlir", folder / "s.weft"
    payload.write_text(case.text)
    match case.do:
        case "run":
            file.write_text(case.schedule or "")
            return outcome_of(partial(run, ["run", str(file), "--payload", str(payload), "--target", "sim", "--json"]))
        case "verify":
            found = outcome_of(partial(run, ["verify", str(payload)]))
            again = "W0612" in found["said"]
            return outcome_of(partial(run, ["verify", str(payload), "--block", "8,2,1"])) if again else found
        case "emit" | "simulate":
            do = emitted if case.do == "emit" else simulated
            return outcome_of(partial(guarded, lambda: with_each(parse_module(Source("piece.mlir", case.text)), do)))


def outcome_of(command: Callable[[], int]) -> dict[str, str]:
    """What comes of a command, and what it says. Whatever an exception tells is the answer, too."""
    out, err = io.StringIO(), io.StringIO()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command()
    except Exception:  # noqa: BLE001 - what a user would see as a traceback is what is looked for
        return {"outcome": "traceback", "said": traceback.format_exc()}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if code == 0:
        return {"outcome": "right", "said": ""}
    if out.getvalue().startswith("{"):
        return {"outcome": "wrong", "said": out.getvalue()}
    return {"outcome": "refused", "said": err.getvalue()}


def asked_for(case: Case, number: int, share: int) -> bool:
    """Whether a schedule is among one in `share` of all; the same ones each time. What needs none is always asked."""
    return case.do != "run" or zlib.crc32(f"{number}{case.text}".encode()) % share == 0


def _cases(text: str) -> Iterator[Case]:
    """Those of a piece; `weft verify` alone, which then shows it, of one that can't be read."""
    try:
        yield from cases(text)
    except Exception:  # noqa: BLE001 - likewise
        return


def main() -> None:
    import resource

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what compiled code prints is not an answer
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)
    os.environ["WEFT_SIM_SECONDS"] = "5"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for line in sys.stdin:
            asked = json.loads(line)
            answers.write(json.dumps({"begins": "reading"}) + "\n")
            for number, case in enumerate(_cases(asked["text"])):
                if number < asked["first"] or not asked_for(case, number, asked["share"]):
                    continue
                answers.write(json.dumps({"begins": case.name, "number": number, "schedule": case.schedule}) + "\n")
                answers.write(json.dumps({"ends": case.name, **judge(folder, case)}) + "\n")
            answers.write(json.dumps({"done": True}) + "\n")


if __name__ == "__main__":
    main()
