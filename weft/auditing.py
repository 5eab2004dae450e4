"""Checks that a bundle follows from its module: its kernels are proven again, and its text and plan
are emitted again and compared.

The simulator and the CPU run the module of a bundle; a GPU runs `kernels.cu` according to
`plan.json`. A bundle is consistent if both follow from the module. No file in it can show that the
program is the requested one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .dsl.diagnostics import Diagnostic, Source, WeftError
from .dsl.records import record
from .runtime.files.bundle import CUDA, MODULE, PLAN, Bundle, digests, read_bundle
from .runtime.plan.codec import dump

if TYPE_CHECKING:
    from .runtime.plan.plan import Plan
    from .verify import Verdict

UNKNOWN = "it is not known where this program comes from, nor that it computes what you expect"
UNSAID = "nothing in it states that they were"
KEPT = 32
"""The number of modules with cached proofs and texts, for bundles in which only other files change."""


@record
class Audit:
    """The result of an audit.

    Args:
        path: the bundle's folder.
        verdict: the result for the module's kernels and functions, as from `weft verify`.
        indices: the number of loads and stores with indices proven to be inside their buffers, and
            the number of all loads and stores.
        different: the files that do not follow from the module; also `module.mlir`, if it contains
            anything else than the kernels and the plan.
        unproven: the kernels that the bundle marks as not proven.
        unchecked: the reason that the bundle gives why its kernels were not compared with the
            payload, or a note that it gives none; None if they were compared.
        diagnostics: all errors.
    """

    path: Path
    verdict: Verdict | None
    indices: tuple[int, int]
    different: tuple[str, ...]
    unproven: tuple[str, ...]
    unchecked: str | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether the bundle is proven and consistent."""
        return not self.diagnostics

    def to_json(self) -> dict[str, Any]:
        """The audit as plain data; the documentation explains the keys."""
        return {
            "ok": self.ok,
            "proven": self.verdict is not None and self.verdict.ok,
            "different": list(self.different),
            "unproven": list(self.unproven),
            "unchecked": self.unchecked,
            "indices": dict(zip(("inside", "all"), self.indices, strict=True)),
            "kernels": [] if self.verdict is None else self.verdict.to_json()["kernels"],
            "diagnostics": [
                {"code": d.code, "message": d.message, "notes": list(d.notes), "hint": d.hint} for d in self.diagnostics
            ],
            "not_known": UNKNOWN,
        }


def audit_bundle(path: Path | str) -> Audit:
    """Proves a bundle's module again, makes its text and its plan from the module, and compares
    them with those in the folder.

    Its arrays (`inputs.npz`, `expected.npz`) are read but not checked: they are data.

    Errors: those of `read_bundle` for a folder that is no bundle.
    """
    bundle = read_bundle(path)
    unproven = tuple(
        f"@{kernel.name}: {kernel.unproven}" for kernel in bundle.plan.kernels if kernel.unproven is not None
    )
    unchecked = bundle.plan.unchecked or (None if bundle.plan.compared else UNSAID)
    try:
        module, verdict, indices = _judged(bundle.module, str(bundle.path / MODULE))
        expected, text = _made(bundle.module, bundle.plan.entry)
    except WeftError as error:
        return Audit(bundle.path, None, (0, 0), (MODULE,), unproven, unchecked, error.diagnostics)
    wrong = (*_text(bundle, text), *_plan(bundle, expected))
    different = tuple(name for name, _ in wrong)
    found = (*module, *verdict.diagnostics, *(diagnostic for _, diagnostic in wrong))
    different = (*((MODULE,) if module else ()), *different)
    return Audit(bundle.path, verdict, indices, different, unproven, unchecked, found)


@lru_cache(KEPT)
def _judged(text: str, name: str) -> tuple[tuple[Diagnostic, ...], Verdict, tuple[int, int]]:
    """Judges a module's text: the errors that text and plan do not show, the verdict, and the
    numbers of proven and of all indices."""
    from .interpreter.ir import mlir
    from .interpreter.proof.in_bounds import index_uses
    from .runtime.cpu.allow_lists import NotLoopsError, expect_finished
    from .verify import verify_source

    verdict = verify_source(Source(name, text))
    module = mlir.parse(text, mlir.context())
    try:
        expect_finished(module)
    except NotLoopsError as error:
        return (Diagnostic("W0765", f"{name}: {error.message}", payload=error.place, hint=REBUILT),), verdict, (0, 0)
    uses = [use for kernel in mlir.operations(module.operation, "gpu.func") for use in index_uses(kernel)]
    unseen = [use for use in uses if use.size == 1 and not use.inside]  # the CUDA text omits such an index
    message = "an index along an axis of one element is not proven to be 0, as the text assumes"
    found = tuple(Diagnostic("W0765", f"{name}: {message}", payload=use.op, hint=REBUILT) for use in unseen[:1])
    return found, verdict, (sum(use.inside for use in uses), len(uses))


@lru_cache(KEPT)
def _made(text: str, entry: str) -> tuple[Plan, str]:
    """The plan and the kernels' text that follow from a module's text. Raises the error if one of
    them cannot be made."""
    from .interpreter.ir import mlir
    from .runtime.cuda.module import emit
    from .runtime.host.host import make_plan

    module = mlir.parse(text, mlir.context())
    return make_plan(module, entry), emit(module)


REBUILT = "`weft build` writes all of a bundle from the schedule: build it anew, from sources that you trust"


def _text(bundle: Bundle, wanted: str) -> Iterator[tuple[str, Diagnostic]]:
    if bundle.cuda == wanted:
        return
    given, made = bundle.cuda.splitlines(), wanted.splitlines()
    number = next(
        (n for n, pair in enumerate(zip(given, made, strict=False)) if pair[0] != pair[1]), min(len(given), len(made))
    )
    sides = (("there is", given), ("the module makes", made))
    notes = tuple(
        f"{what}: {lines[number].strip() if number < len(lines) else 'nothing more'}" for what, lines in sides
    )
    message = f"{bundle.path / CUDA}:{number + 1}: this is not the text that {MODULE} makes"
    yield CUDA, Diagnostic("W0766", message, notes=notes, hint=REBUILT)


def _plan(bundle: Bundle, wanted: Plan) -> Iterator[tuple[str, Diagnostic]]:
    of, plan = digests(bundle.cuda, bundle.module), bundle.plan
    signed = replace(wanted, texts=of, compared=plan.compared, unchecked=plan.unchecked)
    given, made = dump(bundle.plan), dump(signed)
    if given == made:
        return
    place, here, there = next(_differences(json.loads(given), json.loads(made), ""))
    notes = f"there is: {_short(here)}", f"the module makes: {_short(there)}"
    message = f"{bundle.path / PLAN}: {place or 'all of it'}: this is not the plan that {MODULE} makes"
    yield PLAN, Diagnostic("W0767", message, notes=notes, hint=REBUILT)


_ABSENT = object()


def _differences(given: Any, made: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """The places where two documents differ, in order, with both values."""
    if isinstance(given, dict) and isinstance(made, dict):
        for key in dict.fromkeys((*made, *given)):
            yield from _differences(given.get(key, _ABSENT), made.get(key, _ABSENT), f"{place}.{key}".lstrip("."))
    elif isinstance(given, list) and isinstance(made, list) and len(given) == len(made):
        for number, pair in enumerate(zip(given, made, strict=True)):
            yield from _differences(*pair, f"{place}[{number}]")
    elif type(given) is not type(made) or given != made:
        yield place, given, made


def _short(value: Any) -> str:
    text = "nothing" if value is _ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}…"
