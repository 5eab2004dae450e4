"""From a schedule's name to numbers, stage by stage; the command line and the API both drive these.

text → parse → check (`read_schedule`) → payload (`Choice.open`) → session (`applied`) → plan and text (`planned`) →
device → reference → comparison (`execution.py`). Each stage takes what the one before made and adds its time to the
clock.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .dsl import tree
from .dsl.diagnostics import Diagnostic, Source, WeftError, count, fail
from .dsl.records import record

if TYPE_CHECKING:
    from .interpreter.ir.mlir import ir
    from .interpreter.session.session import Session
    from .runtime.plan.plan import Plan
    from .runtime.run.execution import Clock


def resolve_schedule(name: str, *, shipped: bool = False) -> Path:
    """The path of a schedule, or of a recipe that ships, by its name. `shipped`: no path. Raises W0050."""
    from .dsl.diagnostics import did_you_mean
    from .recipes import schedules

    path = Path(name)
    if not shipped and (path.exists() or path.is_symlink()):
        return path
    if (recipe := schedules().get(name)) is not None:
        return recipe
    what, notes = "" if shipped else "no file and ", (f"recipes that ship: {', '.join(schedules())}",)
    raise fail("W0050", f"there is {what}no recipe `{name}`", notes=notes, hint=did_you_mean(name, schedules()))


def checked_schedule(name: str | Source, *, defaults: bool = False) -> tuple[tree.File, tuple[Diagnostic, ...]]:
    """Parse and check a schedule by path or recipe name, or its text; with warnings. Raises all that is wrong at once.

    Args:
        defaults: check its main schedule with its parameters' defaults, too.
    """
    from .dsl.checker import check
    from .dsl.parser import parse_file, parse_text
    from .signatures import signatures

    file = parse_text(name.text, name.name) if isinstance(name, Source) else parse_file(resolve_schedule(name))
    found = check(file, signatures(), defaults=defaults)
    if any(d.severity == "error" for d in found):
        raise WeftError(*found)
    return file, tuple(found)


def read_schedule(name: str | Source) -> tree.File:
    """What `checked_schedule` has read."""
    return checked_schedule(name)[0]


@record
class Choice:
    """What is to be worked on.

    Args:
        file: a schedule's path, or the name of a recipe that ships; empty for none, where lines are typed.
        payload: a file, instead of the schedule's own.
        settings: parameters of the schedule and of its payload, as text.
        layer: sizes of the payload by name.
        unproven: kernels that are not proven race-free are let through.
        text: the schedule's text, instead of a file.
        program: the payload's text, or what a schedule says to name a builder, instead of a file.
        unchecked: kernels are built without being compared with their payload, also where it is not proven what they
            combine; what is built says so. That they are race-free is proven all the same, unless `unproven` lets them
            through.
        assumed: kernels are built although it is not proven what they combine; they are compared all the same.
    """

    file: str
    payload: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    layer: str | None = None
    unproven: bool = False
    text: Source | None = None
    program: Source | tree.Payload | None = None
    unchecked: bool = False
    assumed: bool = False

    def open(self, clock: Clock | None = None) -> Recipe:
        """Read the schedule and its payload; hand out the settings to both, a layer's sizes to the payload."""
        from .dsl.parameters import bind
        from .dsl.parser import parse_text
        from .payloads.settings import builder_of, distribute
        from .payloads.sources import payload_source
        from .runtime.run.execution import Clock

        clock = clock or Clock()
        with clock.phase("parse"):
            named = self.text or self.file
            file, warnings = checked_schedule(named) if named else (parse_text(EMPTY, TYPED), ())
        with clock.phase("payload"):
            text = self.program if isinstance(self.program, Source) else None
            if isinstance(self.program, tree.Payload):
                file = replace(file, payload=self.program)
            mine = distribute(self.settings, file.main, None if text else builder_of(file, self.payload), self.layer)
            source, made_of = (text, {}) if text else payload_source(file, self.payload, mine.payload, mine.layer)
        return Recipe(self, file, source, bind(file.main, mine.schedule), made_of, clock, warnings)


TYPED = "<typed>"
"""The name that lines typed by hand are shown under. Line n is the n-th of them."""

