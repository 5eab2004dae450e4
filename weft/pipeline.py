"""The stages from a schedule's name to results; the command line and the API call them.

text → parse → check (`read_schedule`) → payload (`Choice.open`) → session (`applied`) → plan and
text (`planned`) → device → reference → comparison (`execution.py`). Each stage takes the result of
the previous one and adds its time to the clock.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
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
    """The path of a schedule, or of a built-in recipe by its name. `shipped`: only names of
    recipes, no path. Raises W0050."""
    from .dsl.diagnostics import did_you_mean
    from .recipes import REST, files, schedules

    path = Path(name)
    if not shipped and (path.exists() or path.is_symlink()):
        return path
    if (recipe := files()[REST] if name == REST else schedules().get(name)) is not None:
        return recipe
    what, notes = "" if shipped else "no file and ", (f"built-in recipes: {', '.join(schedules())}",)
    raise fail("W0050", f"there is {what}no recipe `{name}`", notes=notes, hint=did_you_mean(name, schedules()))


def checked_schedule(name: str | Source, *, defaults: bool = False) -> tuple[tree.File, tuple[Diagnostic, ...]]:
    """Parses and checks a schedule, given by path, recipe name or text; returns warnings as well.
    Raises all errors at once.

    Args:
        defaults: whether to check its main schedule with the defaults of its parameters, too.
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
    """The schedule of `checked_schedule`, without its warnings."""
    return checked_schedule(name)[0]


