"""What functions, kernels and launches say of themselves: symbols, arguments and their names, sizes, operands by
segment."""

from __future__ import annotations

from collections.abc import Mapping

from .mlir import ir, maker

NAME = "weft.name"
MULTIPLES = "weft.multiples"
"""On an argument of a function or a kernel: by axis, what each size is a multiple of; 1 where nothing is known. The
host checks it before a run."""
MOST = "weft.most"
"""Likewise: by axis, what each size is at most; -1 where nothing is known."""
MOST_BLOCKS = "weft.most_blocks"
"""On a kernel: how many blocks there are at most along x, y, z; -1 where that is not known."""
ASSUMED = "weft.assumed"
"""On an argument of a function: by axis, what states that, for people; empty where nothing does."""
AGREEMENTS = "weft.agreements"
"""On the host function of a bundle: what has to hold between sizes for its payload to mean something, as its plan has
it."""
VERSION_OF = "weft.version_of"
"""On a host function: the name of the one of which it is another version; a run takes the first whose sizes are as
assumed."""
KERNEL_OPERANDS = 11
"""The segment of a `gpu.launch_func`'s operands that holds the kernel's: asyncDependencies, grid x y z, block x y z,
cluster x y z, dynamic shared memory, kernel operands, async object (upstream `GPUOps.td`). A `gpu.launch` ends before
it."""


def symbol(op: ir.Operation | ir.OpView) -> str:
    """The op's `sym_name`."""
    return ir.StringAttr(op.operation.attributes["sym_name"]).value


def own_name(function: ir.Operation) -> str:
    """The name of the function of which it is a version; its own where it is none."""
    return ir.StringAttr(function.attributes[VERSION_OF if VERSION_OF in function.attributes else "sym_name"]).value


def inputs_of(function: ir.Operation) -> int:
    """How many of its block's arguments are the function's; the others are memory that a kernel declares."""
    return len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)


def workgroup_buffers(function: ir.Operation) -> int:
    """How many of those are shared."""
    attribute = function.attributes.get("workgroup_attributions")
    return 0 if attribute is None else ir.IntegerAttr(attribute).value


PARTICIPANTS, COMBINER = "weft.participants", "weft.combiner"
"""On what holds a thread's part of a reduction: the threads whose parts are combined, a set of their ids that has the
thread's as symbols; and what these are combined by, in words."""
REGISTER_CAP = "weft.max_registers"
"""On a kernel, or a loop that becomes one: the most registers of a thread; or its first ones, where warp groups hand
some on."""


def register_cap(op: ir.Operation) -> int | None:
    """What it says."""
    return ir.IntegerAttr(op.attributes[REGISTER_CAP]).value if REGISTER_CAP in op.attributes else None


CLUSTER_SIZE = "known_cluster_size"
"""On a kernel: how many blocks a cluster has along x, y, z."""


def sizes_of(function: ir.Operation, attribute: str) -> tuple[int, int, int] | None:
    """`known_block_size`, `known_grid_size` or `known_cluster_size`."""
    if attribute not in function.attributes:
        return None
    x, y, z = (int(n) for n in function.attributes[attribute])
    return x, y, z


def attributes_of(function: ir.Operation, number: int, attributes: str = "arg_attrs") -> Mapping[str, ir.Attribute]:
    """Those of an argument; of a result (`res_attrs`); of memory that a kernel declares (`ATTRIBUTIONS`)."""
    given = ir.ArrayAttr(function.attributes[attributes]) if attributes in function.attributes else ()
    return {named.name: named.attr for named in ir.DictAttr(given[number])} if number < len(given) else {}


def given_name(function: ir.Operation, number: int, attributes: str = "arg_attrs") -> str | None:
    """The `weft.name` of an argument or a result."""
    own = attributes_of(function, number, attributes)
    return ir.StringAttr(own[NAME]).value if NAME in own else None


def name_of(value: ir.Value) -> str | None:
    """The `weft.name` of an argument, or of what makes the value."""
    own = argument_attributes(value) if isinstance(value.owner, ir.Block) else maker(value).attributes
    return ir.StringAttr(own[NAME]).value if NAME in own else None


def multiples_of(value: ir.Value) -> tuple[int, ...]:
    """What the sizes of an argument are stated to be multiples of; empty where nothing is."""
    stated = argument_attributes(value).get(MULTIPLES)
    return () if stated is None else tuple(ir.DenseI64ArrayAttr(stated))


def most_of(value: ir.Value) -> tuple[int, ...]:
    """What the sizes of an argument are stated to be at most, -1 where nothing is; empty where nothing is stated."""
    stated = argument_attributes(value).get(MOST)
    return () if stated is None else tuple(ir.DenseI64ArrayAttr(stated))


def set_argument(value: ir.Value, name: str, attribute: ir.Attribute) -> None:
    """State something of a function's argument."""
    function, number = maker(value), ir.BlockArgument(value).arg_number
    given = [dict(attributes_of(function, n)) for n in range(inputs_of(function))]
    given[number][name] = attribute
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in given])


def set_name(op: ir.Operation | ir.OpView, name: str | None) -> None:
    """Call what an op makes so; None: as nobody has called it."""
    if name is not None:
        op.operation.attributes[NAME] = ir.StringAttr.get(name, op.operation.context)


ATTRIBUTIONS = ("workgroup_attrib_attrs", "private_attrib_attrs")
"""What is said of each of the buffers that a kernel declares: of the shared ones, of a thread's own."""


def argument_attributes(value: ir.Value) -> Mapping[str, ir.Attribute]:
    """Those of a function's argument, or of memory that a kernel declares; none of any other value."""
    if not isinstance(value.owner, ir.Block):
        return {}
    function, number = maker(value), ir.BlockArgument(value).arg_number
    if function.name != "gpu.func" or number < (inputs := inputs_of(function)):
        return attributes_of(function, number)
    number -= inputs
    shared = workgroup_buffers(function)
    return attributes_of(function, number - shared * (number >= shared), ATTRIBUTIONS[number >= shared])


def segments(op: ir.Operation) -> list[list[ir.Value]]:
    """The operands of an op that says how many of them belong together."""
    operands = iter(list(op.operands))
    return [[next(operands) for _ in range(n)] for n in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]


def launch_sizes(launch: ir.Operation) -> list[ir.Value]:
    """The grid's x, y, z, then the block's."""
    return [size for group in segments(launch)[1:7] for size in group]


def arguments(op: ir.Operation) -> list[ir.Value]:
    """The values that a `func.call` or a `gpu.launch_func` passes."""
    return list(op.operands) if op.name == "func.call" else segments(op)[KERNEL_OPERANDS]


def callee(op: ir.Operation) -> str:
    """What it calls or launches: `f`, or `module::kernel`."""
    if op.name == "func.call":
        return ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    return "::".join(ir.SymbolRefAttr(op.attributes["kernel"]).value)
