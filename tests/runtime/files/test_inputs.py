"""Random inputs, and `.npz` files that are not trusted."""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.dsl.diagnostics import WeftError
from weft.runtime.files.inputs import check_inputs, chosen_inputs, random_inputs, read_npz, write_npz
from weft.runtime.plan.dtypes import BF16, NUMPY, narrow, widen
from weft.runtime.plan.signature import Argument, FunctionSignature

ALL = FunctionSignature("f", tuple(Argument(t, t, (64, 3), "input") for t in NUMPY))
TWO = FunctionSignature("f", (Argument("a", "f32", (2, None), "input"), Argument("n", "i32", None, "input")))


def test_random_inputs_by_type() -> None:
    made = random_inputs(ALL, 7)
    for dtype, array in made.items():
        assert array.dtype == NUMPY[dtype] and array.shape == (64, 3)
    assert set(np.unique(made["i8"])) <= set(range(-8, 8)) and made["i8"].min() < 0
    assert set(np.unique(made["i1"])) == {False, True}
    assert 0.8 < made["f64"].std() < 1.2
    again, other = random_inputs(ALL, 7), random_inputs(ALL, 8)
    assert all(np.array_equal(made[n], again[n]) for n in made)
    assert not np.array_equal(made["f32"], other["f32"])


def test_dynamic_dimensions_must_be_given() -> None:
    with pytest.raises(WeftError, match="W0719: the shape of `a: 2x\\?xf32`"):
        random_inputs(TWO)


def test_files_round_trip(tmp_path: Path) -> None:
    made = random_inputs(ALL)
    write_npz(tmp_path / "x.npz", made)
    read = read_npz(tmp_path / "x.npz", ALL)
    assert all(read[n].dtype == made[n].dtype and np.array_equal(read[n], made[n]) for n in made)
    with np.load(tmp_path / "x.npz", allow_pickle=False) as plain:
        assert plain["bf16"].dtype == np.uint16
    assert [p.name for p in tmp_path.iterdir()] == ["x.npz"]


class Trap:
    opened: ClassVar[list[int]] = []

    def __reduce__(self) -> Any:
        return self.opened.append, (1,)


def test_pickles_are_never_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", allow_pickle=True, a=np.array([Trap()], dtype=object))
    with pytest.raises(WeftError, match=r"W0715: .*pickled objects, which are never read"):
        read_npz(tmp_path / "x.npz", TWO)
    assert Trap.opened == []


def write_single(path: Path) -> None:
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))


def write_truncated(path: Path) -> None:
    np.savez(path, a=np.zeros(1000))
    path.write_bytes(path.read_bytes()[:500])


def write_damaged(path: Path) -> None:
    np.savez_compressed(path, a=np.arange(1000.0))
    raw = bytearray(path.read_bytes())
    raw[100:140] = bytes(40)
    path.write_bytes(bytes(raw))


def write_header(header: bytes, *, member: bytes | None = None, method: int = zipfile.ZIP_STORED) -> Any:
    """An archive whose array `a` has this header (version 1.0) and no data."""
    content = member or b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header

    def write(path: Path) -> None:
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("a.npy", content)

    return write


def header(descr: str = "'<f4'", shape: str = "(2, 3)") -> bytes:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}".encode()