@record
class Choice:
    """The choice of a schedule, a payload and settings.

    Args:
        file: a schedule's path, or the name of a built-in recipe; empty if statements are only
            typed.
        payload: a file in place of the schedule's own payload.
        settings: parameters of the schedule and of its payload, as text.
        layer: the name of a set of payload sizes.
        unproven: whether kernels that are not proven race-free are accepted.
        text: the schedule's text in place of a file.
        program: the payload's text, or a builder's name with arguments, in place of a file.
        unchecked: whether kernels are built without a comparison with their payload, and without a
            proof of their reductions; the bundle is marked. They are still proven race-free, unless
            `unproven` is set.
        assumed: whether kernels are built if their reductions are only compared, not proven.
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
        """Reads the schedule and its payload, and distributes the settings to both and a layer's
        sizes to the payload. A program in place of the schedule takes the default one."""
        if self.text is None and is_program(self.file):
            return self.of_program().open(clock)
        from .dsl.parameters import bind
        from .dsl.parser import parse_text
        from .payloads.settings import builder_of, distribute
        from .payloads.sources import payload_source
        from .runtime.run.execution import Clock

        clock = clock or Clock()
        with clock.phase("parse"):
            named = self.text or self.file
            with told_apart():
                file, warnings = checked_schedule(named) if named else (parse_text(EMPTY, TYPED), ())
        with clock.phase("payload"):
            text = self.program if isinstance(self.program, Source) else None
            if isinstance(self.program, tree.Payload):
                file = replace(file, payload=self.program)
            mine = distribute(self.settings, file.main, None if text else builder_of(file, self.payload), self.layer)
            source, made_of = (text, {}) if text else payload_source(file, self.payload, mine.payload, mine.layer)
        return Recipe(self, file, source, bind(file.main, mine.schedule), made_of, clock, warnings)

    def of_program(self) -> Choice:
        """The choice of a program alone, which is in place of the schedule or the payload: kernels
        run as they are, and `rest` schedules any other program. Raises W0068."""
        from .dsl.diagnostics import read_source
        from .recipes import REST

        named = self
        if self.file:
            if self.payload is not None or self.program is not None:
                message = f"`{self.file}` is a program, and the payload is one, too"
                raise fail("W0068", message, "name a schedule, `my.weft`, or leave `--payload` out")
            named = replace(self, file="", payload=Path(self.file))
        text = named.program if isinstance(named.program, Source) else named.payload and read_source(named.payload)
        if text and holds_kernels_alone(text.text):
            return replace(named, file="")
        if text and "func" in text.text and not any(dialect in text.text for dialect in ("linalg.", "tensor.")):
            message = f"`{text.name}` has no op that `weft:rest` schedules: it schedules those of linalg and tensor"
            raise fail("W0068", message, f"write a schedule for its loops, and run it with `--payload {text.name}`")
        return replace(named, file=REST)


PROGRAM = ".mlir"
"""The suffix of a file that holds a program; any other file is a schedule."""


def is_program(name: str) -> bool:
    return Path(name).suffix == PROGRAM and not Path(name).is_dir()


def holds_kernels_alone(text: str) -> bool:
    """Whether a program is scheduled already: it launches kernels, and has no structured op."""
    return "gpu.launch" in text and "linalg." not in text


_MLIR = re.compile(
    r"\s*(?://[^\n]*\n\s*)*(?:[#!]\w+ *=|\"?(?:builtin\.)?module\b|(?:func\.)?func *(?:private *)?@|memref\.global\b|\{-#)"
)
_WEFT = re.compile(r"\s*(?://[^\n]*\n\s*)*(?:schedule\s+[\w-]+\s*[({]|include\s+\"|payload\s+[\w\"])")


@contextmanager
def told_apart() -> Iterator[None]:
    """Replaces the errors of a text that does not parse by W0068 if the text is a program where a
    schedule is expected, or a schedule where a program is expected."""
    try:
        yield
    except WeftError as error:
        first = error.diagnostics[0]
        if first.span is None:
            raise
        name, text = first.span.source.name, first.span.source.text
        if first.code.startswith("W01") and _MLIR.match(text):
            message = f"`{name}` holds a program, not a schedule"
            hint = f"`--payload {name}` gives a schedule's program; `weft run model.mlir` schedules a program by `weft:rest`"
            raise fail("W0068", message, hint) from error
        if first.code == "W0487" and _WEFT.match(text):
            message = f"`{name}` holds a schedule, not a program"
            raise fail("W0068", message, "schedules have the suffix `.weft`, programs `.mlir`") from error
        raise


TYPED = "<typed>"
"""The displayed source name of typed lines; line n is the n-th of them."""

EMPTY = "schedule typed() {\n}\n"


@record
class Recipe:
    """A schedule that was read and checked, with its payload's text. No statement is applied yet.

    Args:
        file: the parsed file.
        payload: the MLIR text, under its displayed name.
        values: the values of the main schedule's parameters.
        payload_values: the values of the builder's parameters, if a builder made the payload.
        clock: measures the time of each phase.
        warnings: the checker's warnings.
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
        """The texts of the schedule and of the files that it includes."""
        return sorted({s.span.source.text for s in self.file.schedules})

    @property
    def open_axes(self) -> dict[str, str]:
        """The parameters of the payload's builder that are run-time sizes, each with its axis."""
        from .payloads.settings import builder_of

        builder = builder_of(self.file, self.choice.payload) if self.payload_values else None
        return {} if builder is None else builder.open_axes(self.payload_values)

    @property
    def reads(self) -> dict[Path, str]:
        """The files that were read, each with its name in messages."""
        from .payloads.sources import payload_path

        found = {Path(s.span.source.name): "a file that the schedule includes" for s in self.file.schedules}
        found[Path(self.file.source.name)] = "the schedule"
        if (path := payload_path(self.file, self.choice.payload)) is not None:
            found[path] = "the payload"
        return found


