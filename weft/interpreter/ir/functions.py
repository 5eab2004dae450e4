"""Attributes and operands of functions, kernels and launches: symbols, arguments and their names,
sizes, segments."""

from __future__ import annotations

from collections.abc import Mapping

from .mlir import ir, maker, operations

NAME = "weft.name"
MULTIPLES = "weft.multiples"
"""On an argument of a function or a kernel: by axis, a divisor of the size; 1 if none is known. The
host checks it before a run."""
MOST = "weft.most"
"""On the same: by axis, an upper bound of the size; -1 if none is known."""
MOST_BLOCKS = "weft.most_blocks"
"""On a kernel: upper bounds of the numbers of blocks along x, y, z; -1 if none is known."""
ASSUMED = "weft.assumed"
"""On an argument of a function: by axis, the text of the assumption on the size; empty if there is
none."""
AGREEMENTS = "weft.agreements"
"""On the host function of a bundle: the equalities of sizes that its payload requires, in the form
of its plan."""
VERSION_OF = "weft.version_of"
"""On a host function: the name of the function of which it is a version; a run takes the first
version with sizes as assumed."""
KERNEL_OPERANDS = 11
"""The segment of a `gpu.launch_func`'s operands with the kernel's: asyncDependencies, grid x y z,
block x y z, cluster x y z, dynamic shared memory, kernel operands, async object (upstream
`GPUOps.td`). A `gpu.launch` has only the segments before it."""


def symbol(op: ir.Operation | ir.OpView) -> str:
    """The op's `sym_name`."""
    return ir.StringAttr(op.operation.attributes["sym_name"]).value


def own_name(function: ir.Operation) -> str:
    """The name of the function that this one is a version of; else its own name."""
    return ir.StringAttr(function.attributes[VERSION_OF if VERSION_OF in function.attributes else "sym_name"]).value


def inputs_of(function: ir.Operation) -> int:
    """The number of block arguments that are the function's; the others are memory that a kernel
    declares."""
    return len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)


def workgroup_buffers(function: ir.Operation) -> int:
    """The number of shared buffers that a kernel declares."""
    attribute = function.attributes.get("workgroup_attributions")
    return 0 if attribute is None else ir.IntegerAttr(attribute).value


PARTICIPANTS, COMBINER = "weft.participants", "weft.combiner"
"""On a buffer with a thread's part of a reduction: the threads whose parts are combined, as a set
of thread ids with the thread's own as symbols; and the combiner, as text."""
REGISTER_CAP = "weft.max_registers"
"""On a kernel, or a loop that becomes one: the maximum of registers per thread; or the initial
number, where warp groups exchange registers."""


def register_cap(op: ir.Operation) -> int | None:
    """The value of `REGISTER_CAP`; None without one."""
    return ir.IntegerAttr(op.attributes[REGISTER_CAP]).value if REGISTER_CAP in op.attributes else None


CLUSTER_SIZE = "known_cluster_size"
"""On a kernel: the numbers of blocks in a cluster along x, y, z."""


def sizes_of(function: ir.Operation, attribute: str) -> tuple[int, int, int] | None:
    """`known_block_size`, `known_grid_size` or `known_cluster_size`."""
    if attribute not in function.attributes:
        return None
    x, y, z = (int(n) for n in function.attributes[attribute])
    return x, y, z


def attributes_of(function: ir.Operation, number: int, attributes: str = "arg_attrs") -> Mapping[str, ir.Attribute]:
    """Attributes of an argument; of a result (`res_attrs`); of memory that a kernel declares
    (`ATTRIBUTIONS`)."""
    given = ir.ArrayAttr(function.attributes[attributes]) if attributes in function.attributes else ()
    return {named.name: named.attr for named in ir.DictAttr(given[number])} if number < len(given) else {}


def given_name(function: ir.Operation, number: int, attributes: str = "arg_attrs") -> str | None:
    """The `weft.name` of an argument or a result."""
    own = attributes_of(function, number, attributes)
    return ir.StringAttr(own[NAME]).value if NAME in own else None


def arguments_of_functions(module: ir.Module) -> list[ir.Value]:
    """The arguments of all functions with a body."""
    functions = operations(module.operation, "func.func")
    return [value for f in functions if len(f.regions[0].blocks) for value in f.regions[0].blocks[0].arguments]


def name_of(value: ir.Value) -> str | None:
    """The `weft.name` of an argument, or of the op that defines the value."""
    own = argument_attributes(value) if isinstance(value.owner, ir.Block) else maker(value).attributes
    return ir.StringAttr(own[NAME]).value if NAME in own else None


def multiples_of(value: ir.Value) -> tuple[int, ...]:
    """Stated divisors of an argument's sizes; empty without any."""
    stated = argument_attributes(value).get(MULTIPLES)
    return () if stated is None else tuple(ir.DenseI64ArrayAttr(stated))


def most_of(value: ir.Value) -> tuple[int, ...]:
    """Stated upper bounds of an argument's sizes, -1 where there is none; empty without any."""
    stated = argument_attributes(value).get(MOST)
    return () if stated is None else tuple(ir.DenseI64ArrayAttr(stated))


def set_argument(value: ir.Value, name: str, attribute: ir.Attribute) -> None:
    """Sets an attribute of a function's argument."""
    function, number = maker(value), ir.BlockArgument(value).arg_number
    given = [dict(attributes_of(function, n)) for n in range(inputs_of(function))]
    given[number][name] = attribute
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in given])


def set_name(op: ir.Operation | ir.OpView, name: str | None) -> None:
    """Sets the `weft.name` of an op; None removes it."""
    if name is not None:
        op.operation.attributes[NAME] = ir.StringAttr.get(name, op.operation.context)


ATTRIBUTIONS = ("workgroup_attrib_attrs", "private_attrib_attrs")
"""Attributes of the buffers that a kernel declares: of shared ones, of private ones."""


def argument_attributes(value: ir.Value) -> Mapping[str, ir.Attribute]:
    """Attributes of a function's argument, or of memory that a kernel declares; empty for any other
    value."""
    if not isinstance(value.owner, ir.Block):
        return {}
    function, number = maker(value), ir.BlockArgument(value).arg_number
    if function.name != "gpu.func" or number < (inputs := inputs_of(function)):
        return attributes_of(function, number)
    number -= inputs
    shared = workgroup_buffers(function)
    return attributes_of(function, number - shared * (number >= shared), ATTRIBUTIONS[number >= shared])


def segments(op: ir.Operation) -> list[list[ir.Value]]:
    """The operands of an op with operand segments, by segment."""
    operands = iter(list(op.operands))
    return [[next(operands) for _ in range(n)] for n in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])]


def launch_sizes(launch: ir.Operation) -> list[ir.Value]:
    """The grid's x, y, z, then the block's."""
    return [size for group in segments(launch)[1:7] for size in group]


def arguments(op: ir.Operation) -> list[ir.Value]:
    """The values that a `func.call` or a `gpu.launch_func` passes."""
    return list(op.operands) if op.name == "func.call" else segments(op)[KERNEL_OPERANDS]


def callee(op: ir.Operation) -> str:
    """The callee or the launched kernel: `f`, or `module::kernel`."""
    if op.name == "func.call":
        return ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    return "::".join(ir.SymbolRefAttr(op.attributes["kernel"]).value)
