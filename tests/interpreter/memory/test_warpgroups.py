"""What is said of tensor maps, warp groups and memory barriers, against NVIDIA's documentation."""

from itertools import product

from weft.interpreter.hardware.hopper import mbarriers, tensor_maps, warpgroups
from weft.interpreter.ir.mlir import ir
from weft.interpreter.layouts import swizzles

MAP = (
    "!nvgpu.tensormap.descriptor<tensor = memref<64x{}xbf16, 3>, swizzle = swizzle_{}b, l2promo = none, oob = zero, "
    "interleave = none>"
)


def _map(columns: int, span: int) -> tensor_maps.TensorMap:
    found = tensor_maps.tensor_map(ir.Type.parse(MAP.format(columns, span), ir.Context()))
    assert found is not None
    return found


def test_types_say_what_they_are_of() -> None:
    found = _map(64, 128)
    assert (found.box, str(found.element), found.swizzle, found.fill, found.plain) == ((64, 64), "bf16", 128, "zero", True)
    assert found.bytes == 8192
    with ir.Context():
        held = warpgroups.accumulator(ir.Type.parse("!nvgpu.warpgroup.accumulator<fragmented = vector<128x256xf32>>"))
        lies = warpgroups.matrix(ir.Type.parse("!nvgpu.warpgroup.descriptor<tensor = memref<64x32xf16, 3>>"))
        bars = ir.Type.parse("!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>")
    assert held is not None and warpgroups.of_thread(held) == (2, 32, 2, 2)
    assert lies is not None and (lies.rows, lies.columns, str(lies.element)) == (64, 32, "f16")
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        struct = warpgroups.accumulator(ir.Type.parse("!llvm.struct<(i32, i32, i32, i32)>"))
        others = [warpgroups.accumulator(ir.Type.parse(f"!llvm.struct<({said})>")) for said in ("i32, i64", "f32")]
    assert struct is not None and (struct.rows, struct.columns, others) == (64, 8, [None, None])
    assert mbarriers.is_mbarriers(bars) and mbarriers.count_of(bars) == 4


def test_swizzles_exchange_pieces_as_the_figures_of_the_ptx_isa_show() -> None:
    def row(number: int, span: int) -> list[int]:
        return [swizzles.exchanged(number * 128 + piece * 16, span) // 16 - number * 8 for piece in range(8)]

    assert row(3, 0) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert row(3, 128) == [3, 2, 1, 0, 7, 6, 5, 4] and row(8, 128) == row(0, 128) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert row(3, 64) == [3, 2, 1, 0, 7, 6, 5, 4] and row(5, 64) == [1, 0, 3, 2, 5, 4, 7, 6]
    assert row(1, 32) == [1, 0, 3, 2, 5, 4, 7, 6] and row(2, 32) == row(0, 32)


def test_a_matrix_consists_of_boxes_as_wide_as_the_swizzle() -> None:
    tile = _map(64, 128)
    places = warpgroups.panel_layout(tile, 64, 512)

    def place(row: int, byte: int) -> int:
        return swizzles.exchanged(places.at("address", row=row, byte=byte), tile.swizzle)

    assert place(0, 0) == 0 and place(1, 0) == 128 + 16
    assert place(0, 128) == 64 * 128  # the next box
    assert {place(row, byte) for row in range(64) for byte in range(512)} == set(range(64 * 512))


def test_each_sum_is_held_once() -> None:
    where = warpgroups.sum_layout(128, 24).table("thread", "register", "element")
    held = sorted(zip(where["row"].ravel().tolist(), where["column"].ravel().tolist(), strict=True))
    assert held == list(product(range(128), range(24)))
    assert (where["row"][37, 3, 1], where["column"][37, 3, 1]) == (16 + 1 + 8, 8 + 2 * 1 + 1)  # warp 1, lane 5


def test_columns_of_an_instruction() -> None:
    assert [n for n in range(300) if warpgroups.OPERANDS["bf16"].has(n)] == list(range(8, 257, 8))
    assert [n for n in range(50) if warpgroups.OPERANDS["i8"].has(n)] == [8, 16, 24, 32, 48]
    assert warpgroups.products("f64", "f64", 8) == [] and warpgroups.products("i8", "f32", 8) == []
