"""The parameter space of a recipe: every member of its parameters' domains that its `require`s let through."""

from __future__ import annotations

import itertools

from weft.dsl import tree
from weft.dsl.expressions import evaluate
from weft.dsl.parameters import bind
from weft.pipeline import read_schedule


def members(recipe: str, **fixed: str) -> list[dict[str, str]]:
    """All members, as settings of the schedule. `fixed`: settings that all of them share."""
    main = read_schedule(recipe).main
    domains = {p.name: [str(evaluate(item, {})) for item in p.domain.items] for p in main.parameters if p.domain}
    every = ({**fixed, **dict(zip(domains, choice, strict=True))} for choice in itertools.product(*domains.values()))
    return [member for member in every if _allowed(main, member)]


def _allowed(schedule: tree.Schedule, member: dict[str, str]) -> bool:
    values = bind(schedule, member)
    requirements = [item.condition for item in schedule.body if isinstance(item, tree.Require)]
    return all(evaluate(condition, values) for condition in requirements)
