"""Input arrays: random ones by signature, `.npz` files (never unpickled), and checks against the
signature."""

from __future__ import annotations

import itertools
import lzma
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...dsl.diagnostics import Diagnostic, WeftError, did_you_mean, fail, quoted
from ..plan.dtypes import BITS, NUMPY, holds_bits, is_float, narrow, widen
from ..plan.plan import Agreement, DimOf, Size
from ..plan.signature import Argument, FunctionSignature, type_text
from .writing import open_regular, reason, unwritable, write_whole

SMALL_INTEGERS = (-8, 8)
"""Range of random integers, the upper end excluded: sums of products stay exact in 32 bits, and
mostly in f32."""


def random_inputs(signature: FunctionSignature, seed: int = 0) -> dict[str, np.ndarray]:
    """An array per argument: floats standard normal, integers in -8 … 7, booleans; deterministic
    for a seed.

    Errors: W0719 for a dynamic dimension.
    """
    generator = np.random.default_rng(seed)
    return {a.name: _random(a, generator) for a in signature.arguments}


def integral_inputs(signature: FunctionSignature, most: int, seed: int = 0) -> dict[str, np.ndarray]:
    """An array per argument, with integers from -`most` to `most` in floats too; otherwise as
    `random_inputs`."""
    generator = np.random.default_rng(seed)
    return {a.name: _integral(a, most, generator) for a in signature.arguments}


def _integral(argument: Argument, most: int, generator: np.random.Generator) -> np.ndarray:
    if argument.dtype == "i1" or (argument.shape is None and not is_float(argument.dtype)):
        return _random(argument, generator)
    if not is_float(argument.dtype):
        most = min(most, int(np.iinfo(NUMPY[argument.dtype]).max))
    return narrow(np.asarray(generator.integers(-most, most, _sizes(argument), endpoint=True)), argument.dtype)


def chosen_inputs(
    signature: FunctionSignature,
    seed: int = 0,
    given: Path | Mapping[str, np.ndarray] | None = None,
    asked: Mapping[str, str] | None = None,
) -> dict[str, np.ndarray]:
    """An array per argument: from `given`, from `asked`, and for the rest random as in
    `random_inputs`. Giving some arrays does not change the numbers in the others.

    Args:
        given: arrays by name, or an `.npz` file with them.
        asked: by argument: `0:1000`, a range with its upper end excluded; `2.5`, a constant; or
            `x.npy`, a file.

    Errors: W0715 to W0719.
    """
    asked = asked or {}
    arrays = (
        read_npz(given)
        if isinstance(given, Path)
        else {name: np.asarray(array) for name, array in (given or {}).items()}
    )
    if twice := sorted(arrays.keys() & asked.keys()):
        raise fail(
            "W0718",
            f"{quoted(twice)}: given as an array, and requested as `{asked[twice[0]]}`",
            hint=f"leave out the array, or `{twice[0]}={asked[twice[0]]}`",
        )
    arguments = {a.name: a for a in signature.arguments}
    arrays |= {
        name: read_npy(Path(text)) for name, text in asked.items() if text.endswith(".npy") and name in arguments
    }
    arrays = check_inputs(signature, _of_bits(arrays, signature), part=tuple(asked))
    generator = np.random.default_rng(seed)
    made: dict[str, np.ndarray] = {}
    for name, argument in arguments.items():
        known = None not in (argument.shape or ())
        drawn = _random(argument, generator) if known or not (name in arrays or name in asked) else None
        if name in arrays:
            made[name] = arrays[name]
        elif name in asked:
            made[name] = _asked(argument, asked[name], np.random.default_rng([seed, len(made)]))
        elif drawn is not None:
            made[name] = drawn
    return made


def sized(
    signature: FunctionSignature,
    sizes: Mapping[str, str],
    agreements: Iterable[Agreement] = (),
    rest: int | None = None,
) -> FunctionSignature:
    """The signature with sizes for its dynamic dimensions.

    Args:
        sizes: by dimension, such as `A.1` for the second axis of `A`: a number.
        agreements: rules that make other dimensions equal.
        rest: the size of all dimensions that are still dynamic then.

    Errors: W0718 for an unknown dimension, or text that is no size.
    """
    shapes = {a.name: list(a.shape or ()) for a in signature.arguments}
    open_ = [f"{name}.{axis}" for name, shape in shapes.items() for axis, size in enumerate(shape) if size is None]
    for place, text in sizes.items():
        name, _, axis = place.rpartition(".")
        if place not in open_ or not text.isdecimal():
            notes = (f"sizes that are not known: {', '.join(open_) or 'none'}",)
            hint = "write `A.0=1000`: an argument, its axis, a number"
            raise fail("W0718", f"`{place}={text}` gives no size", hint, notes=notes)
        shapes[name][int(axis)] = int(text)
    pairs = [(_end(one.left, shapes), _end(one.right, shapes)) for one in agreements if one.relation == "=="]
    for _ in pairs:  # an equality may follow from another one
        for left, right in pairs:
            for (shape, axis), (other, at) in ((left, right), (right, left)):
                shape[axis] = other[at] if shape[axis] is None else shape[axis]
    shapes = {name: [rest if size is None else size for size in shape] for name, shape in shapes.items()}
    arguments = tuple(a if a.shape is None else replace(a, shape=tuple(shapes[a.name])) for a in signature.arguments)
    return replace(signature, arguments=arguments)


