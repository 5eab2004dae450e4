"""Run schedules in tests, through the front door's own pipeline where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from weft.dsl.checker import check
from weft.dsl.diagnostics import Source, WeftError, render
from weft.dsl.parameters import bind_parameters
from weft.dsl.parser import parse_file, parse_text
from weft.dsl.tree import File
from weft.execution import run_applied, run_recipe
from weft.interpreter.ir.mlir import ir
from weft.interpreter.session.session import Session
from weft.interpreter.session.statement import signatures
from weft.payloads.naming import WrittenNames
from weft.payloads.payload import parse_payload
from weft.pipeline import Applied, Choice, Planned, applied, planned
from weft.runtime.run.execution import Executed, RunOptions
from weft.runtime.run.report import Report
from weft.runtime.simulator.device import SimDevice


def session_of(path: Path, **settings: str) -> Session:
    """A session on a schedule file whose payload is an `.mlir` beside it. Raises `WeftError`."""
    return _session(parse_file(path), path.parent, settings)


def diagnostics_of(text: str, folder: Path) -> str:
    """What is said about a schedule that is refused, rendered; empty if it is not."""
    try:
        _session(parse_text(text, "case.weft"), folder, {}).run()
    except WeftError as error:
        return "\n\n".join(render(d) for d in error.diagnostics)
    return ""


def _session(file: File, folder: Path, settings: dict[str, str]) -> Session:
    found = check(file, signatures())
    if any(d.severity == "error" for d in found):
        raise WeftError(*found)
    assert file.payload is not None and file.payload.path is not None
    path = folder / file.payload.path
    return Session(payload(path), file, bind_parameters(file.main, settings), written=WrittenNames(_source(path)).at)


def payload(path: Path) -> ir.Module:
    """A payload, as the front door reads it."""
    return parse_payload(_source(path))


def _source(path: Path) -> Source:
    return Source(path.name, path.read_text())


def run_schedule(
    name: str, payload: Path | None, settings: Mapping[str, str], entry: str | None, options: RunOptions, unproven: bool = False
) -> Executed:
    """Apply a schedule to its payload, run the kernels, and compare with the payload on the CPU."""
    return run_recipe(Choice(name, payload, settings, unproven=unproven).open(), entry, options)


def report_of(done: Applied, seed: int) -> Report:
    """What the simulator says of what is scheduled already."""
    return run_applied(done, None, RunOptions("sim", seed), SimDevice()).report


def ran(schedule: Path, seed: int, payload: Path | None = None) -> tuple[Report, Planned]:
    """What the simulator says of a schedule, and its plan: scheduled once for both."""
    done = applied(Choice(str(schedule), payload, {}).open())
    return report_of(done, seed), planned(done)
