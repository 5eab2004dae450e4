"""Where things are. Whoever imports this can import the helpers of every folder of tests by their names, which are unique."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GOLDENS = TESTS / "recipes" / "golden"
"""Of the recipes that ship, in a folder for each subject."""
STAND_INS = TESTS / "runtime" / "fake_cupy"
"""Modules that are called like a library: imported by none that does not ask for one."""

FOLDERS = sorted({str(path.parent) for path in TESTS.rglob("*.py")} - {str(STAND_INS)})
sys.path += [folder for folder in FOLDERS if folder not in sys.path]
