"""The text of the hand-written kernels: pinned, accepted by NVRTC for every chip, without spills."""

from __future__ import annotations

import pytest
from cuda_cases import HERE, MODULES, emitted, module
from pinned import pinned
from places import ROOT

from weft.runtime.cuda.module import kernel_functions
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin


@pytest.mark.parametrize("name", MODULES)
def test_text(name: str, update: bool) -> None:
    pinned(HERE / "golden" / f"{name}.cu", emitted(name), update)


@pytest.mark.few()
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", MODULES)
def test_compiles_without_spills(name: str, arch: str) -> None:
    made = compile_cubin(emitted(name), arch)
    assert {kernel.removesuffix("_32") for kernel in made.kernels} == {kernel.name for kernel in kernel_functions(module(name))}
    assert made.spill_bytes == 0, made.log
    assert all(k.stack_bytes == 0 for k in made.kernels.values()), "an array is in local memory"
    assert made.cubin.startswith(b"\x7fELF")


def test_texts_ask_for_no_builtins() -> None:
    """NVRTC 13.0, which CuPy may bring, has no `__builtin_constant_p`, as later ones have."""
    texts = [*ROOT.glob("weft/recipes/*/*.cu"), *ROOT.glob("tests/runtime/cuda/golden/*.cu")]
    assert len(texts) > 50 and not [path for path in texts if "__builtin" in path.read_text()]
