"""Arrays of other libraries, without a copy: addresses and layouts of arguments, and new arrays for
results.

NumPy, CuPy, PyTorch and JAX are read through their own APIs, which is fastest; all others through
DLPack or the CUDA array interface (https://dmlc.github.io/dlpack; Numba). Only libraries that the
caller has imported are used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...dsl.diagnostics import WeftError, fail
from ...dsl.records import record
from ..plan.dtypes import BF16, BITS, NUMPY
from ..run.cupy_device import cupy_module


class ArrayLayout(NamedTuple):
    """The properties of an array other than its address.

    Args:
        element: the element type, in its library's form.
        shape: its dimensions.
        strides: in units of `unit` bytes; None if the library states that it is row-major.
        unit: size in bytes of a unit of the strides.
        device: the number of its CUDA device; None for host memory.
        writable: whether its library permits writes.
    """

    element: Hashable
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    unit: int
    device: int | None
    writable: bool = True

    @property
    def dtype(self) -> str | None:
        """The element type as a plan names it; None for a type that no kernel takes."""
        return _dtype(self.element)

    @property
    def row_major(self) -> bool:
        """Whether the elements are contiguous and row-major; strides of dimensions with one element
        are ignored."""
        if self.strides is None or 0 in self.shape:
            return True
        dtype, step = self.dtype, 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if dtype is None or (size != 1 and stride * self.unit != step * NUMPY[dtype].itemsize):
                return False
            step *= size
        return True


Seen = tuple[int, tuple[Any, ...]] | tuple[int, tuple[Any, ...], object]
"""The address of an array's first element, and its layout as a plain tuple, which a later call only
compares; and an object that keeps the memory alive, if the array itself does not."""

_NAMES = {dtype: name for name, dtype in (*BITS.items(), *NUMPY.items()) if name != "index"}
"""Element types by NumPy type: unsigned types of 16 and 8 bits may hold the bits of a float."""

_BYTES = {"float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2"}
"""By PyTorch's names."""


@cache
def _dtype(element: Hashable) -> str | None:
    """The plan's name of an element type of NumPy, or of PyTorch (by its text); None if unknown."""
    if isinstance(element, np.dtype):
        return _NAMES.get(element)
    words = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "uint16": "bf16"}
    words |= _BYTES | {f"int{n}": f"i{n}" for n in (8, 16, 32, 64)}
    return words.get(str(element).rpartition(".")[2])


# ---- libraries -----------------------------------------------------------------------------------


@record
class Library:
    """The operations on one library's arrays.

    Args:
        name: of the library.
        read: the address and the layout of an array. Raises W0740.
        empty: a new array for a result, by shape, element type and device.
        finish: converts an array from `empty` to the caller's array, once the result has been
            written.
        stream: the handle of the library's current CUDA stream; None if it has none.
    """

    name: str
    read: Callable[[Any], Seen]
    empty: Callable[[tuple[int, ...], str, int | None], Any]
    finish: Callable[[Any], Any] = lambda array: array
    stream: Callable[[], int | None] = lambda: None


def _refused(value: object, why: str, hint: str | None = None) -> WeftError:
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return fail("W0740", f"a {name} cannot be passed as an array: {why}", hint)


def _read_numpy(array: np.ndarray) -> Seen:
    interface = array.__array_interface__
    return interface["data"][0], (array.dtype, array.shape, interface["strides"], 1, None, array.flags.writeable)


def _empty_numpy(shape: tuple[int, ...], dtype: str, device: int | None) -> np.ndarray:
    return np.empty(shape, NUMPY[dtype])


def _read_cupy(array: Any) -> Seen:
    data = array.data
    return data.ptr, (array.dtype, array.shape, array.strides, 1, data.device_id, True)


def _empty_cupy(shape: tuple[int, ...], dtype: str, device: int | None) -> Any:
    return cupy_module().empty(shape, BITS.get(dtype, NUMPY[dtype]))


