"""Names of ops and passes that there are not, as far as that shows without the bindings."""

from __future__ import annotations

import re
from functools import cache

from ...dsl.diagnostics import did_you_mean
from ...dsl.signature import Misnamed


def misnamed_op(name: str, keyword: str) -> Misnamed | None:
    """What is wrong with the name of an op that `keyword` looks for. An op of a dialect that is not upstream's may be there."""
    from .registered import OPS

    dialect, dot, op = name.partition(".")
    if dialect in OPS and op in OPS[dialect].split():
        return None
    hint = did_you_mean(name if dot else f"linalg.{name}", _ops())
    if not dot:
        return Misnamed(f"`{name}` is not an op: an op's name begins with its dialect", hint, certain=True)
    if dialect in OPS:
        return Misnamed(f"the dialect `{dialect}` has no op `{op}`", hint, certain=keyword == "match")
    near = did_you_mean(dialect, OPS)
    return None if near is None or hint is None else Misnamed(f"upstream has no dialect `{dialect}`", hint, certain=False)


@cache
def _ops() -> frozenset[str]:
    from .registered import OPS

    return frozenset(f"{dialect}.{op}" for dialect, ops in OPS.items() for op in ops.split())


_OPTIONS = re.compile(r"\{[^{}]*\}")


def misnamed_pass(pipeline: str, _: str) -> Misnamed | None:
    """What is wrong with the first pass of a pipeline that there is not; what stands in front of `(` is an op."""
    from .registered import PASSES

    while (plain := _OPTIONS.sub("", pipeline)) != pipeline:
        pipeline = plain
    passes = frozenset(PASSES.split())
    for name in re.findall(r"(?<![\w.-])[\w-]+(?![\w.-]|\s*\()", pipeline):
        if name not in passes:
            return Misnamed(f"upstream has no pass `{name}`", did_you_mean(name, passes), certain=True)
    return None
