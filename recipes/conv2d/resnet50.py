"""The convolutions of ResNet-50 for images of 224×224: the 23 that differ, of its 53.

Each is named as PyTorch names the first one of its sizes: `resnet50.layer1.0.conv2` is `layer1[0].conv2` of
`torchvision.models.resnet50()`. That is the network with the stride in the 3×3 convolutions ("v1.5"), not in the 1×1 before it as
in "Deep Residual Learning for Image Recognition" (He et al., 2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
"""Filters of the inner convolutions, blocks, and stride of the first block, of `layer1` … `layer4`."""

Layer = Mapping[str, int]


def convolutions() -> Iterator[tuple[str, Layer]]:
    """All 53 by their names, in the order in which an image passes them; a block's shortcut stands behind its last."""
    yield "conv1", _layer(3, 224, 64, 7, 2)
    channels, size = 64, 56  # behind the pooling
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
