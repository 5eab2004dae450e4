"""Making what goldens hold. Goldens of one schedule with the same payload and settings share one application of it."""

from __future__ import annotations

from pathlib import Path

from ..dsl.diagnostics import fail
from ..pipeline import Applied, Choice, applied
from .golden import Golden
from .steps import named_step


class Maker:
    """Applies schedules for goldens, and remembers the last one: goldens that stand together are mostly of one."""

    def __init__(self) -> None:
        self._last: tuple[Choice, Applied] | None = None

    def text(self, golden: Golden) -> str:
        """The module or the CUDA text that the golden is about, as it is made today.

        Raises:
            WeftError: W0904 the schedule is not there, W0905 the step is not there, W0908 nothing is launched; and all
                that applying it raises.
        """
        done = self._applied(golden)
        if golden.after is not None:
            return f"{named_step(done.session.steps, golden).ir.rstrip()}\n"
        if not golden.cuda:
            return f"{done.text.rstrip()}\n"
        from ..runtime.cuda import emit

        text = emit(done.module).rstrip()
        if not text:
            raise fail("W0908", f"`{golden.schedule}` launches no kernel: there is no CUDA text", span=golden.span)
        return f"{text}\n"

    def reads(self, golden: Golden) -> dict[Path, str]:
        """The files that it is made of, and what to call each."""
        return self._applied(golden).recipe.reads

    def _applied(self, golden: Golden) -> Applied:
        schedule = golden.path.parent / golden.schedule
        if not schedule.is_file():
            hint = f"was it renamed? `{golden.path.name}` moves along, or is deleted"
            raise fail("W0904", f"the schedule of `{golden.path}` is not there: `{schedule}`", span=golden.span, hint=hint)
        payload: Path | None = golden.path.parent / golden.payload if golden.payload else None
        choice = Choice(str(schedule), payload, golden.settings, golden.layer, golden.unproven)
        if self._last is None or self._last[0] != choice:
            self._last = None  # the old modules go before the new ones come
            self._last = (choice, applied(choice.open()))
        return self._last[1]
