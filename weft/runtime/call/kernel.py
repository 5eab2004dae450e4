"""`Kernel`: a scheduled program that is called with arrays."""

from __future__ import annotations

import statistics
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

from ...dsl.diagnostics import Diagnostic, WeftError, count, fail, quoted
from ...dsl.records import record
from ..devices.device import Stream
from ..files.bundle import read_bundle
from ..forks import renew_in_forks
from ..plan.plan import Plan, stated_texts
from ..plan.resolve import deciding
from ..plan.signature import Argument, FunctionSignature
from ..run.cupy_device import cupy_module
from .arrays import LIBRARIES, ArrayLayout, library_of
from .binding import ON_GPU, BoundCall, Ready, misfits, number, number_misfits, version_for
from .prepared import CapturedGraph, Prepared
from .targets import GRAPHS, Target, Where, open_target

if TYPE_CHECKING:
    from ...interpreter.ir.mlir import ir

MOST = 64
"""Number of layouts for which a kernel stays prepared."""


@record
class Compiled:
    """The program of a kernel.

    Args:
        name: the schedule's.
        plan: the steps on the host.
        cuda: the kernels as CUDA C++.
        module: the scheduled module as MLIR text.
        signature: of the entry function, with its arguments in order.
        steps: each statement of the schedule with its report; empty for a bundle.
        assumed: for each reduction that is not proven, a line with the reason.
    """

    name: str
    plan: Plan
    cuda: str
    module: str
    signature: FunctionSignature
    steps: tuple[tuple[str, tuple[str, ...]], ...] = ()
    assumed: tuple[str, ...] = ()


