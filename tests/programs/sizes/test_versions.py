"""`versions { … } else { … }`: one plan of several schedules; a run takes the first whose assumptions hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from executors import expect_clean, expect_equal
from test_assumed_sizes import FOURS, PRODUCT, SMALL, WHOLE, called_recipe, made, schedule, simulated, wide
from thinning import SOAK

import weft
from weft.dsl.diagnostics import Source, WeftError
from weft.interpreter.ir.mlir import context, parse
from weft.pipeline import Planned, applied, planned
from weft.repl.workbench import total
from weft.runtime.host.host import make_plan
from weft.runtime.plan.codec import dump, load
from weft.runtime.plan.plan import DimOf, Launch, triple
from weft.runtime.plan.resolve import resolve
from weft.runtime.run.runner import run_plan
from weft.runtime.simulator.device import SimDevice
from weft.verify import verify_source

ALL = (WHOLE, FOURS, ())


def versions(*assumed: tuple[str, ...]) -> str:
    blocks = ("".join(f"    assume {one} == 0\n" for one in block) + f"    simt({SMALL})\n" for block in assumed)
    inside = "  } else {\n".join(blocks)
    return f"{called_recipe('simt')}\nschedule several() {{\n  let gemm = match linalg.matmul\n  versions {{\n{inside}  }}\n}}\n"


@cache
def several(*assumed: tuple[str, ...]) -> Planned:
    return planned(applied(weft.load(versions(*assumed), payload=PRODUCT)))


def kernels(text: str) -> list[str]:
    """Those for all sizes."""
    return [part.split("(\n", 1)[1].strip() for part in wide(text).split('extern "C"')[1:]]


def test_each_version_is_the_schedule_by_itself() -> None:
    assert kernels(several(*ALL).cuda) == [kernels(made("simt", assumed).cuda)[0] for assumed in ALL]
    assert [step.in_version for step in several(*ALL).plan.steps] == [0, 1, 2]


@pytest.mark.parametrize(
    ("sizes", "number"),
    [((64, 16, 32), 0), ((33, 16, 32), 1), ((64, 12, 32), 1), ((64, 16, 33), 2), ((5, 7, 9), 2), ((0, 0, 0), 0)],
)
def test_a_run_takes_the_first_version_whose_assumptions_hold(sizes: tuple[int, int, int], number: int) -> None:
    one = several(*ALL)
    m, k, n = sizes
    plan = load(dump(one.plan))  # that of a bundle
    assert plan == one.plan
    fixed = resolve(plan, {"A": (m, k), "B": (k, n)}, {})
    assert fixed.taken == number and [step.in_version for step in fixed.steps] == [number]
    done, expected = simulated(one, m, k, n)
    assert done.version == number and [run.name for run in done.kernels] == [f"{plan.launches[number].kernel}_32"]
    assert np.allclose(done.outputs["result0"], expected, atol=1e-3) and not done.races and not done.faults


def test_the_report_says_which_one_ran() -> None:
    report = weft.run(versions(*ALL), payload=PRODUCT, target="sim", sizes={"A.0": 5, "A.1": 8, "B.1": 12})
    assert report.ok and report.version is not None
    assert (report.version.number, report.version.count) == (2, 3)
    assert set(report.version.assumed) == {"A.1 % 4 == 0", "B.0 % 4 == 0", "B.1 % 4 == 0"}
    assert report.to_json()["version"]["number"] == 2
    kernel = weft.compile(versions(*ALL), PRODUCT, target="cpu")
    for (m, k, n), number in (((32, 8, 64), 1), ((3, 4, 8), 2), ((3, 5, 7), 3)):
        a, b = np.random.rand(m, k).astype("f4"), np.random.rand(k, n).astype("f4")
        assert kernel.version(a, b) == number and np.allclose(kernel(a, b), a @ b, rtol=1e-4)
    assert [len(assumed) for assumed in kernel.report["assumed"]] == [4, 3, 0]
    assert weft.compile("naive", PRODUCT, target="cpu").version(a, b) is None


def test_sizes_for_which_there_is_no_version_are_refused() -> None:
    one = several(WHOLE, FOURS)
    with pytest.raises(WeftError, match="W0739: axis 1 of `A` has 7 elements"):
        resolve(one.plan, {"A": (5, 7), "B": (7, 8)}, {})


def scheduled(text: str, m: str, k: str, n: str) -> Planned:
    """The schedule for a payload that says some of the sizes."""
    text = "payload matmul(m = 1, n = 1, k = 1)\n" + text
    return planned(applied(weft.load(text, settings={"m": m, "k": k, "n": n})))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("sizes", "left"),
    [
        (("?", "?", "?"), (0, 1, 2)),
        (("64", "16", "32"), (0,)),
        (("64", "20", "32"), (1,)),
        (("64", "17", "32"), (2,)),
        (("?", "20", "?"), (1, 2)),
        (("?", "17", "?"), (2,)),
        (("?", "16", "32"), (0, 1)),  # the second one assumes nothing of rows
    ],
)
def test_sizes_that_the_payload_says_choose_among_the_versions(sizes: tuple[str, str, str], left: Sequence[int]) -> None:
    one = scheduled(versions(*ALL), *sizes)
    assert kernels(one.cuda) == [kernels(scheduled(schedule("simt", ALL[number]), *sizes).cuda)[0] for number in left]
    assert len(one.plan.versions) == (len(left) if len(left) > 1 else 0)
    remarks = "\n".join(remark for step in one.applied.session.steps for remark in step.remarks)
    assert remarks.count("this version is left out") == left[0]
    assert ("later ones are left out" in remarks) == (left[-1] < 2)


def test_a_payload_that_no_version_is_for() -> None:
    with pytest.raises(WeftError, match=r"W0461: `A\.1` is 17, which is no multiple of 4"):
        scheduled(versions(WHOLE, FOURS), "?", "17", "?")
    one = scheduled(versions(WHOLE, FOURS, ("A.1 % 16",)), "?", "20", "?")
    assert len(one.applied.session.steps[-1].remarks) == 1 and not one.plan.versions
    with pytest.raises(WeftError, match="W0739: axis 1 of `B` has 5 elements"):
        resolve(one.plan, {"A": (5, 20), "B": (20, 5), "C": (5, 5)}, {})


def test_a_version_may_assume_a_largest_size_alone() -> None:
    text = versions(("A.1 % 4",), ()).replace("assume A.1 % 4 == 0", "assume A.1 <= 64")
    one = planned(applied(weft.load(text, payload=PRODUCT)))
    assert [resolve(one.plan, {"A": (5, k), "B": (k, 5)}, {}).taken for k in (64, 65)] == [0, 1]


CALLED = """
func.func private @inner(%p: memref<?xf32>, %q: memref<?xf32>) {
  linalg.negf ins(%p : memref<?xf32>) outs(%q : memref<?xf32>)
  return
}
func.func @outer(%x: memref<SIZExf32>, %y: memref<SIZExf32>) {
  %p = memref.cast %x : memref<SIZExf32> to memref<?xf32>
  %q = memref.cast %y : memref<SIZExf32> to memref<?xf32>
  func.call @inner(%p, %q) : (memref<?xf32>, memref<?xf32>) -> ()
  return
}
"""
NEGATED = """schedule negated(op: handle) {
  map op to grid(x: 64) cyclic
  launch op
}
schedule s() {
  let op = match linalg.negf
  versions {
    assume p.0 % 8 == 0
    negated(op)
  } else {
    negated(op)
  }
}
"""


@pytest.mark.parametrize(("size", "number"), [(48, 1), (50, 2)])
def test_a_size_that_a_call_says_chooses_among_the_versions(size: int, number: int) -> None:
    program = CALLED.replace("SIZE", str(size))
    kernel = weft.compile(NEGATED, program, target="cpu", entry="outer")
    x, y = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
    assert kernel.version(x, y) == number
    kernel(x, y)
    assert np.array_equal(y, -x)
    text = weft.apply(NEGATED, payload=program).text
    assert load(dump(one := make_plan(parse(text, context()), "outer"))) == one
    assert verify_source(Source("module.mlir", text)).ok


def test_the_version_that_launches_nothing_is_named() -> None:
    for number, left in enumerate(["  assume x.0 % 8 == 0\n    assume x.1 % 8 == 0\n    STEPS", "else {\n    STEPS"], 1):
        done = weft.apply(STEPS.replace(left.replace("STEPS", "step(a)\n    step(b)"), left.replace("STEPS", "")), payload=CHAIN)
        with pytest.raises(WeftError, match="W0733") as caught:
            planned(done)
        assert caught.value.diagnostics[0].notes == (f"in version {number} of @chain",)


def test_the_module_of_all_versions_is_judged_as_one() -> None:
    verdict = verify_source(Source("module.mlir", several(*ALL).applied.text))
    assert verdict.ok and len(verdict.kernels) == 3


CHAIN = """
func.func @chain(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %p = linalg.exp ins(%x : tensor<?x?xf32>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.negf ins(%p : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
}
"""
STEPS = """schedule step(op: handle) {
  let (t, i) = tile op [8, 8]
  map t to blocks(y, x)
  let (l, o) = tile i [1, 1]
  map l to threads(y: 8, x: 8)
  launch t
}
schedule chained() {
  let a = match linalg.exp
  let b = match linalg.negf
  versions {
    assume x.0 % 8 == 0
    assume x.1 % 8 == 0
    step(a)
    step(b)
  } else {
    step(a)
    step(b)
  }
}
"""


def test_versions_have_temporaries_of_their_own() -> None:
    one = planned(weft.apply(STEPS, payload=CHAIN))
    temporaries = [buffer.name for buffer in one.plan.buffers if buffer.role == "temp"]
    assert len(set(temporaries)) == 2
    fixed = resolve(one.plan, dict.fromkeys("xyz", (8, 16)), {})
    assert [buffer.name for buffer in fixed.buffers if buffer.role == "temp"] == temporaries[:1]
    kernel = weft.compile(STEPS, CHAIN, target="cpu")
    for shape, number in (((8, 16), 1), ((9, 16), 2), ((0, 8), 1)):
        x = np.random.default_rng(0).standard_normal(shape, np.float32)
        assert kernel.version(x, x, x) == number and np.allclose(kernel(x, x.copy(), x.copy()), -np.exp(x), rtol=1e-5)


def test_a_session_goes_back_into_a_version() -> None:
    session = weft.apply(STEPS, payload=CHAIN).session
    whole, steps = session.ir, len(session.steps)
    for number in (5, steps - 3):
        session.goto(number)
        assert total(session) == str(steps)
    session.run()
    assert session.ir == whole and len(session.steps) == steps


BEHIND = """schedule chained() {
  let exps = match* linalg.exp
  let b = match linalg.negf
  versions {
    assume x.1 % 8 == 0
  } else {}
  foreach a in exps {
    first(a)
  }
  if 1 < 2 {
    first(b)
  }
}
"""
FIRST = STEPS.split("schedule chained")[0].replace("step(", "first(")


def test_what_stands_behind_is_done_in_each_version() -> None:
    one = planned(weft.apply(FIRST + BEHIND, payload=CHAIN))
    assert [step.in_version for step in one.plan.steps if isinstance(step, Launch)] == [0, 0, 1, 1]
    steps = one.applied.session.steps
    assert len(steps) == 2 + 1 + 10 + 10
    assert steps[13].remarks[0] == "version 2, from the state before `versions`"
    assert not any("version" in remark for step in (*steps[:13], *steps[14:]) for remark in step.remarks)
    inside = FIRST.replace("  let (t, i)", "  versions {\n    assume x.1 % 8 == 0\n  } else {}\n  let (t, i)", 1)
    both = BEHIND.replace("  versions {\n    assume x.1 % 8 == 0\n  } else {}\n", "")
    called = planned(weft.apply(inside + both, payload=CHAIN))
    assert kernels(called.cuda)[:2] == kernels(one.cuda)[:2], "the second call assumes nothing new there"
    for columns, number in ((16, 0), (17, 1)):
        x = np.random.default_rng(0).standard_normal((9, columns), np.float32)
        given = {"x": x, "y": x.copy(), "z": x.copy()}
        done = run_plan(one.plan, SimDevice(), given, text=one.applied.located_text)
        assert done.version == number and np.allclose(done.outputs["result0"], -np.exp(x), rtol=1e-5) and not done.races


NAMED = """schedule chained() {
  let exp = match linalg.exp
  let neg = match linalg.negf
  versions {
    assume x.1 % 8 == 0
    let wide = 8
    let alone = 1
  } else {
    let wide = 4
  }
  foreach op in [exp, neg] {
    let (tiles, one) = tile op [wide, 2 * wide]
    let (lanes, each) = tile one [1, 1]
    map tiles to blocks(y, x)
    map lanes to threads(y: wide, x: 2 * wide)
    launch tiles
  }
}
"""


def test_a_value_that_every_block_names_is_known_behind() -> None:
    one = planned(weft.apply(NAMED, payload=CHAIN))
    blocks = [step.block for step in one.plan.steps if isinstance(step, Launch)]
    assert [triple(block) for block in blocks] == [(16, 8, 1)] * 2 + [(8, 4, 1)] * 2
    session = one.applied.session
    whole, steps = session.ir, len(session.steps)
    for number in range(1, steps, 1 if SOAK else 4):
        session.goto(number)
        session.run()
        assert session.ir == whole and len(session.steps) == steps, number
    static = weft.apply(NAMED, payload=CHAIN.replace("?x?", "16x12")).session
    assert [step.remarks for step in static.steps if step.keyword == "let"] == [("wide = 4",)]


@pytest.mark.parametrize(
    ("there", "instead", "said"),
    [
        ("  foreach", "  let y = alone\n  foreach", "W0229: `alone` is not visible here"),
        ("  foreach", "  let wide = 3\n  foreach", "W0206: `wide` names a value already"),
        ("let wide = 4", "let wide = match linalg.exp", "W0229: `wide` is not visible here"),
        ("let wide = 4", 'let wide = "4"', "W0232"),
        ("let alone = 1", "let exp = 1", "W0206: `exp` still names the handle of line 2"),
    ],
)
def test_what_is_no_value_in_every_block_is_not_known_behind(there: str, instead: str, said: str) -> None:
    with pytest.raises(WeftError, match=re.escape(said)):
        weft.apply(NAMED.replace(there, instead, 1), payload=CHAIN)


def test_a_kernel_in_front_of_versions_is_there_once() -> None:
    before = BEHIND.replace("match* linalg.exp", "match* linalg.add")
    before = before.replace("  versions", "  let one = match linalg.exp\n  first(one)\n  versions", 1)
    one = planned(weft.apply(FIRST + before, payload=CHAIN))
    assert [step.kernel for step in one.plan.steps if isinstance(step, Launch)] == ["chain", "chain_1", "chain", "chain_v2"]
    x = np.random.default_rng(0).standard_normal((9, 16), np.float32)
    done = run_plan(one.plan, SimDevice(), {"x": x, "y": x.copy(), "z": x.copy()}, text=one.applied.located_text)
    expect_clean("the simulator", done)
    expect_equal("the simulator", "result0", done.outputs["result0"], -np.exp(x), rtol=1e-5, atol=1e-8)


def test_each_pair_of_two_versions() -> None:
    """But those for which there are no sizes left."""
    two = BEHIND.replace("  if 1 < 2 {", "  versions {\n    assume x.0 % 8 == 0\n  } else {}\n  if 1 < 2 {")
    one = planned(weft.apply(FIRST + two, payload=CHAIN))
    sizes = [{(a.size.axis, a.multiple) for a in assumed if isinstance(a.size, DimOf)} for assumed in one.plan.versions]
    assert sizes == [{(0, 8), (1, 8)}, {(1, 8)}, {(0, 8)}, set()]
    for shape, number in (((8, 8), 0), ((9, 8), 1), ((8, 9), 2), ((9, 9), 3)):
        assert resolve(one.plan, dict.fromkeys("xyz", shape), {}).taken == number
    weaker = two.replace("x.0 % 8", "x.1 % 4")
    one = planned(weft.apply(FIRST + weaker, payload=CHAIN))
    assert [resolve(one.plan, dict.fromkeys("xyz", (9, n)), {}).taken for n in (8, 4, 2)] == [0, 1, 2]
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    assert "all assumptions of this version hold already: later ones are left out" in remarks
    stronger = BEHIND.replace("x.1 % 8", "x.1 % 4").replace("else {}", "else {\n    assume x.1 % 8 == 0\n  } else {}")
    one = planned(weft.apply(FIRST + stronger, payload=CHAIN))
    assert len(one.plan.versions) == 2
    remarks = [remark for step in one.applied.session.steps for remark in step.remarks]
    assert "an earlier version covers all such sizes: this one is left out" in remarks


def test_too_many_versions() -> None:
    five = "".join(f"  versions {{\n    assume x.1 % {n} == 0\n  }} else {{}}\n" for n in (2, 3, 5, 7, 11))
    with pytest.raises(WeftError, match="W0466: the schedule would have more than 16 versions"):
        weft.apply(BEHIND.replace("  versions", f"{five}  versions").join((FIRST, "")), payload=CHAIN)


def test_a_size_that_the_host_cannot_check_leaves_a_version_out() -> None:
    part = "%h = tensor.extract_slice %x[0, 0] [%n, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>\n"
    computed = CHAIN.replace("%p = ", f"{part}%p = ").replace("(%x:", "(%n: index, %x:").replace("ins(%x", "ins(%h")
    text = FIRST + BEHIND.replace("x.1 % 8", "a.in0.1 % 8").replace("exps = match*", "a = match")
    text = text.replace("foreach a in exps", "if true")
    done = weft.apply(text, payload=computed)
    assert not planned(done).plan.versions
    remarks = [remark for step in done.session.steps for remark in step.remarks]
    assert "`a.in0.1` is the size of no argument, so that the host cannot check it: this version is left out" in remarks
    with pytest.raises(WeftError, match="W0462"):
        weft.apply(text.replace(" else {}", "").replace("versions {", "if true {"), payload=computed)


def test_how_many_steps_are_left() -> None:
    """Those that the versions to come do again are counted once it is known that they come."""
    session = weft.apply(FIRST + BEHIND, payload=CHAIN).session
    steps = len(session.steps)
    expected = ["7+", "12+", "12+", *(str(steps),) * (steps - 2)]
    for number, left in enumerate(expected):
        session.goto(number)
        assert total(session) == left, number
    static = weft.apply(FIRST + BEHIND, payload=CHAIN.replace("?x?", "16x16")).session
    static.goto(4)
    assert total(static) == "13"


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (STEPS.replace("assume x.0 % 8 == 0\n", "").replace("assume x.1 % 8 == 0\n", ""), "W0463: version 1 assumes nothing"),
        (STEPS.replace("\n  }\n}\n", "\n  }\n  print a\n}\n"), "W0223: `a` was consumed"),
        (STEPS.replace("    step(b)\n  } else", "  } else")[:-2] + "  print b\n}\n", "W0227: `b` may be gone"),
        (STEPS.replace("    step(b)\n  }\n}", "    step(b)\n    print a\n  }\n}"), "W0223: `a` was consumed"),
    ],
)
def test_refused(schedule: str, said: str) -> None:
    with pytest.raises(WeftError, match=re.escape(said)):
        weft.apply(schedule, payload=CHAIN)


def test_what_versions_share_stays_the_same() -> None:
    program = CHAIN + 'memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>\n'
    kind = "(!transform.any_op) -> !transform.any_op"
    change = f'transform {{ %g = transform.structured.match ops{{["memref.global"]}} in %root : {kind}\n'
    change += '    transform.annotate %g "mine" : !transform.any_op }\n'
    with pytest.raises(WeftError, match="W0464: @table is part of the payload, and differs between versions"):
        weft.apply(STEPS.replace("  } else {\n", "  } else {\n    " + change), payload=program)
