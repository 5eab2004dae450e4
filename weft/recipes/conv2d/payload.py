"""`payload conv2d(n, c, h, w, k, r, s, stride, pad, dilation, type, rounded)` and related builders:
convolutions of images on tensors.

The text is a zero `tensor.pad` if `pad` is not 0, a `linalg.fill`, and the named op of `linalg`;
after it bias, residual and ReLU as elementwise ops, as a frontend emits them, or a rounding to the
operands' type.
"""

from __future__ import annotations

from dataclasses import replace

from ..builder import OPEN, Builder, BuilderParameter, Misfit, Value, named_sizes, sizes_at_run_time, tensor
from ..rounded import ROUNDED, rounding
from ..rounded import misfit as unrounded
from . import baseline, geometry
from .geometry import ACCUMULATOR, LAYERS, Convolution, operations

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


def _parameters(**axes: str) -> tuple[BuilderParameter, ...]:
    """The parameters, with the axes of the arguments that define the sizes."""
    return tuple(replace(p, axis=axes.get(p.name)) for p in PARAMETERS)


CHANNELS_LAST = _parameters(n="X.0", h="X.1", w="X.2", c="X.3", k="W.3")
CHANNELS_FIRST = _parameters(n="X.0", c="X.1", h="X.2", w="X.3", k="W.0")
RESIDUAL = BuilderParameter("residual", "int", 0, 0, domain=(0, 1), meaning="1: a third summand of the result's shape")


def conv2d(rounded: int = 0, **values: Value) -> str:
    """The MLIR text, channels last: X[n, h, w, c] and W[r, s, c, k] make Y[n, y, x, k], which has
    the type of X if `rounded`."""
    sizes = Convolution(**values)  # type: ignore[arg-type]
    sums, extents = _channels_last(sizes), named_sizes(n=sizes.n, oh=sizes.h, ow=sizes.w, k=sizes.k)
    result = tensor(sizes.type, sizes.n, *sizes.out, sizes.k) if rounded else sums
    name = "sums" if rounded else "Y"
    last = rounding(name, "Y", 4, sizes.accumulator, sizes.type, (sums, result), extents) if rounded else ""
    return f"""\
func.func @conv2d({_images_and_filters(sizes)}) -> ({result} {{weft.name = "Y"}}) {{
{_convolved(sizes, name)}
{last}\
  return %Y : {result}
}}
"""


def conv2d_nchw(**values: Value) -> str:
    """The MLIR text, channels first: X[n, c, h, w] and W[k, c, r, s] make Y[n, k, y, x]."""
    sizes = Convolution(**values)  # type: ignore[arg-type]
    images = tensor(sizes.type, sizes.n, sizes.c, sizes.h, sizes.w)
    padded = tensor(sizes.type, sizes.n, sizes.c, *sizes.padded)
    filters = tensor(sizes.type, sizes.k, sizes.c, sizes.r, sizes.s)
    result = tensor(sizes.accumulator, sizes.n, sizes.k, *sizes.out)
    return f"""\
func.func @conv2d_nchw(%X: {images} {{weft.name = "X"}}, %W: {filters} {{weft.name = "W"}}) -> ({result} {{weft.name = "Y"}}) {{
{_padding(sizes, images, padded, f"0, 0, {sizes.pad}, {sizes.pad}")}{_open(sizes, images, filters, (2, 3, 0))}\
{_filled(sizes, result, named_sizes(n=sizes.n, k=sizes.k, oh=sizes.h, ow=sizes.w))}
  %Y = linalg.conv_2d_nchw_fchw {_steps(sizes)}
    ins({_operand(sizes)}, %W : {padded}, {filters}) outs(%init : {result}) -> {result}
  return %Y : {result}
}}
"""


def conv2d_bias_relu(residual: int, **values: Value) -> str:
    """The MLIR text, channels last: Y = max(X ∗ W + bias[k], 0); with `residual`, a residual is
    added before the maximum.

    Bias and residual have the result's element type.
    """
    sizes = Convolution(**values)  # type: ignore[arg-type]
    type, result, bias = sizes.accumulator, _channels_last(sizes), tensor(sizes.accumulator, sizes.k)
    third = f', %residual: {result} {{weft.name = "residual"}}' if residual else ""
    parallel = 'iterator_types = ["parallel", "parallel", "parallel", "parallel"]'
    added = f"""
  %summed = linalg.add {{weft.name = "summed"}} ins(%biased, %residual : {result}, {result}) outs(%empty : {result}) -> {result}"""
    summed = "%summed" if residual else "%biased"
    return f"""\
#all = affine_map<(n, y, x, k) -> (n, y, x, k)>
#channel = affine_map<(n, y, x, k) -> (k)>
func.func @conv2d_bias_relu({_images_and_filters(sizes)},
    %bias: {bias} {{weft.name = "bias"}}{third}) -> ({result} {{weft.name = "Y"}}) {{
{_convolved(sizes, "conv")}
  %biased = linalg.generic {{indexing_maps = [#all, #channel, #all], {parallel}}}
    ins(%conv, %bias : {result}, {bias}) outs(%empty : {result}) attrs = {{weft.name = "biased"}} {{
  ^bb0(%value: {type}, %offset: {type}, %out: {type}):
    %sum = arith.addf %value, %offset : {type}
    linalg.yield %sum : {type}
  }} -> {result}{added if residual else ""}
  %Y = linalg.generic {{indexing_maps = [#all, #all], {parallel}}}
    ins({summed} : {result}) outs(%empty : {result}) attrs = {{weft.name = "relu"}} {{
  ^bb0(%value: {type}, %out: {type}):
    %positive = arith.maximumf %value, %zero : {type}
    linalg.yield %positive : {type}
  }} -> {result}
  return %Y : {result}
}}
"""


