"""Outlines a mapped loop to a kernel: `gpu.module`, `gpu.func`, and the `gpu.launch_func` that
replaces the loop.

Upstream's `gpu-kernel-outlining` outlines every `gpu.launch` of the module, sinks no index
computation except constants and `dim`s, and canonicalizes loops that are not launched yet (which
would drop their handles). Here the kernel is built in a module of its own, cleaned up there, and
then moved next to the host function.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Sequence, Set
from dataclasses import field
from functools import cached_property

from ...dsl.diagnostics import fail
from ...dsl.records import record
from ..focus.modules import Names, Taken, numbered
from ..hardware.hopper.mbarriers import is_mbarriers
from ..hardware.limits import PixelWindow
from ..indices.arithmetic import Bound, value_of
from ..indices.values import stated_sizes
from ..ir.cloning import clone_with, replace_operands, text_of
from ..ir.functions import NAME, attributes_of, name_of, symbol
from ..ir.mlir import ahead_of, ancestors, gpu, ir, is_used, operations, producer, regions_of, run_passes
from ..ir.refusing import describe
from ..ir.structured import body_of
from ..memory.names import buffer_name
from ..memory.views import is_view
from .host_maps import End, HostMap, MapOf, joined, made_on_host

_TO_LOOPS = {
    "scf.forall": "scf-forall-to-for",
    "scf.parallel": "scf-parallel-for-to-nested-fors",
    "linalg": "convert-linalg-to-loops",
}
FOLD_VIEWS = "fold-memref-alias-ops"


def to_loops(names: Set[str]) -> list[str]:
    """Passes that lower a kernel with ops (or dialects) of these names to loops, loads and stores
    of views; only those that are needed, since each pass takes time even if it finds nothing."""
    names = names | {name.partition(".")[0] for name in names}
    return [passes for name, passes in _TO_LOOPS.items() if name in names]


_RECOMPUTED = ("affine.apply", "affine.min", "affine.max", "memref.dim")


_NAMED = re.compile(r'weft\.name = "([^"]*)"')


@record
class Likeness:
    """A loop's key for merging equal kernels: its text without the host's values, locations and
    buffer names. These are specific to a kernel, in the order of the text."""

    text: str
    order: tuple[int, ...]
    places: list[ir.Location]
    names: list[str]

    @property
    def key(self) -> Hashable:
        """Equal for two loops that become the same kernel."""
        return self.text, self.order

    @classmethod
    def of(cls, function: ir.Operation) -> Likeness:
        name = function.attributes["sym_name"]
        function.attributes["sym_name"] = ir.StringAttr.get("kernel")
        text = text_of(function)
        function.attributes["sym_name"] = name
        locations = [op.location for op in operations(function)]
        places = list[ir.Location]()
        places += (location for location in locations if location not in places)
        names = list(dict.fromkeys(_NAMED.findall(text)))
        text = _NAMED.sub(lambda found: f"buffer {names.index(found[1])}", text)
        return cls(text, tuple(map(places.index, locations)), places, names)


Passed = int | HostMap
"""An argument that a launch passes: an operand, by number, or a map of one."""


@record
class Outlined:
    """A kernel under construction.

    Args:
        module: a module that contains only the kernel.
        function: its `gpu.func`.
        root: the copy of the launched loop, in the kernel's body.
        operands: the host's values that become the kernel's arguments, in order.
        on_host: kernel value → the host's value of which it is the copy.
        maps: the tensor maps that the kernel takes, after its other arguments: each with the
            argument from which the host makes it, and its construction.
    """

    module: ir.Module
    function: ir.Operation
    root: ir.Operation
    operands: tuple[ir.Value, ...]
    on_host: dict[ir.Value, ir.Value]
    maps: dict[tuple[ir.Value, MapOf], ir.Value] = field(default_factory=dict)

    @property
    def entry(self) -> ir.Block:
        return body_of(self.function)

    @cached_property
    def likeness(self) -> Likeness:
        """Before any rewrite."""
        return Likeness.of(self.function)

    def tensor_map(
        self, tensor: ir.Value, kind: ir.Type, ends: tuple[End, ...], window: PixelWindow | None = None
    ) -> ir.Value:
        """A new argument of the kernel: a map of that type, which the host makes of another
        argument, some of whose axes may be joined. `window`: of a map of pixels."""
        source, seen = joined(tensor)
        key = source, MapOf(kind, ends, seen, window)
        if key not in self.maps:
            self.maps[key] = self.entry.add_argument(kind, self.function.location)
        return self.maps[key]


def settle_arguments(kernel: Outlined) -> tuple[Passed, ...]:
    """Completes the kernel's arguments: a tensor map comes before the argument from which it is
    made, and unused arguments are removed. Unused computations with arguments must have been erased
    before, and no other pass may follow."""
    if not kernel.maps:
        return tuple(range(len(kernel.operands)))
    run_passes(kernel.module, "gpu.module(gpu.func(trivial-dce))", verify=False)
    own = list(kernel.entry.arguments)
    given = [dict(attributes_of(kernel.function, n)) for n in range(len(kernel.operands))]
    passed: list[Passed] = []
    kinds: list[ir.Type] = []
    attributes: list[dict[str, ir.Attribute]] = []
    for number, argument in enumerate(own[: len(kernel.operands)]):
        mine = [(how, made) for (of, how), made in kernel.maps.items() if of == argument]
        name = ir.StringAttr(given[number][NAME]).value if NAME in given[number] else None
        for nth, (how, made) in enumerate(mine):
            made.replace_all_uses_with(kernel.entry.add_argument(how.kind, kernel.function.location))
            passed.append(HostMap(number, how))
            kinds.append(how.kind)
            attributes.append(how.argument_attributes(None if name is None else numbered(f"{name}_map", nth)))
        if not mine or is_used(argument):
            argument.replace_all_uses_with(kernel.entry.add_argument(argument.type, kernel.function.location))
            passed.append(number)
            kinds.append(argument.type)
            attributes.append(given[number])
    for number in reversed(range(len(own))):
        kernel.entry.erase_argument(number)
    kernel.function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, []))
    kernel.function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in attributes])
    return tuple(passed)


def outline(host_module: ir.Module, root: ir.Operation, *, taken: Taken | None = None) -> Outlined:
    """Copies `root` into a fresh kernel. The host's module is only read.

    The host's views of its buffers are recomputed in the kernel, with whole buffers as arguments:
    so two views of one buffer are known to overlap.
    """
    ops = list(operations(root))
    made = {
        argument for op in ops for region in regions_of(op) for block in region.blocks for argument in block.arguments
    }
    made.update(result for op in ops for result in op.results)
    used = dict.fromkeys(operand for op in ops for operand in op.operands)
    external = [value for value in used if value not in made]  # in order of first use
    operands = _arguments(external)
    for operand in operands:
        if not isinstance(operand.type, (ir.MemRefType, ir.IntegerType, ir.IndexType, ir.FloatType)):
            what, hint = (
                f"a kernel takes no argument of type {operand.type}",
                "`bufferize` first, or `launch` a loop inside",
            )
            if is_mbarriers(operand.type):
                what = "memory barriers are a block's, and here a loop around it makes them, which no map distributes"
                hint = "`map` the loop around the pipelined one to `blocks`"
            raise fail("W0361", what, hint)
    module = ir.Module.create(root.location)
    taken = taken or Taken()
    kernels = {symbol(op) for op in operations(host_module.operation, "gpu.func")}
    name = _fresh(symbol(host_function(root)), kernels, taken.kernels)  # after the payload's: `matmul`, then `matmul_1`
    tops = {symbol(op) for op in host_module.body.operations if "sym_name" in op.operation.attributes}
    with ir.InsertionPoint(module.body):
        holder = gpu.GPUModuleOp(ir.StringAttr.get(_fresh(f"{name}_kernel", tops, taken.tops)))
    blocks = holder.regions[0].blocks
    with ir.InsertionPoint(blocks[0] if len(blocks) else blocks.append()):
        kind = ir.TypeAttr.get(ir.FunctionType.get([o.type for o in operands], []))
        names = [buffer_name(o) or name_of(o) for o in operands]
        arguments = [
            stated_sizes(operand) | ({} if given is None else {NAME: ir.StringAttr.get(given)})
            for operand, given in zip(operands, names, strict=True)
        ]
        function = gpu.GPUFuncOp(kind, sym_name=name, kernel=True, arg_attrs=arguments).operation
    regions = function.regions[0].blocks
    entry = regions[0] if len(regions) else regions.append(*[o.type for o in operands])
    copies = dict(zip(operands, entry.arguments, strict=True))
    with ir.InsertionPoint(entry):
        for outside in external:
            _recompute(outside, copies)
        copy = root.clone(ir.InsertionPoint.current).operation
        gpu.ReturnOp([])
    replace_operands(copy, copies)
    on_host = {inside: outside for outside, inside in copies.items()}
    return Outlined(module, function, copy, operands, on_host)


def install(
    host_module: ir.Module,
    root: ir.Operation,
    outlined: Outlined,
    grid: Sequence[Bound],
    block: Sequence[Bound],
    passed: Sequence[Passed],
    cluster: int = 1,
) -> ir.Operation:
    """Moves the finished kernel into the host's module and launches it in place of `root`, in
    clusters of this many blocks along x. `root` is erased."""
    module_name = symbol(outlined.module.body.operations[0])
    kernel = symbol(outlined.function)
    holder = outlined.module.body.operations[0].operation
    holder.detach_from_parent()
    host_module.body.append(holder)
    host_module.operation.attributes["gpu.container_module"] = ir.UnitAttr.get()
    with ahead_of(root):
        sizes: dict[Bound, ir.Value] = {}

        def size(bound: Bound) -> ir.Value:
            return sizes.setdefault(bound, value_of(bound)) if isinstance(bound, int) else bound

        grid_values, block_values = tuple(size(g) for g in grid), tuple(size(b) for b in block)
        given = outlined.operands
        operands = [given[p] if isinstance(p, int) else made_on_host(given, p, size) for p in passed]
        clusters = None if cluster == 1 else (size(cluster), size(1), size(1))
        launch = gpu.LaunchFuncOp([module_name, kernel], grid_values, block_values, operands, cluster_size=clusters)
    root.erase()
    return launch.operation


def _recomputable(outside: ir.Value) -> ir.Operation | None:
    """The op of a scalar or a view that the kernel can recompute, cheaper than an argument."""
    op = producer(outside)
    if op is None or len(op.results) != 1 or op.regions:
        return None
    if not (op.name.startswith("arith.") or op.name in _RECOMPUTED or is_view(op)):
        return None
    scalars = [o for o in op.operands if not isinstance(o.type, ir.MemRefType)]
    return op if all(producer(o) is None or _recomputable(o) for o in scalars) else None


def _arguments(external: Sequence[ir.Value]) -> tuple[ir.Value, ...]:
    """The arguments: the leaves of the recomputed values, the host function's arguments first and
    in their order."""
    leaves: dict[ir.Value, None] = {}

    def visit(outside: ir.Value) -> None:
        op = _recomputable(outside)
        if op is None:
            leaves[outside] = None
        else:
            for operand in op.operands:
                visit(operand)

    for outside in external:
        visit(outside)
    order = list(leaves)

    def rank(leaf: ir.Value) -> tuple[int, int]:
        if isinstance(leaf, ir.BlockArgument) and leaf.owner.owner.operation.name == "func.func":
            return 0, leaf.arg_number
        return 1, order.index(leaf)

    return tuple(sorted(order, key=rank))


def _recompute(outside: ir.Value, copies: dict[ir.Value, ir.Value]) -> ir.Value:
    """Clones the computation of `outside` into the kernel."""
    if outside in copies:
        return copies[outside]
    op = producer(outside)
    assert op is not None, "arguments are copied already"
    for operand in op.operands:
        _recompute(operand, copies)
    return clone_with(op, copies).results[0]


def host_function(root: ir.Operation) -> ir.Operation:
    """The function around the loop. Raises W0359 if the loop is part of a kernel already, or of an
    unknown op (upstream's verifier aborts the process at a launch in one)."""
    for around in ancestors(root):
        if around.name == "func.func":
            return around
        if around.name in ("gpu.func", "gpu.launch"):
            raise fail("W0359", f"{describe(root)} is in a kernel already", "`launch` only the outermost mapped loop")
        if not around.context.is_registered_operation(around.name):
            what = f"{describe(root)} is in {describe(around)}, an op that is not registered"
            raise fail(
                "W0359",
                what,
                "put the loop into a `func.func` directly, or into its `scf.for`, `scf.while` and `scf.if`",
            )
    raise fail("W0359", f"{describe(root)} is in no function", "put the loop into a `func.func`")


def _fresh(base: str, taken: Set[str], also: Names) -> str:
    candidates = (numbered(base, n) for n in itertools.count(also.free(base)))
    return next(name for name in candidates if name not in taken and name not in also)
