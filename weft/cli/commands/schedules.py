"""The commands on a schedule with its payload (`run`, `apply`, `emit`, `build`, `repl`)
and their options.

Their dependencies are imported when a command runs.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.core import ParameterSource
from click.globals import get_current_context

from ...runtime.predict.chips import CHIPS, DEFAULT
from ...runtime.run.execution import REFERENCES, TARGETS
from .. import completion

if TYPE_CHECKING:
    from ...dsl.diagnostics import Source
    from ...pipeline import Applied, Choice, Recipe
    from ...runtime.run.execution import Clock, Reference, Target

Function = Callable[..., Any]

_OF_RUNS = ("target", "seed", "inputs", "asked", "sweep", "save", "trace", "graph", "reference")
"""Options that have no meaning when nothing is executed."""

PATH = click.Path(path_type=Path)

STDIN = "-"


def standard_input() -> Source:
    """The text of standard input, which a command reads for the file name `-`. Raises W0004, W0005."""
    from ...dsl.diagnostics import Source, decode

    name = "<stdin>"
    return Source(name, decode(sys.stdin.buffer.read(), name))


FILE = click.argument("file", metavar="FILE", shell_complete=completion.schedules)

unproven_option = click.option("--unproven", is_flag=True, help="Accept kernels not proven race-free, and mark them.")
unchecked_option = click.option(
    "--unchecked", is_flag=True, help="Accept kernels without a comparison with their payload, and mark the result."
)
assumed_option = click.option(
    "--assumed",
    is_flag=True,
    help="Accept kernels if it is not proven what they combine; they are compared nevertheless.",
)
LAYER = "A named set of sizes; `weft payloads NAME` lists them."
set_option = functools.partial(
    click.option, "--set", "settings", multiple=True, metavar="NAME=VALUE", shell_complete=completion.settings
)
entry_option = click.option("--entry", metavar="FUNCTION", help="The host function, if the payload has several.")
inputs_option = click.option("--inputs", type=PATH, metavar="X.npz", help="Arrays by name; the others are random.")
input_option = click.option(
    "--input",
    "asked",
    multiple=True,
    metavar="NAME=LOW:HIGH",
    help="Random numbers from LOW to below HIGH; or a constant (NAME=2.5), or a file (NAME=x.npy). May be repeated.",
)
size_option = click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="NAME=N",
    help="A size that the payload leaves open (`?`): m=1000, or A.0=1000 for an axis of A; sizes that must be equal to"
    " it follow.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object on stdout.")


def schedule_options(*more: Callable[[Function], Function], piped: bool = True) -> Callable[[Function], Function]:
    """A decorator that adds the options `--payload`, `--set` and `--layer` and those of `more`, the
    FILE argument included. They form the command's argument `chosen`: a schedule with its payload.
    `piped`: one of the two may come from standard input."""

    def decorated(command: Function) -> Function:
        @functools.wraps(command)
        def gathered(settings: tuple[str, ...], file: str = "", **given: Any) -> Any:
            from ...payloads.settings import parse_settings
            from ...pipeline import Choice

            mine = {
                name: given.pop(name)
                for name in ("payload", "layer", "unproven", "unchecked", "assumed")
                if name in given
            }
            asked = [key for key, name in (("text", file), ("program", str(mine["payload"]))) if name == STDIN]
            if len(asked) > piped:
                here = "the schedule or its payload, not both" if piped else "not read by this command: name a file"
                raise click.UsageError(f"`-`, standard input, is {here}")
            if "program" in asked:
                mine["payload"] = None
            mine |= {key: standard_input() for key in asked}
            return command(chosen=Choice(file, settings=parse_settings(settings), **mine), **given)

        options = (
            click.option("--payload", type=PATH, metavar="P.mlir", help="The program, instead of the schedule's own."),
            set_option(help="A parameter of schedule or payload."),
            click.option("--layer", metavar="NAME", help=LAYER, shell_complete=completion.layers),
            *more,
        )
        return functools.reduce(lambda made, decorate: decorate(made), reversed(options), gathered)

    return decorated


def _reference(_: click.Context, option: click.Parameter, text: str) -> Reference | Path:
    """The value of `--reference`."""
    if text in REFERENCES:
        return text
    if not text.endswith(".npz"):
        raise click.BadParameter(
            f"{text!r} is not one of {', '.join(map(repr, REFERENCES))}, and no `.npz` file.", param=option
        )
    return Path(text)


@click.command(short_help="Apply, run, compare with the reference, report.")
@schedule_options(FILE, unproven_option, entry_option)
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    default="auto",
    help="Where to run: auto (the GPU if there is one, otherwise the simulator), the simulator, which checks, the GPU,"
    " or natively on the CPU.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Seed of the random inputs; on the simulator, also of the order of streams.",
)
@inputs_option
@input_option
@size_option
@click.option(
    "--sizes",
    "sweep",
    metavar="1:300:7,512",
    help="Run once with each of these sizes as the value of all open sizes; a range's end is excluded.",
)
@click.option("--save", type=PATH, metavar="Y.npz", help="Write the outputs here.")
@click.option(
    "--trace",
    type=PATH,
    metavar="T.json",
    help="Write the timeline here, in the format of Chrome's trace viewer, and a picture of it to T.svg.",
)
@click.option("--graph", is_flag=True, help="Capture the launches and copies once into a graph, and replay it.")
@click.option(
    "--reference",
    callback=_reference,
    default="jit",
    metavar="jit|none|Y.npz",
    help="What to compare with: the payload on the CPU, nothing, or the outputs in a file. (`gpu` is not in this version.)",
)
@click.option("--predict", is_flag=True, help="Do not run it: predict its time on a GPU (none is needed).")
@click.option(
    "--chip",
    metavar="NAME",
    shell_complete=completion.chips,
    help=f"The GPU of `--predict`, {DEFAULT} by default: {', '.join(CHIPS)}.",
)
@json_option
def run(
    chosen: Choice,
    entry: str | None,
    target: Target,
    seed: int,
    inputs: Path | None,
    asked: tuple[str, ...],
    sizes: tuple[str, ...],
    sweep: str | None,
    save: Path | None,
    trace: Path | None,
    graph: bool,
    reference: Reference | Path,
    predict: bool,
    chip: str | None,
    as_json: bool,
) -> int:
    """Run a schedule on its payload, or a bundle that `weft build` wrote, and compare with the untouched payload.

    The exit code is 0 if the outputs are right and nothing raced.
    """
    from ...execution import run_recipe, run_sweep
    from ...output.console import emit, progress, say, show, stderr
    from ...payloads.settings import parse_settings
    from ...pipeline import Choice
    from ...runtime.run.execution import UNTRACED, RunOptions, run_bundle

    wanted = parse_settings(asked, "--input")
    open_ = parse_settings(sizes, "--size")
    options = RunOptions(target, seed, inputs, save, reference, trace, graph, asked=wanted, sizes=open_)
    if graph and trace is not None:
        raise click.UsageError(UNTRACED)
    if predict:
        context = get_current_context()
        typed = (
            p
            for p in context.command.params
            if context.get_parameter_source(p.name or "") == ParameterSource.COMMANDLINE
        )
        if given := [p.opts[0] for p in typed if p.name in _OF_RUNS]:
            raise click.UsageError(f"--predict runs nothing: it takes no {', '.join(given)}")
        return _predict(chosen, entry, open_, chip or DEFAULT, as_json)
    if chip is not None:
        raise click.UsageError("--chip is the GPU of --predict")
    if sweep is not None:
        if Path(chosen.file).is_dir() or save is not None or trace is not None:
            raise click.UsageError("--sizes runs a schedule many times: it takes no bundle, no --save and no --trace")
        from ...output.report import verdicts
        from ...runtime.files.inputs import sizes_of_sweep

        listed = sizes_of_sweep(sweep)
        with progress(f"weft run {chosen.file}") as clock:
            ran = run_sweep(_opened(chosen, clock), entry, options, listed)
            found = [{"size": n} | done.report.to_json() for n, done in ran]
        if as_json:
            emit(found)
        else:
            stderr().print(verdicts(found))
        return int(any(one["ok"] is False for one in found))
    with progress(f"weft run {chosen.file}") as clock:
        if Path(chosen.file).is_dir():
            if chosen != Choice(chosen.file) or entry is not None:
                raise click.UsageError(
                    "a bundle is run as it was built: it takes no --payload, --set, --layer, --entry or --unproven"
                )
            done = run_bundle(Path(chosen.file), options, clock)
        else:
            done = run_recipe(_opened(chosen, clock), entry, options)
    if done.warnings:
        show(done.warnings)
    if as_json:
        emit(done.report.to_json())
    else:
        from ...output.report import show_report

        show_report(stderr(), done.report, title=done.title, steps=done.steps, cuda=done.cuda, timeline=done.timeline)
    if trace is not None:
        say(f"{trace}, {trace.with_suffix('.svg')}: written")
    return 1 if done.report.ok is False else 0


def _opened(chosen: Choice, clock: Clock) -> Recipe:
    """Reads the schedule and its payload. Warnings are shown immediately: a later step may fail."""
    from ...output.console import show

    recipe = chosen.open(clock)
    if recipe.warnings:
        show(recipe.warnings)
    return recipe


def _predict(chosen: Choice, entry: str | None, sizes: Mapping[str, str], chip: str, as_json: bool) -> int:
    from ...execution import predicted
    from ...output.console import emit, progress, stderr
    from ...output.predicted import show_prediction
    from ...pipeline import applied, planned

    if Path(chosen.file).is_dir():
        raise click.UsageError("--predict takes a schedule, not a bundle")
    with progress(f"weft run {chosen.file} --predict") as clock:
        found = predicted(planned(applied(_opened(chosen, clock)), entry), chip, sizes)
    if as_json:
        emit(found.to_json())
    else:
        show_prediction(stderr(), found)
    return 0


def applied_with_progress(chosen: Choice, command: str, output: Path | None = None, kind: str = "") -> Applied:
    """Applies a schedule after it has checked that the output can be written."""
    from ...output.console import progress
    from ...pipeline import applied
    from ...runtime.files.writing import Output, expect_outputs

    with progress(f"weft {command} {chosen.file}") as clock:
        recipe = _opened(chosen, clock)
        if output is not None:
            expect_outputs([Output("-o", output, kind)], recipe.reads)
        return applied(recipe)


@click.command(short_help="Print the scheduled module.")
@schedule_options(FILE, unproven_option)
@click.option("-o", "output", type=PATH, metavar="OUT", help="Write the module here instead of to stdout.")
@click.option("--print-ir-after-all", "every", is_flag=True, help="Print the module after each step, to stderr.")
@click.option("--diff", is_flag=True, help="Print what each step changed, to stderr.")
def apply(chosen: Choice, output: Path | None, every: bool, diff: bool) -> None:
    """Apply a schedule to its payload and print the scheduled module."""
    from ...output.console import emit, say, stderr
    from ...runtime.files.writing import write_file

    done = applied_with_progress(chosen, "apply", output, ".mlir")
    if every or diff:
        from ...output.report import show_steps

        show_steps(done, stderr(), snapshots=every, diffs=diff)
    else:
        for step in done.session.steps:
            for text in step.shown:
                stderr().print(f"// {step.text}", text, sep="\n", markup=False, highlight=False, soft_wrap=True)
    for remark in done.unproven:
        say(remark)
    if output is not None:
        write_file(output, done.text.encode())
    else:
        emit(done.text)


@click.command(short_help="Print the kernels' CUDA C++ text.")
@schedule_options(FILE, unproven_option)
@click.option("--kernel", metavar="NAME", help="This kernel alone, with the constants and functions that it uses.")
def emit(chosen: Choice, kernel: str | None) -> None:
    """Apply a schedule to its payload and print the CUDA C++ text of its kernels, which compiles as it is (NVRTC)."""
    from ...output.console import emit, say
    from ...runtime.cuda.module import emit as emitted

    done = applied_with_progress(chosen, "emit")
    text = emitted(done.module, only=kernel)
    for remark in done.unproven:
        say(remark)
    emit(text)


@click.command(short_help="Write a bundle that runs without MLIR.")
@schedule_options(FILE, unproven_option, unchecked_option, assumed_option, entry_option)
@click.option("-o", "output", type=PATH, required=True, metavar="DIR", help="The bundle's folder.")
@click.option("--with-data", is_flag=True, help="Add inputs and the outputs expected for them to the bundle.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Seed of the inputs of `--with-data`.")
@inputs_option
@input_option
@size_option
def build(
    chosen: Choice,
    entry: str | None,
    output: Path,
    with_data: bool,
    seed: int | None,
    inputs: Path | None,
    asked: tuple[str, ...],
    sizes: tuple[str, ...],
) -> None:
    """Write the kernels' CUDA text, the scheduled module and the host plan into DIR.

    Before that the kernels are compared with the payload.

    `weft run DIR` runs it; so does `python -m weft.runtime DIR`, which needs only NumPy and CuPy.
    """
    from ...execution import build_bundle
    from ...output.console import progress, say
    from ...payloads.settings import parse_settings

    told = {"--seed": seed is not None, "--inputs": inputs is not None, "--input": bool(asked), "--size": bool(sizes)}
    if any(told.values()) and not with_data:
        option = next(name for name, is_told in told.items() if is_told)
        raise click.UsageError(f"{option} is for the inputs of --with-data, which is not given")
    wanted, open_ = parse_settings(asked, "--input"), parse_settings(sizes, "--size")
    with progress(f"weft build {chosen.file}") as clock:
        data_seed = (seed or 0) if with_data else None
        done, compared = build_bundle(_opened(chosen, clock), entry, output, data_seed, inputs, wanted, open_)
    for remark in done.unproven:
        say(remark)
    if compared.line is not None:
        say(compared.line)
    say(f"{output}: written")


@click.command(short_help="Step through a schedule, back and forth.")
@schedule_options(
    click.argument("file", metavar="[FILE]", default="", shell_complete=completion.schedules),
    unproven_option,
    piped=False,
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[JOURNAL]",
    help="Resume an interrupted session: the last one, or that of JOURNAL.",
)
def repl(chosen: Choice, resume: str | None) -> int:
    """Step through a schedule and inspect the IR: step, undo, diff, handles, show, next, cuda, run, save.

    Without FILE, you type statements for the payload. Piped input is executed line by line; the exit code is then 1 if
    a line failed.
    """
    from ...pipeline import Choice
    from ...repl.shell import start

    if resume is not None and chosen != Choice(""):
        raise click.UsageError(
            "--resume uses the schedule and the settings of the session: no FILE and no other option"
        )
    if not chosen.file and chosen.payload is None and resume is None:
        raise click.UsageError(
            "the REPL needs a schedule or a payload: `weft repl shared`, or `weft repl --payload gemm.mlir` to type the "
            "statements yourself"
        )
    return start(chosen, resume)