def _torch() -> Any:
    """PyTorch, which the caller has imported."""
    return sys.modules["torch"]


def _read_torch(tensor: Any) -> Seen:
    torch = _torch()
    if tensor.requires_grad and torch.is_grad_enabled():
        way = "pass `tensor.detach()`, or call the kernel under `torch.no_grad()`"
        raise _refused(tensor, "it requires a gradient, and a kernel has none", way)
    if tensor.layout != torch.strided or tensor.is_conj() or tensor.is_neg():
        raise _refused(tensor, "its elements are not stored as plain values", "pass `tensor.resolve_conj().to_dense()`")
    kind = tensor.device.type
    if kind not in ("cpu", "cuda"):
        raise _refused(tensor, f"it is on the device `{tensor.device}`")
    device = tensor.device.index if kind == "cuda" else None
    return tensor.data_ptr(), (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.element_size(), device, True)


def torch_type(dtype: str) -> Any:
    """The element type as PyTorch's."""
    words = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i1": "bool", "index": "int64"}
    words |= {name: word for word, name in _BYTES.items()}
    return getattr(_torch(), words.get(dtype) or f"int{dtype[1:]}")


def _empty_torch(shape: tuple[int, ...], dtype: str, device: int | None) -> Any:
    where = "cpu" if device is None else f"cuda:{device}"
    return _torch().empty(shape, dtype=torch_type(dtype), device=where)


def _read_jax(array: Any) -> Seen:
    """JAX's arrays are immutable values, so they are read-only."""
    if isinstance(array, sys.modules["jax"].core.Tracer):
        raise _refused(array, "it is traced", "call the kernel outside of `jax.jit`")
    if array.is_deleted():
        raise _refused(array, "it was deleted, or donated to a computation")
    if len(array.addressable_shards) != 1:
        raise _refused(array, "it lies on several devices")
    on_host = next(iter(array.devices())).platform == "cpu"
    address, seen, *_ = _read_numpy(np.asarray(array)) if on_host else _read_foreign(array)
    return address, (*seen[:-1], False)


def _empty_where(shape: tuple[int, ...], dtype: str, device: int | None) -> Any:
    return (_empty_numpy if device is None else _empty_cupy)(shape, dtype, device)


def _finish_jax(array: Any) -> Any:
    jax = sys.modules["jax"]
    return jax.numpy.asarray(array) if isinstance(array, np.ndarray) else jax.dlpack.from_dlpack(array)


# ---- anything else, by the protocols -------------------------------------------------------------

_CPU, _CUDA, _PINNED, _MANAGED = 1, 2, 3, 13
"""DLPack's codes of device kinds."""


def _read_foreign(value: Any) -> Seen:
    """Reads an array by the CUDA array interface, else by DLPack; both run foreign code, which may
    raise anything."""
    try:
        interface = getattr(value, "__cuda_array_interface__", None)
        return _read_dlpack(value) if interface is None else _read_interface(value, interface)
    except WeftError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise _refused(value, f"reading its elements raises {why}") from error


_VERSIONS = range(4)
"""Of the CUDA array interface."""


