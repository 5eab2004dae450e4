"""`payload conv2d(n, c, h, w, k, r, s, stride, pad, dilation, type)` and its kin: convolutions of images on tensors.

A `tensor.pad` with zeros where `pad` is not 0, a `linalg.fill`, and upstream's named op; behind it bias, residual and ReLU as
elementwise ops, as a frontend writes them.
"""

from __future__ import annotations

from ..builder import Builder, BuilderParameter
from . import baseline
from .geometry import ACCUMULATOR, LAYERS, Convolution, misfit, operations

PARAMETERS = (
    BuilderParameter("n", "int", 1, meaning="images"),
    BuilderParameter("c", "int", 16, meaning="channels of an image"),
    BuilderParameter("h", "int", 16, meaning="rows of an image"),
    BuilderParameter("w", "int", 16, meaning="columns of an image"),
    BuilderParameter("k", "int", 32, meaning="filters, channels of the result"),
    BuilderParameter("r", "int", 3, meaning="rows of a filter"),
    BuilderParameter("s", "int", 3, meaning="columns of a filter"),
    BuilderParameter("stride", "int", 1, meaning="from one window to the next"),
    BuilderParameter("pad", "int", 1, minimum=0, meaning="zeros on each side of an image"),
    BuilderParameter("dilation", "int", 1, meaning="from one tap of a filter to the next"),
    BuilderParameter("type", "type", "f32", domain=tuple(ACCUMULATOR), meaning="element type of images and filters"),
)
RESIDUAL = BuilderParameter("residual", "int", 0, 0, domain=(0, 1), meaning="1: a third summand of the result's shape")


def conv2d(**values: int | str) -> str:
    """The MLIR text, channels last: X[n, h, w, c] and W[r, s, c, k] make Y[n, y, x, k]."""
    sizes = Convolution(**values)  # type: ignore[arg-type]
    result = _channels_last(sizes)
    return f"""\
func.func @conv2d({_images_and_filters(sizes)}) -> ({result} {{weft.name = "Y"}}) {{
{_convolved(sizes, "Y")}
  return %Y : {result}
}}
"""


def conv2d_nchw(**values: int | str) -> str:
    """The MLIR text, channels first: X[n, c, h, w] and W[k, c, r, s] make Y[n, k, y, x]."""
    sizes = Convolution(**values)  # type: ignore[arg-type]
    images = _tensor(sizes.type, sizes.n, sizes.c, sizes.h, sizes.w)
    padded = _tensor(sizes.type, sizes.n, sizes.c, *sizes.padded)
    filters = _tensor(sizes.type, sizes.k, sizes.c, sizes.r, sizes.s)
    result = _tensor(sizes.accumulator, sizes.n, sizes.k, *sizes.out)
    return f"""\
func.func @conv2d_nchw(%X: {images} {{weft.name = "X"}}, %W: {filters} {{weft.name = "W"}}) -> ({result} {{weft.name = "Y"}}) {{
{_padding(sizes, images, padded, f"0, 0, {sizes.pad}, {sizes.pad}")}{_filled(sizes, result)}
  %Y = linalg.conv_2d_nchw_fchw {_steps(sizes)}
    ins({_operand(sizes)}, %W : {padded}, {filters}) outs(%init : {result}) -> {result}
  return %Y : {result}
}}
"""


