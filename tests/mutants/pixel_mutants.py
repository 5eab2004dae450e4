"""Mistakes in what the recipe `igemm_hopper` makes, whose left operand the accelerator gathers, pixel by pixel, from an image; and
those in its ring, its clusters and its stores, which are `hopper`'s."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from cluster_mutants import CLUSTER
from hopper_mutants import AWAIT_EMPTY, AWAIT_FULL, MUTANTS, Edit, Mutant, equal, order, value
from store_mutants import STORES

LOAD = r"re:(nvvm\.cp\.async\.bulk\.tensor[^\n]*)"
BOX, TAPS = "box[%channel, %across, %down, %image]", "im2col[%tap_across, %tap_down]"
EXPECT = "nvgpu.mbarrier.arrive.expect_tx %full[%slot], %c16384 : !bars"
NEXT = "%next = affine.apply affine_map<(d0) -> ((d0 floordiv 64 + 1) mod 3)>(%k)\n"
MAP = r"re:(?s)(lower = array<i64: )-1, -1(>.*?lower = array<i64: )-1, -1"
"""The corners of the map, as the host and the kernel say them."""


def _order(*edits: Edit, codes: str, found: str) -> Mutant:
    return order(*edits, codes=codes, found=found, of="pixels")


OWN: Mapping[str, Mutant] = MappingProxyType({
    "nobody waits for pixels": _order((AWAIT_FULL, ""), codes="W0667", found="in-flight, uninitialized read"),
    "pixels come before a stage is empty": _order(
        (AWAIT_EMPTY, ""), codes="W0667", found="in-flight, WAR, mbarrier misuse, deadlock"),
    "no pixels come": _order((LOAD, ""), codes="W0661", found="deadlock"),
    "pixels come twice": _order((LOAD, r"\1\n\1"), codes="W0661", found="in-flight, mbarrier misuse, deadlock"),
    "bytes of the pixels alone": _order(
        ("%c16384 = arith.constant 16384", "%c16384 = arith.constant 8192"), codes="W0661",
        found="in-flight, mbarrier misuse, deadlock"),
    "pixels are counted in another stage": _order(
        ("%25 = nvgpu.mbarrier.get %full[%slot]", f"{NEXT}%25 = nvgpu.mbarrier.get %full[%next]"), codes="W0667 W0661 W0663",
        found="in-flight, mbarrier misuse, deadlock"),
    "pixels land in another stage": _order(
        ("%tile_A = memref.subview %A_shared[%slot", f"{NEXT}%tile_A = memref.subview %A_shared[%next"), codes="W0667",
        found="in-flight, WAR, uninitialized read"),
    "taps across and down are exchanged": value((TAPS, "im2col[%tap_down, %tap_across]"), of="pixels"),
    "all steps take the first tap across": value(
        (r"re:(%23 = affine\.apply affine_map<\(d0\) -> \(\(d0 mod 384\) floordiv )128", r"\g<1>384"), of="pixels"),
    "all steps take the first channels": value((BOX, BOX.replace("%channel", "%c0_channel")), (
        "%channel = arith.index_cast", "%c0_channel = arith.constant 0 : i32\n%channel = arith.index_cast"), of="pixels"),
    "all blocks begin with the first image": value(
        ("%image = arith.index_cast %10", "%image = arith.index_cast %c0"), of="pixels"),
    "blocks begin a pixel further": value(
        ("%12 = affine.apply affine_map<(d0) -> (d0 - 1)>", "%12 = affine.apply affine_map<(d0) -> (d0)>"), of="pixels"),
    "blocks begin a row further down": value(
        ("%14 = affine.apply affine_map<(d0) -> (d0 - 1)>", "%14 = affine.apply affine_map<(d0) -> (d0)>"), of="pixels"),
    "the window begins a pixel further": value((MAP, r"\g<1>-1, 0\g<2>-1, 0"), of="pixels"),
    "the weights are of another tap": value(
        ("nvgpu.tma.async.load %B_map[%c0, %k]", "%tap = affine.apply affine_map<(d0) -> ((d0 + 128) mod 1152)>(%k)\n"
         "nvgpu.tma.async.load %B_map[%c0, %tap]"), of="pixels"),
    "channels of a tap in the other order, of pixels and weights": equal(
        ("%24 = affine.apply affine_map<(d0) -> (d0 mod 128)>", "%24 = affine.apply affine_map<(d0) -> ((d0 + 64) mod 128)>"),
        ("nvgpu.tma.async.load %B_map[%c0, %k]",
         "%tap = affine.apply affine_map<(d0) -> (d0 floordiv 128 * 128 + (d0 + 64) mod 128)>(%k)\n"
         "nvgpu.tma.async.load %B_map[%c0, %tap]"), of="pixels"),
    "pixels come first, and are expected then": equal(
        (EXPECT, ""), (LOAD, rf"\1\n{EXPECT}"), of="pixels"),
})  # fmt: skip
NOT_OF_PIXELS = (
    "A begins a box further along the sum", "A begins a row further", "both blocks multiply the first rows of A",
    "the right operand of the wrong matrix", "outside of a matrix are NaNs",
    "a fragment's columns are in another order", "the last columns are not stored",
    "each consumer multiplies the rows of the other",
)  # fmt: skip
"""Mistakes in what `hopper` makes that `igemm_hopper` cannot make: its rows are no box, and it stores its result in some."""
OF_PIXELS = {"ring": "conv", "cluster": "conv cluster", "stores": "conv"}
PIXELS: Mapping[str, Mutant] = MappingProxyType({
    **OWN,
    **{
        f"{name}, of pixels": replace(mutant, of=OF_PIXELS[mutant.of])
        for name, mutant in {**MUTANTS, **CLUSTER, **STORES}.items()
        if mutant.of in OF_PIXELS and name not in NOT_OF_PIXELS
    },
})
