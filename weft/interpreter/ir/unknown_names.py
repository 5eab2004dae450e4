"""Unknown names of ops and passes, as far as they can be recognized without the bindings."""

from __future__ import annotations

import re
from functools import cache

from ...dsl.diagnostics import did_you_mean
from ...dsl.signature import Wrong
from ...dsl.tree import KINDS


def misnamed_op(name: str, keyword: str) -> Wrong | None:
    """The error in an op name, or in a kind of ops, after `keyword`, with a hint. A dialect outside
    upstream may have the op. A label, in quotes, may be any text."""
    from .registered import OPS

    dialect, dot, op = name.partition(".")
    if name in KINDS or name.startswith('"') or (dialect in OPS and op in OPS[dialect].split()):
        return None
    hint = todays(name) or did_you_mean(name if dot else f"linalg.{name}", _ops())
    if not dot:
        kinds = f"kinds: {', '.join(KINDS)}; an op's name begins with its dialect"
        return Wrong(f"`{name}` is no kind of ops", did_you_mean(name, KINDS) or hint or kinds, certain=True)
    if dialect in OPS:
        return Wrong(f"the dialect `{dialect}` has no op `{op}`", hint, certain=keyword == "match")
    near = did_you_mean(dialect, OPS)
    return None if near is None or hint is None else Wrong(f"upstream has no dialect `{dialect}`", hint, certain=False)


_TODAY = {
    "arith.maxf": "`arith.maximumf`",
    "arith.minf": "`arith.minimumf`",
    "bufferization.to_memref": "`bufferization.to_buffer`",
    "linalg.batch_matmul_transpose_a": "`linalg.batch_matmul` with `indexing_maps`",
    "linalg.batch_matmul_transpose_b": "`linalg.batch_matmul` with `indexing_maps`",
    "linalg.elemwise_binary": "`linalg.elementwise kind=#linalg.elementwise_kind<add>`, or an op of its own,"
    " `linalg.add`",
    "linalg.elemwise_unary": "`linalg.elementwise kind=#linalg.elementwise_kind<exp>`, or an op of its own,"
    " `linalg.exp`",
    "linalg.indexed_generic": "`linalg.generic`, with `linalg.index` in its body",
    "linalg.init_tensor": "`tensor.empty`",
    "linalg.matmul_transpose_a": "`linalg.matmul` with `indexing_maps`",
    "linalg.matmul_transpose_b": "`linalg.matmul` with `indexing_maps`",
    "linalg.matmul_unsigned": "`linalg.matmul` with `cast = #linalg.type_fn<cast_unsigned>`",
    "linalg.pad_tensor": "`tensor.pad`",
    "linalg.tensor_collapse_shape": "`tensor.collapse_shape`",
    "linalg.tensor_expand_shape": "`tensor.expand_shape`",
    "linalg.tensor_reshape": "`tensor.collapse_shape` and `tensor.expand_shape`",
    "linalg.tiled_loop": "`scf.for` or `scf.forall`",
    "math.abs": "`math.absf` or `math.absi`",
    "memref.buffer_cast": "`bufferization.to_buffer`",
    "memref.tensor_load": "`bufferization.to_tensor`",
    "memref.tensor_store": "`bufferization.materialize_in_destination %t in restrict writable %m`",
    "scf.foreach_thread": "`scf.forall`",
    "scf.foreach_thread.perform_concurrently": "`scf.forall.in_parallel`",
    "tensor.pack": "`linalg.pack`",
    "tensor.unpack": "`linalg.unpack`",
    "vector.extractelement": "`vector.extract %v[%i] : f32 from vector<4xf32>`",
    "vector.flat_transpose": "`vector.transpose`",
    "vector.insertelement": "`vector.insert %x, %v[%i] : f32 into vector<4xf32>`",
    "vector.splat": "`vector.broadcast`",
}
"""Ops of older MLIR, and their names today."""

_PLAIN = re.compile(r"(?:std\.)?(\w+)")
_FIRST = ("arith", "memref", "func", "cf", "math", "tensor", "vector")
"""The dialects that came out of the standard dialect; `dim`, `cast` and `load` are of the first
that has them."""


def todays(name: str) -> str | None:
    """Today's name of an op of older MLIR (a hint); None if the name is not known to have been one."""
    if (found := _TODAY.get(name)) is not None:
        return f"today it is {found}"
    if (plain := _PLAIN.fullmatch(name)) is not None:
        dialect = next((dialect for dialect in _FIRST if f"{dialect}.{plain[1]}" in _ops()), None)
        return None if dialect is None else f"today it is `{dialect}.{plain[1]}`"
    return None


def hint_for(name: str) -> str | None:
    """The hint for an op unknown to the parser: its name of today, else the nearest name."""
    return todays(name) or did_you_mean(name, _ops())


def dialect_hint(name: str) -> str:
    """The hint for an op of a dialect that upstream does not have."""
    from .registered import OPS

    dialect = name.partition(".")[0]
    lowered = f"upstream has no dialect `{dialect}`: the tools that write it lower it to linalg, arith, scf and memref"
    return todays(name) or did_you_mean(dialect, OPS) or lowered


@cache
def _ops() -> frozenset[str]:
    from .registered import OPS

    return frozenset(f"{dialect}.{op}" for dialect, ops in OPS.items() for op in ops.split())


_OPTIONS = re.compile(r"\{[^{}]*\}")


def misnamed_pass(pipeline: str, _: str) -> Wrong | None:
    """The error in a pipeline's first unknown pass; a name before `(` is an op."""
    from .registered import PASSES

    while (plain := _OPTIONS.sub("", pipeline)) != pipeline:
        pipeline = plain
    passes = frozenset(PASSES.split())
    for name in re.findall(r"(?<![\w.-])[\w-]+(?![\w.-]|\s*\()", pipeline):
        if name not in passes:
            return Wrong(f"upstream has no pass `{name}`", did_you_mean(name, passes), certain=True)
    return None
