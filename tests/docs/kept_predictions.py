"""Predictions that pages state, kept by what they depend on: a page is made in a second, and the soak predicts anew.

`predictions.json` holds them by a digest of the CUDA text, the plan, the chip and the model's own code (docstrings aside). One that
is missing there is computed; `pytest --update tests/docs` keeps it.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

from places import ROOT

from weft import execution
from weft.pipeline import Planned
from weft.runtime.plan.codec import dump
from weft.runtime.predict.prediction import KernelPrediction, Prediction

KEPT = Path(__file__).with_name("predictions.json")
SOAK, UPDATE = "WEFT_SOAK" in os.environ, "--update" in sys.argv


@cache
def model() -> str:
    """A digest of the model's code: docstrings and comments change no prediction."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "weft" / "runtime" / "predict").rglob("*.py")):
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list):
                node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
        digest.update(ast.unparse(tree).encode())
    return digest.hexdigest()[:16]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@cache
def kept() -> dict[str, dict]:
    found = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return found.get("predictions", {}) if found.get("model") == model() else {}


def predicted(made: Planned, chip: str) -> Prediction:
    """The time of a plan's launches on a chip, as `weft.execution.predicted` has it."""
    text = f"{chip}\n{made.cuda}\n{dump(made.plan)}"
    key = hashlib.sha256(text.encode()).hexdigest()[:24]
    if key in kept() and not SOAK:
        plain = kept()[key]
        kernels = (KernelPrediction(**{**each, "grid": tuple(each["grid"])}) for each in plain["kernels"])
        return Prediction(**{**plain, "kernels": tuple(kernels)})
    found = execution.predicted(made, chip)
    if SOAK and key in kept():
        assert json.loads(json.dumps(asdict(found))) == kept()[key], f"{KEPT.name}: not what the model predicts now"
    if UPDATE:
        kept()[key] = asdict(found)
        KEPT.write_text(json.dumps({"model": model(), "predictions": kept()}, indent=1, sort_keys=True) + "\n")
    return found
