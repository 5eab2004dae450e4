"""The goldens of the shipped recipes: all hold, none is missing, and none survives a changed word."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from places import GOLDENS
from thinning import SOAK

from weft import cli
from weft.dsl.diagnostics import WeftError
from weft.goldens.golden import Golden, beside, read_golden, text_of
from weft.goldens.judging import Maker, compare
from weft.pipeline import read_schedule
from weft.recipes import builders, schedules

OF_RECIPES = {name: beside(GOLDENS / path.parent.name / name) for name, path in schedules().items()}
PATHS = [path for paths in OF_RECIPES.values() for path in paths]
CHANGED_WORDS = 60 if SOAK else 2
"""Per golden; the places are always the same ones."""


class Once(Maker):
    """Makes the text of each golden once."""

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[tuple[Path, bool], str] = {}

    def text(self, golden: Golden, *, whole: bool = False) -> str:
        if (golden.path, whole) not in self.made:
            self.made[golden.path, whole] = super().text(golden, whole=whole)
        return self.made[golden.path, whole]


@pytest.fixture(scope="module")
def maker() -> Maker:
    return Once()


def sizes_of(recipe: str) -> set[str]:
    """The parameters of a recipe's payload that are sizes."""
    payload = read_schedule(recipe).payload
    assert payload is not None and payload.builder is not None
    return {p.name for p in builders()[payload.builder].parameters if p.type == "int"}


@pytest.mark.parametrize("recipe", schedules())
def test_every_recipe_has_goldens(recipe: str) -> None:
    goldens = [read_golden(path) for path in OF_RECIPES[recipe]]
    for kind in ("module", "cuda"):
        ends = [golden for golden in goldens if golden.kind == kind and golden.after is None]
        sizes = {bool(sizes_of(recipe) & set(golden.choice.settings)) for golden in ends}
        assert sizes == {False, True}, f"{recipe}: an even and a ragged golden of the {kind} are wanted"
    assert any(golden.kind == "checks" for golden in goldens), f"{recipe}: CHECK lines that say what matters are wanted"


def test_every_golden_is_of_a_recipe() -> None:
    assert sorted(PATHS) == sorted(path for path in GOLDENS.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.name)
def test_it_holds_and_a_changed_word_is_found(path: Path, maker: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = read_golden(path)
    change = compare(golden, maker)
    assert change is None, "\n".join([change.message, *change.shown(False), str(change.error.diagnostics[0].hint)])
    kept = text_of(path)
    monkeypatch.chdir(tmp_path)
    now = maker.text(golden)
    for changed in changed_words(golden, kept):
        (tmp_path / path.name).write_text(changed)
        assert cannot_pass(tmp_path / path.name, golden, now), f"{path.name} passes with {set(changed.split()) - set(kept.split())}"
    one = path == (OF_RECIPES[golden.schedule] if SOAK else PATHS)[0]
    if one:  # the command line sees the last of them, too: once a recipe in a soak
        assert cli.run(["golden"]) == 1


def changed_words(golden: Golden, text: str) -> list[str]:
    """The text with one word changed, at several places. Of checks only what must be there: a CHECK-NOT may say anything."""
    pattern = r"\w+" if golden.kind != "checks" else r"(?<=CHECK: )(?:.*?)\b([A-Za-z_]{3,})\b(?=[^{}]*$)"
    places = [(m.start(m.lastindex or 0), m.end(m.lastindex or 0)) for m in re.finditer(pattern, text, re.MULTILINE)]
    assert places, f"{golden.path.name}: no word to change"
    chosen = random.Random(0).sample(places, min(CHANGED_WORDS, len(places)))
    return [f"{text[:start]}zebra{text[end:]}" for start, end in chosen]


class Made(Maker):
    """Makes what was made already: the same schedule with the same settings gives the same."""

    def __init__(self, made: str) -> None:
        self.made = made

    def text(self, golden: Golden, *, whole: bool = False) -> str:
        return self.made


def cannot_pass(path: Path, golden: Golden, now: str) -> bool:
    """Whether the changed golden at `path` is refused, or differs from what it asks for: that is `now`, by the same first line."""
    try:
        changed = read_golden(path)
        return compare(changed, Made(now) if changed.header == golden.header else Maker()) is not None
    except WeftError:
        return True
