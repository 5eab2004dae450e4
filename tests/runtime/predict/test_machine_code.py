"""The model of a multiprocessor on programs whose clocks can be worked out on paper, written in nvdisasm's form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft.dsl.diagnostics import WeftError
from weft.runtime.predict import repeats
from weft.runtime.predict.chips import CHIPS, chip_named
from weft.runtime.predict.integers import COMPUTES
from weft.runtime.predict.operands import Grid, Registers, address
from weft.runtime.predict.pipes import bank_conflicts, flops, interval
from weft.runtime.predict.processor.clocks import NEVER, STAGGER, Clocks
from weft.runtime.predict.processor.multiprocessor import RELEASE, Multiprocessor
from weft.runtime.predict.processor.ports import MEETING
from weft.runtime.predict.sass import Control, Disassembly, MachineInstruction, parsed
from weft.runtime.predict.trace import Execution
from weft.runtime.predict.tracks import Trace

H200 = CHIPS["h200"]
UNSTARTED = {name: replace(chip, start=0) for name, chip in CHIPS.items()}
"""Chips on which a block begins at once."""


def code(*lines: str, **labels: int) -> Disassembly:
    """`stall sets frees waits reuse: [@P0] OP.MOD operands`, the numbers left out at the end are those of no control word."""
    found = []
    for at, line in enumerate(lines):
        control, _, text = line.partition(":")
        numbers = [int(n, 0) for n in control.split()]
        predicate = None
        if text.strip().startswith("@"):
            predicate, text = text.strip()[1:].split(" ", 1)
        name, _, operands = text.strip().partition(" ")
        mnemonic, *modifiers = name.split(".")
        found.append(MachineInstruction(16 * at, mnemonic, tuple(modifiers), operands, predicate, Control(*numbers)))
    return Disassembly(tuple(found), {f".L_x_{name[1:]}": at for name, at in labels.items()})


def traced(program: Disassembly, threads: int = 32, blocks: int = 1, **constants: int) -> tuple[Trace, Grid]:
    grid = Grid((threads, 1, 1), [(n, 0, 0) for n in range(blocks)], {int(k[1:], 16): v for k, v in constants.items()})
    return Execution(program, grid).run(), grid


def clocks(program: Disassembly, threads: int = 32, blocks: int = 1, chip: str = "h200") -> Clocks:
    trace, grid = traced(program, threads, blocks)
    return Multiprocessor(program, trace, grid, UNSTARTED[chip], 1 << 17, 38.8, 38.8).run()


def test_all_warps_of_a_cluster_meet() -> None:
    """The last ones are those that have something to do before."""
    program = code("15: S2R R1, SR_CgaCtaId", "15: ISETP.NE.AND P0, PT, R1, RZ, PT", "15: @P0 BRA `(.L_x_0)",
                   *["15: NOP"] * 20, "1: UCGABAR_ARV", "1: UCGABAR_WAIT", "5: EXIT", L0=23)  # fmt: skip
    grid = Grid((64, 1, 1), [(0, 0, 0), (1, 0, 0)], {}, {}, (2, 1, 1))
    found = Multiprocessor(program, Execution(program, grid).run(), grid, UNSTARTED["h200"], 1 << 17, 38.8, 38.8).run()
    assert found.clocks == pytest.approx(MEETING + 23 * 15, abs=4) and found.lost["cluster"] > MEETING
    assert sum(found.issued.values()) == 2 * 6 + 20, "of each multiprocessor, on average: two warps, half of which do the NOPs"


# ---- what instructions compute -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("IADD3 R1, R2, -R3, RZ", {"R2": 5, "R3": 7}, {"R1": 2**32 - 2}),
        ("IADD3 R1, P0, R2, 0x1, RZ", {"R2": 2**32 - 1}, {"R1": 0, "P0": True}),
        ("IADD3.X R1, R2, -0x1, RZ, P1, !PT", {"R2": 9, "P1": True}, {"R1": 9}),
        ("IMAD.WIDE R2, R4, 0x4, R6", {"R4": 2**32 - 1, "R6": 8, "R7": 1}, {"R2": 4, "R3": 1}),
        ("IMAD.WIDE.U32 R2, R4, 0x4, RZ", {"R4": 2**32 - 1}, {"R2": 2**32 - 4, "R3": 3}),
        ("IMAD.HI.U32 R2, R4, R5, RZ", {"R4": 1 << 31, "R5": 6}, {"R2": 3}),
        ("IMAD.HI R2, R4, -0x6db6db6d, R6", {"R4": 100, "R6": 0, "R7": 100}, {"R2": 57}),
        ("IMAD.HI.U32 R2, R4, R5, R6", {"R4": 2**32 - 1, "R5": 1, "R6": 1, "R7": 7}, {"R2": 8}),
        ("IMAD.MOV R3, RZ, RZ, -R3", {"R3": 1}, {"R3": 2**32 - 1}),
        ("IMAD R1, R2, 0xffffffff, R3", {"R2": 2**32 - 1, "R3": 5}, {"R1": 6}),
        ("LEA R1, R2, R3, 0x4", {"R2": 3, "R3": 5}, {"R1": 53}),
        ("LEA.HI R1, R2, R3, RZ, 0x5", {"R2": 0xF0000000, "R3": 1}, {"R1": 31}),
        ("LEA.HI.SX32 R1, R2, R3, 0x1e", {"R2": 2**32 - 8, "R3": 3}, {"R1": 1}),
        ("LEA.HI.X R1, R2, R3, R4, 0x2, P0", {"R2": 1 << 31, "R3": 10, "R4": 1, "P0": True}, {"R1": 17}),
        ("LOP3.LUT R1, R2, 0xfffffff8, RZ, 0xc0, !PT", {"R2": 13}, {"R1": 8}),
        ("LOP3.LUT R1, R2, R3, RZ, 0x3c, !PT", {"R2": 6, "R3": 3}, {"R1": 5}),
        ("LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT", {"R2": 2}, {"P0": False}),
        ("SHF.R.S32.HI R1, RZ, 0x1f, R2", {"R2": 1 << 31}, {"R1": 2**32 - 1}),
        ("SHF.R.U32.HI R1, RZ, 0x3, R2", {"R2": 80}, {"R1": 10}),
        ("SHF.L.U32 R1, R2, 0x1f, RZ", {"R2": 3}, {"R1": 1 << 31}),
        ("SHF.L.U64.HI R1, R2, 0x2, R3", {"R2": 3 << 30, "R3": 1}, {"R1": 7}),
        ("ISETP.GE.U32.AND P0, PT, R2, 0x1000, PT", {"R2": 2**32 - 1}, {"P0": True}),
        ("ISETP.GE.AND P0, P1, R2, 0x1000, PT", {"R2": 2**32 - 1}, {"P0": False, "P1": True}),
        ("ISETP.LT.U32.AND.EX P0, PT, R2, RZ, PT, P1", {"R2": 0, "P1": True}, {"P0": True}),
        ("SEL R1, R2, RZ, !P0", {"R2": 4, "P0": True}, {"R1": 0}),
        ("IMNMX R1, R2, 0x5, PT", {"R2": 2**32 - 1}, {"R1": 2**32 - 1}),
        ("PRMT R1, R2, 0x9910, RZ", {"R2": 0x80FF}, {"R1": 0xFFFF80FF}),
        ("PRMT R1, R2, 0x7610, R3", {"R2": 0x1111, "R3": 0x22220000}, {"R1": 0x22221111}),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x8", {"P1": True, "P2": False}, {"P0": False}),
        ("CS2R R4, SRZ", {}, {"R4": 0, "R5": 0}),
        ("HFMA2.MMA R5, -RZ, RZ, 0, 5.9604644775390625e-08", {}, {"R5": 1}),
        ("VIADDMNMX R1, R2, 0x1d, 0x3, PT", {"R2": 2**32 - 30}, {"R1": 2**32 - 1}),
        ("VIADDMNMX R1, R2, 0x1, RZ, !PT", {"R2": 2**32 - 5}, {"R1": 0}),
        ("VIADDMNMX.U32 R1, R2, -R3, 0x3, PT", {"R2": 4, "R3": 5}, {"R1": 3}),
        ("P2R R1, PR, R2, 0x5", {"R2": 0x13, "P0": False, "P2": True}, {"R1": 0x16}),
        ("R2P PR, R2, 0x6", {"R2": 0x5}, {"P1": False, "P2": True}),
        ("FFMA R1, R2, R3, R1", {"R1": 7}, {"R1": 7}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("many", [False, True], ids=["one", "each"])
def test_an_instruction(text: str, before: dict[str, int], after: dict[str, int], many: bool) -> None:
    """The same where all threads have one value, and where each has its own."""
    def given(value: int) -> object:
        return np.array([value, value]) if many else value

    state = Registers({}, {"SRZ": 0})
    for name, value in before.items():
        (state.predicates if name[0] == "P" else state.registers)[name] = given(value)
    one = code(f": {text}").instructions[0]
    if one.mnemonic == "FFMA":
        assert one.mnemonic not in COMPUTES
        return
    got = COMPUTES[one.mnemonic](state, one)
    for name, value in after.items():
        assert np.all(np.asarray(got[name]) == value), (name, got)


@pytest.mark.parametrize("text", ["IMAD R1, R2, R3, R4", "IMAD.WIDE.U32 R1, R2, R3, R4"])
def test_a_product_of_numbers_is_added_to_those_of_threads(text: str) -> None:
    """Both wrap: the product takes all 64 bits."""
    state = Registers({}, {}, {"R2": 2**32 - 1, "R3": 2**32 - 1, "R4": np.array([0, 5]), "R5": 0})
    assert list(COMPUTES["IMAD"](state, code(f": {text}").instructions[0])["R1"]) == [1, 6]


@pytest.mark.parametrize(
    ("text", "place"),
    [("[R5]", 64), ("[R5+0x80]", 192), ("desc[UR4][R2.64+-0x8]", (1 << 40) - 4), ("[R5+UR6+0x4]", 78), ("[R5.X4+0x4]", 260)],
)
def test_an_address(text: str, place: int) -> None:
    state = Registers({}, {}, {"R5": 64, "R2": 4, "R3": 256, "UR6": 10, "UR4": 0})
    assert address(state, text) == place


def test_what_is_not_known_stays_so() -> None:
    program = code(": LDG.E R2, [R4.64]", ": IADD3 R3, R2, 0x1, RZ", ": ISETP.GE.AND P0, PT, R3, RZ, PT", ": @P0 EXIT", ": EXIT")
    with pytest.raises(WeftError, match="the branch at 0x30 depends on data"):
        traced(program)


def test_what_is_known_of_some_threads_serves_these() -> None:
    """Of threads below 16, R2 is loaded; of the others it is 8."""
    begin = (": S2R R0, SR_TID.X", ": ISETP.LT.AND P0, P1, R0, 0x10, PT", ": @P0 LDS R2, [RZ]", ": @P1 MOV R2, 0x8")
    trace, _ = traced(code(*begin, ": @P1 LDS R3, [R2]", ": EXIT"))
    assert not trace.unknown and np.all(trace.tracks[0].places[4] == 8)
    assert traced(code(*begin, ": IADD3 R4, R2, 0x1, RZ", ": LDS R3, [R4]", ": EXIT"))[0].unknown == {5}
    compared = ": ISETP.EQ.AND P2, PT, R2, 0x8, PT"
    with pytest.raises(WeftError, match="the branch at 0x50 depends on data"):
        traced(code(*begin, compared, ": @P2 EXIT", ": EXIT"))
    with pytest.raises(WeftError, match="the branch at 0x60 depends on data"):
        traced(code(*begin, compared, ": @P2 IADD3 R5, R0, 0x1, RZ", ": @P2 EXIT", ": EXIT"))
    trace, _ = traced(code(*begin, compared, ": @P1 MOV R2, 0x4", ": @P1 LDS R3, [R2]", ": @P2 LDS R3, [R0]", ": EXIT"))
    assert not trace.unknown and trace.tracks[0].active[7] is True  # which of them do is not known


@pytest.mark.parametrize(("first", "second"), [("0x28", [0, 1, 2, 3, 4, 5]), ("0x20", [0, 1, 2, 4, 5])])
def test_threads_part_and_meet_again(first: str, second: list[int]) -> None:
    """Threads from `first` on jump: some of the second warp, or all of it."""
    program = code(
        ": S2R R0, SR_TID.X", f": ISETP.GE.AND P0, PT, R0, {first}, PT", ": @P0 BRA `(.L_x_1)", ": IADD3 R1, R0, 0x1, RZ",
        ": STS [R0], R1", ": EXIT", _1=4,
    )  # fmt: skip
    trace, _ = traced(program, 64)
    assert [track.code for track in trace.tracks] == [[0, 1, 2, 3, 4, 5], second]


def test_a_branch_to_the_next_instruction_divides_no_threads() -> None:
    """The compiler leaves one in front of `@P0 EXIT`: those who take it are not behind the others for that, who go on."""
    start = ("1: S2R R0, SR_TID.X", "1: ISETP.NE.AND P0, PT, R0, 0x1, PT")
    trace, _ = traced(code(*start, "1: @P0 BRA.U `(.L_x_1)", "1: @P0 EXIT", "1: NOP", "1: EXIT", _1=3))
    assert [track.code for track in trace.tracks] == [[0, 1, 2, 3, 4, 5]]


def test_a_loop_is_executed_as_often_as_it_says() -> None:
    program = code(
        ": MOV R1, RZ", ": FFMA R8, R9, R10, R8", ": IADD3 R1, R1, 0x10, RZ", ": ISETP.GE.U32.AND P0, PT, R1, c[0x0][0x210], PT",
        ": @!P0 BRA `(.L_x_1)", ": EXIT", _1=1,
    )  # fmt: skip
    trace, _ = traced(program, x210=4096)
    assert trace.tracks[0].code.count(1) == 256


def test_control_words_are_read() -> None:
    text = """
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;      /* 0x00000a00ff017b82 */
                                                               /* 0x000fe20000000800 */
