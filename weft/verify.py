"""Verifies a complete module from another compiler: each kernel for each of its launches, and the
order of the launches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Any

from .dsl.diagnostics import Diagnostic, Source, WeftError, as_json
from .dsl.records import record
from .interpreter.ir import mlir
from .interpreter.ir.functions import callee, most_of, multiples_of, name_of, symbol
from .interpreter.ir.mlir import ir
from .interpreter.ir.refusing import describe
from .interpreter.ir.structured import shape_of
from .interpreter.memory.table import FREEING
from .interpreter.proof.hosts.effects import DEVICE, Effects, compiled_kernels
from .interpreter.proof.hosts.events import uses_tokens
from .interpreter.proof.hosts.faults import judge_host
from .interpreter.proof.kernels.kernels import KernelUse, kernel_uses, model_of, same_use
from .interpreter.proof.kernels.model import KernelModel
from .interpreter.proof.races.proof import Findings
from .payloads.naming import WrittenNames
from .payloads.payload import parse_module
from .runtime.run.report import plain

Sizes = tuple[int | None, int | None, int | None]


@record(kw_only=True)
class _Part:
    """A verified part of a module. `distinct`: the buffers that were assumed to be distinct memory."""

    name: str
    place: str
    diagnostics: tuple[Diagnostic, ...]
    distinct: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.diagnostics

    @property
    def faults(self) -> list[dict[str, Any]]:
        return [as_json(d) for d in self.diagnostics]


UNKNOWN: Sizes = (None, None, None)


@record(kw_only=True)
class Judged(_Part):
    """A kernel as one launch uses it.

    Args:
        name, place: `@mm`, and the launch (or the kernel, if nothing launches it).
        block, grid: sizes; None for an unknown size: the verdict then holds for all. `cluster`: the
            number of blocks.
        barriers: the number of barriers in its text; `superfluous`: those that can be removed.
        races: as in `weft run --json`, each with a flag for a race that is only assumed.
    """

    block: Sizes
    grid: Sizes
    barriers: int
    superfluous: tuple[str, ...]
    races: tuple[dict[str, Any], ...]
    cluster: tuple[int, int, int] = (1, 1, 1)
    judged: bool = True
    """False if the kernel cannot be verified; the diagnostics state the reason."""

    @staticmethod
    def refused(use: KernelUse, diagnostics: tuple[Diagnostic, ...]) -> Judged:
        """The entry of a kernel that cannot be verified; other kernels are verified nevertheless."""
        placed = tuple(replace(d, payload=d.payload or use.place) for d in diagnostics)
        none: dict[str, Any] = {"block": UNKNOWN, "grid": UNKNOWN, "barriers": 0, "superfluous": (), "races": ()}
        return Judged(name=use.name, place=use.place, diagnostics=placed, distinct=(), **none, judged=False)

    def launched_by(self, place: str, noted: bool) -> Judged:
        """The verdict, repeated for another launch. `noted`: each diagnostic names the launch, as
        the kernel has several."""
        with_launch = tuple(replace(d, notes=(*d.notes, f"as launched by {place}")) for d in self.diagnostics)
        return replace(self, place=place, diagnostics=with_launch if noted else self.diagnostics)

    @property
    def verdict(self) -> Hashable:
        """A key that is equal for launches of one kernel in one shape with the same diagnostics."""
        found = tuple((d.code, d.message, str(d.span)) for d in self.diagnostics)
        return self.name, self.block, self.grid, self.barriers, self.superfluous, found


@record(kw_only=True)
class JudgedHost(_Part):
    """A host function that uses tokens or frees memory.

    Args:
        operations: the number of its launches, copies, allocations and frees.
        tokens: the number of tokens that it creates.
    """

    operations: int
    tokens: int


@record
class Verdict:
    """The result for a whole module."""

    kernels: tuple[Judged, ...]
    hosts: tuple[JudgedHost, ...] = ()
    compiled: tuple[str, ...] = ()
    """Launched kernels that are compiled already (`gpu.binary`): they are assumed to read and write
    only their arguments."""
    multiples: tuple[str, ...] = ()
    """The assumptions on sizes known at run time only, such as `A.1 % 16 == 0`: the host checks
    them before a run."""
    refused: tuple[Diagnostic, ...] = ()
    """The errors outside of kernels and functions: a launch of a kernel that does not exist."""

    @property
    def ok(self) -> bool:
        return not self.diagnostics

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return (*(d for part in (*self.kernels, *self.hosts) for d in part.diagnostics), *self.refused)

    @property
    def distinct(self) -> tuple[str, ...]:
        """The buffers of all kernels and host functions that were assumed to be distinct memory."""
        return tuple(dict.fromkeys(name for part in (*self.kernels, *self.hosts) for name in part.distinct))

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "kernels": plain(self.kernels, "name place judged block grid cluster barriers superfluous ok races"),
            "functions": plain(self.hosts, "name place operations tokens ok faults"),
            "assumed_distinct": list(self.distinct),
            "assumed_compiled": list(self.compiled),
            "assumed_multiples": list(self.multiples),
            "diagnostics": [as_json(d) for d in self.diagnostics],
        }


def verify_source(
    source: Source,
    *,
    block: Sizes | None = None,
    grid: Sizes | None = None,
    may_alias: bool = False,
    share: Callable[[float], None] = lambda _: None,
) -> Verdict:
    """Verifies every kernel of the module in `source`, and the tokens, streams and memory of its
    host functions.

    Args:
        block, grid: sizes for launches and kernels that do not state them.
        may_alias: whether buffers from outside may overlap; otherwise they are assumed to be
            distinct, and the verdict lists them.
        share: is called with the share of the launches that are done, from 0 to 1.

    Raises:
        WeftError: W0487, W0625 to W0628 for a module that does not parse. Parts that cannot be
            verified are in the verdict.
    """
    module = parse_module(source)
    called = _inline_launchers(module)
    names = WrittenNames(source)
    judged: list[Judged] = []
    hosts: list[JudgedHost] = []
    refused: list[Diagnostic] = []  # one part that cannot be verified must not hide the others
    try:
        found = kernel_uses(module)
    except WeftError as error:
        found = []
        refused += error.diagnostics
    launches = Counter(use.name for use in found)
    judged_uses: dict[Hashable, Judged] = {}
    for number, use in enumerate(found):
        share(number / len(found))
        try:
            key = same_use(use)
            if key not in judged_uses:
                model = model_of(use, block=block, grid=grid, names=names, may_alias=may_alias)
                judged_uses[key] = _judge(use, model, source, may_alias)
            judged.append(judged_uses[key].launched_by(use.place, noted=launches[use.name] > 1))
        except WeftError as error:
            judged.append(Judged.refused(use, error.diagnostics))
    try:
        hosts = list(_judge_hosts(module, source, names, may_alias, called))
    except WeftError as error:
        refused += error.diagnostics
    if not (found or hosts or refused or compiled_kernels(module)):
        hint = "`weft verify` judges `gpu.launch`, `gpu.func … kernel` in a `gpu.module`, and tokens and frees of host functions"
        refused.append(Diagnostic("W0611", "the module has no kernel", hint=hint))
    return Verdict(tuple(judged), tuple(hosts), compiled_kernels(module), stated_multiples(module), tuple(refused))


def stated_multiples(module: ir.Module) -> tuple[str, ...]:
    """The assumptions on sizes of arguments stated by functions and by kernels without a launch."""
    launched = set(map(callee, mlir.operations(module.operation, "gpu.launch_func")))
    found: dict[str, None] = {}
    for function in mlir.operations(module.operation, "func.func", "gpu.func"):
        if function.name == "gpu.func" and any(name.endswith(f"::{symbol(function)}") for name in launched):
            continue
        for value in function.regions[0].blocks[0].arguments if len(function.regions[0].blocks) else ():
            name = name_of(value) or f"arg{value.arg_number}"
            multiples, most = multiples_of(value), most_of(value)
            open_ = [d for d, size in enumerate(shape_of(value) if multiples or most else ()) if size is None]
            found |= dict.fromkeys(f"{name}.{d} % {multiples[d]} == 0" for d in open_ if multiples and multiples[d] > 1)
            found |= dict.fromkeys(f"{name}.{d} <= {most[d]}" for d in open_ if most and most[d] >= 0)
    return tuple(found)


def _judge_hosts(
    module: ir.Module, source: Source, names: Callable[[ir.Value], str | None], may_alias: bool, called: set[str]
) -> Iterator[JudgedHost]:
    """The entries of host functions that use tokens or free memory. A private function that was
    inlined at its calls is verified there."""
    effects = Effects(module)
    for function in mlir.operations(module.operation, "func.func"):
        name = symbol(function)
        frees = any(mlir.operations(function, *FREEING))
        private = "sym_visibility" in function.attributes and name in called
        if not len(function.regions[0].blocks) or private or not (frees or uses_tokens(function)):
            continue
        found = judge_host(function, effects, source=source, names=names, may_alias=may_alias)
        known = {"distinct": found.distinct, "operations": found.operations, "tokens": found.tokens}
        yield JudgedHost(name=f"@{name}", place=describe(function), diagnostics=tuple(found.diagnostics), **known)


def _judge(use: KernelUse, model: KernelModel, source: Source, may_alias: bool) -> Judged:
    found = Findings(model, source)
    return Judged(
        name=use.name,
        place=use.place,
        diagnostics=tuple(found.diagnostics()),
        distinct=() if may_alias else _assumed_distinct(model),
        block=model.shape.block,
        grid=model.shape.grid,
        cluster=model.shape.cluster,
        barriers=len(model.barriers) + len(model.divergent),
        superfluous=tuple(b.op for b in found.superfluous()),
        races=tuple(
            {
                "kind": c.kind, "buffer": c.buffer, "element": list(c.element), "assumed": c.assumed,
                "between": "blocks" if c.across_blocks else "threads",
                "first": c.first_op if c.first is None else str(c.first),
                "second": c.second_op if c.second is None else str(c.second),
            }
            for c in found.conflicts
        ),
    )  # fmt: skip


def _assumed_distinct(model: KernelModel) -> tuple[str, ...]:
    """The buffers from outside that the kernel uses, if there are several and it writes at least
    one of them."""
    used = {a.buffer.name: a.kind for a in model.accesses if a.buffer.foreign}
    written = any(a.kind == "write" for a in model.accesses if a.buffer.foreign)
    return tuple(used) if written and len(used) > 1 else ()


def _inline_launchers(module: ir.Module) -> set[str]:
    """Inlines called host functions that launch, wait or free: this shows which arguments of a call
    are the same buffer, and for which tokens it waits. Returns the called functions."""
    functions = mlir.operations(module.operation, "func.func")
    found = (f for f in functions if uses_tokens(f) or any(mlir.operations(f, *FREEING, *DEVICE)))
    inlined = set(map(symbol, found))
    calls = set(map(callee, mlir.operations(module.operation, "func.call")))
    if inlined.intersection(calls):
        mlir.run_passes(module, "inline{default-pipeline=}")
    return calls
