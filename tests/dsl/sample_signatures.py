"""Signatures as the registry makes them, for tests of the checker that need no statements."""

from __future__ import annotations

from weft.dsl.signature import Field, Signature

_MATCH = (
    Field("op", "words", optional=True),
    Field("consumer_of", "value", optional=True, written="consumer of"),
    Field("producer_of", "value", optional=True, written="producer of"),
    Field("scope", "handle", optional=True),
    Field("index", "int", optional=True, minimum=0),
    Field("attribute", "str", optional=True),
    Field("equals", "str", optional=True),
    Field("condition", "condition", optional=True),
)
_TARGET = Field("target", "handle")
_DYING = Field("target", "handle", consumes=True)

_ALL = (
    Signature("match", _MATCH, ("op",)),
    Signature("match?", _MATCH, ("op",)),
    Signature("match*", _MATCH, ("ops",)),
    Signature("tile", (_DYING, Field("sizes", "sizes", minimum=0)), ("loop", "op"), variadic=True),
    Signature("fuse", (Field("producer", "handle"), Field("loop", "handle"))),
    Signature(
        "map",
        (
            _TARGET,
            Field("space", "space"),
            Field("distribution", "distribution", optional=True),
            Field("vector", "int", optional=True, minimum=1),
        ),
    ),
    Signature("interchange", (_DYING, Field("order", "ints")), ("op",)),
    Signature(
        "promote-to-shared",
        (
            Field("operand", "operand"),
            Field("transpose", "flag", optional=True),
            Field("pad", "int", optional=True, minimum=0),
        ),
        ("buffer", "copy"),
    ),
    Signature("insert-barriers", ()),
    Signature("bufferize", ()),
    Signature("launch", (Field("loop", "handle", consumes=True),), ("launch",)),
    Signature("run-pass", (Field("pipeline", "str"),)),
    Signature("transform", (Field("text", "raw"), Field("scope", "handles", optional=True)), (), variadic=True),
    Signature("print", (Field("target", "handle", optional=True),)),
)

SIGNATURES = {signature.keyword: signature for signature in _ALL}
