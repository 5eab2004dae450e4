"""The long form of the codes of plans, bundles, inputs and devices (W07xx), of memory (W0490), and of the reference (W08xx)."""

from __future__ import annotations

from ..dsl.diagnostics import explanations

CODES = explanations("""
W0490 inputs that do not fit into memory
    The buffers of the payload add up to more than this machine has. A simulated run needs a shadow of each as well.
W0700 a plan is not what a plan looks like
    `plan.json` is no JSON, lacks a key, has an unknown one, or has a value of the wrong type. The message names the
    place by its JSON path.

    wrong:  {"do": "launch", "kernel": 3, …}
    right:  {"do": "launch", "kernel": "gemm", …}
W0701 a plan of another version
    The bundle was written by another Weft. Build it anew: `weft build`.
W0702 a plan names what is not there
    A step names a kernel or a buffer, or an expression names a scalar or an input's dimension, that the plan does not
    declare. Nothing was launched.
W0703 a declaration in a plan is wrong
    A name is used twice, an element type or a role does not exist, a size is negative, or a constant's data does not
    have the size of its shape.
W0704 an impossible launch shape
    A block has 1 to 1024 threads, at most 1024 × 1024 × 64; a grid at most 2³¹−1 × 65535 × 65535 blocks; a block at
    most 227 KiB of shared memory.

    wrong:  map lanes to threads(y: 64, x: 32)
    right:  map lanes to threads(y: 32, x: 32)
W0705 arguments do not fit a kernel, or the sides of a copy each other
    Number, element type, rank, static sizes, strides and offset of each argument must be those of the kernel's
    parameter.
W0706 a temporary is used outside its life
    A temporary buffer is allocated once, then used, then freed once. Inputs and outputs are the caller's.
W0707 the order of a plan's steps is broken
    A step can wait for earlier steps only, and streams count from 0.
W0708 a window reaches outside its buffer
    Offset, sizes and strides of an argument or of a copy touch elements that the buffer does not have. Nothing was
    launched.
W0709 a size has no value
    The host program divides by zero for these input shapes.
W0710 no bundle
    A bundle is a folder with `plan.json`, `kernels.cu` and `module.mlir`. `weft build FILE -o DIR` writes one.
W0711 a bundle cannot be written
    The folder cannot be made, or other things stand there: only a bundle or an empty folder is replaced. Nothing half
    written stays.
W0712 a bundle lacks a kernel
    `plan.json` launches a kernel that `kernels.cu` does not define. Build the bundle anew.
W0713 a kernel takes other arguments than the plan passes
    Number and types of the parameters of a kernel in `kernels.cu` must be those of its `params` in `plan.json`: a
    pointer per memref, then a `long long` per size, stride or offset that is null there, and scalars by value. Build
    the bundle anew.
W0714 an output would overwrite something
    What a command writes is none of the files that it reads (the schedule and what it includes, the payload,
    `--inputs`, a bundle), nor another of its outputs, whatever the path looks like; and a file that is there is not
    replaced by one of another kind: no `.weft` by arrays. `--trace out.json` writes two files: the timeline to
    `out.json`, and its picture to `out.svg`.

    wrong:  weft apply gemm.weft -o gemm.weft
    right:  weft apply gemm.weft -o scheduled.mlir
    wrong:  weft run gemm.weft --save gemm.weft
    right:  weft run gemm.weft --save y.npz
    wrong:  --trace out.svg
    right:  --trace out.json
W0715 no .npz of plain arrays
    The file cannot be read, is damaged, or holds pickled Python objects, which are never read: unpickling runs code.

    wrong:  np.savez("x.npz", a=np.array([{}], dtype=object))
    right:  np.savez("x.npz", a=np.zeros((4, 4), np.float32))
W0716 arrays of the wrong names
    There must be one array per argument of the function, and no other. An argument's name is its `weft.name`
    attribute, else `arg0`, `arg1`, …; the message lists what is expected.
W0717 an array of the wrong type or shape
    Arrays are taken as they are, never converted: f32 wants float32. bf16 comes as uint16, its 16 bits.
W0719 random inputs need shapes
    The function has dynamic dimensions (`?`), so there is nothing to make random arrays of. Give them: `--inputs
    x.npz`.
W0720 no GPU to run on
    CuPy is not installed, CUDA does not start, or there is no device. `pip install 'weft[cuda12]'` (or cuda13), or
    run on the simulator: `--target sim`.
W0721 NVRTC refuses the kernels
    The compiler's own words are in the notes.
W0722 the device is out of memory
    The plan's buffers do not fit at once, even after a retry. Repeats and graphs keep all temporaries; one run
    without `--graph` frees each behind its last use.
W0723 CUDA reports a failure
    A launch was refused, or something launched before failed: an access outside its memory is reported late. The
    simulator says where: `--target sim`.
W0724 what a graph cannot hold or tell
    With `--graph`, a plan's launches, copies and fills are captured once and replayed as a whole. A graph holds
    nothing but work of the device on streams that are joined at its end: no allocations, nothing that the host waits
    for. It does not tell when each of its steps began, so there is no timeline of it.

    wrong:  weft run … --graph --trace t.json
    right:  weft run … --trace t.json
W0730 an op is in no launch
    After the schedule the host function still computes something itself. Computing is for kernels: a run does nothing
    on the host between launches.

    wrong:  a schedule that launches the matmul and leaves the fill before it
    right:  fuse init into tiles        // or map and launch it by itself

    A `tensor.pad` is read through by the linalg ops that are tiled, fused or mapped, and is no op of its own then.
    One that stays a copy (a width that only a run knows, a result of the function) is filled by the `linalg.map` that
    `bufferize` makes of it: match, map and launch that.
W0731 the host cannot do this
    The host part of a plan allocates, copies, launches and frees, with loops, branches and calls that are known
    beforehand. A `gpu.launch` must be outlined, results must be memrefs.
W0732 which function?
    `--entry NAME` says which function runs. Without it there must be exactly one public function that launches
    kernels (or exactly one public function).
W0733 a type that no array can be passed for
    Arguments and results are memrefs, tensors or scalars of f64, f32, f16, bf16, i64, i32, i16, i8, i1 or index, and
    arrays are passed contiguous.
W0734 the host does not know a value
    A loop bound or a condition of the host function depends on an input's shape or on a scalar, or a number is read
    from memory. Launch sizes may depend on shapes and scalars, control flow may not.
W0735 a result of unknown shape
    The shape of a result must be static, or that of what is copied into it.
W0736 too many steps
    A loop of the host function unrolls to more than 100,000 steps.
W0737 a kernel made for another launch shape
    `known_block_size` or `known_grid_size` of the kernel differs from the launch: its text was made for the former.
W0738 a bundle's file was edited
    `plan.json` holds the digests of `kernels.cu` and `module.mlir` as they were built, one from the other. The
    simulator runs the module, a GPU the kernels: a run on one says nothing about the other once either was edited, by
    a barrier less for instance. It is a warning; `weft run DIR --json` lists the files under `edited`. Build the
    bundle anew.
W0800 the CPU reference cannot lower the payload
    MLIR's passes refuse an op of it; their words are in the notes. The kernels can still be run without a reference:
    `--reference none`.
W0801 the CPU reference cannot be linked
    LLVM refuses the lowered payload, or a function is missing.
W0802 the CPU reference cannot run this op
    The payload calls a function that has no body, has ops of a dialect that is not upstream's, or ops that ask for a
    rounding mode of their own (the reference rounds to nearest). Kernels that the payload launches itself are run
    thread after thread, cut at their barriers: not if threads exchange values otherwise (shuffles, tensor cores), nor
    if a barrier stands where not certainly all threads get (in a loop or a branch whose bounds or condition the
    threads compute or read), nor if they were seen to fault. Run without a reference: `--reference none`.
W0803 the CPU reference was ended
    The payload is compiled for the CPU and run in a process of its own, which a signal has ended: SIGFPE is an
    integer division by zero, SIGSEGV an access out of bounds, SIGABRT a check of MLIR or LLVM that failed, SIGKILL
    mostly memory that was used up. The message says what was under way. MLIR leaves a division by zero and an access
    out of bounds undefined: random inputs may hold a zero or an index too large, so give inputs that the payload is
    defined for. The simulator says where such a thing happens in a kernel.

    right:  --inputs x.npz
    right:  --reference none
""")
