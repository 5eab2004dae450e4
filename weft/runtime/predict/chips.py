"""The chips for which times are predicted, with figures from NVIDIA's documents, from the
literature and from calibration.

- Multiprocessors, clock rates, DRAM bandwidth, products of tensor cores: the whitepapers of GA100,
  GA102, AD102 and GH100, and the H200's datasheet.
- Warps, blocks, registers and shared memory of a multiprocessor, and the lanes of each pipe: CUDA
  C++ Programming Guide, Compute Capabilities and Arithmetic Instructions.
- Bytes per clock from L2: 5120 by the whitepaper of GA100; the values of GA102 and AD102 are
  estimates.
- Achievable rates and unpublished values: for the H200, fitted to half of the items of
  docs/performance/measured.json and tested on the others, by `benchmarks/calibration.py`. These are
  bytes per clock from L2 and into it, the share of DRAM's bandwidth, the shares of the tensor
  cores' peak that `mma.sync` and `wgmma` reach (for `mma.sync`, Luo et al., arXiv 2402.13499,
  report 62.9 %; with `wgmma`, power limits the clock rate), the time of a launch and of a block's
  start, and the rate of instruction fetch beyond the instruction cache. The other chips take the
  H200's values, except for L2: its stores are assumed to be half as fast as its loads, without a
  measurement.
- Placement of clusters: by the programming guide, the blocks of a cluster run in one processing
  cluster (GPC) of the chip. GH100 has eight GPCs of at most 18 multiprocessors; the distribution of
  the 132 is not published: 16 or 18 in each is an estimate.
"""

from __future__ import annotations

from dataclasses import replace

from ...dsl.diagnostics import did_you_mean, fail
from ...dsl.records import record
from ...interpreter.hardware import limits

KIB = 1024
RESERVED = KIB
"""Bytes of shared memory that the system reserves for each block."""


@record
class Gpu:
    """A chip. Rates per clock are those of one multiprocessor unless noted otherwise.

    Args:
        arch: the architecture for which kernels are compiled.
        dram: bytes per second, by the data sheet.
        dram_share: the achievable share of `dram`.
        l2: bytes per clock that the whole chip reads from L2.
        l2_stores: bytes per clock that the whole chip writes to L2.
        l2_bytes: size of L2.
        fp32, fp64: fused multiply-adds per clock.
        tensor: multiply-adds of the tensor cores per clock, by operand type.
        tensor_share: the share of `tensor` that `mma.sync` reaches.
        group_share: the share of `tensor` that warp-group products (`wgmma`) reach.
        groups: multiprocessors of each processing cluster, within which a cluster's blocks run;
            empty without clusters.
        launch: seconds of launch overhead: before the first block begins and after the last one
            ends.
        start: clocks from a free slot for a block on a multiprocessor to the block's first
            instruction.
        fetch: bytes of instructions per clock that a warp fetches in a loop larger than the
            instruction cache.
        parameters: offset of a kernel's parameters in the constant bank.
        l1_bytes: size of the L1 cache and shared memory together.
    """

    name: str
    title: str
    arch: str
    processors: int
    gigahertz: float
    dram: float
    l2: float
    l2_bytes: int
    fp32: int
    fp64: int
    tensor: dict[str, int]
    l1_bytes: int
    parameters: int = 0x160
    threads: int = 2048
    blocks: int = 32
    registers: int = limits.ALL_REGISTERS
    tensor_share: float = 1.0
    group_share: float = 1.0
    groups: tuple[int, ...] = ()
    dram_share: float = 0.84
    l2_stores: float = 2560
    launch: float = 1.5e-6
    start: float = 800
    fetch: float = 9

    def usable(self, together: int) -> int:
        """The number of multiprocessors on which clusters of `together` blocks can run, with one
        block on each."""
        if together == 1:
            return self.processors
        return sum(size // together * together for size in self.groups)

    @property
    def peak(self) -> float:
        """FLOP/s in fp32 without tensor cores."""
        return self.processors * self.fp32 * 2 * self.gigahertz * 1e9

    def tensor_peak(self, kind: str) -> float:
        """FLOP/s of tensor-core products of type `kind`, as the whitepaper counts them."""
        return self.processors * self.tensor[kind] * 2 * self.gigahertz * 1e9

    @property
    def shared_most(self) -> int:
        """Bytes of shared memory available to one block."""
        return limits.CHIPS[self.arch.rstrip("a")].shared

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory of a multiprocessor, including the system's reservation for one
        block."""
        return self.shared_most + RESERVED


_H200 = Gpu(
    "h200", "H200", "sm_90a", 132, 1.98, 4.8e12, 6300, 50 << 20, 128, 64,
    {"f16": 2048, "bf16": 2048, "tf32": 1024, "i8": 4096, "f8": 4096, "f64": 128}, 256 * KIB, 0x210, tensor_share=0.43,
    group_share=0.79, l2_stores=2200, groups=(16,) * 6 + (18,) * 2,
)  # fmt: skip
CHIPS: dict[str, Gpu] = {
    chip.name: chip
    for chip in (
        _H200,
        replace(_H200, name="h100", title="H100", dram=3.35e12),
        Gpu(
            "a100", "A100", "sm_80", 108, 1.41, 2.039e12, 5120, 40 << 20, 64, 32,
            {"f16": 1024, "bf16": 1024, "tf32": 512, "i8": 2048, "f64": 64}, 192 * KIB,
        ),
        Gpu(
            "rtx3090", "RTX 3090", "sm_86", 82, 1.695, 0.936e12, 1536, 6 << 20, 128, 2,
            {"f16": 256, "bf16": 256, "tf32": 128, "i8": 1024, "f64": 2}, 128 * KIB, threads=1536, blocks=16, l2_stores=768,
        ),
        Gpu(
            "rtx4090", "RTX 4090", "sm_89", 128, 2.52, 1.008e12, 2048, 72 << 20, 128, 2,
            {"f16": 256, "bf16": 256, "tf32": 128, "i8": 1024, "f64": 2}, 128 * KIB, threads=1536, blocks=24, l2_stores=1024,
        ),
    )
}  # fmt: skip
DEFAULT = "h200"


def chip_named(name: str) -> Gpu:
    """The chip of that name. Raises W0781 if it is unknown."""
    if (chip := CHIPS.get(name.lower().replace(" ", ""))) is not None:
        return chip
    notes = (f"known chips: {', '.join(f'{c.name} ({c.arch})' for c in CHIPS.values())}",)
    hint = did_you_mean(name, CHIPS) or f"take the closest of the same architecture, such as `--chip {DEFAULT}`"
    raise fail("W0781", f"there are no figures of a chip `{name}`", notes=notes, hint=hint)