EMPTY = "schedule typed() {\n}\n"


@record
class Recipe:
    """A schedule that was read and checked, with its payload's text. Nothing is applied yet.

    Args:
        file: what was parsed.
        payload: the MLIR text, under the name it is shown with.
        values: the main schedule's parameters, bound.
        payload_values: the builder's parameters, where a builder made the payload.
        clock: keeps the time of each phase.
        warnings: what the checker finds odd in the schedule.
    """

    choice: Choice
    file: tree.File
    payload: Source
    values: Mapping[str, Any]
    payload_values: Mapping[str, int | str]
    clock: Clock = field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def name(self) -> str:
        return self.file.main.name

    @property
    def texts(self) -> list[str]:
        """Those of the schedule and all that it includes."""
        return sorted({s.span.source.text for s in self.file.schedules})

    @property
    def open_axes(self) -> dict[str, str]:
        """The parameters of the payload's builder that are run-time sizes, and the axes that have them."""
        from .payloads.settings import builder_of

        builder = builder_of(self.file, self.choice.payload) if self.payload_values else None
        return {} if builder is None else builder.open_axes(self.payload_values)

    @property
    def reads(self) -> dict[Path, str]:
        """The files that it was read from, and what to call each."""
        from .payloads.sources import payload_path

        found = {Path(s.span.source.name): "a file that the schedule includes" for s in self.file.schedules}
        found[Path(self.file.source.name)] = "the schedule"
        if (path := payload_path(self.file, self.choice.payload)) is not None:
            found[path] = "the payload"
        return found


@record
class Applied:
    """A schedule applied to its payload; or as far as its session is."""

    recipe: Recipe
    payload: ir.Module = field(repr=False)
    session: Session = field(repr=False)

    def __repr__(self) -> str:
        steps = count(len(self.session.steps), "step")
        return f"<weft.Applied {self.recipe.name}: {steps} on {self.recipe.payload.name}>"

    @cached_property
    def module(self) -> ir.Module:
        """The scheduled module, without handle tags."""
        from .interpreter.ir.cloning import strip_tags

        return strip_tags(self.session.module)

    @property
    def text(self) -> str:
        return str(self.module)

    @property
    def unproven(self) -> list[str]:
        """Of each kernel that is not proven race-free and was let through, a line that says so."""
        from .interpreter.ir.cloning import unproven
        from .interpreter.ir.functions import symbol
        from .interpreter.ir.mlir import operations

        kernels = operations(self.module.operation, "gpu.func", "gpu.launch")
        why = {f"@{symbol(k)}" if k.name == "gpu.func" else k.name: unproven(k) for k in kernels}
        return [f"{name} is not proven race-free: {reason}" for name, reason in why.items() if reason is not None]

    @property
    def assumed(self) -> list[str]:
        """Of each reduction that is not proven to be executed as the payload does, a line that says why."""
        return self.assumed_of(None)

    def assumed_of(self, kernels: Collection[str] | None) -> list[str]:
        """The same of these kernels alone; None: of all."""
        from .interpreter.ir.cloning import COMBINED
        from .interpreter.ir.functions import symbol
        from .interpreter.ir.mlir import ir, operations

        every = operations(self.session.module.operation, "gpu.func")
        meant = [k for k in every if COMBINED in k.attributes and (kernels is None or symbol(k) in kernels)]
        said = [ir.StringAttr(k.attributes[COMBINED]).value for k in meant]
        return [line for text in said for line in text.splitlines() if not line.startswith("combination proven")]

    @property
    def located_text(self) -> str:
        """The text with the ops' locations in the payload, for a device that reports them."""
        return self.module.operation.get_asm(enable_debug_info=True)


def load_statements(*more: str) -> None:
    """Import all that statements use, or that would count as the first one's work; and `more` of the interpreter."""
    from .interpreter.ir import mlir

    mlir.load()
    for module in ("session.session", "proof", "launch", *more):
        importlib.import_module(f".interpreter.{module}", __package__)


