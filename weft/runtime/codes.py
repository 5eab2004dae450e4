"""The codes of plans, bundles, inputs and devices (W07xx), of memory (W0490), of the reference (W08xx), explained."""

from ..dsl.diagnostics import explanations

CODES = explanations("""
W0490 inputs that do not fit into memory
    The buffers of the payload add up to more than this machine has. A simulated run needs a shadow of each as well.
W0700 a malformed plan
    `plan.json` is not JSON, lacks a key, has an unknown one, or has a value of the wrong type. The message gives the
    JSON path.

    wrong:  {"do": "launch", "kernel": 3, …}
    right:  {"do": "launch", "kernel": "gemm", …}
W0701 a plan of another version
    The bundle was written by another version of Weft. Rebuild it: `weft build`.
W0702 a plan refers to something undeclared
    A step names a kernel or a buffer, or an expression names a scalar or an input's dimension, that the plan does not
    declare. Nothing was launched.
W0703 an invalid declaration in a plan
    A name is used twice, an element type or a role does not exist, a size is negative, or a constant's data does not
    have the size of its shape.
W0704 an impossible launch shape
    A block has 1 to 1024 threads, at most 1024 × 1024 × 64; a grid at most 2³¹−1 × 65535 × 65535 blocks, or 2³¹−1 in
    all where a kernel numbers them along x; a block at most 227 KiB of shared memory, on the largest chips.

    wrong:  map lanes to threads(y: 64, x: 32)
    right:  map lanes to threads(y: 32, x: 32)
W0705 arguments do not match a kernel, or source and target of a copy each other
    The number of arguments must be that of the kernel's parameters, and the element type, rank, static sizes, strides
    and offset of each argument must be those of its parameter.
W0706 a temporary is used outside its lifetime
    A temporary buffer is allocated once, then used, then freed once. Inputs and outputs belong to the caller.
W0707 an invalid order of a plan's steps
    A step can only wait for earlier steps, and streams are numbered from 0.
W0708 a window extends beyond its buffer
    The offset, sizes and strides of an argument or of a copy describe elements that the buffer does not have. Nothing
    was launched.
W0709 a size has no value
    The host program divides by zero for these input shapes.
W0710 not a bundle
    A bundle is a folder with `plan.json`, `kernels.cu` and `module.mlir`. `weft build FILE -o DIR` writes one.
W0711 a bundle cannot be written
    The folder cannot be created, or has other contents: only a bundle or an empty folder is replaced. No partly
    written bundle is left.
W0712 a bundle lacks a kernel
    `plan.json` launches a kernel that `kernels.cu` does not define. Rebuild the bundle.
W0713 a kernel takes other arguments than the plan passes
    The number and types of the parameters of a kernel in `kernels.cu` must be those of its `params` in `plan.json`: a
    pointer per memref, then a `long long` per size, stride or offset that is null there, and scalars by value.
    Rebuild the bundle.
W0714 an output would overwrite something
    A command does not overwrite a file that it reads (the schedule and what it includes, the payload, `--inputs`, a
    bundle), nor another of its outputs, however the path is written; and it does not replace an existing file by one
    of another kind, such as a `.weft` by arrays. `--trace out.json` writes two files: the timeline to `out.json`, and
    its picture to `out.svg`.

    wrong:  weft apply gemm.weft -o gemm.weft
    right:  weft apply gemm.weft -o scheduled.mlir
    wrong:  weft run gemm.weft --save gemm.weft
    right:  weft run gemm.weft --save y.npz
    wrong:  --trace out.svg
    right:  --trace out.json
W0715 not an .npz file of plain arrays
    The file cannot be read, is damaged, or holds pickled Python objects, which are never loaded: unpickling runs
    code.

    wrong:  np.savez("x.npz", a=np.array([{}], dtype=object))
    right:  np.savez("x.npz", a=np.zeros((4, 4), np.float32))
W0716 arrays with the wrong names
    Each array is for an argument of the function, by its name: its `weft.name` attribute, else `arg0`, `arg1`, …; the
    message lists the expected names. Where an array is not given, `weft run` makes a random one.
W0717 an array of the wrong type or shape
    Arrays are never converted: f32 needs float32. bf16 is passed as uint16, its 16 bits, and
    f8E4M3FN and f8E5M2 as uint8.
W0718 an input that cannot be made as asked
    `--input NAME=LOW:HIGH` asks for random numbers from LOW to below HIGH, `--input NAME=2.5` for that number in every
    element, `--input NAME=x.npy` for the array in a file. The numbers must fit the argument's element type, and there
    must be one from LOW to below HIGH.

    wrong:  --input ids=1000:0
    wrong:  --input ids=0:0.5
    right:  --input ids=0:1000
W0719 random inputs need shapes
    The function has dynamic dimensions (`?`), so the shapes of random arrays are not known. Supply the arrays:
    `--inputs x.npz`.
W0720 no GPU to run on
    CuPy is not installed, CUDA does not start, or there is no device. `pip install 'weft-gpu[cuda12]'` (or cuda13), or
    run on the simulator: `--target sim`.
W0721 NVRTC rejects the kernels
    The compiler's messages are in the notes.
W0722 the device is out of memory
    The plan's buffers do not fit at the same time, even after a retry. Repeated runs and graphs keep all temporaries;
    a single run without `--graph` frees each after its last use.
W0723 CUDA reports a failure
    A launch was rejected, or an earlier one failed: an access out of bounds is reported late. The simulator says
    where: `--target sim`.
W0724 something that a graph cannot contain or report
    With `--graph`, a plan's launches, copies and fills are captured once and replayed as a unit. A graph contains
    only device work on streams that are joined at its end: no allocations, nothing that the host waits for. It does
    not report when each of its steps began, so there is no timeline of it.

    wrong:  weft run … --graph --trace t.json
    right:  weft run … --trace t.json
W0725 a kernel that the CPU cannot run natively
    With `--target cpu` a kernel becomes loops over its blocks and threads, cut at its barriers, and machine code. That
    is not possible if threads exchange values in other ways than by shuffles and tensor cores, if a barrier may not be
    reached by all threads (in a loop or a branch whose bounds or condition the threads compute or read), if a kernel
    calls a function, has ops of a dialect that is not upstream's, or ops with an explicit rounding mode. MLIR or LLVM
    may reject something, too; their messages are in the notes. The simulator runs most of it: `--target sim`.

    Wherever a module comes from, a bundle, the cache or a payload, only ops, attributes and types that are on a list
    become machine code: the normal form of kernels, and what host functions do. Not on it are pointers, inline
    assembler, calls, memory that the module only declares, and what LLVM would take as an order to itself.
W0726 more shared memory than the chip has
    A block may have 227 KiB of shared memory on sm_90 and sm_100, 163 KiB on sm_80, 99 KiB on sm_86, sm_89 and sm_120,
    64 KiB on sm_75. The kernel needs more than the device gives; nothing was launched. Take smaller tiles or fewer
    stages, or another chip.
W0727 instructions that the chip lacks
    A kernel's entry in the plan has `requires`: the oldest chip whose instructions it takes. Asynchronous copies are there from
    sm_80 on, and so are products of tensor cores (those of f16, 16 x 8 x 8, from sm_75 on); memory barriers and tensor maps from
    sm_90 on. `sm_90a` says that no other chip has them: products of warp groups are on Hopper alone. The device is another one;
    nothing was compiled or launched.

    wrong:  weft run matmul.weft --target cuda      with `pipeline k stages 3 async` on a chip of sm_75
    right:  weft run matmul.weft --target cuda      with `pipeline k stages 2`
W0730 an op is in no launch
    After the schedule the host function still computes something itself. All computation must be in kernels: a run
    computes nothing on the host between launches.

    wrong:  a schedule that launches the matmul and leaves the fill before it
    right:  fuse init into tiles        // or map and launch it by itself

    The linalg ops that are tiled, fused or mapped read through a `tensor.pad`, and then nothing is left of it. One
    that stays a copy (its width is known only at run time, or it is a result of the function) is filled by the
    `linalg.map` that `bufferize` makes of it: match, map and launch that.
W0731 the host cannot do this
    The host part of a plan allocates, copies, launches and frees, with loops, branches and calls that are known
    beforehand. A `gpu.launch` must be outlined, and results must be memrefs.
W0732 which function to run is not clear
    `--entry NAME` selects the function to run. Without it there must be exactly one public function that launches
    kernels (or exactly one public function).
W0733 a type for which no array can be passed
    Arguments and results are memrefs, tensors or scalars of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, i16, i8, i1 or
    index, and arrays are passed contiguous.
W0734 a value that is not known on the host
    A loop bound or a condition of the host function depends on an input's shape or on a scalar, or a number is read
    from memory. Launch sizes may depend on shapes and scalars, control flow may not.
W0735 a result of unknown shape
    The shape of a result must be static, or that of what is copied into it.
W0736 too many steps
    The loops of the host function unroll to more than 100,000 steps.
W0737 a kernel generated for another launch shape
    `known_block_size` or `known_grid_size` of the kernel differs from the launch: its text was generated for the
    former.
W0738 a bundle's file was edited
    `plan.json` holds the digests of `kernels.cu` and `module.mlir` as they were built, one from the other. The
    simulator runs the module, a GPU the kernels: once either was edited, by removing a barrier for instance, a run of
    one says nothing about the other. This is a warning; `weft run DIR --json` lists the files under `edited`. Rebuild
    the bundle.
W0739 a size that the kernels are not made for
    The schedule assumes (`assume A.1 % 4 == 0`) that a size is a multiple of a number, and leaves out what other sizes
    need: guards, and accesses of one element. Nothing was launched. Pad the array, or leave the assumption out.
W0740 not an array that a kernel can be called with
    A kernel takes arrays of anything that speaks DLPack or `__cuda_array_interface__`: NumPy, CuPy, PyTorch, JAX. A
    tensor that requires a gradient, a traced, sharded or deleted array of JAX's, a masked array of NumPy's, and a null
    pointer are refused, and so is an object with one of the two protocols that raises, or answers with something else
    than the protocol says.

    wrong:  kernel([1.0, 2.0], b)
    right:  kernel(numpy.array([1.0, 2.0], numpy.float32), b)
W0768 a kernel that is pickled or copied
    A kernel holds a device's memory, streams and compiled code, which belong to one process. `weft build`, or
    `weft.build`, writes a bundle; `weft.load_bundle(folder)` makes a kernel of it, in any process.
W0741 an array that is not row-major
    Kernels take their arrays contiguous, in row-major (C) order. A transposed array, or every second column of one,
    has other strides.

    wrong:  kernel(a.T, b)
    right:  kernel(cupy.ascontiguousarray(a.T), b)
W0742 an array that is not aligned
    On a GPU, kernels access up to 16 bytes at once, so each array has to begin at a multiple of 16 bytes, as all
    allocations do. A slice may begin elsewhere.

    wrong:  kernel(x[1:], b)
    right:  kernel(x[1:].copy(), b)
W0743 an array on another device
    A kernel runs on one device: the GPU that was current when it was compiled, or the CPU. Its arrays are in that
    device's memory. (NumPy arrays alone are copied to a GPU, and the results back.)
W0744 arrays that overlap
    A kernel is proven for arguments that are distinct buffers. What it writes must not overlap anything else that it
    is given.

    wrong:  kernel(a, b, out=a)
    right:  kernel(a, b, out=c)
W0745 an array that cannot be written
    The kernel writes this argument or result, and the array is read-only, or a value that its library never changes
    (JAX).
W0746 not a stream
    `stream` is a stream of CuPy's or PyTorch's, an object with `__cuda_stream__`, or a handle as an integer. On the CPU
    there are none: the work is done when the call returns.
W0747 no operator of PyTorch's can be made
    PyTorch is not installed, or the name is not of the form `namespace::name`.
W0748 a tensor that no tensor map describes
    A kernel copies boxes of the tensor by the tensor memory accelerator. Then the tensor begins at a multiple of 16 bytes, each of
    its rows is a multiple of 16 bytes behind the one before, elements of a row lie side by side, and no size is 0 or more than
    2^32. Pad the array, `assume` the sizes that the schedule is for, or give it another version without `tma`.

    wrong:  A of 128 x 777 bf16, whose rows have 1554 bytes
    right:  A of 128 x 784 bf16
W0749 a cache that others could write to
    Compiled kernels are kept in `$WEFT_CACHE_DIR`, else in `weft/kernels` in your cache folder, and run without being
    compiled again. So the folder has to be yours, and nobody else may write to it. Each entry has a seal, made with a
    key in `weft/cache.key` in your state folder (`$XDG_STATE_HOME`); one whose seal does not fit is made anew.

    wrong:  WEFT_CACHE_DIR=/tmp
    right:  WEFT_CACHE_DIR=~/kernels
W0800 the CPU reference cannot lower the payload
    MLIR's passes reject an op of it; their messages are in the notes. The kernels can still be run without a
    reference: `--reference none`.
W0801 the CPU reference cannot be linked
    LLVM rejects the lowered payload, or a function is missing.
W0802 the CPU reference cannot run this op
    The payload calls a function that has no body, or has ops of a dialect that is not upstream's, or ops with an
    explicit rounding mode (the reference rounds to nearest). Kernels that the payload launches itself are run one
    thread after another, cut at their barriers. That is not possible if threads exchange values in other ways than by
    shuffles and tensor cores, if a barrier may not be reached by all threads (in a loop or a branch whose bounds or
    condition the threads compute or read), or if the kernels were found to fault. Run without a reference:
    `--reference none`.

    A payload is compiled and run on this machine, so only what is on a list is let in: upstream's dialects that say
    what is computed (affine, arith, bufferization, cf, complex, func, gpu, index, linalg, math, memref, scf, shape,
    tensor, tosa, ub, vector), and of `llvm` functions of numbers such as `llvm.intr.maxnum`. Pointers, inline assembler, calls of
    functions that are only declared, memory that is only declared, and attributes by which LLVM would do something of
    its own (`passthrough`, `llvm.module_asm`, a linkage) are not.

    wrong:  llvm.inline_asm "…", "" : () -> ()
    right:  %y = math.exp %x : f32
W0803 the CPU reference was killed
    The payload is compiled for the CPU and run in a separate process, which was killed by a signal: SIGFPE is an
    integer division by zero, SIGSEGV an access out of bounds, SIGABRT a failed assertion in MLIR or LLVM, SIGKILL
    usually a lack of memory. The message says what was being done. MLIR leaves a division by zero and an access out
    of bounds undefined: random inputs may contain a zero or too large an index, so supply inputs for which the
    payload is defined. The simulator says where a kernel does such a thing.

    right:  --inputs x.npz
    right:  --reference none
""")
