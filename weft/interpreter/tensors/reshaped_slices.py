"""Slices through reshapes, so that fusion finds the producer of the reshaped tensor.

    %e = tensor.expand_shape %p [[0, 1]] … [4, 32]       in the loop: %t = tensor.extract_slice %p[32·i] [64]
    in a loop: tensor.extract_slice %e[i, 0] [2, 32]  →               tensor.expand_shape %t [[0,
        1]] … [2, 32]

The reshape combines several axes into one. The elements of a tile form a tile in the other shape as
well if the tile cuts at most one of these axes, has one element along the axes before it, and is
complete along the axes after it. Upstream's patterns (`tensor.bubble_up_extract_slice`) go through
a `collapse_shape` only with constant offsets, and the offsets in a loop are not constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import TypeAlias

from ...dsl.diagnostics import fail
from ..indices.arithmetic import Bound, bound_of, divide, index_of, known, multiply, value_of
from ..indices.linear import Linear
from ..indices.values import divisible
from ..ir.cloning import replace_operands
from ..ir.mlir import ahead_of, constant_of, ir, is_within, tensor, users
from ..ir.refusing import describe
from ..ir.reshapes import groups_of, is_expanding, is_reshape, reshaped_alike
from ..ir.sizes import same_size, size_of, sizes_of
from ..ir.structured import part_of, parts_of, shape_of

Part: TypeAlias = "tuple[Bound, Bound]"
"""Offset and size along an axis."""


def follow(value: ir.Value, loop: ir.Operation) -> list[str]:
    """Lets `loop` read `value` directly where it reads a reshape of it, or a reshape of that.
    Returns descriptions of the reshapes.

    Raises W0467 if the elements of a slice are no tile of the source.
    """
    followed: list[str] = []
    for reshape in dict.fromkeys(users(value)):
        if not is_reshape(reshape) or is_within(reshape, loop):
            continue
        result = reshape.results[0]
        followed += follow(result, loop)
        inside = [reader for reader in dict.fromkeys(users(result)) if is_within(reader, loop)]
        for reader in inside:
            _read_inside(reader, reshape, loop)
        for question in [reader for reader in users(result) if isinstance(reader.opview, tensor.DimOp)]:
            _ask_source(question, result)
        if inside:
            followed.insert(0, describe(reshape))
        if not users(result):
            reshape.erase()
    return followed


def _ask_source(question: ir.Operation, reshaped: ir.Value) -> None:
    """Replaces a `tensor.dim` of a reshape by sizes of its source; otherwise it would keep the
    reshape and its source before the loop."""
    axis = constant_of(question.operands[1])
    if axis is not None:
        with ahead_of(question):
            size = value_of(index_of(size_of(reshaped, axis)))
        question.results[0].replace_all_uses_with(size)
        question.erase()


def _read_inside(reader: ir.Operation, reshape: ir.Operation, loop: ir.Operation) -> None:
    """Moves the reshape of a reader in the loop into the loop."""
    what = describe(reshape)
    if reader == loop:
        raise fail(
            "W0467",
            f"the loop starts from {what}: its iterations take their initial values from it",
            f"write the producer in the payload in the shape that the loop writes, without the `{reshape.name}`",
        )
    if isinstance(reader.opview, tensor.ExtractOp):
        raise fail(
            "W0467",
            f"the loop reads {what} element by element, as ragged tiles are read",
            "choose tile sizes that divide, or `launch` the producer on its own",
        )
    with ahead_of(reader):
        if isinstance(reader.opview, tensor.ExtractSliceOp) and groups_of(reshape):
            made = _slice(reader, reshape)
            reader.results[0].replace_all_uses_with(made)
            reader.erase()
        else:
            replace_operands(reader, {reshape.results[0]: reshape.clone().operation.results[0]})


def _slice(reader: ir.Operation, reshape: ir.Operation) -> ir.Value:
    """The value of `reader`, a slice of a reshape, as a reshaped slice of the source."""
    source, result = reshape.operands[0], reshape.results[0]
    offsets, sizes, strides = ([known(n) for n in part] for part in parts_of(reader))
    together = groups_of(reshape)
    expanding = is_expanding(reshape)
    whole = [known(n) for n in sizes_of(result if expanding else source)]
    taken: list[Part] = []
    for number, axes in enumerate(together):
        one = [(offsets[a], sizes[a]) for a in (axes if expanding else [number])]
        full = [whole[a] for a in axes]
        own = one if len(axes) == 1 else _merged(one, full) if expanding else _split(*one[0], full)
        if own is None or any(step != 1 for step in strides) or len(shape_of(reader.results[0])) != len(sizes):
            shape = "×".join("?" if not isinstance(n, int) else str(n) for n in sizes)
            raise fail(
                "W0467",
                f"the loop takes tiles of {shape} of {describe(reshape)}, which are not tiles of its source",
                "`tile` by sizes that cut at most one of the axes that the reshape combines: 1 along the axes before it,"
                " all elements along the axes after it; or `launch` the producer on its own",
            )
        taken += own
    part = part_of(source, [size for _, size in taken], [offset for offset, _ in taken])
    return reshaped_alike(part, reshape, sizes)


def _merged(parts: Sequence[Part], whole: Sequence[Bound]) -> list[Part] | None:
    """The part of the combined axis that consists of these parts of its axes; None if it is not
    contiguous."""
    cut = next((n for n, (_, size) in enumerate(parts) if size != 1), len(parts) - 1)
    inner = zip(parts[cut + 1 :], whole[cut + 1 :], strict=True)
    if any(not same_size(size, full) for (_, size), full in inner):  # these parts must be whole axes
        return None
    steps = [reduce(multiply, whole[n + 1 :], 1) for n in range(cut + 1)]
    offset = sum((index_of(multiply(parts[n][0], step)) for n, step in enumerate(steps)), Linear.of())
    return [(bound_of(offset), multiply(parts[cut][1], steps[cut]))]


def _split(offset: Bound, size: Bound, whole: Sequence[Bound]) -> list[Part] | None:
    """The parts of the axes `whole` that make up a part of the combined axis; None if they are no
    tile."""
    if same_size(size, reduce(multiply, whole, 1)):
        return [(0, full) for full in whole]
    first = next((n for n, full in enumerate(whole) if full != 1), 0)
    for cut in range(len(whole) - 1, first - 1, -1):
        numbers = [n for n in whole[first + 1 :] if isinstance(n, int)]
        inner, here = prod(n for n in whole[cut + 1 :] if isinstance(n, int)), whole[cut]
        if len(numbers) < len(whole) - first - 1 or not isinstance(size, int) or size % inner:
            continue
        rows = size // inner
        fits = (
            divisible(offset, inner)
            if cut == first
            else isinstance(here, int) and here % rows == 0 and divisible(offset, size)
        )
        if fits:
            digits, rest = [], divide(index_of(offset), inner)[0]
            for full in reversed(numbers[: cut - first]):
                rest, digit = divide(rest, full)
                digits.insert(0, bound_of(digit))
            starts = [0] * first + [bound_of(rest), *digits] + [0] * (len(whole) - cut - 1)
            return list(zip(starts, [1] * cut + [rows] + list(whole[cut + 1 :]), strict=True))
    return None