def opened(recipe: Recipe) -> Applied:
    """Parse the payload, and open a session before the schedule's first statement."""
    from .interpreter.session.listeners import notify_of_statements
    from .interpreter.session.session import Session
    from .payloads.naming import WrittenNames
    from .payloads.payload import parse_payload
    from .process import doing

    with recipe.clock.phase("payload"):
        payload = parse_payload(recipe.payload)
    with recipe.clock.phase("schedule"):
        notify_of_statements(doing)
        written, unproven = WrittenNames(recipe.payload).at, recipe.choice.unproven
        return Applied(
            recipe, payload, Session(payload, recipe.file, recipe.values, unproven=unproven, written=written)
        )


def applied(recipe: Recipe) -> Applied:
    """Parse the payload and apply the schedule to it."""
    with recipe.clock.phase("import"):
        load_statements()
    done = opened(recipe)
    with recipe.clock.phase("schedule"):
        try:
            done.session.run()
        except WeftError as error:
            raise after_steps(error, done.session) from error
    return done


LED_BY = 3
"""How many steps are told of in front of one that fails."""


def after_steps(error: WeftError, session: Session) -> WeftError:
    """The error of a session's next statement, with a note of what the last steps before it did."""
    steps = session.steps
    if not steps or session.upcoming() is None:
        return error
    numbered = list(enumerate(steps, 1))[-LED_BY:]
    lines = [f"{n} {'; '.join((step.text, *step.remarks[:1]))}" for n, step in numbered]
    more = ", the last of them" if len(steps) > LED_BY else ""
    before = "\n".join((f"{count(len(steps), 'step')} came before{more}:", *lines))
    return WeftError(*(replace(d, notes=(*d.notes, before)) for d in error.diagnostics))


@record
class Planned:
    """A scheduled module as what a device runs: the plan and the kernels' CUDA C++ text."""

    applied: Applied
    plan: Plan
    cuda: str

    @property
    def assumed(self) -> list[str]:
        """`Applied.assumed` of the kernels that the plan launches."""
        return self.applied.assumed_of({kernel.name for kernel in self.plan.kernels})

    @property
    def unproven(self) -> bool:
        """Whether a kernel that the plan launches was let through, not proven race-free."""
        return any(kernel.unproven is not None for kernel in self.plan.kernels)


def bundled(made: Planned) -> tuple[Plan, str, str]:
    """What a bundle holds: the plan and the kernels' text, and the module's text, from which alone both follow: the
    module is as it is read from that. (Reading simplifies an affine map now and then.)"""
    from .interpreter.ir import mlir
    from .runtime.cpu.allow_lists import without_freedom
    from .runtime.cuda.module import emit
    from .runtime.host.functions import entry_function
    from .runtime.host.host import make_plan
    from .runtime.host.size_conditions import state_agreements

    text = made.applied.text
    with made.applied.recipe.clock.phase("write"):
        module = mlir.parse(text, mlir.context())
        same = str(module) == text
        without_freedom(module)
        state_agreements(entry_function(module, made.plan.entry), made.plan.agreements)
        plan, cuda = (made.plan, made.cuda) if same else (make_plan(module, made.plan.entry), emit(module))
        return plan, cuda, str(module)


def planned(done: Applied, entry: str | None = None, *, text: bool = True) -> Planned:
    """Make the host plan of `entry` (None: the only function that launches) and the text of the kernels.

    Without `text`, what only the simulator knows has none, and a comment that states why; else W05xx is raised.
    """
    from .runtime.cuda.module import emit
    from .runtime.host.host import make_plan
    from .runtime.host.size_conditions import agreements

    try:
        with done.recipe.clock.phase("plan"):
            plan = make_plan(done.module, entry)
            plan = replace(plan, agreements=agreements(done.payload, plan.entry))
    except WeftError as error:  # the report, which shows what `print` said, does not come
        said = tuple(f"{step.text}\n{text}" for step in done.session.steps for text in step.shown)
        raise WeftError(*(replace(d, notes=(*d.notes, *said)) for d in error.diagnostics)) from error
    with done.recipe.clock.phase("emit"):
        try:
            cuda = emit(done.module)
        except WeftError as error:
            if text or any(d.code != "W0501" for d in error.diagnostics):
                raise
            cuda = "".join(f"// no text: {d.message}\n" for d in error.diagnostics)
    return Planned(done, plan, cuda)