@record
class Applied:
    """A schedule applied to its payload, up to the session's current statement."""

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
        """A line for each kernel that was accepted without a proof that it is race-free."""
        from .interpreter.ir.cloning import unproven
        from .interpreter.ir.functions import symbol
        from .interpreter.ir.mlir import operations

        kernels = operations(self.module.operation, "gpu.func", "gpu.launch")
        why = {f"@{symbol(k)}" if k.name == "gpu.func" else k.name: unproven(k) for k in kernels}
        return [f"{name} is not proven race-free: {reason}" for name, reason in why.items() if reason is not None]

    @property
    def assumed(self) -> list[str]:
        """A line with the reason for each reduction that is not proven to be executed as in the
        payload."""
        return self.assumed_of(None)

    def assumed_of(self, kernels: Collection[str] | None) -> list[str]:
        """The lines of `assumed` for these kernels only; None: for all."""
        from .interpreter.ir.cloning import COMBINED
        from .interpreter.ir.functions import symbol
        from .interpreter.ir.mlir import ir, operations

        every = operations(self.session.module.operation, "gpu.func")
        meant = [k for k in every if COMBINED in k.attributes and (kernels is None or symbol(k) in kernels)]
        texts = [ir.StringAttr(k.attributes[COMBINED]).value for k in meant]
        return [line for text in texts for line in text.splitlines() if not line.startswith("combination proven")]

    @property
    def located_text(self) -> str:
        """The text with the ops' locations in the payload, for devices that report locations."""
        return self.module.operation.get_asm(enable_debug_info=True)


def load_statements(*more: str) -> None:
    """Imports the modules of all statements, so that the first statement's time does not include
    them; and `more` modules of the interpreter."""
    from .interpreter.ir import mlir

    mlir.load()
    for module in ("session.session", "proof", "launch", *more):
        importlib.import_module(f".interpreter.{module}", __package__)


def opened(recipe: Recipe) -> Applied:
    """Parses the payload, and opens a session before the schedule's first statement."""
    from .interpreter.session.listeners import notify_of_statements
    from .interpreter.session.session import Session
    from .payloads.naming import WrittenNames
    from .payloads.payload import parse_payload
    from .process import doing

    with recipe.clock.phase("payload"), told_apart():
        payload = parse_payload(recipe.payload)
    with recipe.clock.phase("schedule"):
        notify_of_statements(doing)
        written, unproven = WrittenNames(recipe.payload).at, recipe.choice.unproven
        return Applied(
            recipe, payload, Session(payload, recipe.file, recipe.values, unproven=unproven, written=written)
        )


def applied(recipe: Recipe) -> Applied:
    """Parses the payload and applies the schedule to it."""
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
"""The number of steps that are listed before a failing one."""


def after_steps(error: WeftError, session: Session) -> WeftError:
    """The error of a session's next statement, with a note on the effect of the steps before it."""
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
    """A scheduled module in the form that a device runs: the plan and the kernels' CUDA C++ text."""

    applied: Applied
    plan: Plan
    cuda: str

    @property
    def assumed(self) -> list[str]:
        """`Applied.assumed` for the kernels that the plan launches."""
        return self.applied.assumed_of({kernel.name for kernel in self.plan.kernels})

    @property
    def unproven(self) -> bool:
        """Whether the plan launches a kernel that is not proven race-free."""
        return any(kernel.unproven is not None for kernel in self.plan.kernels)


def bundled(made: Planned) -> tuple[Plan, str, str]:
    """The contents of a bundle: the plan, the kernels' text and the module's text. Plan and text
    are made from the module as it is parsed from its text, since parsing sometimes simplifies an
    affine map."""
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
    """Makes the host plan of `entry` (None: the only function that launches) and the text of the
    kernels.

    Without `text`, a kernel that only the simulator supports gets a comment with the reason as its
    text; otherwise W05xx is raised.
    """
    from .runtime.cuda.module import emit
    from .runtime.host.host import make_plan
    from .runtime.host.size_conditions import agreements

    try:
        with done.recipe.clock.phase("plan"):
            plan = make_plan(done.module, entry)
            plan = replace(plan, agreements=agreements(done.payload, plan.entry))
    except WeftError as error:  # the report, which shows the output of `print`, is not made
        shown = tuple(f"{step.text}\n{text}" for step in done.session.steps for text in step.shown)
        raise WeftError(*(replace(d, notes=(*d.notes, *shown)) for d in error.diagnostics)) from error
    with done.recipe.clock.phase("emit"):
        try:
            cuda = emit(done.module)
        except WeftError as error:
            if text or any(d.code != "W0501" for d in error.diagnostics):
                raise
            cuda = "".join(f"// no text: {d.message}\n" for d in error.diagnostics)
    return Planned(done, plan, cuda)
