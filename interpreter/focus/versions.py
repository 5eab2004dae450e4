"""The module between two statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..ir.mlir import ir
from .carving import Focus, carve
from .modules import Sectioned, take_apart


class Version:
    """The module between two statements, never changed: whole, or in sections, or a part that a statement has rewritten, which is
    put back when somebody looks at more than that.

    Args:
        untidy: nobody has removed common subexpressions yet, as each statement does: the next one needs the whole.
    """

    def __init__(self, whole: ir.Module | None = None, part: Focus | None = None, *, untidy: bool = False) -> None:
        self._whole, self._part = whole, part
        self._sections: Sectioned | None = None
        self._apart = untidy

    @property
    def module(self) -> ir.Module:
        """The whole module, not to be changed."""
        if self._whole is None:
            assert self.sections is not None
            self._whole = self.sections.whole()
        return self._whole

    @property
    def sections(self) -> Sectioned | None:
        """The module in sections; None for one that is too small to be worth it."""
        if not self._apart:
            self._sections = self._part.merged() if self._part is not None else take_apart(self.module)
            self._apart, self._part = True, None
        return self._sections

    def parts(self, tags: Sequence[str] | None) -> Iterator[Focus]:
        """The parts of a large module around the ops with these tags, or around all mapped ops: the one that the statement before
        has worked on if they are in that, and one that is carved out anew."""
        if self._part is not None and tags and self._part.covers(tags):
            yield self._part.again()
        focus = None if self.sections is None else carve(self.sections, tags)
        if focus is not None:
            yield focus