def sizes_of_sweep(text: str) -> Iterable[int]:
    """The sizes of `1:300:7,512`: ranges with excluded upper ends, and single sizes, in order.
    Raises W0718."""
    parts: list[Iterable[int]] = []
    for part in text.split(","):
        ends = part.split(":")
        if not all(end.strip().isdecimal() for end in ends) or len(ends) > 3 or (len(ends) == 3 and not int(ends[2])):
            raise fail(
                "W0718", f"`--sizes {text}`: `{part}` is neither a size nor a range", hint="write `--sizes 1:300:7,512`"
            )
        numbers = [int(end) for end in ends]
        parts.append(range(*numbers) if len(numbers) > 1 else numbers)
    return itertools.chain(*parts)


def _end(size: Size, shapes: Mapping[str, list[int | None]]) -> tuple[list[int | None], int]:
    """The list and the index that hold a size; for a number, a new list."""
    return (
        (shapes[size.buffer], size.axis) if isinstance(size, DimOf) else ([size if isinstance(size, int) else None], 0)
    )


def _asked(argument: Argument, text: str, generator: np.random.Generator) -> np.ndarray:
    """Random numbers from a range, or a constant. Raises W0718."""
    sizes, option = _sizes(argument), f"`{argument.name}={text}`"
    ends = [_number(argument, end, option) for end in text.split(":")] if text.count(":") < 2 else []
    if not ends:
        raise fail("W0718", f"{option} is not a range, a number or a file", hint=f"write `{argument.name}=0:1000`")
    if len(ends) == 1:
        return narrow(np.full(sizes, ends[0]), argument.dtype)
    low, high = ends
    if not low < high:
        raise fail("W0718", f"the range of {option} is empty", hint="its upper end is excluded: `0:2` is 0 and 1")
    if is_float(argument.dtype):
        return narrow(generator.uniform(low, high, sizes), argument.dtype)
    return narrow(
        np.asarray(generator.integers(int(low), int(high) - 1, sizes, np.int64, endpoint=True)), argument.dtype
    )


def _number(argument: Argument, text: str, option: str) -> int | float:
    """An end of a range, or a constant, as a number of the argument's type; an upper end may exceed
    the type's maximum by one."""
    dtype = argument.dtype
    try:
        number = float(text) if is_float(dtype) else int({"true": "1", "false": "0"}.get(text.strip(), text))
    except ValueError:
        what = "a number" if is_float(dtype) else "an integer"
        raise fail(
            "W0718", f"{option}: `{text}` is not {what}, and `{argument}`", hint=f"write `{argument.name}=0:8`"
        ) from None
    if isinstance(number, float):
        with np.errstate(over="ignore"):
            fits = ":" not in option or bool(np.isfinite(widen(narrow(np.array(number), dtype), dtype)))
    else:
        low, high = (0, 1) if dtype == "i1" else (np.iinfo(NUMPY[dtype]).min, np.iinfo(NUMPY[dtype]).max)
        fits = low <= number <= high + (":" in option)
    if not fits:
        raise fail("W0718", f"{option}: {text.strip()} does not fit {dtype}")
    return number


def _sizes(argument: Argument) -> tuple[int, ...]:
    sizes = tuple(s for s in argument.shape or () if s is not None)
    if len(sizes) < len(argument.shape or ()):
        hint = f"give its sizes (`--size {argument.name}.0=1000`), or the array (`--inputs x.npz`)"
        raise fail("W0719", f"the shape of `{argument}` is not known", hint)
    return sizes


def _random(argument: Argument, generator: np.random.Generator) -> np.ndarray:
    sizes = _sizes(argument)
    if is_float(argument.dtype):
        values = generator.standard_normal(sizes)
    elif argument.dtype == "i1":
        values = generator.integers(0, 2, sizes)
    elif argument.shape is None:
        values = generator.integers(1, SMALL_INTEGERS[1], sizes)
    else:
        values = generator.integers(*SMALL_INTEGERS, sizes)
    return narrow(np.asarray(values), argument.dtype)


