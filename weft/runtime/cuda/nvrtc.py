"""Compilation of the text without a GPU: NVRTC from the wheel `nvidia-cuda-nvrtc`, through ctypes.

Needs neither MLIR nor a CUDA driver. ptxas reports registers, spills and shared memory of each
kernel in the log.
"""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from pathlib import Path

from ...dsl.diagnostics import Diagnostic, WeftError
from ...dsl.records import record

INSTALL = "`pip install 'weft-gpu[predict]'`"
"""Command that installs compiler and disassembler; it also works in a checkout, where pip adds the
extras of the installed package."""

ARCHITECTURES = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a")


UNFOLDED = "WEFT_UNFOLDED"
"""Macro that excludes kernels for folded grids from compilation (`values/blocks.py`): few launches
need them."""


def compile_options() -> tuple[str, ...]:
    """The options for compiling kernels, here and on a device, without the architecture.

    `--fmad=true` permits contraction of a product and a sum into one rounding: it is faster, and
    closer to the exact result. It does not affect f16 and bf16 (each operation ends with a
    conversion) nor integers. Denormals are kept, and division and square root are IEEE's: these are
    NVRTC's defaults, stated because CuPy adds `-ftz=true`.
    """
    return ("--std=c++17", "--fmad=true", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")


@record
class KernelResources:
    """Resources of a kernel, from ptxas: registers per thread, memory in bytes."""

    registers: int
    spill_bytes: int
    stack_bytes: int
    shared_bytes: int


@record
class CompileResult:
    """The result of NVRTC: the cubin, its log, and the resources of each kernel."""

    cubin: bytes
    log: str
    kernels: dict[str, KernelResources]

    @property
    def registers(self) -> dict[str, int]:
        return {name: k.registers for name, k in self.kernels.items()}

    @property
    def spill_bytes(self) -> int:
        """Bytes stored and loaded because registers ran out, over all kernels."""
        return sum(k.spill_bytes for k in self.kernels.values())


def compile_cubin(text: str, arch: str) -> CompileResult:
    """Compiles `text` for `arch` (`sm_80`, …, `sm_90a`).

    Raises:
        WeftError: W0505, if NVRTC is not installed or finds errors in the text (its log is in the
            notes).
    """
    library = _library()
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None))
    try:
        flags = [f"--gpu-architecture={arch}", *compile_options(), "--ptxas-options=-v"]
        array = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        status = library.nvrtcCompileProgram(program, len(flags), array)
        log = _fetch(library, program, "ProgramLog").decode(errors="replace")
        if status:
            raise _failure(f"NVRTC refuses the text for {arch}: {_reason(library, status)}", log)
        cubin = _fetch(library, program, "CUBIN")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
    return CompileResult(cubin, log, _resources(log))


def _resources(log: str) -> dict[str, KernelResources]:
    found: dict[str, KernelResources] = {}
    for part in log.split("Compiling entry function '")[1:]:
        name = part.split("'", 1)[0]

        def number(pattern: str, part: str = part) -> int:
            return sum(int(n) for n in re.findall(pattern, part))

        patterns = (r"Used (\d+) registers", *(rf"(\d+) bytes {what}" for what in ("spill", "stack frame", "smem")))
        found[name] = KernelResources(*map(number, patterns))
    return found


def _fetch(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw if what == "CUBIN" else buffer.value


def _reason(library: ctypes.CDLL, status: int) -> str:
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library.nvrtcGetErrorString(status).decode()


def _check(library: ctypes.CDLL, status: int) -> None:
    if status:
        raise _failure(f"NVRTC fails: {_reason(library, status)}", "")


def _failure(message: str, log: str) -> WeftError:
    return WeftError(Diagnostic("W0505", message, notes=tuple(line for line in log.splitlines() if line.strip())[:20]))


@cache
def _library() -> ctypes.CDLL:
    """The newest NVRTC among the installed wheels, else the system's."""
    candidates: list[str] = []
    unix, windows = "lib/libnvrtc.so.*", "nvrtc64_*_0.dll"
    places = (f"cu*/{unix}", f"cuda_nvrtc/{unix}", f"cu*/bin/x86_64/{windows}", f"cuda_nvrtc/bin/{windows}")
    for entry in sys.path:
        for pattern in (f"nvidia/{place}" for place in places):
            found = sorted(Path(entry or ".").glob(pattern), reverse=True)
            candidates += [str(path) for path in found if "alt" not in path.name]
    for name in [*candidates, "libnvrtc.so"]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise WeftError(Diagnostic("W0505", "NVRTC is not installed", hint=INSTALL))
