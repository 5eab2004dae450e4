"""The sizes of a convolution: the sizes of the result, inconsistent sizes, and the layers of a
well-known network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Generic, TypeVar, cast

from ..builder import Misfit, Value

ACCUMULATOR = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}
"""Element type of images and filters → of the result. Half precision accumulates in f32, as in
tensor cores."""

MOST = 2**60
"""The maximal number of elements of a tensor: bytes are counted in signed 64-bit integers."""


S = TypeVar("S", int, Value)


@dataclass(frozen=True)
class Convolution(Generic[S]):
    """The sizes of `n` images of h×w with `c` channels and `k` filters of r×s taps, with `stride`,
    `pad` and `dilation` equal in both dimensions. The first five sizes may be `OPEN`."""

    n: S
    c: S
    h: S
    w: S
    k: S
    r: int
    s: int
    stride: int
    pad: int
    dilation: int
    type: str

    @property
    def accumulator(self) -> str:
        return ACCUMULATOR[self.type]

    @property
    def padded(self) -> tuple[S, S]:
        """The rows and columns of an image with its zero padding."""
        return _of(self.h, lambda size: size + 2 * self.pad), _of(self.w, lambda size: size + 2 * self.pad)

    @property
    def reach(self) -> tuple[int, int]:
        """The rows and columns from a filter's first tap to its last."""
        return self.dilation * (self.r - 1) + 1, self.dilation * (self.s - 1) + 1

    @property
    def out(self) -> tuple[S, S]:
        """The rows and columns of an image of the result."""
        (high, wide), (rows, columns) = self.padded, self.reach
        return _of(high, lambda size: (size - rows) // self.stride + 1), _of(
            wide, lambda size: (size - columns) // self.stride + 1
        )


def _of(size: S, made: Callable[[int], int]) -> S:
    """The function `made` of a size; `OPEN` if the size is."""
    return cast("S", made(size)) if isinstance(size, int) else size


def operations(**values: int | str) -> int:
    """The multiplications and additions, including those with the padding, as is usual for
    convolutions."""
    sizes: Convolution[int] = _sizes(values)
    return 2 * sizes.n * prod(sizes.out) * sizes.k * sizes.r * sizes.s * sizes.c


def misfit(**values: int | str) -> Misfit | None:
    """The inconsistency of sizes: a filter larger than the padded image, or a tensor too large to
    address."""
    sizes: Convolution[Value] = _sizes(values)
    for what, taps, (filter, image), reach, padded in zip(
        ("rows", "columns"), (sizes.r, sizes.s), (("r", "h"), ("s", "w")), sizes.reach, sizes.padded, strict=True
    ):
        if isinstance(padded, int) and reach > padded:
            spread = f", {sizes.dilation} apart, and spans {reach}" if sizes.dilation > 1 else ""
            there = (
                f"padded image has {values[image]} + 2·{sizes.pad} = {padded}" if sizes.pad else f"image has {padded}"
            )
            return Misfit(
                (filter, *(["dilation"] if sizes.dilation > 1 else []), image, "pad"),
                f"the filter has {taps} {what}{spread}; the {there}",
                "a filter stays within the padded image: make it smaller, or `pad` larger",
            )
    tensors = {
        "the padded image": (("n", "c", "h", "w", "pad"), (sizes.n, sizes.c, *sizes.padded)),
        "the filters": (("k", "c", "r", "s"), (sizes.k, sizes.c, sizes.r, sizes.s)),
        "the result": (("n", "k", "h", "w"), (sizes.n, sizes.k, *sizes.out)),
    }
    for what, (parameters, extents) in tensors.items():
        count = prod(extent for extent in extents if isinstance(extent, int))
        if count > MOST:
            reason = f"{what} would have {count:,} elements: more than can be addressed"
            return Misfit(parameters, reason, f"give smaller sizes, such as `--set {parameters[0]}=64`")
    return None


def _sizes(values: dict[str, Value]) -> Convolution:
    """The sizes; other parameters of the builder are ignored."""
    return Convolution(**{name: values[name] for name in Convolution.__dataclass_fields__})  # type: ignore[arg-type]


STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
"""For `layer1` … `layer4`: the filters of the inner convolutions, the number of blocks, and the
stride of the first block."""

Layer = Mapping[str, int]


def convolutions() -> Iterator[tuple[str, Layer]]:
    """All 53 convolutions by name, in the order of execution; the shortcut of a block comes after
    its last convolution."""
    yield "conv1", _layer(3, 224, 64, 7, 2)
    channels, size = 64, 56  # after the pooling
    for number, (filters, blocks, first) in enumerate(STAGES, 1):
        for block in range(blocks):
            name, stride = f"layer{number}.{block}", first if block == 0 else 1
            yield f"{name}.conv1", _layer(channels, size, filters, 1, 1)
            yield f"{name}.conv2", _layer(filters, size, filters, 3, stride)
            yield f"{name}.conv3", _layer(filters, size // stride, 4 * filters, 1, 1)
            if block == 0:
                yield f"{name}.downsample.0", _layer(channels, size, 4 * filters, 1, stride)
            channels, size = 4 * filters, size // stride


def _layer(channels: int, size: int, filters: int, taps: int, stride: int) -> Layer:
    sizes = {"c": channels, "h": size, "w": size, "k": filters, "r": taps, "s": taps}
    return {**sizes, "stride": stride, "pad": taps // 2, "dilation": 1}


def _distinct() -> dict[str, Layer]:
    found: dict[str, Layer] = {}
    for name, layer in convolutions():
        if layer not in found.values():
            found[f"resnet50.{name}"] = layer
    return found


LAYERS: Mapping[str, Layer] = _distinct()
"""The convolutions of ResNet-50 for images of 224×224: the 23 different ones among its 53.

Each has PyTorch's name of the first convolution of these sizes: `resnet50.layer1.0.conv2` is
`layer1[0].conv2` of `torchvision.models.resnet50()`. In that network the 3×3 convolution has the
stride ("v1.5"), not the 1×1 convolution before it as in "Deep Residual Learning for Image
Recognition" (He et al., 2015).
"""