.L_x_1:
        /*0010*/             @!P0 S2R R8.reuse, SR_TID.X ;     /* 0x0000000000087919 */
                                                               /* 0x000e2e0000002100 */
"""
    program = parsed(text)["k"]
    assert program.labels == {".L_x_1": 1} and program.instructions[1].predicate == "!P0"
    assert [one.control for one in program.instructions] == [Control(1, 7, 7, 0, 0), Control(7, 0, 7, 0, 0)]


# ---- clocks --------------------------------------------------------------------------------------------------------------------


def test_stalls_add_up() -> None:
    assert clocks(code("4: MOV R1, R2", "7: MOV R1, R2", "1: EXIT")).clocks == 11


def test_one_scheduler_issues_one_instruction_a_clock() -> None:
    """Five warps: the first scheduler has two."""
    lines = ["1: NOP"] * 20
    assert clocks(code(*lines, "1: EXIT"), 32).clocks == 20 and clocks(code(*lines, "1: EXIT"), 160).clocks == 41


def test_a_pipe_is_taken_for_its_interval() -> None:
    line = "1: HMMA.16816.F32.BF16 R0, R4, R8, R0"
    h200, a100 = (interval(code(line).instructions[0], CHIPS[name]) for name in ("h200", "a100"))
    assert a100 == 8 and h200 == pytest.approx(4 / H200.tensor_share)
    assert clocks(code(*[line] * 101, "1: EXIT"), chip="a100").clocks == 801
    assert clocks(code(*[line] * 101, "1: EXIT")).clocks == pytest.approx(100 * h200, abs=2)
    assert flops(code(line).instructions[0]) == 2 * 16 * 8 * 16


@pytest.mark.parametrize(("chip", "type_", "teraflops"), [
    ("h200", "bf16", 1070), ("a100", "bf16", 312), ("a100", "tf32", 156), ("a100", "i8", 624), ("a100", "f64", 19.5),
    ("rtx3090", "bf16", 71), ("rtx4090", "f16", 165), ("rtx4090", "i8", 661),
])  # fmt: skip
def test_the_peaks_are_those_of_the_whitepapers(chip: str, type_: str, teraflops: float) -> None:
    assert CHIPS[chip].tensor_peak(type_) / 1e12 == pytest.approx(teraflops, rel=0.01)


@pytest.mark.parametrize(("chip", "teraflops"), [("h200", 66.9), ("a100", 19.5), ("rtx3090", 35.6), ("rtx4090", 82.6)])
def test_the_peaks_in_fp32(chip: str, teraflops: float) -> None:
    assert CHIPS[chip].peak / 1e12 == pytest.approx(teraflops, rel=0.01)


def test_register_banks() -> None:
    def conflicts(*lines: str) -> list[bool]:
        return bank_conflicts(code(*lines).instructions)

    assert conflicts(": FFMA R0, R2, R4, R6") == [True]
    assert conflicts(": FFMA R0, R2, R4, R7") == [False]
    assert conflicts("1 7 7 0 1: FFMA R0, R2, R3, R5", ": FFMA R0, R2, R4, R6") == [False, False]
    assert conflicts("1 7 7 0 2: FFMA R0, R3, R2, R5", ": FFMA R0, R2, R4, R6") == [False, True]
    lines = ["1: FFMA R0, R2, R4, R6"] * 50
    assert clocks(code(*lines, "1: EXIT")).clocks == 100


def test_a_scoreboard_is_waited_for() -> None:
    found = clocks(code("1: S2R R0, SR_TID.X", "1 0: LDS R1, [R0]", "1 7 7 1: FFMA R2, R1, R1, R2", "1: EXIT"))
    assert found.clocks == 1 + 2 + 1 + 26 + 1 and found.lost["shared"] == pytest.approx(found.clocks - 4, abs=1)


def test_wavefronts_take_the_pipe() -> None:
    """Lanes 128 bytes apart are in one bank: 32 wavefronts each."""
    def time(shift: str) -> float:
        lines = ["1: LDS R1, [R0]"] * 40
        return clocks(code("1: S2R R0, SR_TID.X", f"1: SHF.L.U32 R0, R0, {shift}, RZ", *lines, "1: EXIT")).busy["shared"]

    assert time("0x2") == 40 and time("0x3") == 80 and time("0x7") == 40 * 32


def test_a_shuffle_is_one_wavefront_and_waited_for() -> None:
    line = "1 0: SHFL.BFLY PT, R1, R1, 0x10, 0x1f"
    found = clocks(code(*[line, "1 7 7 1: FADD R1, R1, R1"] * 5, "1: EXIT"))
    assert found.busy["shared"] == 5 and found.clocks == 5 * (1 + 2 + 26 + 1) and found.lost["shared"] > 100


def test_a_loop_that_serves_one_value_after_the_other_ends() -> None:
    """As compilers make of an operand that has to be the same in a warp: 64 threads' numbers by 8 are 4 values in each of two."""
    trace, _ = traced(code(
        "1: S2R R0, SR_TID.X", "1: SHF.R.U32.HI R3, RZ, 0x3, R0", "1: ISETP.GE.AND P0, PT, R0, RZ, PT",
        "1: @P0 R2UR P2, UR10, R3", "1: @P0 R2UR.OR P2, UR8, R3", "1: @P0 PLOP3.LUT P0, PT, P2, PT, PT, 0x80, 0x0", "1: NOP",
        "1: @P0 BRA U.ANY `(.L_x_3)", "1: EXIT", _3=3,
    ), 64)  # fmt: skip
    assert [track.code.count(6) for track in trace.tracks] == [4, 4]


