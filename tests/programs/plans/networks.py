"""Networks on tensors, in small sizes, as exporters write them: convolutions by name, elementwise ops as `linalg.generic`."""

from __future__ import annotations

from collections.abc import Callable

from written_payloads import Written

CONV, GEMM = "linalg.conv_2d_nchw_fchw", "linalg.matmul"
POOL = "linalg.pooling_nchw_max {{dilations = dense<1> : tensor<2xi64>, strides = dense<{0}> : tensor<2xi64>}}"


def conv(p: Written, name: str, kind: str, image: str, taps: int, stride: int = 1, relu: bool = True, add: str = "") -> str:
    """A convolution in a border of zeros, a shift of each channel, another image of the result's shape, and ReLU."""
    channels, (n, c, h, w) = kind.split("x")[1], p.types[image].split("x")[:4]
    if border := taps // 2:
        sides = f"0, 0, {border}, {border}"
        image = p.padded(f"{name}_in", f"{n}x{c}x{int(h) + 2 * border}x{int(w) + 2 * border}xf32", image, sides, sides)
    p.types |= {f"{name}_k": f"{channels}x{c}x{taps}x{taps}xf32", f"{name}_b": f"{channels}xf32"}
    p.arguments += [f"{name}_k", f"{name}_b"]
    strides = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    p.op(f"{name}_c", kind, f"{CONV} {strides}", f"{image}, {name}_k")
    reads = f"{name}_c[n, f, h, w]; {name}_b[f]" + (f"; {add}[n, f, h, w]" if add else "")
    p.each(name, kind, "n, f, h, w", reads, "addf a b" + "; addf . c" * bool(add) + "; maximumf . 0.0" * relu)
    return name


def pooled(p: Written, name: str, kind: str, image: str, taps: int) -> str:
    """The largest of windows of `taps` × `taps`, side by side."""
    window = p.empty(f"{taps}x{taps}xf32")
    return p.op(name, kind, POOL.format(taps), f"{image}, {window}", "-inf")


def dense(p: Written, name: str, kind: str, of: str, relu: bool = True) -> str:
    """A product with weights, a shift of each column, and ReLU."""
    n, k = kind.split("x")[1], p.types[of].split("x")[1]
    p.types |= {f"{name}_w": f"{k}x{n}xf32", f"{name}_b": f"{n}xf32"}
    p.arguments += [f"{name}_w", f"{name}_b"]
    p.op(f"{name}_p", kind, GEMM, f"{of}, {name}_w")
    p.each(name, kind, "i, j", f"{name}_p[i, j]; {name}_b[j]", "addf a b" + "; maximumf . 0.0" * relu)
    return name


def softmax(p: Written, name: str, kind: str, of: str) -> str:
    rows = kind.split("x")[0] + "xf32"
    p.each(f"{name}_m", rows, "i, j*", f"{of}[i, j]", "maximumf a o", start="-inf")
    p.each(f"{name}_e", kind, "i, j", f"{of}[i, j]; {name}_m[i]", "subf a b; exp .")
    p.each(f"{name}_s", rows, "i, j*", f"{name}_e[i, j]", "addf a o", start=0.0)
    p.each(name, kind, "i, j", f"{name}_e[i, j]; {name}_s[i]", "divf a b")
    return name


def lenet() -> str:
    """Two convolutions with their poolings, three dense layers, the probabilities."""
    p = Written("lenet", x="2x1x12x12xf32")
    conv(p, "conv1", "2x4x12x12xf32", "x", 5)
    pooled(p, "pool1", "2x4x6x6xf32", "conv1", 2)
    conv(p, "conv2", "2x6x6x6xf32", "pool1", 3)
    pooled(p, "pool2", "2x6x3x3xf32", "conv2", 2)
    p.line("v", "2x54xf32", "tensor.collapse_shape %pool2 [[0], [1, 2, 3]] : tensor<2x6x3x3xf32> into tensor<2x54xf32>")
    dense(p, "d1", "2x24xf32", "v")
    dense(p, "d2", "2x10xf32", "d1", relu=False)
    softmax(p, "y", "2x10xf32", "d2")
    return p.text("y")


def bottleneck() -> str:
    """1×1, 3×3 with a stride, 1×1, and the image itself by a 1×1 of its own; the mean of each channel."""
    p = Written("bottleneck", x="2x8x8x8xf32")
    conv(p, "conv1", "2x4x8x8xf32", "x", 1)
    conv(p, "conv2", "2x4x4x4xf32", "conv1", 3, stride=2)
    conv(p, "short", "2x16x4x4xf32", "x", 1, stride=2, relu=False)
    conv(p, "conv3", "2x16x4x4xf32", "conv2", 1, add="short")
    p.each("s", "2x16xf32", "n, c, h*, w*", "conv3[n, c, h, w]", "addf a o", start=0.0)
    p.each("y", "2x16xf32", "n, c", "s[n, c]", "divf a 16.0")
    return p.text("y")


def mlp() -> str:
    """Dense layers, a layer norm after the first, the probabilities."""
    p = Written("mlp", x="5x20xf32")
    dense(p, "d1", "5x32xf32", "x")
    p.each("s", "5xf32", "i, j*", "d1[i, j]", "addf a o", start=0.0)
    p.each("q", "5xf32", "i, j*", "d1[i, j]; s[i]", "m = divf b 32.0; d = subf a m; q = mulf d d; addf q o", start=0.0)
    p.each(
        "n1", "5x32xf32", "i, j", "d1[i, j]; s[i]; q[i]",
        "m = divf b 32.0; d = subf a m; v = divf c 32.0; e = addf v 0.00001; r = rsqrt e; mulf d r",
    )  # fmt: skip
    dense(p, "d2", "5x32xf32", "n1")
    dense(p, "d3", "5x10xf32", "d2", relu=False)
    softmax(p, "y", "5x10xf32", "d3")
    return p.text("y")


NETWORKS: dict[str, Callable[[], str]] = {"LeNet": lenet, "bottleneck": bottleneck, "MLP": mlp}
