"""What the front door's own diagnostics mean, and all codes of all rooms together for `weft explain`."""

from __future__ import annotations

import importlib

from .dsl.diagnostics import Explanation, explanations

CODES = explanations("""
W0050 no such file or recipe
    FILE is the path of a `.weft` file or the name of a built-in recipe.

    wrong:  weft run shraed
    right:  weft run shared
W0051 a built-in recipe is not rewritten
    It belongs to the installation. Copy its file, and change the copy.

    wrong:  weft fmt shared
    right:  weft fmt mine.weft
    right:  weft fmt --check shared
W0054 an output cannot be written
    The folder does not exist, permission is denied, the disk is full, or a directory has that name. Outputs are
    written to a temporary file and then renamed: a previous file is unchanged.
W0055 out of memory
    The inputs, the outputs and the simulator's shadow memory must fit into memory.
W0056 nested too deeply
    A schedule or a payload nests more deeply than the parser can follow. Generated text is the usual cause.
W0057 no such diagnostic
    `weft explain` without a code lists all codes.
W0058 no such statement
    `weft statements` without a name lists the statements of the language.
W0059 a command that this version does not have
    The command is planned; this version refuses it.
W0060 no such position
    Positions count statements: 0 is the start, at 3 three statements are done. `goto` takes positions up to the end
    of the schedule; `diff` and `ir` take those that were reached.
W0061 a malformed command
    `help` lists the commands of the REPL, `help COMMAND` shows the syntax of one.

    wrong:  step two
    right:  step 2
W0062 nothing is launched yet
    `cuda` and `run` need a kernel: a `launch` statement that was executed. Before it, `sync` checks what is mapped,
    and `ir` shows the module.
W0063 a position that cannot be saved
    A saved schedule contains what was done. In the middle of a `foreach` or of a called schedule, part of a
    statement's work is done, and a line typed there would be executed again in every iteration. `step` to its end, or
    `undo` to before it, and `save` there.
W0064 a file that already exists
    `save` overwrites a file only with `--overwrite`.

    right:  save mine.weft --overwrite
W0065 no such handle
    `handles` lists all handles, alive and consumed. A consumed handle no longer names an op.
W0066 no name for a file
    `save` takes the name of a file, with or without `.weft`; `~` is your home directory.
W0067 no session to resume
    `weft repl` on a terminal keeps a journal of what is done, until it is left with `quit` or Ctrl-D. A session that
    ended otherwise (the process or the machine died) is resumed by `weft repl --resume`; where there are several, by
    the journal's name: the notes list them. Journals are kept for 30 days, the newest 20.

    right:  weft repl --resume
W0080 kernels that do not compute what their payload does
    `weft build`, `weft.compile` and `golden --update` run the kernels once beside the untouched payload before anything is
    written, natively or on the simulator: on small integers, of which sums are exact in any order, where the payload
    allows it; else on random numbers, equal as far as `weft run` asks for it. Where sizes are open: at 0, 1, a prime, and
    around whole tiles. They differ, or race there. A launch is named that leaves something else in a buffer than the
    payload's op makes, even if a later launch hides it. That is a defect of Weft, or of a pass that the schedule runs:
    please report it.

    right:  weft run mine.weft --target sim
    right:  weft build mine.weft -o bundle --unchecked
W0081 kernels that cannot be compared with their payload
    The payload does not run on the CPU, or the kernels neither there nor on the simulator, or no smaller payload of the
    same builder is taken by the schedule; or the payload takes too long, and `launch` could not prove what its kernels
    combine. What is built unchecked says so: in its plan, in reports, and in JSON.

    right:  weft build mine.weft -o bundle --unchecked
W0082 kernels of which it is not proven what they combine
    `launch` proves of each reduction of the payload that its kernels execute every iteration once, for its own result. It
    could not here: the message says of which op, and why. The kernels were compared with the payload all the same, as the
    notes say; what is accepted like this is marked in the plan, in reports, and in JSON. `weft.compile` warns, and is quiet
    with `assumed=True`.

    right:  weft build mine.weft -o bundle --assumed
W0070 Weft was ended by a signal
    The process that did the work was killed: by a failed assertion in MLIR or LLVM (SIGABRT, with its message above),
    because memory was used up (SIGKILL), or by an invalid access (SIGSEGV). The message says what was being done. No
    partly written file is left. On a terminal, `weft repl` continues from its journal, without the line that was
    being executed.

    right:  weft repl --resume        // what was done before, line by line
W0410 a foreign constant without elements
    `krnl.global`, the constant of ONNX's dialect, is read as a `memref.global`, which needs a list of elements.

    wrong:  "krnl.global"() {name = "w", shape = [2]} : () -> memref<2xf32>
    right:  "krnl.global"() {name = "w", shape = [2], value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> memref<2xf32>
W0411 a foreign constant that does not fit its type
    A `krnl.global` is one memref of static shape and identity layout, its `shape` and its value's type agree, and it
    is in a function of the payload's top-level module.

    wrong:  value = dense<1.0> : tensor<3xf32>} : () -> memref<2xf32>
    right:  value = dense<1.0> : tensor<2xf32>} : () -> memref<2xf32>
W0412 elements that are not in the text
    `dense_resource<key>` means that the elements are at the end of the text, between `{-#` and `#-}`. A module that
    was printed with its large constants elided has lost them.

    wrong:  value = dense_resource<__elided__> : tensor<64xf32>
    right:  value = dense<1.0> : tensor<64xf32>
W0413 a foreign constant that is written to
    A `krnl.global` is a constant: kernels share it, and the compiler may put it in read-only memory. An op that Weft
    does not know counts as one that writes.

    right:  copy the constant into a `memref.alloc`, and write there
W0480 a setting that is not a pair
    wrong:  weft run shared --set bm
    right:  weft run shared --set bm=32
W0481 a setting given twice
    Weft does not guess which one is meant.

    wrong:  weft run shared --set bm=16 --set bm=32
    right:  weft run shared --set bm=32
W0482 an unknown parameter
    `--set` sets the parameters of the main schedule and those of its payload's builder. A payload given as MLIR text
    has none.

    wrong:  weft run shared --set bmm=32
    right:  weft run shared --set bm=32
W0483 an illegal value for a parameter of the payload
    Sizes are positive integers, types come from a list. Values that are legal one by one must also fit together: a
    filter stays within the padded image.

    wrong:  weft run shared --set m=0
    right:  weft run shared --set m=1
W0484 an unknown payload builder
    A schedule names a built-in builder or an MLIR file beside it.

    wrong:  payload matmlu(m = 512)
    right:  payload matmul(m = 512)
    right:  payload "gemm.mlir"
W0485 no payload
    A schedule without a `payload` line needs one from outside: `weft run my.weft --payload gemm.mlir`.
W0486 a wrong argument of a payload builder
    A name that the payload does not have, a value that it does not accept, or values that do not fit together.

    wrong:  payload matmul(rows = 512)
    right:  payload matmul(m = 512)
    wrong:  payload conv2d(h = 4, w = 4, r = 7, s = 7, pad = 1)
    right:  payload conv2d(h = 4, w = 4, r = 7, s = 7, pad = 3)
W0487 the payload does not parse
    The message and the location are those of MLIR's own parser or verifier; where that is about shapes, strides or
    dilations, the message names the operands, and upstream's message is a note. Every upstream dialect is known;
    others are read in their generic form.
W0488 a payload without a function
    A payload holds at least one `func.func`.
W0489 a payload with Weft's own attributes
    Statements leave attributes such as `weft.map` on ops until `launch` carries them out. A payload that already has
    them, perhaps an intermediate module of another schedule, would be misread.

    wrong: linalg.exp {weft.map = 3} ins(…)
    right: linalg.exp ins(…), and a `map` in the schedule
W0491 an unknown layer
    A payload may have named sets of sizes: the layers of a network. `weft payloads NAME` lists them. `--set`
    overrides a layer's values, and these override the schedule's `payload` line.

    wrong:  --layer resnet50.conv5
    right:  --layer resnet50.layer4.0.conv2 --set n=8
W0492 a payload without layers
    Only built-in payloads have layers, and not all of them: `weft payloads` says which.

    wrong:  weft run shared --layer resnet50.conv1
    right:  weft run shared --set m=512
W0765 a bundle's module says more than a scheduled module does
    `module.mlir` has an op, an attribute or a type that neither kernels nor host functions have which `weft build`
    writes, or an index that the text leaves out, along an axis of one element, is not shown to be 0. `weft audit`
    accepts only what text and plan show: `weft build` leaves out what a payload lets compilers assume (`fastmath`,
    `overflow`, attributes in LLVM's name).
W0766 a bundle's text is not what its module makes
    `weft audit` has emitted the kernels of `module.mlir` again, and `kernels.cu` is another text. A GPU would run what
    nothing has proven. Every difference counts, a comment, too.

    right:  weft build gemm.weft -o bundle
W0767 a bundle's plan is not what its module makes
    `weft audit` has made the plan of `module.mlir` again, and `plan.json` says something else: another grid, another
    argument, another order, or the digests of other texts.

    right:  weft build gemm.weft -o bundle
W0901 no golden
    `weft golden FILE` compares with the goldens beside the schedule; there is none yet.

    right:  weft golden gemm.weft --update --set m=64
W0902 a golden that does not say how it was made
    The first line of a golden names the schedule, in the same folder, and says how it was made. The golden's name
    begins with the schedule's.

    right:  // weft golden gemm.weft --set m=64
    right:  // weft golden gemm.weft --after "fuse init"
    right:  // weft golden gemm.weft --cuda             (of CHECK lines)
W0903 a golden differs
    The module or CUDA text that the schedule makes differs from the golden; the diff shows where. If the change is
    intended, `weft golden FILE --update` rewrites it.
W0904 a golden without its schedule
    The schedule that the golden's first line names is no longer in its folder. Move a golden together with its
    schedule, or delete it.
W0905 a golden of a step that does not exist
    `--after` names a step by a handle that it binds, or by how its statement begins. The schedule has no such step,
    or several.

    wrong:  --after map
    right:  --after "map copy_a"
    right:  --after copy_a
    right:  --after "map lanes #2"
W0906 a line that is not a valid CHECK line
    Lines of a `.check` file are comments or FileCheck directives. A misspelled one would always hold.

    wrong:  // CHECK-NXT: gpu.barrier
    right:  // CHECK-NEXT: gpu.barrier
W0907 a check fails
    The text lacks what a CHECK line requires, or has what a CHECK-NOT forbids. CHECK lines are written by hand:
    `--update` does not change them.
W0908 no CUDA text
    A golden of the CUDA text needs a schedule that launches: its last statement is `launch`.
W0970 no such handle
    `weft show-map` takes names of handles as in the schedule; for a result of `let t = …`, `t.loop`.
W0971 a handle without a map
    The handle is not mapped: no statement says which processors execute it.

    wrong:  weft show-map gemm.weft step
    right:  weft show-map gemm.weft lanes
W0972 a schedule without a map
    There is nothing to show: `map tiles to blocks(y, x)` makes a map.
W0973 a map that is known only at run time
    The number of iterations or processors depends on sizes that are known only at run time, or there are more than
    can be shown.

    right:  weft show-map gemm.weft --set m=512
""")

_HOMES = (
    ".dsl.codes",
    ".interpreter.session.codes",
    ".interpreter.proof.codes",
    ".runtime.codes",
    ".runtime.cuda.codes",
    ".runtime.predict.codes",
    ".runtime.simulator.codes",
)


def all_codes() -> dict[str, Explanation]:
    """Every room's explanations, and the statements', by code."""
    from .interpreter.session.statement import explained

    codes = CODES | explained()
    for home in _HOMES:
        codes |= importlib.import_module(home, __package__).CODES
    return dict(sorted(codes.items()))