def test_one_thread_has_one_value() -> None:
    """Which is not known: a warp that takes it from one thread goes on; from several, nobody knows how often."""
    lines = ["1: LDG.E R3, [R0]", "1: @P0 R2UR P2, UR10, R3", "1: @P0 PLOP3.LUT P0, PT, P2, PT, PT, 0x80, 0x0",
             "1: @P0 BRA U.ANY `(.L_x_3)", "1: EXIT"]  # fmt: skip
    begin = "1: S2R R0, SR_TID.X"
    trace, _ = traced(code(begin, "1: ISETP.EQ.AND P0, PT, R0, 0x5, PT", *lines, _3=3))
    assert [track.code.count(3) for track in trace.tracks] == [1]
    with pytest.raises(WeftError, match=r"W0782.*depends on data"):
        traced(code(begin, "1: ISETP.GE.AND P0, PT, R0, 0x5, PT", *lines, _3=3))


def test_what_another_lane_has_is_not_known() -> None:
    """An address is not known then, and a branch is refused."""
    start = ["1: S2R R0, SR_TID.X", "1: SHFL.IDX P0, R1, R0, 0x1, 0x1f"]
    trace, _ = traced(code(*start, "1: LDS R2, [R0]", "1: LDS R2, [R1]", "1: EXIT"))
    assert trace.unknown == {3}
    with pytest.raises(WeftError, match=r"W0782.*depends on data"):
        traced(code(*start, "1: @P0 BRA `(.L_x_1)", "1: NOP", "1: EXIT", _1=4))


