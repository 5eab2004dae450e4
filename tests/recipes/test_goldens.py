"""What the shipped recipes make, pinned: the scheduled IR beside the recipe (`weft golden`), the CUDA text here."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinned import pinned

from weft.golden import compare, paths_of, read_golden
from weft.pipeline import Recipe, applied, planned
from weft.recipes import schedules

HERE = Path(__file__).parent
GOLDENS = [path for schedule in schedules().values() for path in paths_of(schedule)]
SETTINGS = {"even": {}, "ragged": {"m": "1000", "n": "777", "k": "333"}, "half": {"type": "f16"}}


def test_every_recipe_has_goldens() -> None:
    for schedule in schedules().values():
        assert len(paths_of(schedule)) >= 2, f"{schedule}: an even and a ragged golden are wanted"


@pytest.mark.parametrize("path", GOLDENS, ids=lambda p: p.name)
def test_scheduled_module(path: Path) -> None:
    compare(read_golden(path))


@pytest.mark.parametrize("recipe", sorted(schedules()))
@pytest.mark.parametrize("name", SETTINGS)
def test_text(recipe: str, name: str, update: bool) -> None:
    text = planned(applied(Recipe.open(recipe, None, SETTINGS[name]))).cuda
    pinned(HERE / "golden" / f"{recipe}.{name}.cu", text, update)
