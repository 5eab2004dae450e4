"""Run emitted CUDA C++ on the CPU: by g++ behind `cuda/shim/cuda_shim.h`, the text as it is.

    run_native(text, "mm", grid, block, [a, b, c])                  # fibers: fast, for values; arrays change in place
    run_native(text, "mm", grid, block, [a, b, c], mode="quick")    # the same for texts that run shorter than they compile
    run_native(text, "mm", grid, block, [a, b, c], mode="tsan")     # threads under the thread sanitizer: .races
    run_native(text, "mm", grid, block, [a, b, c], mode="ucontext") # fibers, switched as on machines without an assembly switch
    run_native(text, "mm", grid, block, [a, b, c], mode="guarded")  # quick; indices outside of arrays are told: .outside

Arguments follow `weft.runtime.cuda`, flattened: an array for a pointer (C-contiguous), a `NativeMap` for a tensor map, a NumPy
scalar or a Python number for anything else (`int` is a `long long`, `float` a `double`: pass `np.float32(x)` for an f32).
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from weft.interpreter.hardware.limits import PixelWindow
from weft.runtime.plan.plan import Boxes

SHIM = Path(__file__).parent / "runtime" / "cuda" / "shim"
KERNEL = re.compile(r'extern "C" __global__ void (?:__(?:cluster_dims|launch_bounds|maxnreg)__\([\d, ]+\) )*(\w+)\(')
CLUSTER = re.compile(r"__cluster_dims__\((\d+, \d+, \d+)\) (?:__\w+__\([\d, ]+\) )*(\w+)\(")
SHARED = re.compile(r"^( *)((?:alignas\(\d+\) )?)__shared__ (\w+(?: \w+)*) (\w+)((?:\[\d+\])+);", re.MULTILINE)
ARRAY = re.compile(r"^( *(?:alignas\(\d+\) )?(?:__shared__ )?)(\w+(?: \w+)*) (\w+)((?:\[\d+\])+);", re.MULTILINE)
FLAGS = ("-std=c++20", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-Werror=narrowing")


@dataclass(frozen=True)
class NativeMap:
    """A tensor map of an array, or of rows in the front of an array's: the boxes that are copied, as `weft.runtime.plan.plan.Boxes`
    says.

    Args:
        array: what memory is there.
        seen: what of it the map is of, from its first element on; None: all.
    """

    array: np.ndarray
    boxes: Boxes
    seen: np.ndarray | None = None

    def words(self, address: int) -> bytes:
        """As `warp_groups.h` reads it, where the array begins at this address."""
        seen = self.array if self.seen is None else self.seen
        assert seen.ctypes.data == self.array.ctypes.data
        rank, item, window = seen.ndim, seen.itemsize, self.boxes.window or PixelWindow((), (), ())
        tensor = (seen.shape, seen.strides, self.boxes.box)
        lists = [*((5, part) for part in tensor), *((3, part) for part in (window.lower, window.upper, window.steps))]
        numbers = (n for count, part in lists for n in (*part, *[0] * (count - len(part))))
        words = address, rank, item, self.boxes.swizzle, self.boxes.fill == "nan", *numbers
        return struct.pack("<QBBBB5I5q5H3h3h3H", *words).ljust(128, b"\0")


@dataclass(frozen=True)
class ByValue:
    """An argument that is passed as these bytes."""

    data: bytes


Argument = np.ndarray | NativeMap | ByValue | np.generic | int | float | bool
Mode = Literal["fibers", "quick", "ucontext", "tsan", "guarded"]


@dataclass(frozen=True)
class NativeResult:
    """`races`: the sanitizer's reports (tsan only). `diverged`: a barrier was not reached by all threads (fibers only).
    `outside`: an index was outside of its shared or private array (guarded only). `wrong`: something that the hardware has not, of
    what warp groups do (printed)."""

    races: tuple[str, ...] = ()
    diverged: bool = False
    outside: bool = False
    wrong: bool = False


def run_native(
    text: str,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    args: Sequence[Argument],
    mode: Mode = "fibers",
    *,
    reverse: bool = False,
    poison: int = 0xFF,
) -> NativeResult:
    """Run one kernel of `text`. Arrays among `args` are changed in place, as device buffers would be.

    Args:
        reverse: (fibers) run the threads of a block from last to first.
        poison: (guarded) what every byte of shared memory is when a block starts.

    Raises:
        RuntimeError: g++ refuses the text (its messages), or the run crashes or hangs.
    """
    for a in map(_memory, args):
        if isinstance(a, np.ndarray) and not (a.flags.c_contiguous and a.flags.writeable):
            raise ValueError("arrays must be C-contiguous and writeable")
    if kernel not in KERNEL.findall(text):
        raise ValueError(f"the text has no kernel {kernel!r}")
    three = tuple((*grid, 1, 1)[:3]), tuple((*block, 1, 1)[:3])
    if mode == "tsan":
        return _threads(text, kernel, *three, args)
    return _fibers(text, kernel, *three, args, reverse, mode, poison)


# ---- building ---------------------------------------------------------------------------------------------------------


@cache
def _folder() -> Path:
    """Where binaries lie, by the hash of what they are made from; kept between runs of the tests."""
    folder = Path(tempfile.gettempdir()) / f"weft-native-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def source(text: str) -> str:
    """The translation unit: the header, the text, and one entry per kernel.

    `static` cannot stand beside `extern`, so the declaration of dynamic shared memory is rewritten; and those of shared arrays,
    where blocks run side by side.
    """
    text = re.sub(r"(?:alignas\(\d+\) )?extern __shared__ float4 (\w+)\[\];", r"float4* \1 = shim_own_dynamic();", text)
    clusters = {kernel: sizes for sizes, kernel in CLUSTER.findall(text)}
    if clusters:
        text = SHARED.sub(r"\1\2static \3 shim_all_\4[shim_most_blocks]\5; auto& \4 = shim_part(shim_all_\4);", text)
    entries = [
        f'extern "C" int run_{k}(const unsigned* grid, const unsigned* block, void** args) {{ '
        f"return shim_launch({k}, {{{clusters.get(k, '1, 1, 1')}}}, grid, block, args); }}"
        for k in KERNEL.findall(text)
    ]
    cases = "".join(f'  if (!std::strcmp(name, "{k}")) return run_{k}(g, b, args);\n' for k in KERNEL.findall(text))
    dispatch = f"int shim_dispatch(const char* name, unsigned* g, unsigned* b, void** args) {{\n{cases}  return 4;\n}}"
    header = "fragments.h" if re.search(r"\b(mma_m|load_matrices_x)\d", text) else "cuda_shim.h"
    header = "warp_groups.h" if re.search(r"\b(barrier_init|(load|store)_box_\dd)\b", text) else header
    return "\n".join([f'#include "{header}"', *_products(text), text, *entries, "#ifdef SHIM_THREADS", dispatch,
                      '#include "sanitized.inc"', "#endif", ""])  # fmt: skip


def _products(text: str) -> list[str]:
    """The products of warp groups that a text has, for `warp_groups.h` to define."""
    found = sorted(set(re.findall(r"\b(product_m64n(\d+)k(\d+)_(\w+?)(_in_f16)?(_held)?(_by_rows)?)\(", text)))
    return [
        f"SHIM_PRODUCT_IN_PAIRS({name}, {n}, {k}, {kind})" if pairs
        else f"SHIM_HELD_PRODUCT({name}, {n}, {k}, {kind}, {'true' if rows else 'false'})" if held
        else f"SHIM_PRODUCT({name}, {'int' if kind == 'i8' else 'float'}, {n}, {k}, {kind}, {'true' if rows else 'false'})"
        for name, n, k, kind, pairs, held, rows in found
    ]


def guarded(text: str) -> str:
    """Arrays that know their sizes."""
    return ARRAY.sub(lambda found: f"{found[1]}shim_array<{found[2]}, {found[4][1:-1].replace('][', ', ')}> {found[3]};", text)


def build(text: str, mode: Mode = "fibers") -> Path:
    """The shared library (fibers) or the executable (tsan) for `text`, compiled if it isn't there yet."""
    unit = source(guarded(text) if mode == "guarded" else text)
    extra = {
        "fibers": ("-O1", "-shared", "-fPIC"),
        "quick": ("-O0", "-shared", "-fPIC"),
        "ucontext": ("-O1", "-shared", "-fPIC", "-DSHIM_UCONTEXT"),
        "guarded": ("-O0", "-shared", "-fPIC", "-DSHIM_GUARDED", "-ftrivial-auto-var-init=pattern"),
        "tsan": ("-O1", "-g", "-fsanitize=thread", "-DSHIM_THREADS", "-pthread"),
    }[mode]
    shim = b"".join(p.read_bytes() for p in sorted(SHIM.iterdir()))
    key = hashlib.sha256(" ".join((*FLAGS, *extra)).encode() + shim + unit.encode()).hexdigest()[:24]
    target = _folder() / (key if mode == "tsan" else f"{key}.so")
    if target.exists():
        return target
    compiler = shutil.which("g++")
    if compiler is None:
        raise RuntimeError("g++ is needed to run the emitted text on the CPU")
    flags = (compiler, *FLAGS, *extra)
    apart = () if mode == "tsan" else ("-DSHIM_APART",)
    included = unit.partition('"')[2].partition('"')[0]
    header = _precompiled(included, (*flags, *apart), shim)
    objects = () if mode == "tsan" else (str(_runtime(flags, shim)),)
    with tempfile.TemporaryDirectory(dir=_folder()) as scratch:
        made, cpp = Path(scratch) / "made", Path(scratch) / "unit.cpp"
        cpp.write_text(unit)
        linker = ("-fuse-ld=gold",) if mode != "tsan" and shutil.which("ld.gold") else ()  # a third of the time
        command = [*flags, *apart, *linker, f"-I{header}", str(cpp), *objects, "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"g++ refuses the text:\n{done.stderr[:4000]}")
        made.replace(target)
    return target


def _precompiled(included: str, flags: Sequence[str], shim: bytes) -> Path:
    """A folder with the shim, and the header that the unit includes precompiled: reading the standard library takes longer than the
    rest of a kernel. A header that another one includes would not be taken from its precompiled form."""

    def compile(copy: Path) -> None:
        command = [*flags, "-x", "c++-header", str(copy / included), "-o", f"{copy / included}.gch"]
        subprocess.run(command, capture_output=True, text=True, check=True)

    return _once(compile, included, flags, shim)


def _runtime(flags: Sequence[str], shim: bytes) -> Path:
    """The object of what runs threads, for all units with these flags; optimized, which the kernels need not be."""

    def compile(copy: Path) -> None:
        command = [*flags[:1], *(flag for flag in flags[1:] if flag != "-shared"), "-O1", "-c", str(copy / "runtime.cpp")]
        subprocess.run([*command, "-o", str(copy / "runtime.o")], capture_output=True, text=True, check=True)

    return _once(compile, "runtime.cpp", flags, shim) / "runtime.o"


def _once(compile: Callable[[Path], None], what: str, flags: Sequence[str], shim: bytes) -> Path:
    """A copy of the shim's folder, with what `compile` adds to it."""
    folder = _folder() / f"shim-{hashlib.sha256(' '.join((what, *flags)).encode() + shim).hexdigest()[:24]}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=_folder()) as scratch:
            copy = Path(scratch) / "shim"
            shutil.copytree(SHIM, copy)
            compile(copy)
            with contextlib.suppress(OSError):  # another process was faster
                copy.rename(folder)
    return folder


# ---- running ----------------------------------------------------------------------------------------------------------


def _memory(value: Argument) -> np.ndarray | None:
    """The array that an argument shows."""
    return value.array if isinstance(value, NativeMap) else value if isinstance(value, np.ndarray) else None


def _scalar(value: Argument) -> bytes:
    """The bytes of a parameter that is passed by value."""
    if isinstance(value, ByValue):
        return value.data
    assert not isinstance(value, NativeMap | np.ndarray)
    if isinstance(value, np.generic):
        return value.tobytes()
    if isinstance(value, bool):
        return struct.pack("<?", value)
    return struct.pack("<q", value) if isinstance(value, int) else struct.pack("<d", value)


def _fibers(text: str, kernel: str, grid: tuple, block: tuple, args: Sequence[Argument], reverse: bool,
            mode: Mode = "fibers", poison: int = 0xFF) -> NativeResult:  # fmt: skip
    library = ctypes.CDLL(str(build(text, mode)))
    arrays = [None if (a := _memory(value)) is None else _aligned(a) for value in args]
    cells: list[np.ndarray] = []
    for value, array in zip(args, arrays, strict=True):
        if isinstance(value, NativeMap) and array is not None:
            data = value.words(array.ctypes.data)
        else:
            data = struct.pack("<Q", array.ctypes.data) if array is not None else _scalar(value)
        room = np.zeros(len(data) + 128, np.uint8)
        start = -room.ctypes.data % 64
        cells.append(room[start : start + max(8, len(data))])
        cells[-1][: len(data)] = np.frombuffer(data, np.uint8)
    pointers = (ctypes.c_void_p * max(1, len(cells)))(*(c.ctypes.data for c in cells))
    sizes = [(ctypes.c_uint * 3)(*three) for three in (grid, block)]
    libc = ctypes.CDLL(None)
    (libc.setenv(b"SHIM_REVERSE", b"1", 1) if reverse else libc.unsetenv(b"SHIM_REVERSE"))
    libc.setenv(b"SHIM_POISON", str(poison).encode(), 1)
    status = getattr(library, f"run_{kernel}")(*sizes, pointers)
    for value, array in zip(map(_memory, args), arrays, strict=True):
        if isinstance(value, np.ndarray) and array is not value:
            value[...] = array
    return NativeResult(diverged=status == 1, outside=status == 2, wrong=status == 3)


def _aligned(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy, at an address that vector accesses may use."""
    if array.ctypes.data % 16 == 0:
        return array
    room = np.empty(array.nbytes + 16, np.uint8)
    start = -room.ctypes.data % 16
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _threads(text: str, kernel: str, grid: tuple, block: tuple, args: Sequence[Argument]) -> NativeResult:
    program = build(text, "tsan")
    with tempfile.TemporaryDirectory(dir=_folder()) as scratch:
        given, made = Path(scratch) / "given", Path(scratch) / "made"
        with given.open("wb") as out:
            for a in args:
                data = _scalar(a) if (memory := _memory(a)) is None else memory.tobytes()
                kind = b"m" if isinstance(a, NativeMap) else b"s" if memory is None else b"p"
                out.write(kind + struct.pack("<Q", len(data)) + data + (a.words(0) if isinstance(a, NativeMap) else b""))
        command = [*_fixed_addresses(), str(program), kernel, *map(str, (*grid, *block)), str(given), str(made)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "TSAN_OPTIONS": "exitcode=66 report_signal_unsafe=0"})  # fmt: skip
        if done.returncode == 5:
            return NativeResult(races=_races(done.stderr), wrong=True)
        if done.returncode not in (0, 66):
            raise RuntimeError(f"the sanitized run ends with {done.returncode}:\n{done.stderr[-2000:]}")
        results = made.read_bytes()
    position = 0
    for a in map(_memory, args):
        if a is not None:
            a[...] = np.frombuffer(results, a.dtype, a.size, position).reshape(a.shape)
            position += a.nbytes
    return NativeResult(races=_races(done.stderr))


@cache
def _fixed_addresses() -> tuple[str, ...]:
    """The sanitizer of older compilers fails on kernels that randomize many address bits: run without randomization."""
    tool = shutil.which("setarch")
    if tool is None or subprocess.run([tool, "-R", "true"], capture_output=True, check=False).returncode:
        return ()
    return (tool, "-R")


def _races(log: str) -> tuple[str, ...]:
    reports = log.split("WARNING: ThreadSanitizer: ")[1:]
    return tuple(r.split("SUMMARY:")[0].strip() for r in reports)