def test_a_barrier_waits_for_the_last_warp() -> None:
    found = clocks(code(
        "1: S2R R0, SR_TID.X", "1: ISETP.GE.AND P0, PT, R0, 0x20, PT", "1: @P0 BRA `(.L_x_1)", *["15: NOP"] * 10,
        "1: BAR.SYNC 0x0", "1: EXIT", _1=13,
    ), 64)  # fmt: skip
    assert found.clocks == 3 + 150 + RELEASE and found.lost["barrier"] > 100


def test_warps_meet_at_barriers_with_numbers() -> None:
    """Two warps at barrier 1 + their number / 2: those of the second pair, which come late, hold up no others."""
    late = ["15: NOP"] * 40

    def time(number: str) -> list[float]:
        program = code("1: S2R R0, SR_TID.X", "1: SHF.R.U32.HI R0, RZ, 0x6, R0", "1: ISETP.EQ.AND P0, PT, R0, RZ, PT",
                       "1: IADD3 R1, R0, 0x1, RZ", "1: @P0 BRA `(.L_x_0)", *late,
                       f"1: BAR.SYNC {number}", "1: EXIT", L0=45)  # fmt: skip
        lost = clocks(program, 128).lost
        return [lost["barrier"], lost["ended"]]

    together, apart = time("0x0"), time("R1, 0x40")
    assert together[0] > 500 and together[1] < 50, "the first two wait for the others"
    assert apart[0] < 50 and apart[1] > 500, "and end before them, where they meet by themselves"