BAD_FILES: dict[str, Any] = {
    "missing": lambda p: None,
    "a folder": lambda p: p.mkdir(),
    "empty": lambda p: p.write_bytes(b""),
    "binary junk": lambda p: p.write_bytes(bytes(range(256)) * 10),
    "text": lambda p: p.write_text("hello"),
    "a zip without arrays": lambda p: p.write_bytes(b"PK\x05\x06" + bytes(18)),
    "a single array": write_single,
    "truncated": write_truncated,
    "damaged": write_damaged,
}
BAD_MEMBERS: dict[str, Any] = {
    "a header cut short": write_header(header(shape="(999999999999, 9999999), }")[:70]),
    "a header that is not a literal": write_header(b"{'descr': open('/etc/passwd')}"),
    "a header of deep brackets": write_header(b"[" * 9000),
    "a header with an unhashable key": write_header(b"{[]: 1}"),
    "a header with mixed keys": write_header(b"{1: 1, 'a': 2}"),
    "an empty element type": write_header(header(descr="()")),
    "an element type of nonsense": write_header(header(descr="[('a',)]")),
    "a size beyond 64 bits": write_header(header(shape=f"({10**30},)")),
    "a negative size": write_header(header(shape="(-1,)")),
    "more than can be held": write_header(header(shape=f"({2**50}, 1)")),
    "a member that is not an array": write_header(b"", member=b"hello"),
    "broken indentation": write_header(b" 1\n  2\n 3\n"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files(tmp_path: Path, case: str) -> None:
    path = tmp_path / "x.npz"
    BAD_FILES[case](path)
    with pytest.raises(WeftError, match=r"W0715|W0716"):
        read_npz(path, TWO)


@pytest.mark.parametrize("case", BAD_MEMBERS)
def test_bad_members(tmp_path: Path, case: str) -> None:
    BAD_MEMBERS[case](tmp_path / "x.npz")
    with pytest.raises(WeftError, match="W0715"):
        read_npz(tmp_path / "x.npz")


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 79), st.binary(min_size=1, max_size=8))
def test_any_damage_to_a_header_is_refused_or_read(place: int, junk: bytes) -> None:
    whole = header().ljust(80)
    data = whole[:place] + junk + whole[place + len(junk) :]
    path = Path(tempfile.gettempdir()) / f"weft-header-{os.getpid()}.npz"
    write_header(data)(path)
    try:
        read_npz(path)
    except WeftError as error:
        assert error.diagnostics[0].code == "W0715"
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.zeros((2, 3), np.float32)}, "W0716: .*missing `n`"),
        ({"a": np.zeros((2, 3), np.float32), "n": np.int32(1), "b": 1}, "W0716: .*unknown `b`"),
        ({"a": np.zeros((3, 3), np.float32), "n": np.int32(1)}, "W0717: `a` is 3x3xfloat32, expected 2x\\?xf32"),
        ({"a": np.zeros((2, 3, 1), np.float32), "n": np.int32(1)}, "W0717"),
        ({"a": np.zeros((2, 3)), "n": np.int32(1)}, "W0717: `a` is 2x3xfloat64"),
        ({"a": np.zeros((2, 3), np.float32), "n": np.zeros(1, np.int32)}, "W0717: `n` is 1xint32, expected i32"),
    ],
)
def test_misfits(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(WeftError, match=message) as error:
        check_inputs(TWO, {n: np.asarray(a) for n, a in arrays.items()})
    assert error.value.diagnostics[0].notes == ("expected a: 2x?xf32, n: i32",)


def test_nothing_half_written(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match="W0054"):
        write_npz(tmp_path / "missing" / "x.npz", {"a": np.zeros(3)})
    with pytest.raises(WeftError, match="W0054"):
        write_npz(tmp_path / "x.npz", {"a": np.array([{}], dtype=object)})
    assert list(tmp_path.iterdir()) == []


def test_bf16_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([1, -2.5, 3.14159, np.inf, np.nan, 1e-40, 65504.5], np.float32)
    expected = values.astype(BF16).view(np.uint16)
    monkeypatch.setattr("weft.runtime.plan.dtypes.NUMPY", {**NUMPY, "bf16": np.dtype(np.uint16)})
    bits = narrow(values, "bf16")
    assert bits.dtype == np.uint16
    np.testing.assert_array_equal(bits[~np.isnan(values)], expected[~np.isnan(values)])
    np.testing.assert_array_equal(widen(bits, "bf16"), values.astype(BF16).astype(np.float32))


# ---- inputs that are asked for ---------------------------------------------------------------------------------------------


def test_ranges_hold_every_number_and_no_other() -> None:
    made = chosen_inputs(ALL, 3, None, {name: "-2:3" for name in NUMPY if name != "i1"} | {"i1": "0:1"})
    for name in ("i8", "i16", "i32", "i64"):
        assert set(np.unique(made[name])) == {-2, -1, 0, 1, 2} and made[name].dtype == NUMPY[name]
    for name in ("f64", "f32", "f16", "bf16"):
        values = widen(made[name], name)
        assert values.min() >= -2 and values.max() <= 3 and values.min() < -1.5 and values.max() > 2.5
    assert not made["i1"].any()
    again = chosen_inputs(ALL, 3, None, {"i32": "-2:3"})
    plain = random_inputs(ALL, 3)
    assert all(np.array_equal(again[name], plain[name]) for name in NUMPY if name != "i32")
    assert not np.array_equal(chosen_inputs(ALL, 4, None, {"i32": "-2:3"})["i32"], again["i32"])


def test_a_part_is_given_and_the_rest_is_random(tmp_path: Path) -> None:
    mine = np.arange(192, dtype=np.float32).reshape(3, 64).T
    write_npz(tmp_path / "x.npz", {"f32": mine})
    np.save(tmp_path / "x.npy", mine)
    plain = random_inputs(ALL, 3)
    for made in (
        chosen_inputs(ALL, 3, {"f32": mine}),
        chosen_inputs(ALL, 3, tmp_path / "x.npz"),
        chosen_inputs(ALL, 3, None, {"f32": str(tmp_path / "x.npy")}),
    ):
        assert np.array_equal(made["f32"], mine) and made["f32"].flags.c_contiguous
        assert list(made) == list(plain) and all(np.array_equal(made[n], plain[n]) for n in NUMPY if n != "f32")
    assert (chosen_inputs(ALL, 3, None, {"i64": "-7", "f64": "inf", "i1": "true"})["i64"] == -7).all()
    given = chosen_inputs(TWO, 3, {"a": mine.T[:2]}, {"n": "5"})
    assert given["a"].shape == (2, 64) and given["n"][()] == 5


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"x": "0:2"}, "W0716: the inputs do not fit: unknown `x`"),
        ({"f32": "2:2"}, "W0718: the range of `f32=2:2` is empty"),
        ({"i32": "5:-5"}, "W0718: the range of `i32=5:-5` is empty"),
        ({"i32": "0:2.5"}, "W0718: `i32=0:2.5`: `2.5` is not an integer"),
        ({"i32": "0:many"}, "`many` is not an integer"),
        ({"f32": "a:b"}, "`a` is not a number"),
        ({"f32": "0:1:2"}, "W0718: `f32=0:1:2` is not a range, a number or a file"),
        ({"i8": "0:1000"}, "W0718: `i8=0:1000`: 1000 does not fit i8"),
        ({"i8": "128"}, "W0718: `i8=128`: 128 does not fit i8"),
        ({"i1": "0:3"}, "W0718: `i1=0:3`: 3 does not fit i1"),
        ({"f16": "0:1e6"}, "W0718: `f16=0:1e6`: 1e6 does not fit f16"),
        ({"f32": "nan:1"}, "W0718: `f32=nan:1`: nan does not fit f32"),
        ({"f32": "nosuch.npy"}, "W0715: nosuch.npy is not an .npy of a plain array"),
    ],
)
def test_what_cannot_be_made_is_refused(asked: dict[str, str], said: str) -> None:
    with pytest.raises(WeftError) as refused:
        chosen_inputs(ALL, 0, None, asked)
    assert said in str(refused.value)