# ---- parts of the text -----------------------------------------------------------------------------------------------


def _images_and_filters(sizes: Convolution) -> str:
    images, _, filters = _operands(sizes)
    return f'%X: {images} {{weft.name = "X"}}, %W: {filters} {{weft.name = "W"}}'


def _operands(sizes: Convolution) -> tuple[str, str, str]:
    """The types of images, padded images and filters, channels last."""
    return (
        tensor(sizes.type, sizes.n, sizes.h, sizes.w, sizes.c),
        tensor(sizes.type, sizes.n, *sizes.padded, sizes.c),
        tensor(sizes.type, sizes.r, sizes.s, sizes.c, sizes.k),
    )


def _channels_last(sizes: Convolution) -> str:
    return tensor(sizes.accumulator, sizes.n, *sizes.out, sizes.k)


def _convolved(sizes: Convolution, name: str) -> str:
    """The lines of the convolution, channels last, and of its operands."""
    images, padded, filters = _operands(sizes)
    result = _channels_last(sizes)
    return f"""\
{_padding(sizes, images, padded, f"0, {sizes.pad}, {sizes.pad}, 0")}{_open(sizes, images, filters, (1, 2, 3))}\
{_filled(sizes, result, named_sizes(n=sizes.n, oh=sizes.h, ow=sizes.w, k=sizes.k))}
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


def _open(sizes: Convolution, images: str, filters: str, axes: tuple[int, int, int]) -> str:
    """The lines that compute the open sizes of the result. `axes`: the axes of an image's rows and
    columns, and of the filters' number."""
    rows, columns, number = axes
    text = sizes_at_run_time(
        (sizes.n, "n", "X", 0, images),
        (sizes.h, "h", "X", rows, images),
        (sizes.w, "w", "X", columns, images),
        (sizes.k, "k", "W", number, filters),
    )
    for size, reach, name in zip((sizes.h, sizes.w), sizes.reach, "hw", strict=True):
        if size == OPEN:
            last = f"(d + {2 * sizes.pad - reach}) floordiv {sizes.stride} + 1"
            text += f"  %o{name} = affine.apply affine_map<(d) -> ({last})>(%{name})\n"
    return text


def _filled(sizes: Convolution, result: str, names: str) -> str:
    return f"""\
  %zero = arith.constant 0.0 : {sizes.accumulator}
  %empty = tensor.empty({names}) : {result}
  %init = linalg.fill {{weft.name = "init"}} ins(%zero : {sizes.accumulator}) outs(%empty : {result}) -> {result}"""


def _operand(sizes: Convolution) -> str:
    return "%padded" if sizes.pad else "%X"


def _steps(sizes: Convolution) -> str:
    steps = f"dilations = dense<{sizes.dilation}> : tensor<2xi64>, strides = dense<{sizes.stride}> : tensor<2xi64>"
    return f'{{{steps}, weft.name = "product"}}'


def misfit(rounded: int = 0, **values: Value) -> Misfit | None:
    """The inconsistency of sizes, or a result that cannot be rounded."""
    return unrounded(values["type"], rounded) or geometry.misfit(**values)


BUILDERS = tuple(
    Builder(build.__name__, summary, parameters, build, operations, computed, misfit, LAYERS)
    for build, summary, parameters, computed in (
        (conv2d, "convolution of images, channels last (NHWC, filters HWCF)", (*CHANNELS_LAST, ROUNDED), baseline.nhwc),
        (conv2d_nchw, "convolution of images, channels first (NCHW, filters FCHW)", CHANNELS_FIRST, baseline.nchw),
        (
            conv2d_bias_relu,
            "convolution, channels last; plus a bias, perhaps a residual; ReLU",
            (*CHANNELS_LAST, RESIDUAL),
            baseline.bias_relu,
        ),
    )
)
