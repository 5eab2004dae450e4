"""Completions for a shell: recipes, parameters and their values, codes, statements, payloads,
layers. Click calls these functions; it completes commands, options and choices itself. Errors of an
incomplete line are not reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

MOST_VALUES = 64


def schedules(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Recipes by name, and files, which the shell completes."""
    from ..recipes import schedules

    return [*_those(schedules(), begun), CompletionItem(begun, type="file")]


def recipes(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    from ..recipes import schedules

    return _those(schedules(), begun)


def codes(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    from ..explain import all_codes

    return [
        CompletionItem(code, help=each.title) for code, each in all_codes().items() if code.startswith(begun.upper())
    ]


def statements(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    from ..interpreter.session.statement import signatures

    return [CompletionItem(word, help=each.summary) for word, each in signatures().items() if word.startswith(begun)]


def payloads(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    from ..recipes import builders

    return [CompletionItem(name, help=each.summary) for name, each in builders().items() if name.startswith(begun)]


def settings(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """`bm=16` for each legal value of a parameter with a domain; otherwise its default."""
    from ..dsl.diagnostics import WeftError

    with suppress(WeftError):
        return _those(_settings(context), begun)
    return []


def layers(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The layers of the schedule's payload."""
    from ..dsl.diagnostics import WeftError
    from ..payloads.settings import builder_of
    from ..pipeline import read_schedule

    with suppress(WeftError):
        file = _file(context)
        builder = builder_of(read_schedule(file), context.params.get("payload")) if file else None
        return _those(builder.layers if builder is not None else (), begun)
    return []


def chips(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The chips with a time model."""
    from ..runtime.predict.chips import CHIPS

    return _those(CHIPS, begun)


def _settings(context: click.Context) -> Iterator[str]:
    from ..dsl.expressions import evaluate, show
    from ..payloads.settings import builder_named, builder_of
    from ..pipeline import read_schedule

    given: Path | str | None = context.params.get("payload")
    name = _file(context)
    file = read_schedule(name) if name else None
    for p in file.main.parameters if file is not None else ():
        legal = evaluate(p.domain, {}) if p.domain is not None else ()
        yield from (f"{p.name}={show(value)}" for value in legal[:MOST_VALUES])
        if not legal and p.type != "handle":
            yield f"{p.name}="
    if file is not None:
        builder = builder_of(file, Path(given) if given else None)
    else:
        builder = builder_named(str(given)) if given else None
    for p in builder.parameters if builder is not None else ():
        yield from (f"{p.name}={value}" for value in (p.domain or (p.default,))[:MOST_VALUES])


def _file(context: click.Context) -> str | None:
    """The schedule on a line that ends with an option without a value, where Click does not parse
    arguments."""
    return context.params.get("file") or next(iter(context.args), None)


def _those(names: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(begun)]
