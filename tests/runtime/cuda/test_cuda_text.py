"""The text of the hand-written kernels and of the prelude: pinned, accepted by NVRTC for every chip, without spills."""

from __future__ import annotations

import re

import pytest
from cuda_cases import HERE, MODULES, emitted, module
from pinned import pinned
from places import GOLDENS

from weft.runtime.cuda.module import kernel_functions
from weft.runtime.cuda.nvrtc import ARCHITECTURES, compile_cubin
from weft.runtime.cuda.prelude import PIECES, PRELUDE, prelude

PRELUDE_TEXT = HERE / "golden" / "prelude.cu"
TEXTS = [path for path in (*GOLDENS.rglob("*.cu"), *(HERE / "golden").glob("*.cu")) if path != PRELUDE_TEXT]


@pytest.mark.parametrize("name", MODULES)
def test_text(name: str, update: bool) -> None:
    pinned(HERE / "golden" / f"{name}.cu", emitted(name, named=True), update)


def test_text_of_the_prelude(update: bool) -> None:
    """Every piece once: those of the table, and the products that a golden names. No golden repeats one."""
    texts = [path.read_text() for path in TEXTS]
    named = {name for text in texts for line in re.findall(f"^{PRELUDE}(.*)", text, re.MULTILINE) for name in line.split(", ")}
    pieces = prelude(" ".join(named), PIECES)
    assert len(named) > 30 and named <= set(pieces)
    assert not [piece for piece in pieces.values() for text in texts if piece in text]
    pinned(PRELUDE_TEXT, "".join(f"{heading(name)}\n{text}\n\n" for name, text in pieces.items()), update)


def heading(name: str) -> str:
    """A piece, and those that it needs."""
    others, _ = PIECES.get(name, ((), ""))
    return f"// ---- {name}, with {', '.join(others)}" if others else f"// ---- {name}"


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
    assert len(TEXTS) > 50 and not [path for path in (*TEXTS, PRELUDE_TEXT) if "__builtin" in path.read_text()]
