"""What the front door's own diagnostics mean, and all codes of all rooms together for `weft explain`."""

from __future__ import annotations

import importlib

from .dsl.diagnostics import Explanation

CODES: dict[str, Explanation] = {
    "W0050": Explanation(
        "no such file or recipe",
        "FILE is the path of a `.weft` file or the name of a recipe that ships.\n\n"
        "wrong:  weft run shraed\nright:  weft run shared",
    ),
    "W0051": Explanation(
        "a recipe that ships is not rewritten",
        "It belongs to the installation. Copy its file, and change the copy.\n\n"
        "wrong:  weft fmt shared\nright:  weft fmt mine.weft\nright:  weft fmt --check shared",
    ),
    "W0054": Explanation(
        "an output cannot be written",
        "The folder does not exist, permission is denied, the disk is full, or a directory has that name. Outputs "
        "are written "
        "beside their place and renamed: what stood there before is still there.",
    ),
    "W0055": Explanation(
        "out of memory", "The inputs, the outputs and the simulator's shadow of them must fit into memory."
    ),
    "W0056": Explanation(
        "nested too deeply",
        "A schedule or a payload nests more deeply than the parser can follow. Generated text is the usual cause.",
    ),
    "W0057": Explanation("no such diagnostic", "`weft explain` alone lists all codes."),
    "W0058": Explanation("no such statement", "`weft statements` alone lists the statements of the language."),
    "W0059": Explanation(
        "a command that this version does not have", "The command is planned; this version refuses it."
    ),
    "W0070": Explanation(
        "Weft was ended by a signal",
        "The process that did the work is gone: a check of MLIR's or LLVM's that failed (SIGABRT, whose words stand above), memory "
        "that was used up (SIGKILL), or an invalid access (SIGSEGV). What was under way is named. Nothing half written stays. On a "
        "terminal, `weft repl` goes on from its journal, without the line that was under way.\n\n"
        "right:  weft repl --resume        // what was done before, line by line",
    ),
    "W0410": Explanation(
        "a foreign constant without elements",
        "`krnl.global`, the constant of ONNX's dialect, is read as a `memref.global`, and that needs a list of elements.\n\n"
        'wrong:  "krnl.global"() {name = "w", shape = [2]} : () -> memref<2xf32>\n'
        'right:  "krnl.global"() {name = "w", shape = [2], value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> memref<2xf32>',
    ),
    "W0411": Explanation(
        "a foreign constant that does not fit its type",
        "A `krnl.global` is one memref of static shape and plain layout, its `shape` and its value's type say the same, and it "
        "stands in a function of the payload's own module.\n\n"
        "wrong:  value = dense<1.0> : tensor<3xf32>} : () -> memref<2xf32>\n"
        "right:  value = dense<1.0> : tensor<2xf32>} : () -> memref<2xf32>",
    ),
    "W0412": Explanation(
        "elements that are not in the text",
        "`dense_resource<key>` says that the elements stand at the end of the text, between `{-#` and `#-}`. A module that was "
        "printed with its large constants elided has lost them.\n\n"
        "wrong:  value = dense_resource<__elided__> : tensor<64xf32>\n"
        "right:  value = dense<1.0> : tensor<64xf32>",
    ),
    "W0413": Explanation(
        "a foreign constant that is written to",
        "A `krnl.global` is a constant: kernels share it, and the compiler may put it where nothing can write. An op that Weft "
        "doesn't know counts as one that writes.\n\n"
        "right:  copy the constant into a `memref.alloc`, and write there",
    ),
    "W0480": Explanation(
        "a setting that is no pair", "wrong:  weft run shared --set bm\nright:  weft run shared --set bm=32"
    ),
    "W0481": Explanation(
        "a setting given twice",
        "Weft does not guess which one is meant.\n\n"
        "wrong:  weft run shared --set bm=16 --set bm=32\nright:  weft run shared --set bm=32",
    ),
    "W0482": Explanation(
        "an unknown parameter",
        "`--set` reaches the parameters of the main schedule and those of its payload's builder. A payload that is "
        "a text has "
        "none.\n\nwrong:  weft run shared --set bmm=32\nright:  weft run shared --set bm=32",
    ),
    "W0483": Explanation(
        "an illegal value for a parameter of the payload",
        "Sizes are positive integers, types come from a list. Values that are legal one by one must go together, too: a filter "
        "stays within the padded image.\n\n"
        "wrong:  weft run shared --set m=0\nright:  weft run shared --set m=1",
    ),
    "W0484": Explanation(
        "an unknown payload builder",
        "A schedule names a builder that ships or an MLIR text beside it.\n\n"
        'wrong:  payload matmlu(m = 512)\nright:  payload matmul(m = 512)\nright:  payload "gemm.mlir"',
    ),
    "W0485": Explanation(
        "no payload",
        "A schedule without a `payload` line needs one from outside: `weft run my.weft --payload gemm.mlir`.",
    ),
    "W0486": Explanation(
        "a wrong argument of a payload builder",
        "A name that the payload does not have, a value that it does not take, or values that don't go together.\n\n"
        "wrong:  payload matmul(rows = 512)\nright:  payload matmul(m = 512)\n"
        "wrong:  payload conv2d(h = 4, w = 4, r = 7, s = 7, pad = 1)\n"
        "right:  payload conv2d(h = 4, w = 4, r = 7, s = 7, pad = 3)",
    ),
    "W0487": Explanation(
        "the payload does not parse",
        "The message and the place are those of MLIR's own parser or verifier; where that is about shapes, strides or "
        "dilations, the message names the operands, and what upstream said is a note. Every upstream dialect is known, "
        "others are read in their generic form.",
    ),
    "W0489": Explanation(
        "a payload with Weft's own marks",
        "Statements leave attributes such as `weft.map` on ops until `launch` carries them out. A payload that has them already, "
        "an intermediate module of another schedule perhaps, would be misread.\n\n"
        "wrong: linalg.exp {weft.map = 3} ins(…)\n"
        "right: linalg.exp ins(…), and a `map` in the schedule",
    ),
    "W0488": Explanation("a payload without a function", "A payload holds at least one `func.func`."),
    "W0490": Explanation(
        "inputs that do not fit into memory",
        "The buffers of the payload add up to more than this machine has. A simulated run needs a shadow of each as "
        "well.",
    ),
    "W0491": Explanation(
        "an unknown layer",
        "A payload may have sizes under a name: the layers of a network. `weft payloads NAME` lists them. `--set` wins over a "
        "layer's values, and these over what the schedule writes.\n\n"
        "wrong:  --layer resnet50.conv5\nright:  --layer resnet50.layer4.0.conv2 --set n=8",
    ),
    "W0492": Explanation(
        "a payload without layers",
        "Only payloads that ship have layers, and not all of them: `weft payloads` says which.\n\n"
        "wrong:  weft run shared --layer resnet50.conv1\nright:  weft run shared --set m=512",
    ),
    "W0901": Explanation(
        "no golden",
        "`weft golden FILE` compares with the goldens that stand beside the schedule; there is none yet.\n\n"
        "right:  weft golden gemm.weft --update --set m=64",
    ),
    "W0902": Explanation(
        "a golden that does not say how it was made",
        "The first line of a golden says of which schedule in its folder it is, and how it was made. The golden's name "
        "begins with the schedule's.\n\n"
        "right:  // weft golden gemm.weft --set m=64\n"
        'right:  // weft golden gemm.weft --after "fuse init"\n'
        "right:  // weft golden gemm.weft --cuda             (of CHECK lines)",
    ),
    "W0903": Explanation(
        "a golden differs",
        "The schedule makes another module or CUDA text than the golden holds; the diff shows what. If the change is "
        "meant, `weft golden FILE --update` writes it anew.",
    ),
    "W0904": Explanation(
        "a golden without its schedule",
        "The schedule that the golden's first line names is not in its folder any more. A golden moves along with its "
        "schedule, or goes.",
    ),
    "W0905": Explanation(
        "a golden of a step that is not there",
        "`--after` names a step by a handle that it binds, or by how its statement begins. The schedule has no such step, or "
        "several.\n\n"
        'wrong:  --after map\nright:  --after "map copy_a"\nright:  --after copy_a\nright:  --after "map lanes #2"',
    ),
    "W0906": Explanation(
        "a CHECK line that is none",
        "Lines of a `.check` file are comments or checks of LLVM's FileCheck. A check that is misspelled would hold "
        "always.\n\nwrong:  // CHECK-NXT: gpu.barrier\nright:  // CHECK-NEXT: gpu.barrier",
    ),
    "W0907": Explanation(
        "a check does not hold",
        "The text lacks what a CHECK line says, or has what a CHECK-NOT forbids. CHECK lines are written by hand: `--update` "
        "does not touch them.",
    ),
    "W0908": Explanation(
        "no CUDA text",
        "A golden of the CUDA text is of a schedule that launches: its last statement is `launch`.",
    ),
}

_HOMES = (
    ".repl.codes",
    ".dsl.codes",
    ".interpreter.session.codes",
    ".interpreter.proof.races.codes",
    ".interpreter.forking.codes",
    ".interpreter.statements.as_gemm.codes",
    ".interpreter.statements.split_k.codes",
    ".interpreter.mapping.codes",
    ".runtime.codes",
    ".maps.codes",
)


def all_codes() -> dict[str, Explanation]:
    """Every room's explanations, by code."""
    codes = dict(CODES)
    for home in _HOMES:
        codes |= importlib.import_module(home, __package__).CODES
    return dict(sorted(codes.items()))
