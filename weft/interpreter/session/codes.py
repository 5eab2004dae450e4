"""The long form of the codes that the session raises, and of those that no statement has for its own.
`weft explain CODE` prints them; those of a statement stand in its docstring (`statement.explained`)."""

from ...dsl.diagnostics import explanations

CODES = explanations("""
W0311 upstream refuses a transformation
    The statement is implemented by an op of MLIR's transform dialect, and that op reported a failure; its message is
    in the notes. The session is as it was before the statement.
W0313 a statement produced invalid IR
    This is a defect in Weft, not in the schedule: please report it with the schedule and the payload. The session is
    as it was before the statement.
W0397 an atomic op that does more than combine
    An op marked `weft.atomic` combines one input with its output, in a body of one op such as `arith.addf`: that becomes
    a `memref.atomic_rmw` per element. `fuse` makes such an op from the sum of `split-k … atomic`, and `promote-to-shared`
    from what a loop combines into a buffer.
W0398 a memref whose layout has no strides
    Weft addresses an element of a memref by an offset and one stride per dimension. A layout such as
    `affine_map<(i) -> (i floordiv 4, i mod 4)>` has no strides. Write it as `strided<[8, 1]>`, or let upstream remove
    it: `normalize-memrefs` moves the map into the indices of each access.
W0399 elements that are not numbers
    A ragged tile, a padding or a split sum needs a constant of the operand's element type: the padding value, or the
    initial value of a sum. Weft can make constants of the integer and floating-point types, and of `index`; ops on
    other element types (`complex<f32>`, vectors, types of other dialects) can be tiled where the tile sizes divide.
W0463 a version that no run takes
    Of `versions`, a run takes the first whose assumptions hold. A version that assumes nothing is always taken, so that
    it has to be the last one. State with `assume` what each of the others is for.
W0464 versions that change what they share
    Each block of `versions` has functions of its own; constants, declarations and kernels that the payload brings are
    there once. Change them in front of `versions`, where that holds for all.
W0466 too many versions
    What stands behind `versions` is done once for each of its blocks, so that a second one in the same schedule, or in one that is
    called twice, multiplies the versions, and the time that applying the schedule takes. Assume in front of `versions` what
    holds for all of them, or write one `versions` whose blocks assume what several did.
""")
