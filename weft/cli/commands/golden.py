"""`weft golden [FILES…] [--update]`: golden tests of schedules."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .options import PATH

if TYPE_CHECKING:
    from ...dsl.diagnostics import WeftError
    from ...goldens.golden import Golden
    from ...goldens.judging import GoldenChange
    from ...goldens.making import Maker
    from ...pipeline import Choice


@click.command(short_help="Compare what schedules make with their goldens.")
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option("--update", is_flag=True, help="Write the goldens anew instead of comparing.")
@click.option("--full", is_flag=True, help="Show long diffs whole.")
@click.option("--show", is_flag=True, help="Print what the schedule makes now, to stdout.")
@click.option("--name", metavar="NAME", help="With --update: a golden of these settings, under this name.")
@click.option("--after", metavar="STEP", help="With --update: a golden of the module after this step.")
@click.option("--cuda", is_flag=True, help="With --update: a golden of the CUDA text.")
@click.option("--payload", type=PATH, metavar="P.mlir", help="With --update: the payload of a new golden.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="With --update: settings of a new golden.")
@click.option("--layer", metavar="NAME", help="With --update: the payload's sizes by name, of a new golden.")
@click.option("--unproven", is_flag=True, help="With --update: take kernels that are not proven race-free, of a new golden.")
def golden(
    files: tuple[str, ...],
    update: bool,
    full: bool,
    show: bool,
    name: str | None,
    after: str | None,
    cuda: bool,
    payload: Path | None,
    settings: tuple[str, ...],
    layer: str | None,
    unproven: bool,
) -> int:
    """Compare what schedules make of their payloads with the goldens beside them.

    FILE is a schedule (all its goldens), a golden, a folder (all below it), or a recipe; without one it is this folder.
    Beside gemm.weft stand gemm.golden.mlir, gemm.NAME.golden.mlir (modules), gemm.NAME.golden.cu (CUDA texts) and
    gemm.NAME.check (CHECK lines); the first line of each says how it is made.
    """
    from ...dsl.diagnostics import WeftError
    from ...goldens.discovery import golden_paths
    from ...goldens.golden import read_golden, suffix_of
    from ...goldens.making import Maker
    from ...pipeline import Choice
    from ...settings import parse_settings

    new = bool(name or after or cuda or payload or settings or layer or unproven)
    if new and (not update or len(files) != 1 or suffix_of(Path(files[0])) or Path(files[0]).is_dir()):
        raise click.UsageError(
            "--name, --after, --cuda, --payload, --set, --layer and --unproven make a new golden: "
            "they need --update and one schedule"
        )
    if after and cuda:
        raise click.UsageError("--cuda is the text of the whole schedule: it has no --after")
    if update and show:
        raise click.UsageError("--show prints, --update writes: one of them")
    run = Run(Maker(), update, full, show)
    for file in files or (".",):
        try:
            if new or (update and not Path(file).is_dir() and not suffix_of(Path(file)) and not _has_goldens(file)):
                run.one(_new(Choice(file, payload, parse_settings(settings), layer, unproven), name, after, cuda))
                continue
            found = golden_paths(file)
        except WeftError as error:
            run.failed(error)
            continue
        for path in found:
            try:
                run.one(read_golden(path))
            except WeftError as error:
                run.failed(error)
    return run.summary()


class Run:
    """One run over goldens: does each, says what came of it, counts."""

    def __init__(self, maker: Maker, update: bool, full: bool, show: bool) -> None:
        self.maker, self.update, self.full, self.show = maker, update, full, show
        self.counts: Counter[str] = Counter()

    def one(self, golden: Golden) -> None:
        """Compare one golden, or write it. Says so, and does not raise for what is wrong with it."""
        from ...dsl.diagnostics import WeftError
        from ...goldens import judging
        from ..console import emit, say
        from ..console import show as show_diagnostics

        try:
            if self.show:
                emit(self.maker.text(golden))
                return
            written = self.update and golden.kind != "checks"
            change = (judging.update if written else judging.compare)(golden, self.maker)
        except WeftError as error:
            say(f"{golden.path}: failed")
            self.failed(error)
            return
        if change is None:
            same = "the checks hold" if golden.kind == "checks" else "unchanged" if self.update else "the same"
            say(f"{golden.path}: {same}{'; written by hand, and left alone' if self.update and not written else ''}")
            self.counts["right"] += 1
        elif written:
            say(f"{golden.path}: written, {'new' if change.new else change.summary}")
            self._diff(change)
            self.counts["written"] += 1
        else:
            say(f"{golden.path}: differs")
            self._diff(change)
            show_diagnostics(change.error.diagnostics)
            self.counts["wrong"] += 1

    def failed(self, error: WeftError) -> None:
        from ..console import show

        show(error.diagnostics)
        self.counts["wrong"] += 1

    def _diff(self, change: GoldenChange) -> None:
        color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        for line in change.shown(color, not self.full):
            sys.stderr.write(f"{line}\n")

    def summary(self) -> int:
        """A last line where there were several, and the exit code."""
        from ..console import say

        total = sum(self.counts.values())
        if total > 1:
            say(f"{total} goldens: " + ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items())))
        return 1 if self.counts["wrong"] else 0


def _has_goldens(file: str) -> bool:
    """Whether `--update` finds something to write anew: checks it leaves alone."""
    from ...goldens.discovery import beside
    from ...pipeline import resolve_schedule

    return any(path.suffix != ".check" for path in beside(resolve_schedule(file)))


def _new(chosen: Choice, name: str | None, after: str | None, cuda: bool) -> Golden:
    """A golden of a schedule with these settings, whether it exists or not. Raises W0901 for a recipe that ships."""
    from ...goldens.discovery import without_golden
    from ...goldens.golden import Golden, new_path
    from ...pipeline import resolve_schedule

    schedule = resolve_schedule(chosen.file)
    if not Path(chosen.file).exists():
        raise without_golden(chosen.file, schedule)
    path = new_path(schedule, name, after, cuda)
    beside = chosen.payload and Path(os.path.relpath(chosen.payload, path.parent))
    return Golden(path, schedule.name, after, cuda, beside, chosen.settings, layer=chosen.layer, unproven=chosen.unproven)