def conv2d_bias_relu(residual: int, **values: int | str) -> str:
    """The MLIR text, channels last: Y = max(X ∗ W + bias[k], 0), with `residual` added before the maximum if asked for.

    Bias and residual have the result's element type.
    """
    sizes = Convolution(**values)  # type: ignore[arg-type]
    type, result, bias = sizes.accumulator, _channels_last(sizes), _tensor(sizes.accumulator, sizes.k)
    third = f', %residual: {result} {{weft.name = "residual"}}' if residual else ""
    parallel = 'iterator_types = ["parallel", "parallel", "parallel", "parallel"]'
    added = f"""
  %summed = linalg.add ins(%biased, %residual : {result}, {result}) outs(%empty : {result}) -> {result}"""
    summed = "%summed" if residual else "%biased"
    return f"""\
#all = affine_map<(n, y, x, k) -> (n, y, x, k)>
#channel = affine_map<(n, y, x, k) -> (k)>
func.func @conv2d_bias_relu({_images_and_filters(sizes)},
    %bias: {bias} {{weft.name = "bias"}}{third}) -> ({result} {{weft.name = "Y"}}) {{
{_convolved(sizes, "conv")}
  %biased = linalg.generic {{indexing_maps = [#all, #channel, #all], {parallel}}}
    ins(%conv, %bias : {result}, {bias}) outs(%empty : {result}) {{
  ^bb0(%value: {type}, %offset: {type}, %out: {type}):
    %sum = arith.addf %value, %offset : {type}
    linalg.yield %sum : {type}
  }} -> {result}{added if residual else ""}
  %Y = linalg.generic {{indexing_maps = [#all, #all], {parallel}}}
    ins({summed} : {result}) outs(%empty : {result}) {{
  ^bb0(%value: {type}, %out: {type}):
    %positive = arith.maximumf %value, %zero : {type}
    linalg.yield %positive : {type}
  }} -> {result}
  return %Y : {result}
}}
"""


# ---- parts of the text -----------------------------------------------------------------------------------------------------


def _images_and_filters(sizes: Convolution) -> str:
    images, _, filters = _operands(sizes)
    return f'%X: {images} {{weft.name = "X"}}, %W: {filters} {{weft.name = "W"}}'


def _operands(sizes: Convolution) -> tuple[str, str, str]:
    """Types of images, padded images and filters, channels last."""
    return (
        _tensor(sizes.type, sizes.n, sizes.h, sizes.w, sizes.c),
        _tensor(sizes.type, sizes.n, *sizes.padded, sizes.c),
        _tensor(sizes.type, sizes.r, sizes.s, sizes.c, sizes.k),
    )


def _channels_last(sizes: Convolution) -> str:
    return _tensor(sizes.accumulator, sizes.n, *sizes.out, sizes.k)


def _convolved(sizes: Convolution, name: str) -> str:
    """The convolution with channels last, and what comes before it."""
    images, padded, filters = _operands(sizes)
    result = _channels_last(sizes)
    return f"""\
{_padding(sizes, images, padded, f"0, {sizes.pad}, {sizes.pad}, 0")}{_filled(sizes, result)}
  %{name} = linalg.conv_2d_nhwc_hwcf {_steps(sizes)}
    ins({_operand(sizes)}, %W : {padded}, {filters}) outs(%init : {result}) -> {result}"""


def _padding(sizes: Convolution, images: str, padded: str, widths: str) -> str:
    if not sizes.pad:
        return ""
    return f"""\
  %outside = arith.constant 0.0 : {sizes.type}
  %padded = tensor.pad %X low[{widths}] high[{widths}] {{
  ^bb0(%d0: index, %d1: index, %d2: index, %d3: index):
    tensor.yield %outside : {sizes.type}
  }} : {images} to {padded}
"""


def _filled(sizes: Convolution, result: str) -> str:
    return f"""\
  %zero = arith.constant 0.0 : {sizes.accumulator}
  %empty = tensor.empty() : {result}
  %init = linalg.fill ins(%zero : {sizes.accumulator}) outs(%empty : {result}) -> {result}"""


def _operand(sizes: Convolution) -> str:
    return "%padded" if sizes.pad else "%X"


def _steps(sizes: Convolution) -> str:
    return f"{{dilations = dense<{sizes.dilation}> : tensor<2xi64>, strides = dense<{sizes.stride}> : tensor<2xi64>}}"


def _tensor(type: str, *sizes: int) -> str:
    return f"tensor<{'x'.join([*map(str, sizes), type])}>"


BUILDERS = tuple(
    Builder(build.__name__, summary, parameters, build, operations, computed, misfit, LAYERS)
    for build, summary, parameters, computed in (
        (conv2d, "convolution of images, channels last (NHWC, filters HWCF)", PARAMETERS, baseline.nhwc),
        (conv2d_nchw, "convolution of images, channels first (NCHW, filters FCHW)", PARAMETERS, baseline.nchw),
        (
            conv2d_bias_relu,
            "convolution, channels last; plus a bias, perhaps a residual; ReLU",
            (*PARAMETERS, RESIDUAL),
            baseline.bias_relu,
        ),
    )
)
