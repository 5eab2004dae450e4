"""`weft statements [NAME]`: what the language can say."""

from __future__ import annotations

import difflib

import rich_click as click


@click.command(short_help="List the statements, or show one with its example.")
@click.argument("name", required=False)
def statements(name: str | None) -> None:
    """List the statements of the language; with NAME, its arguments, results, errors and example."""
    from ...dsl.diagnostics import fail
    from ...interpreter.session.statement import signatures
    from ..console import emit

    known = signatures()
    if name is None:
        width = max(map(len, known))
        emit("\n".join(f"{keyword:<{width}}  {signature.summary}" for keyword, signature in known.items()))
        return
    if (signature := known.get(name)) is None:
        close = difflib.get_close_matches(name, known, 1)
        raise fail(
            "W0058",
            f"there is no statement `{name}`",
            hint=f"did you mean `{close[0]}`?" if close else "`weft statements` lists them",
        )
    import inspect

    results = f"\n\nResults: {', '.join(signature.results)}" if signature.results else ""
    emit(f"{signature.keyword}\n\n{inspect.cleandoc(signature.doc)}{results}")
