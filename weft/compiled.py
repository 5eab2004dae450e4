"""Kernels that were compiled before: in memory by what they were made of, and on disk as bundles."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from . import __version__
from .dsl.diagnostics import WeftError
from .runtime.call.kernel import Compiled, Kernel
from .runtime.call.targets import Where, open_target
from .runtime.files.bundle import read_bundle, write_bundle
from .runtime.files.writing import keep_newest, write_whole
from .runtime.plan.signature import plan_signature
from .runtime.run.cupy_device import folder
from .source import source

if TYPE_CHECKING:
    from .pipeline import Recipe

MOST = 32
"""Kernels that are kept in memory."""
MOST_ON_DISK = 512
"""And in the cache folder, those that were used last."""

_kernels: OrderedDict[tuple[str, bool, bool, int | None], Kernel] = OrderedDict()
_lock = threading.RLock()


def compiled(recipe: Recipe, entry: str | None, where: Where) -> Kernel:
    """The kernel of a recipe on a target; one that was compiled before, if all that it was made of is the same."""
    target = open_target(where)
    key = _key(recipe, entry)
    kept = key, recipe.choice.unproven, recipe.choice.unchecked, target.number
    with _lock:
        if kept not in _kernels:
            made = _found(key) or _made(recipe, entry, key)
            _kernels[kept] = Kernel(made, target)
        _kernels.move_to_end(kept)
        while len(_kernels) > MOST:
            _kernels.popitem(last=False)
        return _kernels[kept]


def _key(recipe: Recipe, entry: str | None) -> str:
    """All that a kernel is made of: texts, settings, and this version of Weft."""
    texts = sorted({s.span.source.text for s in recipe.file.schedules})
    values = [sorted((name, repr(value)) for name, value in recipe.values.items()), entry]
    values += [recipe.choice.unproven, recipe.choice.unchecked]
    parts = (__version__, source(), recipe.name, *texts, recipe.payload.name, recipe.payload.text, repr(values))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _made(recipe: Recipe, entry: str | None, key: str) -> Compiled:
    from .comparison.once import compared
    from .pipeline import applied, planned

    done = applied(recipe)
    one = planned(done, entry)
    plan = replace(one.plan, unchecked=compared(one, entry).unchecked)
    steps = tuple((step.text, step.remarks) for step in done.session.steps)
    made = Compiled(recipe.name, plan, one.cuda, done.text, plan_signature(plan), steps)
    place = _place(key)
    with suppress(OSError, WeftError):  # a folder that cannot be written keeps nothing and stops nobody
        place.parent.mkdir(parents=True, exist_ok=True)
        about = json.dumps({"name": made.name, "steps": made.steps})
        write_whole(place.with_suffix(".json"), lambda file: file.write(about.encode()))
        write_bundle(place, made.plan, made.cuda, made.module)
        keep_newest(place.parent, MOST_ON_DISK)
    return made


def _found(key: str) -> Compiled | None:
    """What was made before, if it is whole."""
    place = _place(key)
    with suppress(OSError, ValueError, KeyError, TypeError, WeftError):
        said = place.with_suffix(".json")
        about = json.loads(said.read_text(encoding="utf-8"))
        steps = tuple((str(text), tuple(map(str, remarks))) for text, remarks in about["steps"])
        bundle = read_bundle(place)
        if not bundle.edited:
            with suppress(OSError):
                os.utime(said)
            return Compiled(str(about["name"]), bundle.plan, bundle.cuda, bundle.module, bundle.signature, steps)
    return None


def _place(key: str) -> Path:
    return folder() / "programs" / key
