"""The long form of the codes that `async-fork` raises (W0430 to W0449). `weft explain CODE` prints them."""

from __future__ import annotations

from ...dsl.diagnostics import Explanation

CODES: dict[str, Explanation] = {
    "W0430": Explanation(
        "nothing to fork",
        "`async-fork` orders launches, copies, allocations and frees that a device does. The module has none: say `launch` "
        "first.",
    ),
    "W0431": Explanation(
        "a token that leaves its block",
        "A token that is a function's argument or result, that a loop carries or that an `async.execute` region gives stands "
        "for work that this function does not show. `async-fork` rebuilds tokens from what the operations of a function do to "
        "memory, so it cannot tell what such a token was to order; nor what is on a stream that a caller gives. "
        "Wait for it (`gpu.wait [%t]`) where it comes from.",
    ),
    "W0432": Explanation(
        "host code whose effects cannot be seen",
        "A call of a function without a body, an op of an unknown dialect, or a launch of a kernel that is not in the module "
        "may touch any memory, so no order would be proven right. Give the function a body, or bring the kernel's `gpu.module` "
        "along.",
    ),
    "W0433": Explanation(
        "a launch whose place in the order is not known",
        "`async-fork` reads functions of one block, with `scf.for`, `scf.while` and `scf.if` in it, and launches that are "
        "outlined. A `gpu.launch` becomes one by `run-pass \"gpu-kernel-outlining\"`; a launch inside of `scf.parallel`, or "
        "between `cf` branches, has no place in program order.",
    ),
    "W0434": Explanation(
        "memory is used after it was freed",
        "In the order in which the program is written, a buffer is used, or freed once more, after its `dealloc`. `async-fork` "
        "frees a buffer behind its last use; it does not hide that the program is wrong.",
    ),
}  # fmt: skip
