"""The page of a diagnostic's code, and the list of all."""

from __future__ import annotations

from ..codes import all_codes
from ..dsl.diagnostics import fail


def explanation(code: str | None) -> str:
    """What a code means and, for some, a wrong → right example; without a code, the list of all. Raises W0057."""
    codes = all_codes()
    if code is None:
        return "\n".join(f"{name}  {explained.title}" for name, explained in codes.items())
    wanted = f"W{int(code):04}" if code.isdecimal() and len(code) < 9 else code.upper()
    if (found := codes.get(wanted)) is None:
        raise fail("W0057", f"there is no diagnostic `{code}`", hint="`weft explain` lists all codes")
    return f"{wanted}: {found.title}\n\n{found.text}"
