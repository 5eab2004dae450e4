"""The examples of the pages of diagnostics: what is wrong raises the page's code, what is right raises nothing.

`## Wrong` and `## Right` hold files (a fenced block in `weft` or `mlir`, with a name if it is not the usual one), a
program (`python`), or commands (`console`: `$ weft …`, and lines `> …` for its standard input); `## Given` holds files of
both. A schedule without a command is checked if the code is one of W01xx or W02xx, else applied; a module is verified.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from executors import alone

from weft import cli
from weft.dsl.diagnostics import WeftError
from weft.explain import Page, all_codes

PAGES = all_codes()
NOT_RAISED_AT_WILL = {
    "W0054": "a full disk, a folder without permission",
    "W0055": "a machine without memory",
    "W0056": "a stack that is used up",
    "W0067": "a session that was killed",
    "W0070": "a process that was killed",
    "W0080": "a defect of Weft or of a pass",
    "W0204": "no statement is planned and missing at present",
    "W0215": "no option is planned and missing at present",
    "W0313": "a defect of Weft",
    "W0490": "a machine without memory",
    "W0505": "a machine without NVRTC, or with another one",
    "W0720": "a machine without a GPU",
    "W0721": "NVRTC on a machine with a GPU",
    "W0722": "a GPU without memory",
    "W0723": "a failure of CUDA",
    "W0724": "a run on a GPU",
    "W0726": "a run on a GPU, or its prediction, which needs NVRTC",
    "W0727": "a run on a GPU, or its prediction, which needs NVRTC",
    "W0742": "an array in a GPU's memory",
    "W0743": "an array in a GPU's memory",
    "W0756": "minutes of simulation",
    "W0757": "a simulated launch of 2^31 blocks",
    "W0760": "a launch that would be simulated for more than ten minutes",
    "W0780": "a machine without a disassembler",
    "W0782": "a prediction, which needs NVRTC",
    "W0801": "a defect of MLIR or LLVM",
    "W0803": "a process that was killed",
}
"""Codes that no schedule, payload or command raises on every machine, and what raises them: their pages say how they
come about."""
NAMES = {"weft": "schedule.weft", "mlir": "payload.mlir", "text": "text.txt"}


def section(page: Page, title: str) -> str:
    """The text under a heading; empty without one."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page.text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def blocks(text: str) -> list[tuple[str, str, str]]:
    """Language, name and content of each fenced block."""
    found = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(language, name or NAMES.get(language, ""), content) for language, name, content in found]


def outcome(page: Page, part: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The exit code, and all that was written."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(os, "environ", os.environ.copy())  # a program may set some
    given = blocks(section(page, "Given")) + blocks(part)
    for language, name, content in given:
        if language not in ("python", "console"):
            (folder / name).write_text(content)
    written, code = io.StringIO(), 0
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(written):
        for language, content in runs(page, given):
            if language == "python":
                try:
                    exec(compile(content, page.code, "exec"), {"__name__": page.code})
                except WeftError as error:
                    code = 1
                    written.write(f"error[{error.diagnostics[0].code}]: {error}")
            for line, typed in re.findall(r"^\$ weft (.*)\n((?:> .*\n)*)", content, re.MULTILINE) if language == "console" else ():
                monkeypatch.setattr(sys, "stdin", io.StringIO(re.sub(r"^> ", "", typed, flags=re.MULTILINE)))
                code = code or cli.run(shlex.split(line))
    return code, written.getvalue()


def runs(page: Page, given: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """The commands and programs of an example in their order; without one, the usual command on its file."""
    found = [(language, content) for language, _, content in given if language in ("python", "console")]
    schedules = [name for language, name, _ in given if language == "weft"]
    if not found and schedules:
        return [("console", f"$ weft {'check' if page.code < 'W0300' else 'apply'} {schedules[-1]}\n")]
    return found or [("console", f"$ weft verify {name}\n") for language, name, _ in given if language == "mlir"]


EXAMPLES = [code for code, page in PAGES.items() if section(page, "Wrong")]
SLOW = {"W0736": "100,000 launches"}
"""Examples that take more than a second or two: the soak has them."""
CASES = [pytest.param(code, marks=pytest.mark.soak) if code in SLOW else code for code in EXAMPLES]


@pytest.mark.few(120)
@pytest.mark.parametrize("code", CASES)
def test_what_is_wrong_raises_the_code(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, written = outcome(PAGES[code], section(PAGES[code], "Wrong"), tmp_path, monkeypatch)
    advice = f"mend the example, or what raises {code}{alone()}"
    assert f"[{code}]" in written, f"weft/explain/{code}.md: `## Wrong` does not raise {code}; {advice}\n{written}"


@pytest.mark.few(120)
@pytest.mark.parametrize("code", CASES)
def test_what_is_right_raises_nothing(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = section(PAGES[code], "Right")
    assert blocks(part), f"weft/explain/{code}.md has no right example"
    status, written = outcome(PAGES[code], part, tmp_path, monkeypatch)
    said = f"weft/explain/{code}.md: `## Right` is refused; mend the example, or what refuses it{alone()}\n{written}"
    assert status == 0 and "error[" not in written and f"[{code}]" not in written, said


def test_every_page_has_an_example_or_a_reason_why_not() -> None:
    assert not set(NOT_RAISED_AT_WILL) & set(EXAMPLES) and set(NOT_RAISED_AT_WILL) <= set(PAGES)
    missing = sorted(set(PAGES) - set(EXAMPLES) - set(NOT_RAISED_AT_WILL))
    assert not missing, f"write `## Wrong` and `## Right` in {' '.join(f'weft/explain/{code}.md' for code in missing)}"


def test_every_page_says_the_way_out() -> None:
    assert [code for code, page in PAGES.items() if not section(page, "Way out").strip()] == []
