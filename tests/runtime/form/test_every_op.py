"""Every op on every type, on numbers at the edges: the simulator, the CUDA text and the JIT against exact arithmetic.

The CUDA text runs behind g++, and NVRTC compiles it. Cases are in `catalogue.py` and `vector_cases.py`, what MLIR leaves open in
`meaning.UNDEFINED`. All of them in a soak (`WEFT_SOAK`), one of forty in a test run.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import pytest
from catalogue import Case, catalogue
from programs_of import FORMS, Program, program
from vector_cases import vector_cases, vector_program
from witnesses import Outcome, built, compiled_text, difference, jitted, refused, simulated, texts

from weft.runtime.cuda import dialects
from weft.runtime.cuda.kernel import WRITERS
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.form.kernel_lowering import LOWERED
from weft.runtime.simulator import ops
from weft.runtime.simulator.translate import HANDLERS

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")  # infinities and NaNs are meant
SOAK = "WEFT_SOAK" in os.environ
BATCHES = 20 if SOAK else 1
CASES = [*catalogue(), *vector_cases()]

ELSEWHERE = {
    "arith.constant": "every program of the forms `constant`, `folded`, `left` and `right`",
    "vector.load": "every program of the form `vector`", "vector.store": "every program of the form `vector`",
    "vector.transfer_read": "test_cuda_ops.py, test_simulated_values.py: they move elements",
    "vector.transfer_write": "the same", "vector.maskedload": "the same", "vector.maskedstore": "the same",
}  # fmt: skip
"""Ops that are not case of their own."""

BITS_REFUSED = {
    f"arith.{name}"
    for name in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui", "shli", "shrsi", "shrui")
} | {"math.ipowi"}
"""On i1: there is one divisor, 1, and one amount to shift by, 0."""

NOT_LINKED = ("arith.truncf(f64) -> f16", "math.fma(f16, f16, f16) -> f16")
NOT_LOWERED = ("arith.addui_extended(index, index) -> index, i1", "math.ipowi(index, index) -> index",
               "arith.truncf(f64) -> bf16", "math.fma(bf16, bf16, bf16) -> bf16")  # fmt: skip
"""What the reference refuses. The former matters where a payload looks at the bits of halves, and is not computed in f32."""

JIT_ULPS = {f"arith.{op}({source}) -> bf16": 1 for op in ("sitofp", "uitofp") for source in ("i32", "i64")}
"""LLVM goes by f32, and rounds twice."""


ENTRIES = [*((c, form, program) for c in catalogue() for form in FORMS),
           *((c, form, vector_program) for c in vector_cases() for form in ("run", "vector"))]  # fmt: skip
"""What there is: a case, a form, and what makes the program. Forms of ops on vectors: elements one by one, or vector accesses."""


def chosen(batch: int) -> list[Program]:
    """The programs of a batch: of all, every so-manieth; in a test run, one of forty."""
    every = range(len(ENTRIES))
    numbers = every[batch::BATCHES] if SOAK else sorted(random.Random(11).sample(every, len(every) // 40))
    made = (ENTRIES[n][2](ENTRIES[n][0], ENTRIES[n][1], n) for n in numbers)
    return [p for p in made if p is not None]


def expected(program: Program, known: Sequence[str], unknown: str, partly: str) -> str | None:
    """The code of the diagnostic that refuses the program; None if it runs."""
    if program.case.op not in known:
        return unknown
    return partly if program.case.op in BITS_REFUSED and program.case.operands[0] == "i1" else None


def judged(program: Program, outcome: Outcome, wanted: str | None, ulps: float | None = None) -> list[str]:
    folded = program.form == "folded" or program.case.op in LOWERED  # the op that is refused may be gone
    if isinstance(outcome, str) or (wanted is not None and not folded):
        return [] if outcome == wanted else [f"{program}: refused with {outcome}, not {wanted}"]
    wrong = difference(program, outcome, ulps)
    return [f"{program}: {wrong}"] if wrong else []


def disagreements(programs: list[Program]) -> list[str]:
    modules = [built(p) for p in programs]
    text, codes = texts(programs, modules)
    found: list[str] = []
    for made, module in zip(programs, modules, strict=True):
        wanted = expected(made, [*HANDLERS, *LOWERED], "W0750", "W0750")
        found += [f"simulator, {d}" for d in judged(made, simulated(module, made), wanted)]
        outcome = codes.get(made.name) or compiled_text(text, made)
        found += [f"text, {d}" for d in judged(made, outcome, expected(made, [*WRITERS, *LOWERED], "W0501", "W0502"))]
    plain = [p for p in programs if p.form == "run" and not beyond_the_jit(p.case)]
    for name, outcome in jitted(plain).items():
        made = next(p for p in plain if p.name == name)
        found += [f"jit, {d}" for d in judged(made, outcome, None, JIT_ULPS.get(str(made.case)))]
    return found + ([] if refused(lambda: compile_cubin(text, ARCHITECTURES[-1])) is None else ["NVRTC refuses the text"])


def beyond_the_jit(case: Case) -> bool:
    """What the reference refuses; and sums and products of a vector of halves, which LLVM keeps in f32 till the end."""
    halves = case.operands[0] in ("f16", "bf16") and case.form.split(" ")[0] in ("add", "mul")
    return str(case) in (*NOT_LINKED, *NOT_LOWERED) or (halves and "reduction" in case.op)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_all_agree(batch: int) -> None:
    assert disagreements(chosen(batch)) == []


def test_every_op_is_a_case() -> None:
    """Whoever teaches the emitter or the simulator an op of these dialects teaches the generator, too."""
    assert ops.__all__ and dialects.__all__  # the handlers are registered
    known = {name for name in {*WRITERS, *HANDLERS, *LOWERED} if name.startswith(("arith.", "math.", "vector."))}
    assert known == {case.op for case in CASES} | ELSEWHERE.keys()


def test_what_the_reference_refuses_it_still_refuses() -> None:
    for case in CASES:
        if str(case) in (*NOT_LINKED, *NOT_LOWERED):
            made = program(case, "run", 0)
            assert made is not None
            outcome = jitted([made])["k0"]
            if str(case) in NOT_LINKED and not isinstance(outcome, str):  # some processors have instructions for halves
                assert judged(made, outcome, None) == []
            else:
                assert outcome == ("W0801" if str(case) in NOT_LINKED else "W0800")


def test_a_wrong_result_is_found() -> None:
    case = next(c for c in CASES if c.op == "arith.subi" and c.operands[0] == "i8")
    made = program(Case(case.op, case.operands, case.results, case.spell, lambda a, b: (b - a,)), "run", 0)
    assert made is not None and any("simulator" in d for d in disagreements([made]))
