"""Strings in MLIR's text: arbitrary bytes, of which the bindings read only valid UTF-8."""

from __future__ import annotations

import re

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*\\[0-9A-Fa-f]{2}(?:[^"\\\n]|\\.)*"')
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2})")


def undecodable(text: str) -> int | None:
    """The position of the first string that the bindings cannot decode: `"\\FF"`."""
    for found in _STRING.finditer(text) if "\\" in text else ():
        try:
            _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), found[0].encode()).decode()
        except UnicodeDecodeError:
            return found.start()
    return None