def check_inputs(
    signature: FunctionSignature, inputs: Mapping[str, np.ndarray], *, part: Iterable[str] | None = None
) -> dict[str, np.ndarray]:
    """The arrays by name, checked against the signature. Errors: W0716 (names), W0717 (element
    types and shapes), all at once.

    Args:
        part: not all arrays need to be given; a set of names is that of further arrays that may
            occur.
    """
    wanted = {a.name: a for a in signature.arguments}
    missing, extra = sorted(wanted.keys() - inputs.keys()), sorted({*inputs, *(part or ())} - wanted.keys())
    if part is not None:
        missing = []
        wanted = {name: argument for name, argument in wanted.items() if name in inputs}
    if missing or extra:
        parts = [f"missing {quoted(missing)}"] if missing else []
        parts += [f"unknown {quoted(extra)}"] if extra else []
        known = [a.name for a in signature.arguments]
        hint = did_you_mean(extra[0], known) if len(extra) == 1 else None
        raise fail("W0716", f"the inputs do not fit: {'; '.join(parts)}", notes=(_expected(signature),), hint=hint)
    wrong = [_misfit(a, inputs[name]) for name, a in wanted.items()]
    if any(wrong):
        notes = (_expected(signature),)
        raise WeftError(*(Diagnostic("W0717", text, notes=notes) for text in wrong if text is not None))
    return {name: narrow(inputs[name], a.dtype) for name, a in wanted.items()}


def _misfit(argument: Argument, array: np.ndarray) -> str | None:
    dtype, shape = NUMPY[argument.dtype], argument.shape or ()
    given = type_text(str(array.dtype), array.shape)
    bits = holds_bits(array.dtype, argument.dtype)
    fits = len(shape) == array.ndim and all(s is None or s == n for s, n in zip(shape, array.shape, strict=True))
    if fits and (bits or array.dtype == dtype):
        return None
    return f"`{argument.name}` is {given}, expected {type_text(argument.dtype, argument.shape)}"


def _expected(signature: FunctionSignature) -> str:
    return "expected " + (", ".join(str(a) for a in signature.arguments) or "no inputs")


# ---- files -----------------------------------------------------------------------------------------------------------


_BUILT_IN = (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError)
DAMAGED = (*_BUILT_IN, SyntaxError, ValueError, lzma.LZMAError, tokenize.TokenError, zipfile.BadZipFile, zlib.error)
"""Exceptions that NumPy raises for a damaged file: it parses an array's header as a Python literal
(TokenError, SyntaxError, RecursionError), uses its parts without checks (TypeError, IndexError,
AttributeError, OverflowError), and `zipfile` adds those of its members' compression and encryption."""


def read_npz(path: Path | str, signature: FunctionSignature | None = None) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` file, checked against `signature` if given. Pickled objects are
    refused without reading them.

    The file format has no types for bf16 and f8: their bits are stored as `uint16` and `uint8`.
    Errors: W0715 (not such a file), W0716, W0717.
    """
    arrays = _loaded(path, ".npz of plain arrays")
    if isinstance(arrays, np.ndarray):
        hint = "save it with np.savez(path, name=array), or name it: `--input name=x.npy`"
        raise fail("W0715", f"{path} holds a single array", hint=hint)
    return arrays if signature is None else check_inputs(signature, _of_bits(arrays, signature))


def read_npy(path: Path) -> np.ndarray:
    """The array of an `.npy` file. Errors: W0715."""
    array = _loaded(path, ".npy of a plain array")
    if not isinstance(array, np.ndarray):
        raise fail("W0715", f"{path} holds several arrays", hint=f"`--inputs {path}` takes them by name")
    return array


def _loaded(path: Path | str, what: str) -> np.ndarray | dict[str, np.ndarray]:
    """The contents of a NumPy file. Raises W0715."""
    try:
        with open_regular(path) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about headers of Python 2, for which NumPy takes damaged ones
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                return archive
            with archive:
                arrays = {name: archive[name] for name in archive.files}
            if foreign := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
                raise ValueError(f"its member `{foreign[0]}` is not an array")
    except DAMAGED as error:
        raise fail("W0715", f"{path} is not an {what}: {_reason(error)}") from error
    return arrays


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return reason(error)
    text = str(error)
    if text.startswith("Object arrays"):
        return "it holds pickled objects, which are never read"
    if "allow_pickle" in text:  # NumPy's classification of all unknown bytes
        return "it is neither .npz nor .npy (and a pickle is never read)"
    return text or type(error).__name__


def _of_bits(arrays: dict[str, np.ndarray], signature: FunctionSignature) -> dict[str, np.ndarray]:
    """Converts the bits of arguments without a NumPy type to their element types."""
    dtypes = {a.name: a.dtype for a in signature.arguments if a.dtype in BITS}
    return {
        name: array.view(NUMPY[dtypes[name]]) if name in dtypes and holds_bits(array.dtype, dtypes[name]) else array
        for name, array in arrays.items()
    }


def write_npz(path: Path | str, arrays: Mapping[str, np.ndarray]) -> None:
    """Saves arrays as `.npz`, atomically. Error: W0054."""
    bits = {NUMPY[dtype]: plain for dtype, plain in BITS.items()}
    plain = {name: array.view(bits.get(array.dtype, array.dtype)) for name, array in arrays.items()}
    try:
        write_whole(Path(path), lambda file: np.savez(file, allow_pickle=False, **plain))
    except (OSError, ValueError) as error:
        raise unwritable(path, _reason(error)) from error
