"""Every example of `docs/` runs and prints what the page says; every link leads somewhere. The README has its own test.

`docs/statements.md` is made from docstrings, whose examples `tests/interpreter/statements` runs; tutorials and what was measured
are made by `tests/docs/test_tutorial.py`, `test_reductions.py` and `test_warpgroups_page.py`. Parts of `docs/convolution.md`
are made by `tests/docs/test_convolution.py`; its examples run here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from doc_examples import Block, Section, commands, differs, matches, run, sections
from executors import alone
from places import ROOT

from weft.dsl.checker import check
from weft.dsl.diagnostics import WeftError, render_all
from weft.dsl.formatter import format_text
from weft.dsl.parser import parse_file
from weft.interpreter.session.statement import signatures
from weft.pipeline import Choice, applied

GENERATED = {ROOT / "docs" / name for name in ("statements.md", "tutorial.md", "reductions.md", "warpgroups.md", "performance.md")}
PAGES = sorted(set((ROOT / "docs").glob("*.md")) - GENERATED)
SECTIONS = [(page, section) for page in PAGES for section in sections(page)]
TAGS = {"weft", "mlir", "console", "python", "lark", "ini"}
ON_A_GPU = "python gpu"
"""Blocks that need CuPy or PyTorch: `tests/runtime/call/test_call_gpu.py` runs the former."""
MADE = {"text", "cuda"}
"""Blocks that the tool puts into a page that has a template, `docs/NAME/page.md`."""


def named_files(page: Path) -> dict[str, Block]:
    """The files that the page shows and that are not the repository's."""
    blocks = [b for section in sections(page) for b in section.blocks if b.name and not (ROOT / b.name).is_file()]
    files = {b.name: b for b in blocks if b.name}
    assert len(files) == len(blocks), f"{page.name} shows two files of one name"
    return files


@pytest.mark.parametrize(("page", "section"), SECTIONS, ids=[f"{p.stem}-{s.title}" for p, s in SECTIONS])
def test_examples(page: Path, section: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name == "CI" or re.match("PYTEST_(?!CURRENT_TEST)", name)]:
        monkeypatch.delenv(name)  # an example that runs pytest is a run of its own
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    for name, block in named_files(page).items():
        (tmp_path / name).write_text(block.text)
    made = MADE if (ROOT / "docs" / page.stem / "page.md").is_file() else set()
    for block in (b for b in section.blocks if b.tag not in {*made, ON_A_GPU}):
        assert block.tag in TAGS, f"{block.place}: tag {block.tag!r} is none of {sorted(TAGS)}"
        if block.name and (ROOT / block.name).is_file():
            excerpt = f"…\n{block.text}…\n"
            assert matches(excerpt, (ROOT / block.name).read_text()), (
                f"{block.place} is not an excerpt of {block.name}: copy the lines anew, with `…` for those left out{alone()}"
            )
        elif block.tag == "console":
            run_console(block, tmp_path)
        elif block.tag == "weft":
            run_schedule(block, tmp_path)
        elif block.tag == "python":
            exec(compile("\n" * block.line + block.text, str(page), "exec"), {})
        else:
            assert block.name, f"{block.place}: give the file a name, so that a command can use it"


def run_console(block: Block, folder: Path) -> None:
    """Run the block's commands. One that fails must show it: by an error, by a cross, or by `echo $?` after it."""
    code, shown = 0, True
    for command in commands(block):
        if command.line == "echo $?":
            assert command.output.strip() == str(code), f"{command.place}: the exit code is {code}"
            shown = True
            continue
        assert shown, f"{command.place}: the command before ends with {code}; show that with `echo $?`"
        code, printed = run(command.line, folder)
        assert matches(command.output, printed), differs(command, printed)
        failed = "error[" in command.output or "✗" in command.output
        judged = "weft repl" in command.line  # a cross there may be an answer, and no failure
        assert not failed or judged or code == 1, f"{command.place}: exit code {code} after an error"
        shown = failed or code == 0
    assert shown, f"{block.place}: the last command ends with {code}; show that with `echo $?`"


def run_schedule(block: Block, folder: Path) -> None:
    """Check a whole file, and apply it to its payload. A file that is wrong on purpose is shown to a command."""
    path = folder / (block.name or "example.weft")
    path.write_text(block.text)
    try:
        file = parse_file(path)
        found = check(file, signatures())
    except WeftError as error:
        found = list(error.diagnostics)
    if found:
        shown = [c.line for s in sections(block.page) for b in s.blocks if b.tag == "console" for c in commands(b)]
        assert block.name and any(block.name in line for line in shown), (
            f"{block.place} is refused, and no command shows that: mend the example{alone()}\n{render_all(tuple(found))}"
        )
        return
    formatted = format_text(block.text, block.place)
    assert formatted == block.text, f"{block.place} is not what `weft fmt` makes of it; write this into the page:\n{formatted}"
    if file.payload is not None and block.name is None:
        applied(Choice(str(path)).open())


def test_no_example_is_overlooked() -> None:
    """An indented fence would be no example for `sections`."""
    for page in PAGES:
        assert not re.search(r"^[ \t]+(```|~~~)|^~~~", page.read_text(), re.MULTILINE), f"{page.name} has an indented fence"
        assert page.read_text().count("\n```") % 2 == 0, f"{page.name}: a fence is not closed"


def test_every_file_that_is_shown_is_used() -> None:
    for page in PAGES:
        everything = [b for s in sections(page) for b in s.blocks]
        for name, block in named_files(page).items():
            others = "".join(b.text for b in everything if b is not block)
            assert name in others, f"{block.place}: no example uses {name}"


@pytest.mark.parametrize("page", [*PAGES, *sorted(GENERATED), ROOT / "README.md"], ids=lambda p: p.name)
def test_links(page: Path) -> None:
    for text, target in re.findall(r"\[([^\]]+)\]\(([^)]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        if ":" in path:
            continue
        leads_to = page.parent / path if path else page
        assert leads_to.exists(), f"{page.name}: [{text}] leads to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", leads_to.read_text(), re.MULTILINE)
            anchors = [re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings]
            assert anchor in anchors, f"{page.name}: [{text}] leads to {target}, headings {anchors}"


def test_matching() -> None:
    assert matches("a\n…\nd\n", "a\nb\nc\nd\n")
    assert matches("a … c\n", "a b c  \n")
    assert not matches("a\n", "a\nb\n")
    assert not matches("a\n…\n", "b\n")
    assert not matches("a … c\n", "a b\nc\n")
