"""Which step a golden means: by a name that its `let` binds, or by how the statement begins.

    let (a, copy_a) = promote-to-shared step.lhs     a, copy_a, promote-to-shared, "promote-to-shared step.lhs"
    map copy_a to threads(*) cyclic                  "map copy_a"

Not by number: a statement put before it would make it mean another one. Where several fit, `#2` behind it is the second:
`--after "map lanes #2"`, for a statement in a `foreach` or in a schedule called twice.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..dsl.diagnostics import WeftError, fail
from ..dsl.wording import count

if TYPE_CHECKING:
    from ..interpreter.session.session import Step
    from .golden import Golden

_NUMBERED = re.compile(r"(.*?)\s+#([1-9][0-9]{0,5})")
_SHOWN = 20


def named_step(steps: Sequence[Step], golden: Golden) -> Step:
    """The step that `golden.after` names. Raises W0905 where there is none, or several."""
    wanted = " ".join((golden.after or "").split())
    numbered = _NUMBERED.fullmatch(wanted)
    words, number = (numbered[1], int(numbered[2])) if numbered else (wanted, None)
    found = [step for step in steps if fits(step.text, words)]
    if number is not None and number <= len(found):
        return found[number - 1]
    if number is None and len(found) == 1:
        return found[0]
    raise _unclear(golden, words, number, steps, found)


def fits(text: str, words: str) -> bool:
    """Whether a statement is what `words` name: it binds that name, or begins with these words."""
    names, statement = bound(text)
    return words in names or f"{statement} ".startswith(f"{words} ")


def bound(text: str) -> tuple[tuple[str, ...], str]:
    """`let (a, copy) = promote-to-shared x` → the names it binds, the statement behind."""
    if not text.startswith("let "):
        return (), text
    targets, _, statement = text.removeprefix("let ").partition("=")
    return tuple(n for n in re.findall(r"[^\s,()]+", targets) if n != "_"), statement.strip()


def _unclear(golden: Golden, words: str, number: int | None, steps: Sequence[Step], found: Sequence[Step]) -> WeftError:
    listed = found or steps
    lines = [f"{Path(step.span.source.name).name}:{step.span.line}: {step.text}" for step in listed]
    more = [f"… and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    shown = "\n".join([*lines[:_SHOWN], *more])
    if found and number is None:
        hint = f"write more of the statement, or `{words} #1` for the first"
        return fail("W0905", f"`{words}` names {len(found)} steps of `{golden.schedule}`", span=golden.span,
                    notes=(f"they are\n{shown}",), hint=hint)  # fmt: skip
    if found:
        return fail("W0905", f"`{words}` names {count(len(found), 'step')} of `{golden.schedule}`, not {number}",
                    span=golden.span, notes=(f"found\n{shown}",))  # fmt: skip
    names = [name for step in steps for name in (*bound(step.text)[0], bound(step.text)[1])]
    close = difflib.get_close_matches(words, names, 1)
    hint = f"did you mean `{close[0]}`?" if close else "name a step that is there, or delete the golden"
    return fail("W0905", f"`{golden.schedule}` has no step `{words}` with these settings", span=golden.span,
                notes=(f"its steps are\n{shown}",), hint=hint)  # fmt: skip
