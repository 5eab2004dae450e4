"""Kernels that the proof must find race-free; and what to do about a diagnostic where a test expects none.

A diagnostic is right or wrong, and the simulator is the witness that does not depend on the proof.
"""

from __future__ import annotations

from collections.abc import Iterable

from executors import alone

from weft.dsl.diagnostics import Diagnostic, render_all
from weft.interpreter.proof.races.conflicts import Conflict
from weft.interpreter.proof.races.proof import Findings


def expect_proven(found: Findings) -> None:
    """The proof has no objection to the kernel."""
    __tracebackhide__ = True
    diagnostics = found.diagnostics()
    assert not diagnostics, f"the kernel is not proven race-free:\n{render_all(tuple(diagnostics))}\n{races(diagnostics)}"


def expect_refuted(found: Findings) -> None:
    """The proof objects to a kernel that is wrong on purpose."""
    __tracebackhide__ = True
    assert not found.clean, (
        "the kernel is wrong on purpose, and the proof has no objection: if the simulator reports a race, a fault or\n"
        "wrong numbers, mend the proof, `weft/interpreter/proof/`; if not, what the test changes makes nothing wrong any more"
        f"{alone()}"
    )


def expect_no_conflict(found: Iterable[Conflict]) -> None:
    """Barriers order all accesses."""
    __tracebackhide__ = True
    listed = list(found)
    shown = "\n".join(f"{c.kind} on `{c.buffer}`: {'; '.join(c.notes())}" for c in listed)
    assert not listed, f"the kernel is not proven race-free:\n{shown}\n{races(())}"


def expect_no_assumption(assumed: Iterable[str]) -> None:
    """What the kernels combine is proven: each iteration of the payload's reductions once."""
    __tracebackhide__ = True
    shown = "\n".join(assumed)
    assert not shown, (
        f"what the kernels combine is assumed, not proven:\n{shown}\n"
        "if an iteration is missing or comes twice, the comparison with the payload shows it (`weft build`): mend the\n"
        f"schedule or the statement; if not, mend `weft/interpreter/proof/coverage/`: `weft explain W0082`{alone()}"
    )


def races(diagnostics: Iterable[Diagnostic]) -> str:
    """What to do where the proof objects to a kernel."""
    codes = "".join(f"; `weft explain {code}`" for code in dict.fromkeys(d.code for d in diagnostics))
    return (
        "if the simulator reports the same (`SimKernel(…).launch(…).races`, `weft run … --target sim`), mend the kernel of\n"
        "the test, or what has made it; if not, mend the proof or its model of the kernel, `weft/interpreter/proof/`"
        f"{codes}{alone()}"
    )


def refusal(diagnostics: Iterable[Diagnostic]) -> str:
    """What to do where Weft refuses what a test expects to be accepted."""
    return "\n".join(
        f"{code} refuses what this test expects to be accepted: if it is right, mend the schedule or the payload of the test\n"
        f"as its hint states (`weft explain {code}`); if it is wrong, `git grep -n '\"{code}\"' weft` lists what raises it"
        for code in dict.fromkeys(d.code for d in diagnostics)
    ) + alone()
