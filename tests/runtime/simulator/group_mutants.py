"""Rings of warp groups with one mistake each, as edits of what `tests/hopper.py` writes, and what the simulator says of it."""

from __future__ import annotations

from dataclasses import dataclass

from group_kernels import FENCE
from hopper import Product

RING = Product(m=128, n=64, k=448, bn=64, stages=3)
"""Seven iterations, of three stages."""
AWAIT_EMPTY = "nvgpu.mbarrier.try_wait.parity %empty[%s], %other, %ticks : !bars"
AWAIT_FULL = "nvgpu.mbarrier.try_wait.parity %full[%s], %phase, %ticks : !bars"
EXPECT = "nvgpu.mbarrier.arrive.expect_tx %full[%to], %bytes : !bars"
RELEASE = """scf.if %speaks {
            %token = nvgpu.mbarrier.arrive %empty[%s] : !bars -> !nvgpu.mbarrier.token
          }"""
MULTIPLY = "%next = nvgpu.warpgroup.mma %dA, %dB, %acc {transposeB, waitGroup = 0 : i64} : !descA, !descB, !acc -> !acc"
INIT_EMPTY = "nvgpu.mbarrier.init %empty[%i], %consumers : !bars"
INIT_FENCE = "nvvm.fence.mbarrier.init"


@dataclass(frozen=True)
class RingMutant:
    """Edits of a product's ring, and what is found then: kinds of races and faults, at least one of which must be there in each
    order; none where the numbers alone are wrong."""

    edits: tuple[tuple[str, str], ...]
    found: frozenset[str]
    product: Product = RING

    def text(self) -> str:
        module = self.product.ring()
        for wrong, right in self.edits:
            assert module.count(wrong) == 1, wrong
            module = module.replace(wrong, right)
        return module


def _mutant(wrong: str, right: str, *found: str, then: tuple[str, str] | None = None) -> RingMutant:
    return RingMutant(((wrong, right), *([] if then is None else [then])), frozenset(found))


_ONE_ALONE = "%alone = arith.cmpi eq, %mine, %c0 : index\n scf.if %alone {{ {} }}"
_LATER = "%skip = arith.cmpi ne, %k, %c1 : index\n %now = arith.andi %skip, %speaks : i1\n " + RELEASE.replace("%speaks", "%now")

MUTANTS = {
    "no empty wait": _mutant(AWAIT_EMPTY, "", "in-flight", "WAR", "mbarrier misuse"),
    "no full wait": _mutant(AWAIT_FULL, "", "in-flight", "uninitialized read"),
    "no full wait of one consumer": _mutant(AWAIT_FULL, _ONE_ALONE.format(AWAIT_FULL), "in-flight", "uninitialized read"),
    "no full wait of some threads": _mutant(
        AWAIT_FULL, f"%some = arith.cmpi ult, %elected, %c32 : index\n scf.if %some {{ {AWAIT_FULL} }}", "in-flight"
    ),
    "release before the product": _mutant(
        RELEASE, "", "in-flight", "WAR", then=(MULTIPLY, f"{RELEASE}\n{MULTIPLY}")
    ),
    "release missing": _mutant(RELEASE, "", "deadlock"),
    "release missing once": _mutant(RELEASE, _LATER, "deadlock"),
    "release by all threads": _mutant(
        RELEASE, "%token = nvgpu.mbarrier.arrive %empty[%s] : !bars -> !nvgpu.mbarrier.token", "in-flight", "WAR", "deadlock"
    ),
    "too few bytes": _mutant("%bytes = arith.constant 24576", "%bytes = arith.constant 16384", "in-flight", "mbarrier misuse"),
    "too many bytes": _mutant("%bytes = arith.constant 24576", "%bytes = arith.constant 24592", "deadlock"),
    "no bytes expected": _mutant(
        EXPECT, "%told = nvgpu.mbarrier.arrive %full[%to] : !bars -> !nvgpu.mbarrier.token", "in-flight", "mbarrier misuse"
    ),
    "bytes on another stage": _mutant(
        "nvgpu.tma.async.load %mB[%x1, %kk], %full[%to] to %p1",
        "%to1 = arith.addi %to, %c1 : index\n %to2 = arith.remui %to1, %S : index\n"
        "nvgpu.tma.async.load %mB[%x1, %kk], %full[%to2] to %p1", "in-flight", "deadlock",
    ),
    "bytes on the empty barrier": _mutant(
        "nvgpu.tma.async.load %mB[%x1, %kk], %full[%to] to %p1", "nvgpu.tma.async.load %mB[%x1, %kk], %empty[%to] to %p1",
        "deadlock",
    ),
    "parity of full": _mutant(AWAIT_FULL, f"%n = arith.constant true\n%odder = arith.xori %phase, %n : i1\n{AWAIT_FULL}"
                              .replace("%full[%s], %phase", "%full[%s], %odder"), "in-flight", "uninitialized read", "deadlock"),
    "parity of empty": _mutant("%empty[%s], %other", "%empty[%s], %phase", "deadlock"),
    "parity that stays": _mutant(AWAIT_FULL, f"%never = arith.constant false\n{AWAIT_FULL}".replace("%phase", "%never"),
                                 "in-flight", "uninitialized read", "deadlock"),
    "a stage off": _mutant("%b = memref.subview %sB[%s, 0,", "%b = memref.subview %sB[%bx, 0,", "in-flight"),
    "one arrival too few": _mutant(INIT_EMPTY, INIT_EMPTY.replace("%consumers", "%c1"), "in-flight", "WAR", "deadlock"),
    "one arrival too many": _mutant(INIT_EMPTY, INIT_EMPTY.replace("%consumers", "%c4"), "deadlock"),
    "no fence behind the initialization": _mutant(INIT_FENCE, "", "mbarrier misuse"),
    "no barrier behind the initialization": _mutant("gpu.barrier", "", "mbarrier misuse"),
    "empty is not initialized": _mutant(INIT_EMPTY, "", "mbarrier misuse"),
    "all threads load": _mutant("scf.if %first {\n          scf.for", "scf.if %producer {\n          scf.for", "mbarrier misuse",
                                "in-flight", "deadlock"),
    "a barrier in a role": _mutant(EXPECT, f"gpu.barrier\n{EXPECT}", "divergent barrier"),
    "half of a warp group multiplies": _mutant(
        MULTIPLY, "%half = arith.cmpi ult, %elected, %c32 : index\n"
        f"%next = scf.if %half -> !acc {{ {MULTIPLY.replace('%next', '%got')}"
        " scf.yield %got : !acc } else { scf.yield %acc : !acc }", "divergent barrier"
    ),
}  # fmt: skip
EQUAL = {"a fence too many": _mutant(RELEASE, f"{FENCE}\n{RELEASE}")}
"""Edits after which the ring is right."""
SELDOM = {
    "release of another stage": _mutant(
        RELEASE, "%s1 = arith.addi %s, %c1 : index\n %s2 = arith.remui %s1, %S : index\n" + RELEASE.replace("[%s]", "[%s2]"),
        "deadlock",
    )
}
"""Edits whose mistake shows in some orders alone: here where a stage is released before who loads looks at it the first time."""
