"""`weft golden [FILES…] [--update]`: golden tests of schedules."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .schedules import STDIN, schedule_options, unchecked_option, unproven_option

if TYPE_CHECKING:
    from ...goldens.golden import Golden
    from ...goldens.judging import Maker
    from ...pipeline import Choice


@click.command(short_help="Compare the output of schedules with their goldens.")
@click.argument("files", nargs=-1, metavar="[FILE…]")
@click.option("--update", is_flag=True, help="Rewrite the goldens instead of comparing.")
@click.option("--full", is_flag=True, help="Do not fold long diffs.")
@click.option("--show", is_flag=True, help="Print the schedule's current output, to stdout.")
@click.option("--name", metavar="NAME", help="The name of a new golden, added to the schedule's.")
@click.option("--after", metavar="STEP", help="A golden of the module after this step.")
@click.option("--cuda", is_flag=True, help="A golden of the CUDA text.")
@schedule_options(unproven_option, unchecked_option, piped=False)
def golden(
    chosen: Choice,
    files: tuple[str, ...],
    update: bool,
    full: bool,
    show: bool,
    name: str | None,
    after: str | None,
    cuda: bool,
) -> int:
    """Compare the output of schedules with the goldens beside them.

    FILE is a schedule (all its goldens), a golden, a folder (all goldens below it), or a recipe (its goldens in the
    current folder); the default is the current folder. The goldens of gemm.weft are gemm.golden.mlir,
    gemm.NAME.golden.mlir (modules), gemm.NAME.golden.cu (CUDA texts) and gemm.NAME.check (CHECK lines) beside it; the
    first line of each states how it is made.

    --name, --after, --cuda, --payload, --set, --layer, --unproven and --unchecked make a new golden of one schedule,
    with --update. The kernels are compared with the payload before it is written.
    """
    from ...goldens.golden import golden_paths, read_golden, suffix_of
    from ...goldens.judging import Maker
    from ...output.console import show as warned
    from ...pipeline import Choice

    if STDIN in files:
        raise click.UsageError("`-`, standard input, is not read by this command: goldens are beside a file")
    new = bool(name or after or cuda or chosen != Choice(""))
    if new and (not update or len(files) != 1 or suffix_of(Path(files[0])) or Path(files[0]).is_dir()):
        raise click.UsageError(
            "--name, --after, --cuda, --payload, --set, --layer, --unproven and --unchecked make a new golden: "
            "they need --update and one schedule"
        )
    if after and cuda:
        raise click.UsageError("--cuda is the text of the whole schedule: it has no --after")
    if update and show:
        raise click.UsageError("--show prints, --update writes: one of them")
    run = Run(Maker(warned), update, full, show)
    for file in files or (".",):
        found: Sequence[Golden | Path] = ()
        with run.counting():
            if new or (update and not Path(file).is_dir() and not suffix_of(Path(file)) and not _has_goldens(file)):
                found = [_new(replace(chosen, file=file), name, after, cuda)]
            else:
                found = golden_paths(file)
        for one in found:
            with run.counting():
                run.one(read_golden(one) if isinstance(one, Path) else one)
    return run.summary()


@dataclass
class Run:
    """A run over goldens: compares or writes each, reports the result, and counts failures."""

    maker: Maker
    update: bool
    full: bool
    show: bool
    counts: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """A context that shows and counts an error raised inside, so that the remaining goldens are
        still compared."""
        from ...dsl.diagnostics import WeftError
        from ...output.console import show

        try:
            yield
        except WeftError as error:
            show(error.diagnostics)
            self.counts["wrong"] += 1

    def one(self, golden: Golden) -> None:
        """Compares or writes one golden, and reports the result. Raises the errors of its schedule
        and of its first line."""
        from ...dsl.diagnostics import WeftError
        from ...goldens import judging
        from ...output.console import colored, emit, say

        written = self.update and golden.kind != "checks"
        try:
            if self.show:
                emit(self.maker.text(golden))
                return
            change = (judging.update if written else judging.compare)(golden, self.maker)
        except WeftError:
            say(f"{golden.path}: failed")
            raise
        if change is None:
            same = "the checks hold" if golden.kind == "checks" else "unchanged" if self.update else "the same"
            say(f"{golden.path}: {same}{'; written by hand, and left alone' if self.update and not written else ''}")
            self.counts["right"] += 1
            return
        what = "new" if change.new else change.summary
        say(f"{golden.path}: {f'written, {what}' if written else 'differs'}")
        for line in change.compared:
            say(line)
        sys.stderr.writelines(f"{line}\n" for line in change.shown(colored(), not self.full))
        if not written:
            raise change.error
        self.counts["written"] += 1

    def summary(self) -> int:
        """Writes a summary if there were several goldens. Returns the exit code."""
        from ...output.console import say

        if (total := self.counts.total()) > 1:
            say(f"{total} goldens: " + ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items())))
        return 1 if self.counts["wrong"] else 0


def _has_goldens(file: str) -> bool:
    """Whether the schedule has goldens that `--update` rewrites; it leaves checks unchanged."""
    from ...goldens.golden import beside

    return any(path.suffix != ".check" for path in beside(Path(file)))


def _new(chosen: Choice, name: str | None, after: str | None, cuda: bool) -> Golden:
    """A golden of a schedule with these settings, whether it exists or not: of a recipe in this folder. Raises W0050, and
    W0902 for a file that no first line can name."""
    from ...dsl.diagnostics import fail
    from ...goldens.golden import Golden, new_path
    from ...pipeline import resolve_schedule

    schedule = Path(chosen.file)
    if resolve_schedule(chosen.file) == schedule and schedule.suffix != ".weft":
        hint = f"rename it: `{schedule.name}.weft`"
        raise fail("W0902", f"`{schedule}` does not end in `.weft`, and a golden cannot name it", hint=hint)
    path = new_path(schedule, name, after, cuda)
    beside = chosen.payload and Path(os.path.relpath(chosen.payload, path.parent))
    return Golden(path, replace(chosen, file=schedule.name, payload=beside), after, cuda)
