"""The ops of a ResNet-50 and of a BERT layer, in f32, each scheduled by `weft:rest`: its predicted time beside the least time.

    python benchmarks/whole_ops.py [--chip h200] [--only REGEX]

The least time is that of the op's bytes at the rate that DRAM reaches, or of its FLOPs at the peak, whichever is longer, and of a
launch. The last line has the geometric mean of `least / predicted`, and the ops below 0.2.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator

from weft import api
from weft.execution import predicted
from weft.pipeline import applied, planned

DRAM, LAUNCH = 4.0e12, 1.3e-6
"""Bytes a second, and seconds."""
PEAK = 67e12
"""FLOP/s, without tensor cores."""


def tensor(*sizes: int) -> str:
    return f"tensor<{'x'.join(map(str, sizes))}xf32>"


def function(arguments: dict[str, str], body: str, result: str) -> str:
    named = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    return f"func.func @op({named}) -> {result} {{\n  %zero = arith.constant 0.0 : f32\n{body}\n  return %r : {result}\n}}\n"


def filled(result: str, value: str = "%zero") -> str:
    return f"  %e = tensor.empty() : {result}\n  %i = linalg.fill ins({value} : f32) outs(%e : {result}) -> {result}\n"


def matmul(m: int, n: int, k: int, batch: int = 0, transposed: bool = False) -> tuple[str, float, float]:
    head = (batch,) if batch else ()
    a, b, c = tensor(*head, m, k), tensor(*head, *((n, k) if transposed else (k, n))), tensor(*head, m, n)
    name = "linalg.batch_matmul" if batch else "linalg.matmul"
    dims = ["b"] * bool(batch)
    maps = ", ".join(
        f"affine_map<({', '.join([*dims, 'm', 'n', 'k'])}) -> ({', '.join([*dims, *of])})>" for of in ("mk", "nk", "mn")
    )
    how = f" indexing_maps = [{maps}]" if transposed else ""
    body = filled(c) + f"  %r = {name}{how} ins(%a, %b : {a}, {b}) outs(%i : {c}) -> {c}"
    times = batch or 1
    return function({"a": a, "b": b}, body, c), 2.0 * times * m * n * k, 4.0 * times * (m * k + k * n + m * n)


def conv(n: int, size: int, c: int, f: int, window: int, stride: int) -> tuple[str, float, float]:
    out = size // stride
    padded = (out - 1) * stride + window
    x, w, y = tensor(n, c, padded, padded), tensor(f, c, window, window), tensor(n, f, out, out)
    stated = f"{{strides = dense<{stride}> : tensor<2xi64>}} "
    body = filled(y) + f"  %r = linalg.conv_2d_nchw_fchw {stated}ins(%x, %w : {x}, {w}) outs(%i : {y}) -> {y}"
    moved = n * c * padded**2 + f * c * window**2 + n * f * out**2
    return function({"x": x, "w": w}, body, y), 2.0 * n * f * out**2 * c * window**2, 4.0 * moved


def maxpool(n: int, c: int, size: int) -> tuple[str, float, float]:
    out, padded = size // 2, size + 1
    x, w, y = tensor(n, c, padded, padded), tensor(3, 3), tensor(n, c, out, out)
    body = filled(y) + f"  %w = tensor.empty() : {w}\n"
    body += f"  %r = linalg.pooling_nchw_max {{strides = dense<2> : tensor<2xi64>}} ins(%x, %w : {x}, {w}) outs(%i : {y}) -> {y}"
    return function({"x": x}, body, y), 0.0, 4.0 * n * c * (padded**2 + out**2)


def elementwise(
    shape: tuple[int, ...], inputs: int, ops: str, broadcast: int | None = None
) -> tuple[str, float, float]:
    """`broadcast`: the one dimension of the last input."""
    names = ", ".join(f"d{i}" for i in range(len(shape)))
    whole, y = f"affine_map<({names}) -> ({names})>", tensor(*shape)
    last = whole if broadcast is None else f"affine_map<({names}) -> (d{broadcast})>"
    kinds = [y] * (inputs - 1) + [y if broadcast is None else tensor(shape[broadcast])]
    maps = ", ".join([*([whole] * (inputs - 1)), last, whole])
    iterators = ", ".join(['"parallel"'] * len(shape))
    given = {f"x{i}": kind for i, kind in enumerate(kinds)}
    arguments, bound = (
        ", ".join(f"%{n}" for n in given),
        ", ".join([*(f"%a{i}: f32" for i in range(inputs)), "%o: f32"]),
    )
    body = f"""  %e = tensor.empty() : {y}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
    ins({arguments} : {", ".join(kinds)}) outs(%e : {y}) {{
  ^bb0({bound}):
{ops}
    linalg.yield %v : f32
  }} -> {y}"""
    elements = math.prod(shape)
    moved = elements * (inputs + 1) if broadcast is None else elements * inputs + shape[broadcast]
    return function(given, body, y), 0.0, 4.0 * moved


def transpose(shape: tuple[int, ...], order: tuple[int, ...]) -> tuple[str, float, float]:
    x, y = tensor(*shape), tensor(*(shape[d] for d in order))
    body = (
        f"  %e = tensor.empty() : {y}\n  %r = linalg.transpose ins(%x : {x}) outs(%e : {y}) permutation = {list(order)}"
    )
    return function({"x": x}, body, y), 0.0, 8.0 * math.prod(shape)


def reduction(shape: tuple[int, ...], kept: int, combiner: str = "addf") -> tuple[str, float, float]:
    """Over all dimensions but the first `kept`."""
    x, y = tensor(*shape), tensor(*shape[:kept])
    dims = list(range(kept, len(shape)))
    body = filled(y) + f"  %r = linalg.reduce {{ arith.{combiner} }} ins(%x : {x}) outs(%i : {y}) dimensions = {dims}"
    return function({"x": x}, body, y), 0.0, 4.0 * (math.prod(shape) + math.prod(shape[:kept]))


RELU = "    %v = arith.maximumf %a0, %zero : f32"
ADD = "    %v = arith.addf %a0, %a1 : f32"
SUB_EXP = "    %d = arith.subf %a0, %a1 : f32\n    %v = math.exp %d : f32"
DIV = "    %v = arith.divf %a0, %a1 : f32"
GELU = "    %t = math.erf %a0 : f32\n    %v = arith.mulf %t, %a0 : f32"
ADD_RELU = "    %t = arith.addf %a0, %a1 : f32\n    %v = arith.maximumf %t, %zero : f32"


def resnet(n: int = 8) -> Iterator[tuple[str, tuple[str, float, float]]]:
    yield "conv 7×7 3→64 /2", conv(n, 224, 3, 64, 7, 2)
    yield "max pool 3×3 /2", maxpool(n, 64, 112)
    wide = 64
    for stage, (size, narrow) in enumerate(((56, 64), (28, 128), (14, 256), (7, 512))):
        stride, before = (1 if stage == 0 else 2), size * (1 if stage == 0 else 2)
        yield f"conv 1×1 {wide}→{narrow}, {before}²", conv(n, before, wide, narrow, 1, 1)
        yield f"conv 3×3 {narrow}→{narrow} /{stride}, {before}²", conv(n, before, narrow, narrow, 3, stride)
        yield f"conv 1×1 {narrow}→{4 * narrow}, {size}²", conv(n, size, narrow, 4 * narrow, 1, 1)
        yield f"conv 1×1 {wide}→{4 * narrow} /{stride}, {before}²", conv(n, before, wide, 4 * narrow, 1, stride)
        wide = 4 * narrow
        yield f"conv 1×1 {wide}→{narrow}, {size}²", conv(n, size, wide, narrow, 1, 1)
        if stride == 2:
            yield f"conv 3×3 {narrow}→{narrow}, {size}²", conv(n, size, narrow, narrow, 3, 1)
        yield f"bias, {wide} × {size}²", elementwise((n, wide, size, size), 2, ADD, 1)
        yield f"relu, {narrow} × {size}²", elementwise((n, narrow, size, size), 1, RELU)
        yield f"add, relu, {wide} × {size}²", elementwise((n, wide, size, size), 2, ADD_RELU)
    yield "mean, 2048 × 7²", reduction((n, 2048, 7, 7), 2)
    yield "fully connected", matmul(n, 1000, 2048)


def bert(s: int = 128, d: int = 768, heads: int = 12) -> Iterator[tuple[str, tuple[str, float, float]]]:
    head = d // heads
    yield "projection 128 × 768 × 768", matmul(s, d, d)
    yield "bias, 128 × 768", elementwise((s, d), 2, ADD, 1)
    yield "heads, 128 × 12 × 64", transpose((s, heads, head), (1, 0, 2))
    yield "keys transposed, 12 × 128 × 64", transpose((heads, s, head), (0, 2, 1))
    yield "scores, 12 × 128 × 128 × 64", matmul(s, s, head, heads)
    yield "max, 12 × 128 × 128", reduction((heads, s, s), 2, "maximumf")
    yield "exp, 12 × 128 × 128", elementwise((heads, s, s), 1, "    %v = math.exp %a0 : f32")
    yield "sum, 12 × 128 × 128", reduction((heads, s, s), 2)
    yield "quotient, 12 × 128 × 128", elementwise((heads, s, s), 2, DIV)
    yield "values, 12 × 128 × 64 × 128", matmul(s, head, s, heads)
    yield "add, 128 × 768", elementwise((s, d), 2, ADD)
    yield "sum of a row, 128 × 768", reduction((s, d), 1)
    yield "feed forward 128 × 3072 × 768", matmul(s, 4 * d, d)
    yield "gelu, 128 × 3072", elementwise((s, 4 * d), 1, GELU)
    yield "feed forward 128 × 768 × 3072", matmul(s, d, 4 * d)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", default="h200")
    parser.add_argument("--only", default="", metavar="TEXT")
    given = parser.parse_args()
    shares: dict[str, float] = {}
    print(f"{'op':<40}{'least':>10}{'predicted':>11}{'share':>7}  launches")
    for network, ops in (("ResNet-50", resnet()), ("BERT", bert())):
        for name, (text, flops, moved) in ops:
            if not re.search(given.only, name):
                continue
            made = planned(applied(api.load(None, payload=text)))
            found = predicted(made, given.chip)
            least = max(moved / DRAM, flops / PEAK) + LAUNCH
            shares[f"{network}: {name}"] = share = least / found.seconds
            kernels = ", ".join(f"{k.seconds * 1e6:.1f} µs {k.limit}" for k in found.kernels)
            print(f"{name:<40}{least * 1e6:8.2f} µs{found.seconds * 1e6:8.2f} µs{share:7.2f}  {kernels}", flush=True)
    mean = math.exp(sum(map(math.log, shares.values())) / len(shares))
    slow = ", ".join(name for name, share in shares.items() if share < 0.2)
    print(f"geometric mean of {len(shares)} ops: {mean:.2f}; below 0.2: {slow or 'none'}")


if __name__ == "__main__":
    main()
