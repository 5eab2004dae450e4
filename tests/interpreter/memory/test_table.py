"""The table of what ops do: every op that the bindings register is judged, and nothing that is not is taken to be harmless."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
import torch_mlir.dialects

from weft.interpreter.hardware.instructions import INSTRUCTIONS
from weft.interpreter.ir import mlir
from weft.interpreter.ir.mlir import ir
from weft.interpreter.memory import effects, table, views
from weft.interpreter.memory.layouts import space_of

READ = ("affine", "arith", "bufferization", "builtin", "cf", "complex", "func", "gpu", "index", "linalg", "math", "memref", "nvgpu",
        "scf", "shape", "tensor", "ub", "vector")  # fmt: skip
"""The dialects that Weft reads."""


LEFT_UNKNOWN = table.names_of(
    """affine.dma_start affine.dma_wait func.call_indirect gpu.create_2to4_spmat gpu.create_bsr gpu.create_coo
    gpu.create_coo_aos gpu.create_csc gpu.create_csr gpu.create_dn_tensor gpu.destroy_dn_tensor gpu.destroy_sp_mat
    gpu.host_register gpu.host_unregister gpu.sddmm gpu.sddmm_buffer_size gpu.set_csr_pointers gpu.spgemm_copy
    gpu.spgemm_create_descr gpu.spgemm_destroy_descr gpu.spgemm_work_estimation_or_compute gpu.spmat_get_size gpu.spmm
    gpu.spmm_buffer_size gpu.spmv gpu.spmv_buffer_size gpu.warp_execute_on_lane_0 memref.dma_start memref.dma_wait"""
)
"""Ops of these dialects that may do anything as far as the table goes: what they begin ends later, or elsewhere."""


def judged(name: str) -> bool:
    """Whether somebody has decided what the op of that name does, be it that nobody can know."""
    listed = {*table.RULES, *table.FREEING, *table.NO_ACCESS, *table.CONTROL, *table.CALLS, *INSTRUCTIONS, *LEFT_UNKNOWN}
    return name in listed or name.split(".", 1)[0] in {*table.PURE_DIALECTS, "linalg"}


def registered() -> dict[str, list[str]]:
    """The ops that the bindings have classes for, by dialect."""
    found: dict[str, list[str]] = {}
    for module in pkgutil.iter_modules(torch_mlir.dialects.__path__):
        if module.name.endswith("_ops_gen"):
            loaded = importlib.import_module(f"torch_mlir.dialects.{module.name}")
            for name in {c.OPERATION_NAME for c in vars(loaded).values() if hasattr(c, "OPERATION_NAME")}:
                found.setdefault(name.split(".")[0], []).append(name)
    return found


OPS = registered()


@pytest.mark.parametrize("dialect", READ)
def test_every_op_is_judged(dialect: str) -> None:
    """A new release of the bindings with a new op fails here: say in `memory/` what it does."""
    assert [name for name in sorted(OPS[dialect]) if not judged(name)] == []


def test_what_is_judged_exists() -> None:
    every = {name for names in OPS.values() for name in names}
    listed = {*table.RULES, *table.NO_ACCESS, *table.CONTROL, *table.CALLS, *INSTRUCTIONS, *LEFT_UNKNOWN, *views.VIEWS}
    assert sorted(listed - every) == []


def test_each_op_is_judged_once() -> None:
    groups = [table.RULES, table.NO_ACCESS, table.CONTROL, table.CALLS, INSTRUCTIONS, LEFT_UNKNOWN]
    assert sum(len(g) for g in groups) == len(set().union(*groups))
    assert all(judged(name) for name in views.VIEWS)


def op_of(text: str, name: str) -> ir.Operation:
    global MODULE
    MODULE = mlir.parse(text, mlir.context())
    return next(mlir.operations(MODULE.operation, name))


UNKNOWN = {
    "my.op": 'func.func @f(%a: memref<4xf32>) { "my.op"(%a) : (memref<4xf32>) -> () return }',
    "my.pure": 'func.func @f() { %x = "my.pure"() : () -> f32 return }',
    "memref.dma_start": """func.func @f(%a: memref<4xf32>, %b: memref<4xf32, 1>, %t: memref<1xi32>, %i: index) {
        memref.dma_start %a[%i], %b[%i], %i, %t[%i] : memref<4xf32>, memref<4xf32, 1>, memref<1xi32>
        return }""",
    "llvm.store": "func.func @f(%p: !llvm.ptr, %v: f32) { llvm.store %v, %p : f32, !llvm.ptr return }",
    "llvm.inline_asm": 'func.func @f() { llvm.inline_asm has_side_effects "bar.sync 0;", "" : () -> () return }',
    "ptr.store": """func.func @f(%p: !ptr.ptr<#ptr.generic_space>, %v: f32) {
        ptr.store %v, %p : f32, !ptr.ptr<#ptr.generic_space>
        return }""",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_no_table_knows_may_do_anything(name: str) -> None:
    op = op_of(UNKNOWN[name], name)
    assert effects.accesses(op) is None
    assert not effects.only_computes(op)
    assert effects.written(op) == [v for v in op.operands if effects.is_memref(v)]


FOUND = {
    "memref.load": ("%x = memref.load %a[%i] : memref<4xf32>", ["read element"]),
    "vector.maskedstore": (
        "%m = vector.create_mask %i : vector<4xi1> %v = vector.broadcast %f : f32 to vector<4xf32>"
        " vector.maskedstore %a[%i], %m, %v : memref<4xf32>, vector<4xi1>, vector<4xf32>",
        ["write element, some"],
    ),
    "vector.transfer_write": (
        "%v = vector.broadcast %f : f32 to vector<4xf32>"
        " vector.transfer_write %v, %a[%i] : vector<4xf32>, memref<4xf32>",
        ["write transfer, some"],
    ),
    "memref.atomic_rmw": ("%x = memref.atomic_rmw addf %f, %a[%i] : (f32, memref<4xf32>) -> f32", ["atomic element"]),
    "linalg.fill": ("linalg.fill ins(%f : f32) outs(%a : memref<4xf32>)", ["write whole"]),
    "linalg.add": (
        "linalg.add ins(%a, %a : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>)",
        ["read whole", "read whole", "write whole, some"],
    ),
    "memref.realloc": ("%b = memref.realloc %a : memref<4xf32> to memref<8xf32>", ["read whole", "free whole", "alloc whole"]),
    "bufferization.dealloc": (
        "%b = memref.alloc() : memref<4xf32> %c = memref.alloc() : memref<4xf32> %yes = arith.constant true"
        " bufferization.dealloc (%b, %c : memref<4xf32>, memref<4xf32>) if (%yes, %q)",
        ["free whole", "free whole, some"],
    ),
    "vector.store": (
        "%v = vector.broadcast %f : f32 to vector<[4]xf32> vector.store %v, %a[%i] : memref<4xf32>, vector<[4]xf32>",
        ["write anywhere, some"],
    ),
    "memref.cast": ("%b = memref.cast %a : memref<4xf32> to memref<?xf32>", []),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_known(name: str) -> None:
    body, expected = FOUND[name]
    op = op_of(f"func.func @f(%a: memref<4xf32>, %f: f32, %i: index, %q: i1) {{ {body} return }}", name)
    found = effects.accesses(op)
    assert found is not None
    assert [f"{a.kind} {a.footprint}{', some' * (not a.certain)}" for a in found] == expected


TILES = """
    !bars = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
    !map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = none, oob = zero,
                                        interleave = none>
    !matrix = !nvgpu.warpgroup.descriptor<tensor = memref<64x64xf16, 3>>
    !sums = !nvgpu.warpgroup.accumulator<fragmented = vector<64x64xf32>>
    func.func @f(%map: !map, %bars: !bars, %tile: memref<64x64xf16, 3>, %m: !matrix, %before: !sums, %i: index, %q: i1) {
"""
ASYNCHRONOUS = {
    "nvgpu.tma.async.load": (
        "nvgpu.tma.async.load %map[%i, %i], %bars[%i] to %tile : !map, !bars -> memref<64x64xf16, 3>",
        ["write whole of tile", "read anywhere of map, some"],
    ),
    "nvgpu.tma.async.store": (
        "nvgpu.tma.async.store %tile to %map[%i, %i], predicate = %q : memref<64x64xf16, 3> -> !map",
        ["read whole of tile, some", "write anywhere of map, some"],
    ),
    "nvgpu.warpgroup.mma": (
        "%d = nvgpu.warpgroup.generate.descriptor %tile, %map : memref<64x64xf16, 3>, !map -> !matrix"
        " %s = nvgpu.warpgroup.mma %d, %m, %before {waitGroup = 0 : i64} : !matrix, !matrix, !sums -> !sums",
        ["read anywhere of tile", "read anywhere of m"],
    ),
    "nvgpu.mbarrier.try_wait.parity": ("nvgpu.mbarrier.try_wait.parity %bars[%i], %q, %i : !bars", []),
    "nvvm.fence.proxy": ("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async>}", []),
    "nvvm.mbarrier.arrive": (
        "%p = nvgpu.mbarrier.get %bars[%i] : !bars -> i32 %a = llvm.inttoptr %p : i32 to !llvm.ptr<3>"
        " %t = nvvm.mbarrier.arrive %a : !llvm.ptr<3> -> i64",
        [],
    ),
}


@pytest.mark.parametrize("name", ASYNCHRONOUS)
def test_what_accelerators_do(name: str) -> None:
    body, expected = ASYNCHRONOUS[name]
    op = op_of(f"{TILES} {body} return }}", name)
    names = dict(zip(op.parent.regions[0].blocks[0].arguments, ("map", "bars", "tile", "m", "before", "i", "q"), strict=True))
    found = effects.accesses(op)
    assert found is not None
    shown = [f"{a.kind} {a.footprint} of {names[views.root_memref(a.value)]}{', some' * (not a.certain)}" for a in found]
    assert shown == expected
    assert not effects.is_pure(op) and not effects.only_computes(op)


def test_an_arrival_at_an_address_that_nobody_knows_may_do_anything() -> None:
    text = "func.func @f(%p: !llvm.ptr<3>) { %t = nvvm.mbarrier.arrive %p : !llvm.ptr<3> -> i64 return }"
    assert effects.accesses(op_of(text, "nvvm.mbarrier.arrive")) is None


SPACES = {
    "workgroup": ["#gpu.address_space<workgroup>", "3", "3 : i32", "#nvvm.memory_space<shared>", "#llvm.address_space<3>",
                  "#spirv.storage_class<Workgroup>"],
    "private": ["#gpu.address_space<private>", "5", "#nvvm.memory_space<local>", "#spirv.storage_class<Function>"],
    "global": ["#gpu.address_space<global>", "0", "1 : i32", "#nvvm.memory_space<global>", "#ptr.generic_space",
               "#spirv.storage_class<StorageBuffer>", "#gpu.address_space<constant>"],
    None: ["7", "2", '"shared"', "13 : i32", "35", "#nvvm.memory_space<shared_cluster>", "#nvvm.memory_space<tensor>"],
}  # fmt: skip


@pytest.mark.parametrize(("space", "spelling"), [(space, s) for space, spellings in SPACES.items() for s in spellings])
def test_spellings_of_memory_spaces(space: str | None, spelling: str) -> None:
    with mlir.context():
        assert space_of(ir.MemRefType(ir.Type.parse(f"memref<4xf32, {spelling}>"))) == space
