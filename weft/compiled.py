"""Caches of compiled kernels: in memory by their cache key, and on disk as bundles."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING

from .dsl.diagnostics import WeftError
from .runtime.call.kernel import Compiled, Kernel
from .runtime.call.targets import Where, open_target
from .runtime.files.bundle import Bundle, read_bundle, write_bundle
from .runtime.files.cache import is_sealed, place, seal
from .runtime.files.writing import keep_newest, write_whole
from .runtime.forks import Guard
from .runtime.plan.codec import dump
from .runtime.plan.signature import plan_signature
from .source import __version__, source

if TYPE_CHECKING:
    from .pipeline import Recipe

MOST = 32
"""The number of kernels kept in memory."""
MOST_ON_DISK = 512
"""The number of kernels kept in the cache folder: those used last."""

_kernels: OrderedDict[tuple[str, bool, bool, int | None], Kernel] = OrderedDict()
_guard = Guard(threading.RLock)


def compiled(recipe: Recipe, entry: str | None, where: Where) -> Kernel:
    """The kernel of a recipe on a target, from the cache if its key is there."""
    target = open_target(where)
    key = _key(recipe, entry)
    kept = key, recipe.choice.unproven, recipe.choice.unchecked, target.number
    with _guard.lock:
        if kept not in _kernels:
            made = _found(key) or _made(recipe, entry, key)
            _kernels[kept] = Kernel(made, target)
        _kernels.move_to_end(kept)
        while len(_kernels) > MOST:
            _kernels.popitem(last=False)
        return _kernels[kept]


def _key(recipe: Recipe, entry: str | None) -> str:
    """The cache key: a hash of the texts, the settings, and this version of Weft."""
    values = [sorted((name, repr(value)) for name, value in recipe.values.items()), entry]
    values += [recipe.choice.unproven, recipe.choice.unchecked]
    parts = (__version__, source(), recipe.name, *recipe.texts, recipe.payload.name, recipe.payload.text, repr(values))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _made(recipe: Recipe, entry: str | None, key: str) -> Compiled:
    from .comparison.comparison import compared
    from .pipeline import applied, planned

    done = applied(recipe)
    one = planned(done, entry)
    plan = compared(one, entry).marked(one.plan)
    steps = tuple((step.text, step.remarks) for step in done.session.steps)
    made = Compiled(recipe.name, plan, one.cuda, done.text, plan_signature(plan), steps, tuple(one.assumed))
    with suppress(OSError, WeftError):  # a cache that cannot be written is skipped
        _keep(made, key)
    return made


def _keep(made: Compiled, key: str) -> None:
    """Writes a cache entry: a bundle, and beside it the other data with a seal over the whole
    entry."""
    if (programs := place("programs")) is None:
        return
    about, old = {"name": made.name, "steps": made.steps, "assumed": made.assumed}, programs / key
    if old.is_dir() and not old.is_symlink():  # an old entry here is damaged or not this user's
        shutil.rmtree(old)
    else:
        old.unlink(missing_ok=True)
    write_bundle(programs / key, made.plan, made.cuda, made.module)
    whole = _sealed(key, about, read_bundle(programs / key))
    if (own := seal(*whole)) is not None:
        text = json.dumps(about | {"seal": own.hex()})
        write_whole((programs / key).with_suffix(".json"), lambda file: file.write(text.encode()))
    keep_newest(programs, MOST_ON_DISK)


def _found(key: str) -> Compiled | None:
    """The cache entry, if it is complete and was written by this user. Raises W0749."""
    if (programs := place("programs")) is None:
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, WeftError):
        entry = (programs / key).with_suffix(".json")
        about = json.loads(entry.read_text(encoding="utf-8"))
        own = bytes.fromhex(about.pop("seal"))
        bundle = read_bundle(programs / key)
        if is_sealed(own, *_sealed(key, about, bundle)):
            with suppress(OSError):
                os.utime(entry)
            steps = tuple((str(text), tuple(map(str, remarks))) for text, remarks in about["steps"])
            assumed = tuple(map(str, about["assumed"]))
            return Compiled(
                str(about["name"]), bundle.plan, bundle.cuda, bundle.module, bundle.signature, steps, assumed
            )
    return None


def _sealed(key: str, about: object, bundle: Bundle) -> tuple[str, ...]:
    """The contents of an entry that its seal covers, with the key."""
    return key, json.dumps(about), dump(bundle.plan), bundle.cuda, bundle.module