def _read_interface(value: Any, interface: Any) -> Seen:
    def expect(holds: bool, what: str) -> None:
        if not holds:
            raise _refused(value, f"its `__cuda_array_interface__` {what}")

    expect(isinstance(interface, Mapping), f"is a {type(interface).__qualname__}, and a dictionary is needed")
    for key in ("data", "typestr", "shape"):
        expect(key in interface, f"has no `{key}`")
    version = interface.get("version", _VERSIONS[-1])
    expect(version in _VERSIONS, f"is of version {version}; known are {_VERSIONS[0]} to {_VERSIONS[-1]}")
    expect(interface.get("mask") is None, "has a `mask`: kernels take all elements")
    data, typestr, shape, strides = (interface.get(key) for key in ("data", "typestr", "shape", "strides"))
    expect(
        isinstance(data, Sequence) and len(data) == 2 and _counts(data[:1]),
        f"has `data` {data!r}, not an address and a flag",
    )
    expect(_counts(shape), f"has the `shape` {shape!r}")
    expect(strides is None or (_integers(strides) and len(strides) == len(shape)), f"has the `strides` {strides!r}")
    expect(isinstance(typestr, str), f"has the `typestr` {typestr!r}")
    kind = np.dtype(typestr)
    address, read_only = data
    expect(address + prod(shape) * kind.itemsize < 1 << 64, "states more elements than there are addresses")
    element = BF16 if kind == np.dtype("V2") else kind
    steps = None if strides is None else tuple(map(int, strides))
    return int(address), (element, tuple(map(int, shape)), steps, 1, _device_at(int(address)), not read_only)


def _integers(numbers: Any) -> bool:
    kinds = int | np.integer
    return isinstance(numbers, Sequence) and all(isinstance(n, kinds) and not isinstance(n, bool) for n in numbers)


def _counts(numbers: Any) -> bool:
    return _integers(numbers) and all(0 <= n < 1 << 64 for n in numbers)


def _read_dlpack(value: Any) -> Seen:
    if not hasattr(value, "__dlpack__"):
        hint = "pass an array that supports DLPack or `__cuda_array_interface__`; for a scalar, a number"
        if isinstance(value, list | tuple):
            hint = "`numpy.asarray(x, numpy.float32)`, or of another type, makes an array of it"
        raise _refused(value, "it has no `__dlpack__`", hint)
    device = value.__dlpack_device__()
    if not isinstance(device, tuple) or len(device) != 2 or not _integers((int(device[0]), device[1])):
        raise _refused(value, f"its `__dlpack_device__()` is {device!r}, not the numbers of a kind and a device")
    if device[0] not in (_CPU, _CUDA, _PINNED, _MANAGED):
        raise _refused(value, f"it is on a device of DLPack's kind {int(device[0])}")
    host = device[0] in (_CPU, _PINNED)
    shared = np.from_dlpack(value) if host else cupy_module().from_dlpack(value)
    return *(_read_numpy if host else _read_cupy)(shared)[:2], shared


def _read_masked(array: Any) -> Seen:
    way = "pass `array.filled(value)`, or `array.data` for all elements"
    raise _refused(array, "some of its elements are masked, and kernels take all of them", way)


def _device_at(address: int) -> int:
    """The device that owns the memory, which the interface does not state."""
    cupy = cupy_module()
    return int(cupy.cuda.runtime.pointerGetAttributes(address).device) if address else int(cupy.cuda.Device().id)


LIBRARIES = {
    "numpy": Library("numpy", _read_numpy, _empty_numpy),
    "cupy": Library("cupy", _read_cupy, _empty_cupy, stream=lambda: cupy_module().cuda.get_current_stream().ptr),
    "torch": Library("torch", _read_torch, _empty_torch, stream=lambda: _torch().cuda.current_stream().cuda_stream),
    "jax": Library("jax", _read_jax, _empty_where, _finish_jax),
}
FOREIGN = Library("DLPack", _read_foreign, _empty_where)


_MASKED = Library("numpy", _read_masked, _empty_numpy)
_KINDS = {"numpy": "__array_interface__", "cupy": "data", "torch": "data_ptr", "jax": "shape"}
"""By library: an attribute that its arrays have, and other objects of its modules lack."""


@cache
def library_of(kind: type) -> Library:
    """The library of an array type, or of one of its base classes."""
    for base in kind.__mro__:
        if base is np.ma.MaskedArray:
            return _MASKED
        root = base.__module__.partition(".")[0]
        root = {"jaxlib": "jax"}.get(root, root)
        if (found := LIBRARIES.get(root)) is not None and hasattr(kind, _KINDS[root]):
            return found
    return FOREIGN