def test_copies_are_waited_for_by_groups() -> None:
    def time(left: int) -> float:
        copy = "1: LDGSTS.E.BYPASS.128 [R0], desc[UR4][R2.64]"
        start = ["1: S2R R0, SR_TID.X", "1: IMAD.WIDE R2, R0, 0x10, RZ"]
        wait = f"1: DEPBAR.LE SB0, {left:#x}"
        return clocks(code(*start, copy, "1 0: LDGDEPBAR", *["15: NOP"] * 20, copy, "1 0: LDGDEPBAR", wait, "1: EXIT")).clocks

    assert 650 < time(1) < 700 and 950 < time(0) < 1010


def test_l1_keeps_what_was_read() -> None:
    line = "1 0: LDG.E R1, [R2.64]"
    start = ["1: S2R R0, SR_TID.X", "1: IMAD.WIDE R2, R0, 0x4, RZ"]
    found = clocks(code(*start, line, "1 7 7 1: NOP", line, "1 7 7 1: NOP", "1: EXIT"))
    assert found.moved["loaded"] == 128 and 650 < found.clocks < 750


def test_blocks_begin_one_after_the_other() -> None:
    assert clocks(code("1: NOP", "1: EXIT"), 32, 3).clocks == 2 * STAGGER + 1


@pytest.mark.parametrize(("stride", "wavefronts"), [(128, 32), (132, 8), (4, 1), (0, 1), (256, 32), (4096, 32), (1332, 8), (8, 2)])
def test_l1_has_the_banks_of_shared_memory(stride: int, wavefronts: int) -> None:
    """Of what it has: lanes that want different words of a bank wait for each other, and it finds four lines in a clock."""
    line = "1 0: LDG.E R1, [R2.64]"
    start = ["1: S2R R0, SR_TID.X", f"1: IMAD.WIDE R2, R0, {stride:#x}, RZ"]
    once, twice = (clocks(code(*start, *[line, "1 7 7 1: NOP"] * n, "1: EXIT")) for n in (1, 2))
    assert twice.busy["shared"] - once.busy["shared"] == wavefronts
    assert once.busy["shared"] == max(1, 32 * stride // 128 if stride < 128 else 32), "what it does not have comes line by line"
    assert twice.moved == once.moved


def test_a_launch_lasts_until_its_stores_are_out() -> None:
    """No warp waits for them: 100 times 512 bytes at 38.8 a clock."""
    start = ["1: S2R R0, SR_TID.X", "1: IMAD.WIDE R2, R0, 0x10, RZ"]
    found = clocks(code(*start, *["1: STG.E.128 [R2.64], R4"] * 100, "1: EXIT"))
    assert found.clocks == pytest.approx(100 * 512 / 38.8, rel=0.05) and found.lost["global"] > 0.5 * 4 * found.clocks * 0.5


@pytest.mark.parametrize(("length", "each"), [(1000, 1), (3000, 16 / H200.fetch)])
def test_a_loop_larger_than_its_cache_waits_for_instructions(length: int, each: float) -> None:
    """A warp alone; with a second one on its scheduler, the clocks are taken in turns."""
    end = ["10: IADD3 R1, R1, 0x1, RZ", "10: ISETP.GE.U32.AND P0, PT, R1, 0x4, PT", "10: @!P0 BRA `(.L_x_1)", "1: EXIT"]
    program = code("1: MOV R1, RZ", *["1: NOP"] * length, *end, _1=1)
    assert clocks(program).clocks == pytest.approx(4 * (length * each + 30), rel=0.02)
    assert clocks(program, 256).clocks == pytest.approx(4 * (length * max(each, 2) + 30), rel=0.15)


def test_a_block_begins_when_there_is_room_for_it() -> None:
    program = code("1: NOP", "1: EXIT")
    trace, grid = traced(program, 32, 2)
    chip = replace(H200, start=500)
    assert Multiprocessor(program, trace, grid, chip, 1 << 17, 38.8, 38.8).run().clocks == 500 + STAGGER + 1


def test_iterations_that_are_skipped_cost_what_they_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    body = ["1 0: LDS R4, [R0]", "4: FFMA R8, R9, R10, R8", "1 7 7 1: FFMA R8, R4, R10, R8", "2: BAR.SYNC 0x0"]
    program = code(
        "1: S2R R0, SR_TID.X", "1: MOV R1, RZ", *body, "4: IADD3 R1, R1, 0x1, RZ", "10: ISETP.GE.U32.AND P0, PT, R1, 0x190, PT",
        "5: @!P0 BRA `(.L_x_1)", "1: EXIT", _1=2,
    )  # fmt: skip
    fast = clocks(program, 256, 2)
    monkeypatch.setattr(repeats, "FEWEST", 10**9)
    slow = clocks(program, 256, 2)
    assert fast.clocks == pytest.approx(slow.clocks, rel=0.01)
    assert sum(fast.issued.values()) == pytest.approx(sum(slow.issued.values()), rel=0.01)
    for clocked in (fast, slow):
        assert sum(clocked.issued.values()) + sum(clocked.lost.values()) == pytest.approx(4 * clocked.clocks, rel=0.02)


def test_an_unknown_chip() -> None:
    with pytest.raises(WeftError, match="W0781"):
        chip_named("gtx1080")
    assert chip_named("RTX 4090") is CHIPS["rtx4090"] and NEVER > 0
