"""The long form of what `as-gemm` refuses."""

from __future__ import annotations

from ....dsl.diagnostics import explanations

CODES = explanations("""
W0440 no convolution
    `as-gemm` takes an op that moves a filter over an image and adds up products: the `linalg.conv_*` ops, or a
    `linalg.generic` with the same indexing maps, strides, dilations and groups included. Matrix products are tiled as
    they are; pooling has no filter whose elements are multiplied, and is tiled and mapped as it is.
W0441 a depthwise convolution, or one of a single filter
    Each channel of a depthwise convolution's result sees one channel of the image and a filter of its own (or a few);
    a convolution without channels has one filter. As matrix products they would have one column or a few: hardly
    anything would be used twice, and shared memory would win nothing. Tile the convolution itself, stage its image's
    tile with `promote-to-shared`, and map the tiles onto blocks and threads. Grouped convolutions with several
    channels in a group are fine: the groups make a batch of products.
W0442 a convolution of dynamic sizes
    The product's rows are the image's batches, rows and columns in a row, taken apart again by division. That needs
    their extents as numbers. Give the payload static shapes, or tile and map the convolution itself.
W0443 an impossible window
    Strides and dilations are 1 or more, and the filter's window stays inside the (padded) image. The message says
    along which axis, and how far it reaches.
W0444 a filter that is no matrix
    The filter's axes have to stand so that those that are summed over, and those of the result, lie side by side:
    HWCF, FHWC, FCHW, and their grouped forms do. Transpose the filter once, before the convolution.
W0445 a convolution on memrefs
    A payload written on memrefs is raised to tensors where its function is a straight line of linalg ops on whole
    buffers or windows of them. This one is not, or was bufferized by an earlier statement, or a buffer's type has a
    layout, which no tensor has. Use `as-gemm` before `bufferize`, and `memref.subview` for windows.

    wrong:  %x: memref<1x6x6x3xf32, strided<[200, 20, 3, 1]>>
    right:  %b: memref<1x10x20x3xf32>, and in the function %x = memref.subview %b[0, 0, 0, 0] [1, 6, 6, 3] [1, 1, 1, 1]
W0446 another padding than the payload's
    `as-gemm conv padding [1, 1]` states how the payload pads its image (with `tensor.pad`, or a filled buffer that
    the image is copied into), a number for both sides of each axis that the window moves along, and is checked.
    Padding is part of what is computed: a schedule says how, not what, and cannot add any. Write it in the payload;
    `as-gemm` reads it as a mask, and no padded copy is made.
""")
