"""What is remembered of a kernel belongs to its model: of its own context, with its own budget, and gone with it."""

from __future__ import annotations

import gc
import weakref

import islpy as isl
import pytest
from contexts import one_context
from hopper import Product

from weft.interpreter.ir import mlir
from weft.interpreter.proof.kernels.kernels import kernel_uses, model_of
from weft.interpreter.proof.kernels.model import KernelModel
from weft.interpreter.proof.signals.instances import Answers
from weft.interpreter.proof.signals.judgement import SignalTrials, judge_signals
from weft.interpreter.proof.solver import BUDGET, Solver, Unknown

MODULE = mlir.parse(Product(k=1024).ring(), one_context())


def model() -> KernelModel:
    return model_of(kernel_uses(MODULE)[0])


def relation(solver: Solver, text: str) -> isl.Map:
    return isl.Map.read_from_str(solver.context, text)


def test_what_is_asked_again_costs_nothing_and_what_differs_is_asked() -> None:
    solver, answers = Solver(), Answers()
    far, near = (relation(solver, f"{{ [i] -> [i + {n}] : 0 <= i < 64 }}") for n in (4, 3))
    far_again = relation(solver, "{ [i] -> [i + 4] : 0 <= i < 64 }")
    first = answers.of(isl.Map.apply_range, far, near, ask=solver.ask)
    left = solver.left
    assert left < BUDGET
    assert answers.of(isl.Map.apply_range, far_again, near, ask=solver.ask) is first
    assert solver.left == left
    other = answers.of(isl.Map.apply_range, near, near, ask=solver.ask)
    assert solver.left < left and not other.is_equal(first)
    assert answers.of(isl.Map.subtract, far, near, ask=solver.ask).is_equal(far)


def test_what_has_no_answer_is_asked_again() -> None:
    answers, solver = Answers(), Solver()
    one, broke = relation(solver, "{ [i] -> [i] : 0 <= i < 9 }"), Solver(budget=1)
    with pytest.raises(Unknown):
        answers.of(isl.Map.is_empty, one, ask=broke.ask)
    assert answers.of(isl.Map.is_empty, one, ask=solver.ask) is False


def test_what_is_remembered_belongs_to_one_model_and_goes_with_it() -> None:
    trials = [SignalTrials(model()) for _ in range(2)]
    mine, its = (each.judge(each.model.barriers) for each in trials)
    again = trials[0].judge([])
    assert again.instances.answers is mine.instances.answers is not its.instances.answers
    assert again.instances.solver.context is mine.instances.solver.context is not its.instances.solver.context
    gone = weakref.ref(mine.instances.answers)
    del trials, mine, again
    gc.collect()
    assert gone() is None


def test_each_judgement_has_the_whole_budget() -> None:
    trials = SignalTrials(model())
    trials.judge(trials.model.barriers).instances.solver.left = 0
    assert trials.judge(trials.model.barriers).instances.solver.left > BUDGET // 2


def test_what_other_barriers_order_says_nothing_of_these() -> None:
    """With all barriers, with none, and with all again: as if nothing had been asked before."""
    one = model()
    trials = SignalTrials(one)
    choices = [list(one.barriers), [], list(one.barriers), *([b for b in one.barriers if b is not left] for left in one.barriers)]
    verdicts = []
    for barriers in choices:
        found, fresh = judge_signals(one, barriers, trials), judge_signals(one, barriers)
        assert [f.message for f in found.faults] == [f.message for f in fresh.faults]
        assert [(c.kind, c.first_op, c.second_op) for c in found.conflicts] == [
            (c.kind, c.first_op, c.second_op) for c in fresh.conflicts
        ]
        verdicts.append(found.clean)
    assert verdicts[:3] == [True, False, True]
