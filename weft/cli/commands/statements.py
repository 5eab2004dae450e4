"""`weft statements [NAME]`: what the language can say."""

from __future__ import annotations

import rich_click as click


@click.command(short_help="List the statements, or show one with its example.")
@click.argument("name", required=False)
def statements(name: str | None) -> None:
    """List the statements of the language; with NAME, its arguments, results, errors and example."""
    from ...dsl.diagnostics import fail
    from ...dsl.wording import did_you_mean
    from ...interpreter.session.statement import signatures
    from ..console import emit

    known = signatures()
    if name is None:
        width = max(map(len, known))
        emit("\n".join(f"{keyword:<{width}}  {signature.summary}" for keyword, signature in known.items()))
        return
    if (signature := known.get(name)) is None:
        hint = did_you_mean(name, known) or "`weft statements` lists them"
        raise fail("W0058", f"there is no statement `{name}`", hint=hint)
    emit(f"{signature.keyword}\n\n{signature.page}")
