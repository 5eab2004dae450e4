"""The oracle: the untouched payload, JIT-compiled for the CPU by MLIR's execution engine, run in a
separate process."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...dsl.diagnostics import WeftError, fail
from ...interpreter.ir.mlir import context, ir, load_jit
from ..files.inputs import check_inputs
from ..host.functions import argument_names, entry_function, out_arguments, signature
from ..plan.dtypes import HALVES, NUMPY, Floats, widen
from ..plan.signature import Argument, FunctionSignature
from .allow_lists import expect_payload
from .checked_indices import CheckedIndices
from .launches import serialize_launches
from .lowering import lower
from .machine_code import invoke, linked, refusing
from .widening import copy_at_once, widen_floats
from .worker import Died, begin, call, ended_by, fork_early

WAY_OUT = "run without a reference: `--reference none`"

FAILED = ("W0800", "lower"), ("W0801", "link")
"""Diagnostic codes of steps that may fail, with the step's name."""

LOWERING, COMPILING, RUNNING = "the passes", "the compilation", "the run"
"""Stages of a worker, for reports of its death."""


def reference(
    payload: ir.Module, entry: str | None, inputs: Mapping[str, np.ndarray], floats: Floats = "f32"
) -> dict[str, np.ndarray]:
    """The outputs of the payload's function for `inputs`: its `inout` arguments and its results, by
    name.

    Halves (f16, bf16, f8) are computed in f32, and their outputs are f32.

    Args:
        floats: `f64`: all floats are computed in f64; `own`: all floats are computed in their own
            types, so that each op rounds halves.

    Payload and inputs are not changed. The payload is compiled and run in a worker process: a
    payload that divides by zero ends the worker, not this process.

    Errors: W0732 (several functions, or none of that name), W0716, W0717 (inputs), W0652 (an index
    that depends on data is out of bounds), W0800 … W0802 (a payload that the CPU cannot run), W0803
    (a payload that ended the worker).
    """
    named = signature(payload, entry)
    given = check_inputs(named, inputs)
    code = io.BytesIO()
    payload.operation.write_bytecode(code)
    try:
        return call(computed, code.getvalue(), named.entry, given, floats)
    except Died as death:
        raise _ended(named.entry, death) from None


def prepare() -> None:
    """Starts a worker that has imported the modules that `reference` needs. `worker.fork_early`
    states when this may be called. The first MLIR context of a process takes fifty times as long as
    the next. It creates no thread, so it is created here, before the fork, and the worker's own is
    fast."""
    load_jit()
    context()
    fork_early()


def computed(code: bytes, entry: str, given: Mapping[str, np.ndarray], floats: Floats = "f32") -> dict[str, np.ndarray]:
    """The result of `reference`, computed in this process, for a payload as bytecode and for
    checked inputs."""
    return CompiledPayload(code, entry, floats)(given)


class CompiledPayload:
    """A function of the payload as machine code. Called with checked inputs, it returns its outputs
    by name, as `reference` does. Globals that it writes keep their values until the next call. The
    constructor raises the errors of `reference`."""

    def __init__(self, code: bytes, entry: str, floats: Floats = "f32", effort: int = 2) -> None:
        begin("the reading")
        module = ir.Module.parse(code, context())
        self.named, self.wide = signature(module, entry), "f64" if floats == "f64" else "f32"
        self.widened: dict[str, str] = {}
        function = entry_function(module, entry)
        function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get(module.context)
        function.attributes["sym_visibility"] = ir.StringAttr.get("public", module.context)
        self.names, self.is_out = argument_names(function), out_arguments(function)
        lowering, linking = ((code, f"the CPU reference cannot {do} @{entry}") for code, do in FAILED)
        with refusing("W0802", lowering, linking, WAY_OUT):
            begin(LOWERING)
            expect_payload(module)
            copy_at_once(module)  # bytes of halves are not those of their widened values
            if floats != "own" and widen_floats(module, floats):
                narrower = (*HALVES, "f32") if floats == "f64" else HALVES
                self.widened = {a.name: a.dtype for a in self.named.arguments if a.dtype in narrower}
                arguments = tuple(replace(a, dtype=floats) if a.dtype in narrower else a for a in self.named.arguments)
                results = tuple(replace(r, dtype=floats) if r.dtype in narrower else r for r in self.named.results)
                self.named = FunctionSignature(self.named.entry, arguments, results)
            serialize_launches(module)
            self.checked = CheckedIndices(self.named.entry, self.names)
            lower(module, self.checked.insert)
            begin(COMPILING)
            self.engine, _ = linked(module, [f"_mlir_ciface_{self.named.entry}"], effort)
            self.checked.find_record(self.engine)

    def __call__(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Calls the function on copies of the inputs. Allocates the arguments that represent
        results."""
        named = self.named
        declared = {a.name: a for a in (*named.arguments, *named.results)}
        arrays = {
            name: _fresh(declared[name]) if out else self._copy(name, given[name])
            for name, out in zip(self.names, self.is_out, strict=True)
        }
        returned = [r for r in named.results if r.name not in arrays]
        scalars = [declared[name].shape is None for name in self.names]
        self.checked.begin()
        begin(RUNNING)
        values = invoke(self.engine, named.entry, [arrays[n] for n in self.names], scalars, returned)
        self.checked.expect_inside()
        outputs = arrays | {r.name: value for r, value in zip(returned, values, strict=True)}
        return {o.name: outputs[o.name] for o in named.outputs}

    def _copy(self, name: str, array: np.ndarray) -> np.ndarray:
        return widen(array, self.widened[name]).astype(NUMPY[self.wide]) if name in self.widened else array.copy()


def _ended(entry: str, death: Died) -> WeftError:
    """The diagnostic for a payload that ended its worker."""
    words = ended_by(death.status)
    output = [line for line in death.output.splitlines() if line.strip()][:2]
    if death.stage != RUNNING:
        stage = death.stage or "the start of the worker"
        message = f"{words.signal} has ended {stage} for the CPU reference of @{entry}"
        return fail("W0803", message, WAY_OUT, notes=tuple(output))
    return fail(
        "W0803",
        f"{words.signal} has ended @{entry}, compiled for the CPU as the reference",
        notes=(*([f"probably {words.cause}"] if words.cause else []), *output),
        hint=f"give it inputs that it is defined for (`--inputs x.npz`), or {WAY_OUT}",
    )


def _fresh(result: Argument) -> np.ndarray:
    if result.shape is None or None in result.shape:
        raise fail(
            "W0800",
            f"the shape of the result `{result}` is not known",
            hint="give the result a static shape, such as `tensor<64x128xf32>`",
        )
    return np.zeros([s for s in result.shape if s is not None], NUMPY[result.dtype])
