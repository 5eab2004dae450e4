"""Layouts as digits: coordinates, inverse, composition, restriction, equality, and affine forms, against brute force."""

from itertools import product

import numpy as np
import pytest
from contexts import one_context

from weft.interpreter.hardware.ampere.fragments import PRODUCTS, TileProduct, rows_read
from weft.interpreter.hardware.hopper import tensor_maps, warpgroups
from weft.interpreter.ir import mlir
from weft.interpreter.ir.affine_maps import results_of
from weft.interpreter.layouts.layout import Layout

TILE = Layout.of(
    ("row", 1, "lane", 4, 8), ("row", 8, "register", 1, 2), ("column", 1, "element", 1, 2), ("column", 2, "lane", 1, 4)
)  # fmt: skip
BYTES = Layout.of(("address", 16, "row", 1, 16), ("address", 2, "column", 1, 8))


@pytest.mark.parametrize("operand", range(3))
@pytest.mark.parametrize("kind", PRODUCTS, ids=str)
def test_the_inverse_of_a_fragment_finds_lane_register_and_element(kind: TileProduct, operand: int) -> None:
    held = kind.fragments[operand]
    for numbers in product(*(range(held.count(of)) for of in ("lane", "register", "element"))):
        given = dict(zip(("lane", "register", "element"), numbers, strict=True))
        place = {axis: held.at(axis, **given) for axis in ("row", "column")}
        assert tuple(held.inverse.at(of, **place) for of in given) == numbers


def test_then_is_the_composition_of_the_coordinates() -> None:
    there = TILE.then(BYTES)
    for lane, register, element in product(range(32), range(2), range(2)):
        given = {"lane": lane, "register": register, "element": element}
        at = {axis: TILE.at(axis, **given) for axis in ("row", "column")}
        assert there.at("address", **given) == BYTES.at("address", **at)


def test_digits_are_split_where_those_of_the_outer_layout_begin_and_end() -> None:
    of_blocks = ("block", 2, "row", 4, 4), ("block", 1, "column", 4, 2)
    blocks = Layout.of(*of_blocks, ("inside", 4, "row", 1, 4), ("inside", 1, "column", 1, 4))
    there = TILE.then(blocks)
    for lane, register, element in product(range(32), range(2), range(2)):
        given = {"lane": lane, "register": register, "element": element}
        row, column = (TILE.at(axis, **given) for axis in ("row", "column"))
        assert there.at("block", **given) == row // 4 * 2 + column // 4
        assert there.at("inside", **given) == row % 4 * 4 + column % 4
    with pytest.raises(ValueError, match="overlap in part"):
        TILE.then(Layout.of(("third", 1, "row", 3, 5)))


def test_equal_layouts_have_equal_normal_forms() -> None:
    whole = Layout.of(("row", 1, "lane", 2, 16), ("column", 1, "lane", 1, 2))
    parts = Layout.of(("row", 4, "lane", 8, 4), ("column", 1, "lane", 1, 2), ("row", 1, "lane", 2, 4), ("row", 64, "lane", 32, 1))
    assert whole != parts and whole.normal == parts.normal
    assert whole.normal != Layout.of(("row", 1, "lane", 1, 16), ("column", 1, "lane", 16, 2)).normal


def test_a_restriction_has_the_coordinate_of_the_other_numbers_zero() -> None:
    assert TILE.restricted(axis="row").at("column", lane=31) == 0
    assert TILE.restricted(of="lane").at("row", lane=31, register=1) == 7


@pytest.mark.parametrize("held", [TILE, *(PRODUCTS[0].fragments), rows_read(PRODUCTS[0].fragments[0], "row")])
def test_forms_are_the_coordinates_of_one_number(held: Layout) -> None:
    operations = {"add": int.__add__, "mul": int.__mul__, "mod": int.__mod__, "floordiv": int.__floordiv__}
    with one_context():
        for axis, lane in product(("row", "column"), range(32)):
            (found,) = results_of(held.form(axis, "lane", 32), [lane], int, lambda name, a, b: operations[name](a, b))
            assert found == held.at(axis, lane=lane)


def test_a_fragment_of_sums_is_one_of_the_left_operand_two_instructions_wide() -> None:
    """What a product of a warp makes is the left operand of the next one, without an exchange between lanes."""
    sums, lhs = PRODUCTS[0].fragments[2], PRODUCTS[0].fragments[0]
    assert sums.restricted(of="lane").normal == lhs.restricted(of="lane").normal


def test_panels_are_a_bijection_of_rows_and_bytes() -> None:
    how = "swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none"
    text = f"!nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, {how}>"
    tile = tensor_maps.tensor_map(mlir.ir.Type.parse(text, one_context()))
    assert tile is not None
    where = warpgroups.panel_layout(tile, 64, 512).table("row", "byte")
    assert np.array_equal(np.sort(where["address"].ravel()), np.arange(64 * 512))