@record
class CallTimes:
    """Seconds of repeated calls: by the device's clock if it has one, else by the host's."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        return min(self.seconds)


class Kernel:
    """A scheduled program as a function of arrays.

    `kernel(a, b)` takes the entry function's arguments in order, or by name: arrays with DLPack or
    `__cuda_array_interface__`, and numbers for scalars. Arrays that the function writes are updated
    in place; its results are returned as arrays of the first argument's library: one, or a tuple of
    several. On a GPU, the work is issued to `stream`, or to the library's current one, without
    waiting; on the CPU, it is complete when the call returns. Arrays in the kernel's own memory are
    not copied; NumPy arrays are copied to a GPU and back. Several threads may call a kernel at the
    same time.

    Args of a call:
        out: an array for each result, instead of new ones. They must not overlap the arguments.
        stream: a stream of CuPy's or PyTorch's, an object with `__cuda_stream__`, or a handle as an
            integer.

    Raises:
        WeftError: before anything is launched: W0716 (number or names of arguments), W0717 (shapes,
            element types), W0740 (not an array), W0741 (strides), W0742 (alignment), W0743
            (device), W0744 (overlap), W0745 (read-only), W0746 (stream), W0702 … W0709 (a plan that
            is unsound for these sizes); later the device's errors (W072x).
    """

    def __init__(self, made: Compiled, target: Target) -> None:
        self._made, self._target = made, target
        self.signature = made.signature
        fixed = deciding(made.plan)
        self._free = [a for a in made.signature.arguments if a.shape is None and a.name not in fixed]
        self.renew()
        renew_in_forks(self)
        device = target.device
        with target.current(None):
            device.load(made.cuda if device.wants == "cuda" else made.module, made.plan.kernels)

    def renew(self) -> None:
        """Drops all prepared layouts and replaces the lock, in a forked process: no thread there
        will finish a call of the parent."""
        self._ready: OrderedDict[Any, Ready] = OrderedDict()
        self._lock = threading.Lock()

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The schedule's name."""
        return self._made.name

    @property
    def assumed(self) -> tuple[str, ...]:
        """A line for each reduction of the payload that is not proved to execute once per
        iteration, with the reason."""
        return self._made.assumed

    @property
    def text(self) -> str:
        """The kernels as CUDA C++."""
        return self._made.cuda

    @property
    def plan(self) -> Plan:
        """The plan of the host: buffers, launches, copies, streams. Sizes that depend on the call
        are expressions."""
        return self._made.plan

    @cached_property
    def module(self) -> ir.Module:
        """The scheduled module. Needs MLIR's bindings."""
        from ...interpreter.ir import mlir

        return mlir.parse(self._made.module, mlir.context())

    @property
    def report(self) -> Mapping[str, Any]:
        """A description as plain data: target, device, kernels, and the report of each statement of
        the schedule."""
        return {
            "name": self.name,
            "entry": self.plan.entry,
            "target": "cpu" if self._target.number is None else "cuda",
            "device": self._target.device.name,
            "signature": str(self.signature),
            "kernels": [
                {key: getattr(k, key) for key in ("name", "shared_bytes", "unproven")} for k in self.plan.kernels
            ],
            "compared": self.plan.compared,
            "unchecked": self.plan.unchecked,
            "assumed": [stated_texts(each) for each in self.plan.versions or (self.plan.assumptions,)],
            "steps": [{"statement": text, "remarks": list(remarks)} for text, remarks in self._made.steps],
        }

    def __repr__(self) -> str:
        return f"<weft.Kernel {self.name}: {self.signature} on {self._target.device.name}>"

    def __reduce__(self) -> NoReturn:
        """Raises W0768: a kernel owns memory and streams of a device, so `pickle` and `copy` cannot
        duplicate it."""
        hint = "`weft.build(…)` writes a bundle, and `weft.load_bundle(folder)` makes a kernel of it, in any process"
        raise fail("W0768", f"the kernel {self.name} is this process's own: it cannot be pickled or copied", hint)

    # ---- calling it ------------------------------------------------------------------------------

    def __call__(self, *args: Any, out: Any = None, stream: Any = None, **named: Any) -> Any:
        given, outs = self._in_order(args, named), _many(out)
        if out is not None and not outs and self.signature.results:
            raise self._wrong_outs(0)
        call = self._bound(given, outs, stream)
        if call is None:
            return self._by_way_of_the_device(given, out, stream)
        with self._target.active():
            call.issue(self._lock)
        return out if out is not None else _one(call.results())

    def version(self, *args: Any, **named: Any) -> int | None:
        """The number, from 1, of the version that a call with these arguments takes; None if there
        is only one."""
        return version_for(self.plan, self.signature, self._in_order(args, named))

    def graph(self, *args: Any, out: Any = None, **named: Any) -> CapturedGraph:
        """The call with these arrays as a CUDA graph: a function that repeats it with one driver
        call.

        The graph keeps the arrays alive; their contents may change between calls. Raises the errors
        of a call, and W0724 on the CPU.
        """
        if self._target.number is None:
            raise fail(*GRAPHS, hint="call `kernel(…)` instead of `kernel.graph(…)`")
        given, outs = self._in_order(args, named), _many(out)
        with self._target.current(None):
            own = self._target.device.create_stream()
        call = self._bound(given, outs, own, alone=True)
        if call is None:
            raise fail("W0743", "a graph works on arrays on the GPU, and these are in the host's memory", ON_GPU)
        results = out if out is not None else _one(call.results())
        return CapturedGraph(
            self._target, call.ready.prepared, call.addresses, call.numbers, (given, outs, own), results
        )

    def bench(self, *args: Any, repeat: int = 20, out: Any = None, stream: Any = None, **named: Any) -> CallTimes:
        """Measures `repeat` calls with these arrays, after a warm-up call. Raises the errors of a
        call."""
        call = self._bound(self._in_order(args, named), _many(out), stream)
        if call is None:
            raise fail("W0743", "the arrays are in the host's memory, and copying them would be timed", ON_GPU)
        call.issue(self._lock)
        return CallTimes(tuple(self._timed(call) for _ in range(max(repeat, 1))))

    def _timed(self, call: BoundCall) -> float:
        device, on = self._target.device, call.ready.stream
        device.synchronize()
        start, end = device.create_event(), device.create_event()
        began = time.perf_counter()
        device.record(start, on)
        call.issue(self._lock)
        device.record(end, on)
        device.synchronize()
        spent, timed = time.perf_counter() - began, device.elapsed(start, end)
        for event in (start, end):
            device.destroy_event(event)
        return spent if timed is None else timed

    # ---- arguments -------------------------------------------------------------------------------

    def _in_order(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
        if not named and len(args) == len(self.signature.arguments):
            return args
        names = [a.name for a in self.signature.arguments]
        late = names[len(args) :]
        if len(args) > len(names) or named.keys() != set(late):
            what = {
                "unknown": named.keys() - set(names),
                "given twice": named.keys() & set(names[: len(args)]),
                "missing": set(late) - named.keys(),
            }
            parts = [f"{len(args)} are given"] if len(args) > len(names) else []
            parts += [f"{why} {quoted(sorted(which))}" for why, which in what.items() if which]
            raise self._refused(f"@{self.plan.entry} takes {count(len(names), 'argument')}: {'; '.join(parts)}")
        return (*args, *(named[name] for name in late))

    def _refused(self, message: str) -> WeftError:
        return fail("W0716", message, notes=(f"it is {self.signature}",))

    def _wrong_outs(self, count: int) -> WeftError:
        return self._refused(
            f"`out` has {count} arrays, and @{self.plan.entry} has {len(self.signature.results)} results"
        )

    def _bound(
        self, given: Sequence[Any], outs: Sequence[Any], stream: Any, *, alone: bool = False
    ) -> BoundCall | None:
        """The call with these arrays, checked; None if all of them are NumPy arrays in host memory
        and the kernel runs on a GPU.

        `alone`: prepares it for this call only, not for reuse.
        """
        target, first = self._target, None
        addresses: list[int] = []
        alive: list[object] = []
        key: list[tuple[Any, ...] | None] = []
        numbers: list[tuple[Any, ...]] = []
        for value, argument in zip(given, self.signature.arguments, strict=True):
            if argument.shape is None:
                free = argument in self._free
                (numbers if free else key).append(number(value))
                key += [None] * free
                continue
            library = library_of(type(value))
            first = first or library
            address, layout, *kept = library.read(value)
            addresses.append(address)
            key.append(layout)
            alive += kept
        written: list[tuple[Any, ...]] = []
        for value in outs:
            address, layout, *kept = library_of(type(value)).read(value)
            addresses.append(address)
            written.append(layout)
            alive += kept
        first = first or LIBRARIES["numpy"]
        on = target.stream(stream, first)
        name = (*key, None if on is None else on.ptr)
        ready = None if alone else self._ready.get(name)
        if ready is None:
            found = [
                k if k is None or len(k) != len(ArrayLayout._fields) else ArrayLayout(*k) for k in (*key, *written)
            ]
            on_host = all(k.device is None for k in found if isinstance(k, ArrayLayout))
            if target.number is not None and first.name == "numpy" and on_host:
                return None
            ready = self._prepare(found[: len(key)], on)
            if not alone:  # an evicted entry is freed when the last call that uses it is done
                with self._lock:
                    ready = self._ready.setdefault(name, ready)
                    while len(self._ready) > MOST:
                        self._ready.popitem(last=False)
        if written and tuple(written) not in ready.accepted:
            self._accept(ready, tuple(written))
        if numbers != ready.numbers:
            self._expect_none([p for a, n in zip(self._free, numbers, strict=True) for p in number_misfits(a, n)])
            ready.numbers = numbers
        ready.check(addresses)
        made: list[Any] = []
        if not outs and ready.results:
            with target.current(on):
                made = [first.empty(shape, dtype, target.number) for shape, dtype in ready.results]
            addresses += (library_of(type(array)).read(array)[0] for array in made)
        return BoundCall(ready, addresses, numbers, made, first, alive)

    def _accept(self, ready: Ready, written: tuple[tuple[Any, ...], ...]) -> None:
        """Checks arrays with these layouts for the results, and records the layouts. Raises an
        error with all mismatches."""
        results = self.signature.results
        if len(written) != len(results):
            raise self._wrong_outs(len(written))
        problems: list[Diagnostic] = []
        for result, (shape, _), found in zip(results, ready.results, written, strict=True):
            problems += misfits(
                replace(result, shape=shape), ArrayLayout(*found), written=True, device=self._target.number
            )
        self._expect_none(problems)
        ready.accepted.add(written)

    def _prepare(self, key: Sequence[ArrayLayout | tuple[Any, ...] | None], stream: Stream) -> Ready:
        """Prepares the plan for arrays with these layouts. Raises an error with all mismatches."""
        (arguments, results), device = (self.signature.arguments, self.signature.results), self._target.number
        problems: list[Diagnostic] = []
        shapes: dict[str, tuple[int, ...]] = {}
        scalars: dict[str, Any] = {}
        for argument, found in zip(arguments, key, strict=False):
            if isinstance(found, ArrayLayout):
                shapes[argument.name] = found.shape
                problems += misfits(argument, found, written=argument.role == "inout", device=device)
            elif found is not None:
                scalars[argument.name] = found[1]
                problems += number_misfits(argument, found)
        self._expect_none(problems)
        names = [*(a.name for a in arguments if a.shape is not None), *(r.name for r in results)]
        with self._target.current(stream):
            prepared = Prepared(
                self.plan, self._target.device, shapes, scalars, names, stream, [a.name for a in self._free]
            )
        made = [(prepared.shapes[r.name], r.dtype) for r in results]
        written = [a.role != "input" for a in (*arguments, *results) if a.shape is not None or a.role == "output"]
        return Ready(prepared, names, written, made, stream, self._target.alignment)

    def _expect_none(self, problems: Sequence[Diagnostic]) -> None:
        if problems:
            raise WeftError(*(replace(p, notes=(f"it is {self.signature}",)) for p in problems))

    def _by_way_of_the_device(self, given: Sequence[Any], out: Any, stream: Any) -> Any:
        """Runs a kernel of a GPU on NumPy arrays: copies them to the device, and copies back those
        that are written."""
        cupy = cupy_module()
        pairs = list(zip(self.signature.arguments, given, strict=True))
        read = LIBRARIES["numpy"].read
        results, outs = self.signature.results, _many(out)
        if outs and len(outs) != len(results):
            raise self._wrong_outs(len(outs))
        arrays = ((a, v) for a, v in (*pairs, *zip(results, outs, strict=False)) if a.shape is not None)
        self._expect_none([p for a, v in arrays for p in _on_host(a, ArrayLayout(*read(v)[1]))])
        with self._target.current(None):
            there = [v if a.shape is None else cupy.asarray(v) for a, v in pairs]
            back = [cupy.asnumpy(r) for r in _many(self(*there, stream=stream))]
            whole = [replace(r, shape=b.shape) for r, b in zip(self.signature.results, back, strict=True)]
            outs = outs or back
            self._expect_none(
                [p for r, v in zip(whole, outs, strict=True) for p in _on_host(r, ArrayLayout(*read(v)[1]))]
            )
            changed = [a.role == "inout" and a.shape is not None for a, _ in pairs]
            written = [(v, cupy.asnumpy(d)) for (_, v), d, c in zip(pairs, there, changed, strict=True) if c]
        for host, value in (*written, *zip(outs, back, strict=True)):
            host[...] = value
        return out if out is not None else _one(back)


def _on_host(argument: Argument, found: ArrayLayout) -> Iterator[Diagnostic]:
    return misfits(argument, found, written=argument.role != "input", device=None)


def _many(out: Any) -> tuple[Any, ...]:
    return () if out is None else tuple(out) if isinstance(out, tuple | list) else (out,)


def _one(results: Sequence[Any]) -> Any:
    return None if not results else results[0] if len(results) == 1 else tuple(results)


def load_bundle(path: str | PathLike[str], target: Where = "auto") -> Kernel:
    """The kernel in a bundle's folder; see `Kernel` for calls.

    Args:
        path: the folder that `weft build` wrote.
        target: `cuda`, `cpu`, or `auto`: a GPU if there is one, else the CPU.

    Errors: W0700 … W0713 (not a bundle), W0720 (no GPU). Warns about files that were edited
    (W0738).
    """
    bundle = read_bundle(str(path))
    for warning in bundle.warnings:
        warnings.warn(f"{warning.code}: {warning.message}", stacklevel=2)
    made = Compiled(bundle.path.name, bundle.plan, bundle.cuda, bundle.module, bundle.signature)
    return Kernel(made, open_target(target))