def test_ends_of_types_are_in_ranges() -> None:
    made = chosen_inputs(ALL, 0, None, {"i8": "126:128", "i64": f"{2**63 - 2}:{2**63}"})
    assert set(np.unique(made["i8"])) == {126, 127}
    assert set(np.unique(made["i64"])) == {2**63 - 2, 2**63 - 1}


def test_given_twice_and_given_wrongly() -> None:
    right = np.zeros((64, 3), np.float32)
    for arrays, asked, said in (
        ({"f32": right}, {"f32": "0:1"}, "W0718: `f32`: given as an array"),
        ({"f33": right}, {}, "W0716: the inputs do not fit: unknown `f33`"),
        ({"f32": right[:2]}, {}, "W0717: `f32` is 2x3xfloat32, expected 64x3xf32"),
        ({"f32": right.astype(np.float64)}, {}, "W0717: `f32` is 64x3xfloat64"),
        ({"f32": [1, 2, 3]}, {}, "W0717: `f32` is 3xint64"),
    ):
        with pytest.raises(WeftError) as refused:
            chosen_inputs(ALL, 0, arrays, asked)  # type: ignore[arg-type]
        assert said in str(refused.value)
    with pytest.raises(WeftError, match="W0719"):
        chosen_inputs(TWO, 0, None, {"a": "0:1"})
