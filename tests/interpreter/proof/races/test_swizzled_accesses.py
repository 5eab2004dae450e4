"""Accesses of swizzled rows in the proof: pieces stay whole, and what is longer than a piece does not."""

from __future__ import annotations

import pytest
from kernel_text import WORKGROUP, model

from weft.interpreter.proof.races.conflicts import conflicts

ROWS = f"memref<8x32xf32, {WORKGROUP}>"
SIZES = "known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>"


@pytest.mark.parametrize(("count", "first", "races"), [(4, 8, False), (4, 4, False), (4, 3, True), (8, 8, True)])
def test_a_vector_of_more_than_a_piece_is_not_exchanged_as_a_whole(count: int, first: int, races: bool) -> None:
    """Thread 0 writes `count` elements from 0 on, and threads from `first` on one each, all of row 1."""
    vector = f"vector<{count}xf32>"
    body = f"""
      %row = arith.constant 1 : index
      %first = arith.constant {first} : index
      %ones = arith.constant dense<1.0> : {vector}
      %n = affine.apply affine_map<(d0) -> (d0 mod 8 * 4)>(%row)
      %one = arith.cmpi eq, %tx, %c0 : index
      scf.if %one {{
        %p = arith.xori %c0, %n : index
        vector.store %ones, %S[%row, %p] : {ROWS}, {vector}
      }}
      %others = arith.cmpi uge, %tx, %first : index
      scf.if %others {{
        %q = arith.xori %tx, %n : index
        memref.store %zero, %S[%row, %q] : {ROWS}
      }}
    """
    assert bool(conflicts(model(body, "", f"%S: {ROWS}", SIZES))) == races


PADDED = f"memref<16x36xf32, {WORKGROUP}>"


@pytest.mark.parametrize(("exchange", "shift", "races"), [(12, 0, False), (12, 16, False), (12, 8, True), (16, 0, True)])
def test_rows_that_a_piece_pads_are_exchanged_by_eights(exchange: int, shift: int, races: bool) -> None:
    """Threads below 16 write an element each of row 9, at its exchange or another's, moved by whole spans or others; the others
    write it as `launch` would."""
    body = f"""
      %row = arith.constant 9 : index
      %half = arith.constant 16 : index
      %first = arith.cmpi ult, %tx, %half : index
      %n = arith.constant {exchange} : index
      %m = affine.apply affine_map<(d0) -> (d0 floordiv 8 * 3 mod 4 * 4)>(%row)
      scf.if %first {{
        %p = arith.xori %tx, %n : index
        %q = affine.apply affine_map<(d0) -> (d0 + {shift})>(%p)
        memref.store %zero, %S[%row, %q] : {PADDED}
      }} else {{
        %lane = affine.apply affine_map<(d0) -> ((d0 + {shift}) mod 32)>(%tx)
        %r = arith.xori %lane, %m : index
        memref.store %zero, %S[%row, %r] : {PADDED}
      }}
    """
    assert bool(conflicts(model(body, "", f"%S: {PADDED}", SIZES))) == races
