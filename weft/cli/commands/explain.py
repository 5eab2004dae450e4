"""`weft explain CODE`: the long form of a diagnostic."""

from __future__ import annotations

import rich_click as click


@click.command(short_help="The long form of a diagnostic's code.")
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Print what a diagnostic's code means, why, and a wrong → right example; without CODE, list all of them."""
    from ...codes import all_codes
    from ...dsl.diagnostics import fail
    from ..console import emit

    codes = all_codes()
    if code is None:
        emit("\n".join(f"{name}  {explanation.title}" for name, explanation in codes.items()))
        return
    wanted = f"W{int(code):04}" if code.isdecimal() and len(code) < 9 else code.upper()
    if (found := codes.get(wanted)) is None:
        raise fail("W0057", f"there is no diagnostic `{code}`", hint="`weft explain` lists all codes")
    emit(f"{wanted}: {found.title}\n\n{found.text}")
